package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const group = 32 // elements of a group

// actBytes is the size of a group of packed activations: quants, then scale,
// sum, sum of the lower half, sum of the upper half of each row.
func actBytes() int { return (group + 16) * rowTile() }

// actFloats is the offset of the floats in a group of packed activations.
func actFloats(which, row int) int { return (group+4*which)*rowTile() + 4*row }

const (
	actScale = iota
	actSum
	actLower
	actUpper
)

// kind is a form of panel: whether each half of a group has scales of its own,
// and whether there are offsets.
type kind struct {
	name    string
	parts   int // scales of a group
	offsets bool
	signed  bool // AVX2: weights of 8 bits, see narrowProducts
}

func kinds() []kind {
	ks := []kind{
		{"Sym32", 1, false, false},
		{"Off32", 1, true, false},
		{"Sym16", 2, false, false},
		{"Off16", 2, true, false},
	}
	if !wide {
		ks = append(ks, kind{"Sym32Signed", 1, false, true})
	}
	return ks
}

// Offsets in a group of a panel: quants, biases, scales, offsets.
func panelQuants(step int) int { return 4 * panelRows() * step }

func (k kind) bias(part int) int {
	return (group + 4*part) * panelRows()
}
func (k kind) scales(part int) int { return (group + 4*(k.parts+part)) * panelRows() }
func (k kind) offs(part int) int   { return (group + 4*(2*k.parts+part)) * panelRows() }
func (k kind) bytes() int {
	if k.offsets {
		return k.offs(k.parts)
	}
	return k.offs(0)
}

// tileArgs are the arguments that all tiles have.
type tileArgs struct {
	out, ldo, panel, act, count reg.Register
}

const tileSignature = "func(out *float32, ldo int, panel, act *byte, count, m, rows, add int)"

func loadTileArgs() tileArgs {
	a := tileArgs{
		out:   Load(Param("out"), GP64()),
		ldo:   Load(Param("ldo"), GP64()),
		panel: Load(Param("panel"), GP64()),
		act:   Load(Param("act"), GP64()),
		count: Load(Param("count"), GP64()),
	}
	return a
}

// tile multiplies a panel with m activation rows.
func (k kind) tile(m int) {
	name := fmt.Sprintf("gemm%sx%d%s", k.name, m, suffix())
	TEXT(name, NOSPLIT, tileSignature)
	Doc(name + " multiplies count groups of a panel with the first m rows of a tile of packed activations.")
	a := loadTileArgs()
	var sum accumulators
	if wide {
		sum = registers(m)
	} else {
		sum = onStack(m)
	}
	sum.clear()
	Label("group")
	acc := [2][]reg.VecVirtual{vecs(m), vecs(m)}
	for part := range k.parts {
		k.start(a, part, acc)
		steps := 8 / k.parts
		if wide {
			wideProducts(a, part*steps, steps, acc)
		} else if k.signed {
			signedProducts(a, part*steps, steps, acc)
		} else {
			narrowProducts(a, part*steps, steps, acc)
		}
		k.fold(a, part, acc, sum)
	}
	ADDQ(U32(k.bytes()), a.panel)
	ADDQ(U32(actBytes()), a.act)
	DECQ(a.count)
	JNZ(LabelRef("group"))
	sum.finish(a)
	VZEROUPPER()
	RET()
}

// start sets the integer accumulators: to minus what the bias of 128 of the
// activations adds.
func (k kind) start(a tileArgs, part int, acc [2][]reg.VecVirtual) {
	for j := range 2 {
		for i, v := range acc[j] {
			switch {
			case k.signed:
				zero(v)
			case i == 0:
				load(at(a.panel, k.bias(part)+j*vecBytes()), v)
			default:
				move(acc[j][0], v)
			}
		}
	}
}

// wideProducts adds the products of steps of four elements.
func wideProducts(a tileArgs, first, steps int, acc [2][]reg.VecVirtual) {
	for s := first; s < first+steps; s++ {
		w := vecs(2)
		for j := range w {
			load(at(a.panel, panelQuants(s)+j*vecBytes()), w[j])
		}
		for i := range acc[0] {
			x := vec()
			VPBROADCASTD(at(a.act, 4*(s*rowTile()+i)), x)
			for j := range w {
				VPDPBUSD(w[j], x, acc[j][i])
			}
		}
	}
}

