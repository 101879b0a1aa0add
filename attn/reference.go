package attn

import "math"

// Problem is one attention layer over one sequence, as the reference sees it:
// everything in float32, positions contiguous, nothing split.
type Problem struct {
	Rows    int // query rows, at consecutive positions
	Keys    int // key and value rows
	Heads   int // query heads
	KVHeads int // key/value heads; a divisor of Heads (grouped-query attention)
	HeadDim int // elements of a query and of a key
	VDim    int // elements of a value

	Scale float64 // multiplies the scores, usually 1/sqrt(HeadDim)

	// Causal lets row i attend keys 0..Pos+i only; otherwise it attends all.
	Causal bool
	Pos    int
	// Window, if positive, leaves each row only the last Window of those keys
	// that Causal leaves it (a sliding window).
	Window int
	// Mask, if not nil, is added to the scaled scores: [Rows][Keys]. A key
	// whose entry is -Inf is not attended, and its key and value are not read.
	Mask []float32

	Q []float32 // [Rows][Heads][HeadDim]
	K []float32 // [Keys][KVHeads][HeadDim]
	V []float32 // [Keys][KVHeads][VDim]
}

// attends reports whether a query row sees a key.
func (p *Problem) attends(row, key int) bool {
	end := p.Keys
	if p.Causal {
		end = min(end, p.Pos+row+1)
	}
	if key >= end || p.Window > 0 && key < end-p.Window {
		return false
	}
	return p.Mask == nil || !math.IsInf(float64(p.Mask[row*p.Keys+key]), -1)
}

// Reference computes softmax(Scale Q K^T + Mask) V in float64, by definition:
// all scores of a row, their maximum, the exponentials, the weighted mean. The
// result is [Rows][Heads][VDim]. A row that attends no key gives zeros.
func Reference(p Problem) []float64 {
	out := make([]float64, p.Rows*p.Heads*p.VDim)
	scores := make([]float64, p.Keys)
	for row := range p.Rows {
		for head := range p.Heads {
			kvHead := head / (p.Heads / p.KVHeads)
			q := p.Q[(row*p.Heads+head)*p.HeadDim:][:p.HeadDim]

			top := math.Inf(-1)
			for key := range p.Keys {
				if !p.attends(row, key) {
					continue
				}
				k := p.K[(key*p.KVHeads+kvHead)*p.HeadDim:][:p.HeadDim]
				s := 0.0
				for i := range q {
					s += float64(q[i]) * float64(k[i])
				}
				s *= p.Scale
				if p.Mask != nil {
					s += float64(p.Mask[row*p.Keys+key])
				}
				scores[key] = s
				top = math.Max(top, s)
			}

			o, sum := out[(row*p.Heads+head)*p.VDim:][:p.VDim], 0.0
			for key := range p.Keys {
				if !p.attends(row, key) {
					continue
				}
				e := math.Exp(scores[key] - top)
				sum += e
				for i, v := range p.V[(key*p.KVHeads+kvHead)*p.VDim:][:p.VDim] {
					o[i] += e * float64(v)
				}
			}
			if sum > 0 || math.IsNaN(sum) {
				for i := range o {
					o[i] /= sum
				}
			}
		}
	}
	return out
}
