package hsaco

import (
	"fmt"
	"strings"
)

// Setting is how code was compiled with regard to a feature of the processor
// that the machine may have on or off.
type Setting uint8

// The settings.
const (
	Unsupported Setting = iota // the processor has no such feature
	Any                        // the code works either way
	Off
	On
)

// Target is what an object's e_flags say about the machine.
type Target struct {
	Processor      string // "gfx1151"; "machine 0xff" if unknown
	Mach           uint8  // EF_AMDGPU_MACH
	XNACK, SRAMECC Setting
	Generic        uint8 // the version of a generic processor; 0 for others
}

// machines names the values of EF_AMDGPU_MACH that LLVM 22 knows.
var machines = map[uint8]string{
	0x01: "r600", 0x02: "r630", 0x03: "rs880", 0x04: "rv670", 0x05: "rv710", 0x06: "rv730", 0x07: "rv770", 0x08: "cedar",
	0x09: "cypress", 0x0a: "juniper", 0x0b: "redwood", 0x0c: "sumo", 0x0d: "barts", 0x0e: "caicos", 0x0f: "cayman", 0x10: "turks",
	0x20: "gfx600", 0x21: "gfx601", 0x3a: "gfx602",
	0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704", 0x3b: "gfx705",
	0x28: "gfx801", 0x29: "gfx802", 0x2a: "gfx803", 0x3c: "gfx805", 0x2b: "gfx810",
	0x2c: "gfx900", 0x2d: "gfx902", 0x2e: "gfx904", 0x2f: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x3f: "gfx90a", 0x32: "gfx90c",
	0x4c: "gfx942", 0x4f: "gfx950", 0x51: "gfx9-generic", 0x5f: "gfx9-4-generic",
	0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x42: "gfx1013", 0x52: "gfx10-1-generic",
	0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3e: "gfx1034", 0x3d: "gfx1035", 0x45: "gfx1036", 0x53: "gfx10-3-generic",
	0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102", 0x44: "gfx1103", 0x54: "gfx11-generic",
	0x43: "gfx1150", 0x4a: "gfx1151", 0x55: "gfx1152", 0x58: "gfx1153",
	0x48: "gfx1200", 0x4e: "gfx1201", 0x59: "gfx12-generic", 0x49: "gfx1250", 0x5a: "gfx1251",
}

// parseTarget takes e_flags apart as the code object version defines them.
func parseTarget(flags uint32, version int) Target {
	t := Target{Mach: uint8(flags)}
	var ok bool
	if t.Processor, ok = machines[t.Mach]; !ok {
		t.Processor = fmt.Sprintf("machine %#02x", t.Mach)
	}
	if version == 3 {
		// One bit each. Whether the processor has the feature is not said.
		if flags&0x100 != 0 {
			t.XNACK = On
		}
		if flags&0x200 != 0 {
			t.SRAMECC = On
		}
		return t
	}
	t.XNACK, t.SRAMECC = Setting(flags>>8&3), Setting(flags>>10&3)
	if version >= 6 {
		t.Generic = uint8(flags >> 24)
	}
	return t
}

// String is LLVM's target ID, such as "gfx90a:sramecc+:xnack-".
func (t Target) String() string {
	s := t.Processor
	for _, f := range []struct {
		name string
		set  Setting
	}{{"sramecc", t.SRAMECC}, {"xnack", t.XNACK}} {
		switch f.set {
		case On:
			s += ":" + f.name + "+"
		case Off:
			s += ":" + f.name + "-"
		}
	}
	return s
}

// GFX11 reports whether the code is for a processor of the gfx11 generation
// that LLVM 22 knows: gfx1100..1103, gfx1150..1153 or gfx11-generic.
func (t Target) GFX11() bool { return strings.HasPrefix(t.Processor, "gfx11") }
