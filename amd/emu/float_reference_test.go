package emu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A second, plain implementation of rounded arithmetic: exact in math/big,
// then rounded digit by digit.

// refFormat is a format of the reference: bits of fraction and exponent.
type refFormat struct {
	name      string
	mant, exp uint
}

var refFormats = []refFormat{{"f16", 10, 5}, {"f32", 23, 8}, {"f64", 52, 11}}

func (b refFormat) inf() uint64  { return (1<<b.exp - 1) << b.mant }
func (b refFormat) sign() uint64 { return 1 << (b.mant + b.exp) }

func (b refFormat) isNaN(v uint64) bool { return v&^b.sign() > b.inf() }

// rat is the exact value of a finite number.
func (b refFormat) rat(v uint64) *big.Float {
	m, e := v&(1<<b.mant-1), int(v>>b.mant)&(1<<b.exp-1)
	if e > 0 {
		m |= 1 << b.mant
	} else {
		e = 1
	}
	x := new(big.Float).SetPrec(5000).SetUint64(m)
	x.SetMantExp(x, e-(1<<(b.exp-1)-1)-int(b.mant))
	if v&b.sign() != 0 {
		x.Neg(x)
	}
	return x
}

// fma is a*b + c in the mode.
func (b refFormat) fma(m floatMode, x, y, z uint64) uint64 {
	src := []*uint64{&x, &y, &z}
	for _, s := range src {
		if m.flushIn && *s&b.inf() == 0 {
			*s &= b.sign()
		}
	}
	for _, s := range src {
		if b.isNaN(*s) {
			return *s | 1<<(b.mant-1)
		}
	}
	invalid := b.sign() | b.inf() | 1<<(b.mant-1)
	isInf := func(v uint64) bool { return v&^b.sign() == b.inf() }
	isZero := func(v uint64) bool { return v&^b.sign() == 0 }
	productSign := (x ^ y) & b.sign()
	if isInf(x) || isInf(y) {
		if isZero(x) || isZero(y) || isInf(z) && z&b.sign() != productSign {
			return invalid
		}
		return productSign | b.inf()
	}
	if isInf(z) {
		return z
	}
	p := new(big.Float).SetPrec(5000).Mul(b.rat(x), b.rat(y))
	s := new(big.Float).SetPrec(5000).Add(p, b.rat(z))
	if s.Sign() == 0 {
		switch {
		case p.Sign() == 0 && productSign == z&b.sign():
			return productSign
		case m.round == toNegative:
			return b.sign()
		}
		return 0
	}
	return b.round(m, s)
}

// round finds the neighbours of a number that is not 0 and chooses.
func (b refFormat) round(m floatMode, x *big.Float) uint64 {
	var sign uint64
	if x.Sign() < 0 {
		sign = b.sign()
	}
	abs := new(big.Float).Abs(x)
	// The largest magnitude that is not above abs, by bisection.
	lo, hi := uint64(0), b.inf()
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if b.rat(mid).Cmp(abs) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	r := lo
	if below := b.rat(lo); below.Cmp(abs) != 0 {
		above := b.rat(lo + 1)
		if lo+1 == b.inf() { // what would follow the largest number
			above = new(big.Float).SetPrec(5000).Sub(below, b.rat(lo-1))
			above.Add(above, below)
		}
		middle := new(big.Float).SetPrec(5000).Add(below, above)
		middle.Quo(middle, big.NewFloat(2))
		c := abs.Cmp(middle)
		switch m.round {
		case toNearest:
			if c > 0 || c == 0 && lo&1 != 0 {
				r++
			}
		case toPositive:
			if sign == 0 {
				r++
			}
		case toNegative:
			if sign != 0 {
				r++
			}
		}
	}
	if m.flushOut && r < 1<<b.mant {
		r = 0
	}
	return sign | r
}

