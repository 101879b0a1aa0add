package emu

import (
	"cmp"
	"maps"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// The vector ALU. An operation is a kernel: a loop over the lanes that knows
// nothing of encodings; kernels are in files by kind (vector_int.go, half.go).
// What an instruction adds is the same for all of them and is decided when it
// is loaded: where the sources come from (vector_source.go, dpp.go) and where
// the result goes (vector_run.go).
//
// Kernels compute every lane, active or not; the mask decides what is written.

// kernel computes an operation whose operands and result have up to 32 bits.
// Sources that the operation does not have are nil. 16-bit values are in the
// low halves; the high halves are undefined, in sources and in results. The
// destination may be one of the sources.
type kernel func(w *wave, d, a, b, c *lanes)

// wideKernel is a kernel of an operation with an operand of 64 bits. Operands
// of 32 bits are zero extended.
type wideKernel func(w *wave, d, a, b, c *wide)

// test is a kernel whose result is a lane mask.
type test func(w *wave, a, b *lanes) uint64

// wideTest is a test of 64-bit operands.
type wideTest func(w *wave, a, b *wide) uint64

// operation is how a vector operation computes, whatever its encoding. One of
// the kernels is set, or custom.
type operation struct {
	run  kernel
	wide wideKernel
	test test
	// wideTest is for compares of 64 bits.
	wideTest wideTest
	negate   bool // the result of the test is the opposite

	// saturate replaces run where the clamp bit is set; for operations on
	// floats it is nil and clamp limits the result to 0 to 1.
	saturate kernel
	// saturateWide is to wide as saturate is to run.
	saturateWide wideKernel

	// custom prepares an instruction that is like no other.
	custom func(in *inst) error

	approximate string // Fidelity.Approximate
}

// vectorOperations are all operations by name.
func vectorOperations() map[string]operation {
	all := make(map[string]operation)
	for _, family := range []map[string]operation{
		moveOperations, integerOperations, bitOperations, shortOperations,
		floatOperations, halfOperations, doubleOperations, convertOperations,
		compareOperations(), carryOperations, partOperations, transOperations,
		divideOperations, cubeOperations, packedOperations(), dotOperations, matrixOperations,
	} {
		maps.Copy(all, family)
	}
	return all
}

func addVector(t *[isa.NumIDs]handler) {
	all := vectorOperations()
	for _, op := range isa.Ops() {
		if op.Format < isa.VOP1 {
			continue
		}
		h := &t[op.ID]
		if op.Format == isa.VOPD {
			h.prepare = prepareDual(all)
			x, y := op.Halves()
			h.fidelity.Approximate = cmp.Or(all[singleName(x)].approximate, all[singleName(y)].approximate)
			continue
		}
		o, ok := all[op.Name]
		if !ok {
			continue
		}
		h.fidelity.Approximate = o.approximate
		h.prepare = func(in *inst) error { return o.prepare(in) }
	}
}

// prepare chooses how an instruction of the operation runs.
func (o *operation) prepare(in *inst) error {
	if o.custom != nil {
		return o.custom(in)
	}
	p, err := newPlan(in)
	if err != nil {
		return err
	}
	in.aux = p
	p.negate = o.negate
	p.kernel, p.wide = o.run, o.wide
	if in.Mods.Flags&isa.Clamp != 0 && (o.saturate != nil || o.saturateWide != nil) {
		p.kernel, p.wide, p.clamp = o.saturate, o.saturateWide, false
	}
	switch {
	case o.test != nil:
		p.test = o.test
		in.run = runTest
	case o.wideTest != nil:
		p.wideTest = o.wideTest
		in.run = runWideTest
	case o.wide != nil:
		in.run = runWide
	case p.plain():
		in.run = runPlain
	default:
		in.run = runLanes
	}
	return nil
}
