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
	VEXTRACTF128(U8(1), x.AsY(), t)
	op(t, x.AsX(), t)
	VPERMILPS(U8(0x4e), t, u)
	op(t, u, t)
	VPERMILPS(U8(0xb1), t, u)
	op(t, u, t)
	return t
}

// Exp replaces x with e^x: 2^n e^f with n = round(x/ln 2) and f = x - n ln 2
// in two steps; e^f by a polynomial of degree 6 whose relative error on
// |f| <= ln(2)/2 is 3.1e-9. In all within 2 ULP from -87.3 to 88. From -88.03
// down the result is +0 (subnormals are rounded or flushed), from 88.4 up it
// is +Inf, and NaN stays NaN.
func (w Width) Exp(t *Table, x reg.VecVirtual) {
	const (
		top    = 128 * math.Ln2  // n = 128 makes the exponent field that of infinity
		bottom = -127 * math.Ln2 // n = -127 makes the factor zero
		ln2Hi  = 0x1.62e4p-1     // 15 bits: n*ln2Hi is exact
		ln2Lo  = math.Ln2 - ln2Hi
	)
	n, p := w.Reg(), w.Reg()
	// The second source wins where one is NaN, so it must be x.
	VBROADCASTSS(t.F32(top), p)
	VMINPS(x, p, x)
	VBROADCASTSS(t.F32(bottom), p)
	VMAXPS(x, p, x)
	VMULPS(t.F32(math.Log2E), x, n)
	if w == W512 {
		VRNDSCALEPS(U8(0), n, n)
	} else {
		VROUNDPS(U8(0), n, n)
	}
	VFNMADD231PS(t.F32(ln2Hi), n, x)
	VFNMADD231PS(t.F32(ln2Lo), n, x)
	// Weighted least squares, reweighted towards the minimax solution.
	VBROADCASTSS(t.F32(0.0013814531365342882), p)
	for _, c := range []float64{
		0.008368745940115782, 0.041668390967675537, 0.16666520390097794, 0.49999993431213097, 1, 1,
	} {
		VFMADD213PS(t.F32(c), x, p)
	}
	VCVTPS2DQ(n, n)
	VPADDD(t.U32(127), n, n)
	VPSLLD(U8(23), n, n)
	VMULPS(n, p, x)
}