// sample is a bit pattern of the format, often an edge.
func (b refFormat) sample(r *rand.Rand) uint64 {
	all := b.sign() | (b.sign() - 1)
	one := uint64(1<<(b.exp-1)-1) << b.mant
	edges := [...]uint64{
		0, 1, 2, 1<<b.mant - 1, 1 << b.mant, 1<<b.mant + 1, b.inf() - 1, b.inf(), b.inf() + 1,
		b.inf() | 1<<(b.mant-1), one, one - 1, one + 1, one + 1<<b.mant,
	}
	switch r.IntN(5) {
	case 3: // products of two are near the smallest numbers
		e := (uint64(1<<(b.exp-1)-1) - uint64(b.mant)) / 2
		return (e+uint64(r.IntN(4)))<<b.mant | r.Uint64()&(1<<b.mant-1) | r.Uint64()&b.sign()
	case 0:
		return edges[r.IntN(len(edges))] | r.Uint64()&b.sign()
	case 1: // near 1, so that sums cancel and products tie
		return (one + r.Uint64()&(1<<b.mant-1)>>r.IntN(int(b.mant)) + uint64(r.IntN(5))<<b.mant) | r.Uint64()&b.sign()
	case 2: // few bits
		return r.Uint64() & all &^ (1<<(b.mant-3) - 1)
	}
	return r.Uint64() & all
}

// setMode is MODE with both precisions as m.
func setMode(m floatMode) uint32 {
	v := uint32(m.round) * 5
	if !m.flushIn {
		v |= 0x50
	}
	if !m.flushOut {
		v |= 0xa0
	}
	return v | modeIEEE | modeDX10
}

func modes() (all []floatMode) {
	for round := toNearest; round <= toZero; round++ {
		for flush := range 4 {
			all = append(all, floatMode{round, flush&1 != 0, flush&2 != 0})
		}
	}
	return all
}

func TestArithmeticIsCorrectlyRoundedInEveryMode(t *testing.T) {
	t.Parallel()
	n := 1500
	if testing.Short() {
		n = 300
	}
	for _, b := range refFormats {
		one := uint64(1<<(b.exp-1)-1) << b.mant
		operations := []struct {
			name string
			args int
			want func(m floatMode, a []uint64) uint64
		}{
			{"v_add_" + b.name, 2, func(m floatMode, a []uint64) uint64 { return b.fma(m, one, a[0], a[1]) }},
			{"v_mul_" + b.name, 2, func(m floatMode, a []uint64) uint64 { return b.fma(m, a[0], a[1], (a[0]^a[1])&b.sign()) }},
			{"v_fma_" + b.name, 3, func(m floatMode, a []uint64) uint64 { return b.fma(m, a[0], a[1], a[2]) }},
		}
		for _, o := range operations {
			for _, m := range modes() {
				t.Run(fmt.Sprintf("%s/%+v", o.name, m), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(m.round), 7))
					args := make([][]uint64, n)
					for i := range args {
						for range o.args {
							args[i] = append(args[i], b.sample(r))
						}
					}
					for i, got := range computeAny(t, m, b, o.name, args) {
						if want := o.want(m, args[i]); got != want {
							t.Fatalf("%s(%#x) = %#x, want %#x", o.name, args[i], got, want)
						}
					}
				})
			}
		}
	}
}

// computeAny runs the operation of format b.
func computeAny(t *testing.T, m floatMode, b refFormat, name string, args [][]uint64) []uint64 {
	t.Helper()
	w := newTestWave(64)
	w.mode = setMode(m)
	if b.name == "f64" {
		return computeWide(t, w, name, args)
	}
	var narrow [][]uint32
	for _, a := range args {
		var row []uint32
		for _, x := range a {
			row = append(row, uint32(x))
		}
		narrow = append(narrow, row)
	}
	mask := uint32(b.sign() | (b.sign() - 1))
	var out []uint64
	for _, x := range compute(t, w, name, narrow) {
		out = append(out, uint64(x&mask))
	}
	return out
}
