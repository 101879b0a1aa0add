package emu

import (
	"math"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// WMMA: D = A*B + C of 16x16 matrices that the lanes of a wave hold together.
//
// A's row and B's column r are in lane r (and again in the lanes r+16, ..., of
// which we read none), 16 elements one after another. C and D have column c in
// the lanes with c = lane%16; register i of a lane is row 2*i + lane/16 in
// wave32 and 4*i + lane/16 in wave64. All lanes take part, active or not.
//
// Accumulation: C and the exact products of A and B are added in float64, in
// the order of k, and the sum is rounded to nearest even once. How the
// hardware rounds in between is not documented.

const approximateMatrix = "summed in float64 and rounded once; the hardware's order and precision in between are not documented"

var matrixOperations = map[string]operation{
	"v_wmma_f32_16x16x16_f16":   {custom: prepareMatrix(half, single), approximate: approximateMatrix},
	"v_wmma_f32_16x16x16_bf16":  {custom: prepareMatrix(bfloat16, single), approximate: approximateMatrix},
	"v_wmma_f16_16x16x16_f16":   {custom: prepareMatrix(half, half), approximate: approximateMatrix},
	"v_wmma_bf16_16x16x16_bf16": {custom: prepareMatrix(bfloat16, bfloat16), approximate: approximateMatrix},
	"v_wmma_i32_16x16x16_iu8":   {custom: prepareIntMatrix(8)},
	"v_wmma_i32_16x16x16_iu4":   {custom: prepareIntMatrix(4)},
}

// matrix is the operands of a WMMA instruction.
type matrix struct {
	d, a, b  uint16
	c        source // its register is the first of several
	high     bool   // 16-bit C and D are in the high halves
	negLo    uint8
	negHi    uint8
	saturate bool
}

func newMatrix(in *inst) (*matrix, error) {
	m := &matrix{
		d: in.Operands[0].Reg, a: in.Operands[1].Reg, b: in.Operands[2].Reg,
		high:  in.Mods.OpSel&4 != 0,
		negLo: in.Mods.NegLo, negHi: in.Mods.NegHi,
		saturate: in.Mods.Flags&isa.Clamp != 0,
	}
	m.c.and = ^uint64(0)
	o := in.Operands[3]
	if o.Kind != isa.VGPR {
		o.Type = isa.F32
	}
	return m, m.c.resolve(in, &o)
}

// addend is register i of C.
func (m *matrix) addend(w *wave, i int) *lanes {
	if m.c.kind == fromRegister {
		return &w.vgpr[int(m.c.reg)+i]
	}
	return m.c.get(w, &w.vec.src[2])
}

// prepareMatrix is for factors and results of float formats.
func prepareMatrix(factor, result format) func(in *inst) error {
	return func(in *inst) error {
		m, err := newMatrix(in)
		if err != nil {
			return err
		}
		if m.c.kind == fromConstant && result != single {
			o := in.Operands[3]
			o.Type = isa.F16
			if result == bfloat16 {
				o.Type = isa.BF16
			}
			if err := m.c.resolve(in, &o); err != nil {
				return err
			}
		}
		in.aux = m
		in.run = func(w *wave, _ *inst) { m.multiply(w, factor, result) }
		return nil
	}
}

// factors reads 16 rows of 16 elements of A (which 0) or B (which 1).
func (m *matrix) factors(w *wave, f format, first uint16, which uint, rows *[16][16]float64) {
	lo, hi := uint32(m.negLo>>which&1)<<15, uint32(m.negHi>>which&1)<<15
	for k := 0; k < 16; k += 2 {
		r := &w.vgpr[int(first)+k/2]
		for i := range rows {
			rows[i][k] = f.number(r[i]&0xffff ^ lo)
			rows[i][k+1] = f.number(r[i]>>16 ^ hi)
		}
	}
}

// number is a half or bfloat16 as a float64; a NaN stays one.
func (f format) number(v uint32) float64 { return float64(f32(f.single(v, false))) }

func (m *matrix) multiply(w *wave, factor, result format) {
	var a, b [16][16]float64
	m.factors(w, factor, m.a, 0, &a)
	m.factors(w, factor, m.b, 1, &b)
	perRegister := w.n / 16 // rows of the result that one register holds
	for i := 0; i < 16/perRegister; i++ {
		c, d := m.addend(w, i), &w.vgpr[int(m.d)+i]
		for lane := 0; lane < w.n; lane += 4 {
			row, col := perRegister*i+lane/16, lane%16
			var sum [4]float64
			for j := range sum {
				sum[j] = m.term(result, c[lane+j])
			}
			dot4(&sum, &a[row], &b[col], &b[col+1], &b[col+2], &b[col+3])
			for j, x := range sum {
				m.store(result, d, lane+j, x)
			}
		}
	}
}

// dot4 adds four dot products with a, side by side, because each addition
// waits for the one before.
func dot4(sum *[4]float64, a, b0, b1, b2, b3 *[16]float64) {
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	for k, x := range a {
		s0 += float64(x * b0[k])
		s1 += float64(x * b1[k])
		s2 += float64(x * b2[k])
		s3 += float64(x * b3[k])
	}
	*sum = [4]float64{s0, s1, s2, s3}
}

// term is an element of C: neg_hi is its absolute value, neg_lo its negative.
func (m *matrix) term(f format, v uint32) float64 {
	if f == single {
		return m.sign(float64(f32(v)))
	}
	if m.high {
		v >>= 16
	}
	return m.sign(f.number(v & 0xffff))
}

func (m *matrix) sign(x float64) float64 {
	if m.negHi&4 != 0 {
		x = math.Abs(x)
	}
	if m.negLo&4 != 0 {
		x = -x
	}
	return x
}

// store rounds an element of D. The other half of a 16-bit one stays.
func (m *matrix) store(f format, d *lanes, lane int, x float64) {
	var v uint32
	switch {
	case x != x:
		v = f.invalid()
	case f == single:
		v = math.Float32bits(float32(x))
	default:
		v = f.round(floatMode{}, x)
	}
	switch {
	case f == single:
		d[lane] = v
	case m.high:
		d[lane] = d[lane]&0xffff | v<<16
	default:
		d[lane] = d[lane]&^0xffff | v
	}
}

// prepareIntMatrix is for factors of 8 or 4 bits; neg_lo says which are signed.
func prepareIntMatrix(width uint) func(in *inst) error {
	return func(in *inst) error {
		m, err := newMatrix(in)
		if err != nil {
			return err
		}
		in.aux = m
		in.run = func(w *wave, _ *inst) { m.multiplyInts(w, width) }
		return nil
	}
}

func (m *matrix) multiplyInts(w *wave, width uint) {
	var a, b [16][16]int32
	read := func(first uint16, signed bool, rows *[16][16]int32) {
		each := int(32 / width)
		for k := range 16 {
			r := &w.vgpr[int(first)+k/each]
			for i := range rows {
				rows[i][k] = int32(field(r[i]>>(width*uint(k%each)), width, signed))
			}
		}
	}
	read(m.a, m.negLo&1 != 0, &a)
	read(m.b, m.negLo&2 != 0, &b)
	perRegister := w.n / 16
	for i := 0; i < 16/perRegister; i++ {
		c, d := m.addend(w, i), &w.vgpr[int(m.d)+i]
		for lane := range w.n {
			row, col := perRegister*i+lane/16, lane%16
			var sum int32 // of 16 products below 2^16
			for k, x := range &a[row] {
				sum += x * b[col][k]
			}
			if m.saturate {
				d[lane] = satI32(s64(c[lane]) + int64(sum))
			} else {
				d[lane] = c[lane] + uint32(sum)
			}
		}
	}
}