// narrowProducts is wideProducts for AVX2, two steps at a time: with weights in
// -32..31 and activations in 1..255, four products fit 16 bits.
func narrowProducts(a tileArgs, first, steps int, acc [2][]reg.VecVirtual) {
	ones := constant(0x00010001)
	for s := first; s < first+steps; s += 2 {
		w := vecs(4)
		for j := range w {
			load(at(a.panel, panelQuants(s)+j*vecBytes()), w[j])
		}
		for i := range acc[0] {
			t := vecs(2)
			x, u := vec(), vec()
			VPBROADCASTD(at(a.act, 4*(s*rowTile()+i)), x)
			VPMADDUBSW(w[0], x, t[0])
			VPMADDUBSW(w[1], x, t[1])
			VPBROADCASTD(at(a.act, 4*((s+1)*rowTile()+i)), x)
			for j := range t {
				VPMADDUBSW(w[2+j], x, u)
				VPADDW(u, t[j], t[j])
				VPMADDWD(ones, t[j], t[j])
				VPADDD(t[j], acc[j][i], acc[j][i])
			}
		}
	}
}

// signedProducts is narrowProducts for weights in -128..127: activations lose
// their bias and take the weights' signs, and two products fit 16 bits.
func signedProducts(a tileArgs, first, steps int, acc [2][]reg.VecVirtual) {
	ones, bias := constant(0x00010001), constant(0x80808080)
	for s := first; s < first+steps; s++ {
		w, size := vecs(2), vecs(2)
		for j := range w {
			load(at(a.panel, panelQuants(s)+j*vecBytes()), w[j])
			VPABSB(w[j], size[j])
		}
		for i := range acc[0] {
			x, t := vec(), vec()
			VPBROADCASTD(at(a.act, 4*(s*rowTile()+i)), x)
			VPXOR(bias, x, x)
			for j := range w {
				VPSIGNB(w[j], x, t)
				VPMADDUBSW(t, size[j], t)
				VPMADDWD(ones, t, t)
				VPADDD(t, acc[j][i], acc[j][i])
			}
		}
	}
}

// fold scales the integers of a group, or of its half, and adds them to sum
// with the offsets.
func (k kind) fold(a tileArgs, part int, acc [2][]reg.VecVirtual, sum accumulators) {
	for j := range 2 {
		scale, off := vec(), vec()
		load(at(a.panel, k.scales(part)+j*vecBytes()), scale)
		which := actSum
		if k.parts == 2 {
			which = actLower + part
		}
		if k.offsets {
			load(at(a.panel, k.offs(part)+j*vecBytes()), off)
		}
		for i, v := range acc[j] {
			VCVTDQ2PS(v, v)
			VMULPS(scale, v, v)
			f := sum.get(j, i)
			fma(at(a.act, actFloats(actScale, i)), v, f)
			if k.offsets {
				fma(at(a.act, actFloats(which, i)), off, f)
			}
			sum.put(j, i, f)
		}
	}
}

// fma adds v times the float32 at m to f.
func fma(m Mem, v, f reg.VecVirtual) {
	if wide {
		VFMADD231PS_BCST(m, v, f)
		return
	}
	x := vec()
	VBROADCASTSS(m, x)
	VFMADD231PS(x, v, f)
}

// floatTile multiplies count columns of a panel of float32.
func floatTile(m int) {
	name := fmt.Sprintf("gemmF32x%d%s", m, suffix())
	TEXT(name, NOSPLIT, tileSignature)
	Doc(name + " multiplies count columns of a panel of float32 with the first m rows of a tile of activations.")
	a := loadTileArgs()
	sum := registers(m)
	sum.clear()
	Label("column")
	w := vecs(2)
	for j := range w {
		load(at(a.panel, j*vecBytes()), w[j])
	}
	for i := range m {
		x := vec()
		VBROADCASTSS(at(a.act, 4*i), x)
		for j := range w {
			VFMADD231PS(x, w[j], sum.get(j, i))
		}
	}
	ADDQ(U32(4*panelRows()), a.panel)
	ADDQ(U32(4*rowTile()), a.act)
	DECQ(a.count)
	JNZ(LabelRef("column"))
	sum.finish(a)
	VZEROUPPER()
	RET()
}
