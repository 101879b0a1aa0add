package simd

import "math"

// Prefill works on tiles: some query rows of all heads of the group, flattened
// into lines (line t is head t%g of row t/g), against prefillKeys keys, which
// are widened once for all of them. For each strip of lines: scores as a
// matrix product with the transposed keys, the softmax step, then the product
// with the values added to the rescaled outputs.
const (
	prefillKeys  = 64
	prefillLines = 192         // aimed at in a tile
	mulRows      = 6           // lines of a matrix product
	stripLines   = 4 * mulRows // their scores stay in the nearest cache
)

// tileRows is the number of query rows in a tile, tileLines that of lines,
// rounded up to whole products.
func tileRows(r, g int) int { return min(r, max(1, prefillLines/g)) }

func tileLines(rows, g int) int { return (rows*g + mulRows - 1) / mulRows * mulRows }

func (a *simdAttention) prefillScratchFloats(r, g int) int {
	lines := tileLines(tileRows(r, g), g)
	return lines*(a.headDim+a.vDim+2) + stripLines*(prefillKeys+2) + prefillKeys*(2*a.headDim+a.vDim)
}

// prefillTile is the state of one tile, all of it in scratch.
type prefillTile struct {
	q, o []float32 // [lines][headDim], [lines][vDim]
	m, l []float32 // [lines]
	s    []float32 // [stripLines][prefillKeys]: scores, then weights
	// count, f: [stripLines]: keys seen, rescale factor
	count, f []float32
	k, v     []float32 // [prefillKeys][headDim], [prefillKeys][vDim]
	kt       []float32 // [headDim][prefillKeys]
	// dirty: a value of a key that some row does not see is NaN or infinite.
	dirty bool
}

func (a *simdAttention) newTile(lines int, scratch []float32) prefillTile {
	take := func(n int) []float32 {
		x := scratch[:n:n]
		scratch = scratch[n:]
		return x
	}
	return prefillTile{
		q: take(lines * a.headDim), o: take(lines * a.vDim),
		m: take(lines), l: take(lines),
		s: take(stripLines * prefillKeys), count: take(stripLines), f: take(stripLines),
		k: take(prefillKeys * a.headDim), v: take(prefillKeys * a.vDim), kt: take(prefillKeys * a.headDim),
	}
}

func (a *simdAttention) prefill(out []float32, ldo int, q []float32, ldq, r, g int, k, v []byte, n0 int, scratch []float32) {
	rowsMax := tileRows(r, g)
	for i0 := 0; i0 < r; i0 += rowsMax {
		rows := min(rowsMax, r-i0)
		t := a.newTile(tileLines(rows, g), scratch)
		for i := range rows {
			copy(t.q[i*g*a.headDim:], q[(i0+i)*ldq:][:g*a.headDim])
		}
		clear(t.q[rows*g*a.headDim:]) // lines that only fill up the last product
		clear(t.o)
		clear(t.l)
		for i := range t.m {
			t.m[i] = float32(math.Inf(-1))
		}
		first, end := n0+i0, n0+i0+rows // positions of the rows
		for j := 0; j < end; j += prefillKeys {
			keys := min(prefillKeys, end-j)
			a.loadKeys(&t, k[j*a.kBytes:][:keys*a.kBytes], v[j*a.vBytes:][:keys*a.vBytes], keys)
			unseen := min(keys, max(0, first+1-j)) // the first row sees all keys before it
			t.dirty = a.elem.NonFinite(t.v[unseen*a.vDim:keys*a.vDim]) >= 0
			// Lines of rows before position j see none of these keys.
			from := max(0, j-first) * g / mulRows * mulRows
			for ; from < len(t.m); from += stripLines {
				a.strip(&t, from, min(stripLines, len(t.m)-from), g, keys, first-j)
			}
		}
		for i := range rows {
			for h := range g {
				line := i*g + h
				inv := 1 / t.l[line] // a row sees its own key, so l > 0
				dst := out[(i0+i)*ldo+h*a.vDim:][:a.vDim]
				for c, o := range t.o[line*a.vDim:][:a.vDim] {
					dst[c] = o * inv
				}
			}
		}
	}
}

// loadKeys widens a block of keys and values and transposes the keys.
func (a *simdAttention) loadKeys(t *prefillTile, k, v []byte, keys int) {
	a.widenK(t.k[:keys*a.headDim], k)
	a.widenV(t.v[:keys*a.vDim], v)
	clear(t.k[keys*a.headDim:])
	for j := 0; j < prefillKeys; j += 8 {
		transposeAVX2(&t.kt[j], 4*prefillKeys, &t.k[j*a.headDim], 4*a.headDim, a.headDim)
	}
}

// strip takes lines [from, from+lines) through the loaded keys. The first row
// of the tile stands at position pos relative to the first of the keys.
func (a *simdAttention) strip(t *prefillTile, from, lines, g, keys, pos int) {
	for i := 0; i < lines; i += mulRows {
		for c := 0; c < prefillKeys; c += a.cols {
			a.mulSet(&t.s[i*prefillKeys+c], 4*prefillKeys, &t.q[(from+i)*a.headDim], 4*a.headDim, &t.kt[c], 4*prefillKeys, a.headDim)
		}
	}
	for i := range lines {
		t.count[i] = float32(max(0, min(keys, pos+(from+i)/g+1)))
	}
	a.soft64(&t.s[0], &t.count[0], &t.m[from], &t.l[from], &t.f[0], lines)
	if t.dirty {
		a.weighSeen(t, from, lines)
		return
	}
	for i := 0; i < lines; i += mulRows {
		c := 0
		for ; c+a.cols <= a.vDim; c += a.cols {
			a.mulAdd(&t.o[(from+i)*a.vDim+c], 4*a.vDim, &t.s[i*prefillKeys], 4*prefillKeys, &t.v[c], 4*a.vDim, keys, &t.f[i])
		}
		for ; c < a.vDim; c += 16 {
			a.mulAdd16(&t.o[(from+i)*a.vDim+c], 4*a.vDim, &t.s[i*prefillKeys], 4*prefillKeys, &t.v[c], 4*a.vDim, keys, &t.f[i])
		}
	}
}

// weighSeen is the product with the values line by line, of no more keys than
// the line sees: the whole product would multiply the others by 0, and 0 times
// a NaN is no 0. The sums are in the same order, so the bits are the same.
func (a *simdAttention) weighSeen(t *prefillTile, from, lines int) {
	for i := range lines {
		o := t.o[(from+i)*a.vDim:][:a.vDim]
		for c := range o {
			o[c] *= t.f[i]
		}
		for j := range int(t.count[i]) {
			a.elem.AXPY(o, t.s[i*prefillKeys+j], t.v[j*a.vDim:][:a.vDim])
		}
	}
}
