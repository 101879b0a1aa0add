package emu

import (
	"fmt"
	"sync"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Kernel is an entry point of a module, ready to be dispatched. Its code is
// decoded as it is reached, once.
type Kernel struct {
	*hsaco.Kernel
	Module *Module

	wave  isa.Wave
	vgprs int // that a lane may name
	mu    sync.Mutex
	texts []*text
}

func newKernel(m *Module, k *hsaco.Kernel) (*Kernel, error) {
	d := &k.Descriptor
	if d.Privileged() {
		return nil, fmt.Errorf("emu: kernel %q wants to be privileged", k.Name)
	}
	if d.KernargPreload != 0 {
		return nil, fmt.Errorf("emu: kernel %q wants arguments preloaded, which gfx11 does not do", k.Name)
	}
	kernel := &Kernel{Kernel: k, Module: m, wave: isa.Wave(d.WavefrontSize()), vgprs: d.VGPRs()}
	for _, b := range m.texts {
		kernel.texts = append(kernel.texts, newText(b))
	}
	if kernel.text(kernel.EntryPC()) == nil {
		return nil, &Fault{Kind: CodeFault, PC: kernel.EntryPC(), Kernel: k.Name, Detail: "the kernel's entry is outside of the code"}
	}
	return kernel, nil
}

// EntryPC is the address of the kernel's first instruction.
func (k *Kernel) EntryPC() uint64 { return k.Module.Base + k.Entry }

// KernargBytes is the size of the kernel's arguments.
func (k *Kernel) KernargBytes() int {
	n := k.Descriptor.KernargBytes
	if k.Meta != nil {
		n = max(n, k.Meta.KernargBytes)
	}
	return int(n)
}
