// Package vec holds what the kernel generators share: a vector width as a
// parameter, constant tables, reductions and the exponential.
package vec

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Width is the vector width that a kernel is generated for.
type Width int

// The widths: 256 bits (AVX2, FMA, F16C) and 512 (AVX-512 F, DQ).
const (
	W256 Width = 256
	W512 Width = 512
)

// Suffix names the level in a kernel's name.
func (w Width) Suffix() string {
	if w == W512 {
		return "AVX512"
	}
	return "AVX2"
}

// Lanes is the number of float32 in a vector.
func (w Width) Lanes() int { return int(w) / 32 }

// Bytes is the size of a vector.
func (w Width) Bytes() int { return int(w) / 8 }

// Reg is a fresh vector register.
func (w Width) Reg() reg.VecVirtual {
	if w == W512 {
		return ZMM()
	}
	return YMM()
}

// Regs is n fresh registers.
func (w Width) Regs(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = w.Reg()
	}
	return r
}

// Zero clears a register.
func (w Width) Zero(r reg.VecVirtual) {
	if w == W512 {
		VPXORD(r, r, r)
		return
	}
	VXORPS(r, r, r)
}

// Table is a read-only data section of constants, each repeated over 64 bytes
// so that it serves as a memory operand of any width.
type Table struct {
	mem  Mem
	size int
	at   map[uint32]int
}

// NewTable starts a table with the given symbol name.
func NewTable(name string) *Table {
	return &Table{mem: GLOBL(name, attr.RODATA|attr.NOPTR), at: map[uint32]int{}}
}

// U32 is a vector of the same 32 bits in every lane.
func (t *Table) U32(bits uint32) Mem {
	off, ok := t.at[bits]
	if !ok {
		var lanes [16]uint32
		for i := range lanes {
			lanes[i] = bits
		}
		m := t.Lanes(lanes)
		t.at[bits] = m.Disp
		return m
	}
	return t.mem.Offset(off)
}

// F32 is a vector of the same float in every lane.
func (t *Table) F32(f float64) Mem { return t.U32(math.Float32bits(float32(f))) }

// Lanes is a vector of sixteen 32-bit lanes.
func (t *Table) Lanes(lanes [16]uint32) Mem {
	off := t.size
	for i := 0; i < len(lanes); i += 2 {
		DATA(off+4*i, U64(uint64(lanes[i])|uint64(lanes[i+1])<<32))
	}
	t.size += 64
	return t.mem.Offset(off)
}

// Func starts a function. Its pointers do not escape.
func Func(name, signature string) {
	TEXT(name, attr.NOSPLIT, signature)
	Pragma("noescape")
}

// Done ends a function.
func Done() {
	VZEROUPPER()
	RET()
}

// BroadcastParam fills a register with a float32 argument. (avo's Load would
// use a legacy SSE move.)
func BroadcastParam(name string, r reg.VecVirtual) {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(fmt.Sprintf("parameter %s: %v", name, err))
	}
	VBROADCASTSS(b.Addr, r)
}

// ReturnF32 stores the lowest lane of x as the function's result.
func ReturnF32(x reg.VecVirtual) {
	b, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(fmt.Sprintf("result: %v", err))
	}
	VMOVSS(x.AsX(), b.Addr)
}

// Fold reduces x with op (VADDPS or VMAXPS) to its lowest lane and returns
// that as an XMM register whose other lanes hold rubbish.
func (w Width) Fold(op func(...Op), x reg.VecVirtual) reg.VecVirtual {
	if w == W512 {
		h := YMM()
		VEXTRACTF32X8(U8(1), x, h)
		op(h, x.AsY(), h)
		x = h
	}
	t, u := XMM(), XMM()
	if w == W512 {
		VEXTRACTF32X4(U8(1), x.AsY(), t) // can name registers above 15
	} else {
		VEXTRACTF128(U8(1), x.AsY(), t)
	}
	op(t, x.AsX(), t)
	VPERMILPS(U8(0x4e), t, u)
	op(t, u, t)
	VPERMILPS(U8(0xb1), t, u)
	op(t, u, t)
	return t
}

// Exp emits exponentials. It keeps constants in registers, so a kernel makes
// one before its loop: all of them in AVX-512, else the clamps alone.
type Exp struct {
	w           Width
	bottom, top reg.VecVirtual
	log2E, ln2Hi, ln2Lo,
	shift Op
	poly []Op // coefficients, highest power first
}

// NewExp prepares exponentials of any argument.
func (w Width) NewExp(t *Table) *Exp {
	e := w.NewExpNegative(t)
	e.top = w.Reg()
	VBROADCASTSS(t.F32(128*math.Ln2), e.top) // gives the exponent field of infinity
	return e
}

// NewExpNegative prepares exponentials of arguments up to 0, and NaN.
func (w Width) NewExpNegative(t *Table) *Exp {
	const ln2Hi = 0x1.62e4p-1 // 15 bits: its products with integers to 128 are exact
	constant := func(f float64) Op {
		if w == W256 {
			return t.F32(f)
		}
		r := w.Reg()
		VBROADCASTSS(t.F32(f), r)
		return r
	}
	e := &Exp{
		w: w, bottom: w.Reg(),
		log2E: constant(math.Log2E), ln2Hi: constant(ln2Hi), ln2Lo: constant(math.Ln2 - ln2Hi),
		// A float32 of this size counts in ones, and 127 is where the biased
		// exponent of 2^n starts: adding it rounds x/ln 2 to an integer n and
		// leaves n+127 in the low bits.
		shift: constant(3<<22 + 127),
	}
	VBROADCASTSS(t.F32(-127*math.Ln2), e.bottom) // gives the factor zero
	// Weighted least squares, reweighted towards the minimax solution.
	for _, c := range []float64{
		0.0013814531365342882, 0.008368745940115782, 0.041668390967675537, 0.16666520390097794, 0.49999993431213097,
	} {
		e.poly = append(e.poly, constant(c))
	}
	one := constant(1)
	e.poly = append(e.poly, one, one)
	return e
}

// Apply replaces x with e^x: 2^n e^f with n = round(x/ln 2) and f = x - n ln 2
// in two steps; e^f by a polynomial of degree 6 whose relative error on
// |f| <= ln(2)/2 is 3.1e-9. In all within 2 ULP from -87.3 to 88. From -88.03
// down the result is +0 (subnormals are rounded or flushed), from 88.4 up it
// is +Inf, and NaN stays NaN.
func (e *Exp) Apply(x reg.VecVirtual) {
	// The second source wins where one is NaN, so it must be x.
	if e.top != nil {
		VMINPS(x, e.top, x)
	}
	VMAXPS(x, e.bottom, x)
	scale, n, p := e.w.Reg(), e.w.Reg(), e.w.Reg()
	VMOVUPS(e.shift, scale)
	VFMADD231PS(e.log2E, x, scale)
	VSUBPS(e.shift, scale, n)
	VFNMADD231PS(e.ln2Hi, n, x)
	VFNMADD231PS(e.ln2Lo, n, x)
	VMOVUPS(e.poly[0], p)
	for _, c := range e.poly[1:] {
		VFMADD213PS(c, x, p)
	}
	VPSLLD(U8(23), scale, scale)
	VMULPS(scale, p, x)
}
