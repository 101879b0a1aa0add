package emu

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// inst is a predecoded instruction. run is chosen once, when a kernel is
// loaded; it executes the instruction for one wave whose pc is already that of
// the next. An error that the machine would raise (a memory fault, a trap) is
// a panic with a *Fault, which the run loop turns into the dispatch's error.
type inst struct {
	run func(w *wave, in *inst)
	aux any // what run needs prepared, made by the handler's prepare
	// width has a bit for each lane of the wave in instructions that lanes run,
	// and is 0 in scalar ones.
	width uint64
	bytes uint64 // Size
	id    uint16 // Op.ID
	isa.Inst
}

// handler is how one operation executes.
type handler struct {
	// run executes it; nil means that the operation is unsupported.
	run func(w *wave, in *inst)
	// prepare, if not nil, is called once for each decoded instruction; it may
	// replace in.run by something faster and fill in.aux.
	prepare  func(in *inst) error
	fidelity Fidelity
}

// Fidelity says how near an operation is to the hardware.
type Fidelity struct {
	Approximate string // empty: exact; otherwise in which way not: "correctly rounded; hardware is within 1 ULP"
}

// handlers has every operation, by isa.Op.ID. Each file adds its encoding's.
var handlers = func() (t [isa.NumIDs]handler) {
	addScalar(&t) // SOP1, SOP2, SOPC, SOPK, SOPP
	addVector(&t) // VOP1, VOP2, VOPC, VOP3, VOP3P, VOPD
	addMemory(&t) // SMEM, DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF
	return t
}()

// Unsupported says that a kernel has an instruction that is not modelled.
type Unsupported struct {
	PC   uint64
	Text string // as the disassembler prints it
}

func (e *Unsupported) Error() string {
	return fmt.Sprintf("emu: instruction at %#x is not supported: %s", e.PC, e.Text)
}

// prepare makes an instruction ready to run.
func prepare(in *inst) error {
	h := &handlers[in.Op.ID]
	if h.run == nil && h.prepare == nil {
		return &Unsupported{PC: in.PC, Text: in.Inst.String()}
	}
	in.run = h.run
	if h.prepare != nil {
		return h.prepare(in)
	}
	return nil
}
