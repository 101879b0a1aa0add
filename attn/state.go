package attn

import "math"

// State is the partial result of one query row over a set of keys: what a
// split writes and a reducer merges. With s_j the scaled scores of the keys
// seen so far, M = max s_j, L = sum exp(s_j - M) and O = sum exp(s_j - M) v_j.
//
// A state that has seen no key, or only masked ones, is the identity of Merge:
// M = -Inf, L = 0, O = 0.
type State struct {
	M, L float32
	O    []float32 // [vDim], unnormalised
}

// NewState is the identity for values of vDim elements.
func NewState(vDim int) State {
	return State{M: float32(math.Inf(-1)), O: make([]float32, vDim)}
}

// Empty reports whether the state is the identity.
func (s *State) Empty() bool { return math.IsInf(float64(s.M), -1) }

// Reset makes s the identity again.
func (s *State) Reset() {
	s.M, s.L = float32(math.Inf(-1)), 0
	clear(s.O)
}

// Merge folds t into s, as though s had also seen t's keys:
//
//	M = max(M_s, M_t)
//	L = exp(M_s - M) L_s + exp(M_t - M) L_t
//	O = exp(M_s - M) O_s + exp(M_t - M) O_t
//
// It is commutative, and associative up to rounding: a fixed order of merging
// gives fixed bits. An identity on either side leaves the other's bits alone,
// whatever stale numbers the identity's L and O hold. A NaN in either state
// stays visible in the result. t is not changed; both must have the same vDim.
func (s *State) Merge(t State) {
	if len(s.O) != len(t.O) {
		panic("attn: merge of states with different value sizes")
	}
	switch {
	case t.Empty():
		return
	case s.Empty():
		s.M, s.L = t.M, t.L
		copy(s.O, t.O)
		return
	}
	m := max(s.M, t.M) // NaN if either is
	fs, ft := rescale(s.M, m), rescale(t.M, m)
	s.M = m
	s.L = fs*s.L + ft*t.L
	for i, o := range t.O {
		s.O[i] = fs*s.O[i] + ft*o
	}
}

// rescale is exp(from - to), the factor that moves a sum from one maximum to
// another.
func rescale(from, to float32) float32 {
	return float32(math.Exp(float64(from) - float64(to)))
}

// Finish writes the attention output O/L to dst, [vDim]. A row that attends
// nothing gives zeros, never NaN.
func (s *State) Finish(dst []float32) {
	if s.Empty() || s.L == 0 {
		clear(dst[:len(s.O)])
		return
	}
	for i, o := range s.O {
		dst[i] = o / s.L
	}
}
