package emu

import (
	"fmt"
	"sync/atomic"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Code is decoded when a wave first reaches it, a run of instructions at a
// time, and kept for the kernel. Decoded instructions do not change, so that
// goroutines share them; a table of pointers to them is filled with atomic
// stores.

// blockWords is the number of words in a block.
const blockWords = 1 << 10

// block is the decoded instructions of some consecutive code, by the word they
// start at. nil is one that no wave has come to.
type block struct {
	base  uint64
	insts [blockWords]atomic.Pointer[inst]
}

// text is an executable segment as one kernel sees it: decoding depends on the
// wave size and on how many registers there are.
type text struct {
	*Buffer
	blocks []atomic.Pointer[block]
}

func newText(b *Buffer) *text {
	return &text{b, make([]atomic.Pointer[block], (len(b.Data)/4+blockWords-1)/blockWords+1)}
}

// text is the segment that an instruction at pc is in, or nil.
func (k *Kernel) text(pc uint64) *text {
	for _, t := range k.texts {
		if pc >= t.Addr && pc-t.Addr < uint64(len(t.Data)) {
			return t
		}
	}
	return nil
}

// enter makes the block that pc is in the wave's.
func (w *wave) enter(pc uint64) *block {
	k := w.d.kernel
	t := k.text(pc)
	if t == nil {
		panic(outside(pc))
	}
	if pc&3 != 0 {
		panic(&Fault{Kind: CodeFault, PC: pc, Detail: fmt.Sprintf("the program counter %#x is not a multiple of 4", pc)})
	}
	start := t.Addr &^ 3
	slot := &t.blocks[(pc-start)/4/blockWords]
	b := slot.Load()
	if b == nil {
		k.mu.Lock()
		if b = slot.Load(); b == nil {
			b = &block{base: start + (pc-start)/(4*blockWords)*(4*blockWords)}
			slot.Store(b)
		}
		k.mu.Unlock()
	}
	w.block = b
	return b
}

func outside(pc uint64) *Fault {
	return &Fault{Kind: CodeFault, PC: pc, Detail: fmt.Sprintf("the program counter %#x is outside of the code", pc)}
}

// fetch decodes the instruction at pc, which is in the wave's block, and those
// after it up to the next that does not go on to its successor.
func (w *wave) fetch(pc uint64) *inst {
	k, b := w.d.kernel, w.block
	k.mu.Lock()
	defer k.mu.Unlock()
	slot := &b.insts[(pc-b.base)/4]
	if in := slot.Load(); in != nil {
		return in
	}
	t := k.text(pc)
	if t == nil {
		panic(outside(pc))
	}
	const most = 64
	var run [most]inst
	n := 0
	for at := pc; n < most; {
		in := &run[n]
		if err := k.decode(t, in, at); err != nil {
			if at == pc {
				panic(err)
			}
			break // if a wave gets there, it will say so
		}
		n++
		at += uint64(in.Size)
		i := (at - b.base) / 4
		if i >= blockWords || at-t.Addr >= uint64(len(t.Data)) || endsRun(in) || b.insts[i].Load() != nil {
			break
		}
	}
	kept := make([]inst, n)
	copy(kept, run[:n])
	for i := range kept {
		b.insts[(kept[i].PC-b.base)/4].Store(&kept[i])
	}
	return &kept[0]
}

// endsRun says whether execution never goes on to the next instruction.
func endsRun(in *inst) bool {
	switch in.Op.Name {
	case "s_branch", "s_setpc_b64", "s_swappc_b64", "s_call_b64", "s_rfe_b64", "s_endpgm", "s_code_end":
		return true
	}
	return false
}

// decode makes the instruction at pc ready to run. The error is a *Fault or an
// *Unsupported.
func (k *Kernel) decode(t *text, in *inst, pc uint64) error {
	if err := isa.DecodeInto(&in.Inst, pc, t.Data[pc-t.Addr:], k.wave); err != nil {
		return &Fault{Kind: CodeFault, PC: pc, Detail: err.Error()}
	}
	in.bytes, in.id = uint64(in.Size), in.Op.ID
	if in.Op.Format >= isa.VOP1 || in.Op.Format >= isa.DS && in.Op.Format <= isa.MTBUF {
		in.width = ^uint64(0) >> (64 - uint(k.wave))
	}
	for i, o := range in.Args() {
		if o.Kind == isa.VGPR && int(o.Reg)+int(max(o.N, 1)) > k.vgprs {
			return &Fault{
				Kind: LimitFault, PC: pc, Text: in.Inst.String(),
				Detail: fmt.Sprintf("operand %d is v%d, the kernel has %d vector registers", i, int(o.Reg)+int(max(o.N, 1))-1, k.vgprs),
			}
		}
	}
	return prepare(in)
}
