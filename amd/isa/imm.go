package isa

import "strconv"

// The texts of immediates that have parts.

// appendImm appends an immediate of a scalar instruction as its field says.
func appendImm(b []byte, f Field, v uint32) []byte {
	switch f {
	case fDec:
		return appendUint(b, v)
	case fNum:
		if v <= 64 {
			return appendUint(b, v)
		}
	case fImm32:
		// As the source operand with that value would be.
		switch {
		case int32(v) >= -16 && int32(v) <= 64:
			o := Operand{Kind: InlineInt, Imm: v}
			return o.appendTo(b)
		default:
			for i := range inlineFloats {
				if inlineFloats[i].f32 == v {
					return append(b, inlineFloats[i].text...)
				}
			}
		}
	case fWait:
		return appendCounters(b, waitCounters, v)
	case fDepctr:
		if v&depctrUnused == 0 {
			return appendCounters(b, depctrCounters, v)
		}
	case fDelay:
		return appendDelay(b, v)
	case fHWReg:
		return appendHWReg(b, v)
	case fMsg, fMsg8:
		return appendMessage(b, v)
	case fVersion:
		if v&0x1f00 == 0 {
			return appendVersion(b, v)
		}
	}
	return appendHex(b, v)
}

// counter is a field of a wait instruction; all ones means no wait.
type counter struct {
	name        string
	shift, bits uint
}

var waitCounters = []counter{{"vmcnt", 10, 6}, {"expcnt", 0, 3}, {"lgkmcnt", 4, 6}}

var depctrCounters = []counter{
	{"depctr_hold_cnt", 7, 1},
	{"depctr_sa_sdst", 0, 1},
	{"depctr_va_vdst", 12, 4},
	{"depctr_va_sdst", 9, 3},
	{"depctr_va_ssrc", 8, 1},
	{"depctr_va_vcc", 1, 1},
	{"depctr_vm_vsrc", 2, 3},
}

const depctrUnused = 0x60 // bits of no counter

// appendCounters appends the counters that are waited for, or all if none is.
func appendCounters(b []byte, cs []counter, v uint32) []byte {
	none := true
	for _, c := range cs {
		none = none && v>>c.shift&(1<<c.bits-1) == 1<<c.bits-1
	}
	first := true
	for _, c := range cs {
		n := v >> c.shift & (1<<c.bits - 1)
		if n == 1<<c.bits-1 && !none {
			continue
		}
		if !first {
			b = append(b, ' ')
		}
		first = false
		b = append(append(b, c.name...), '(')
		b = append(appendUint(b, n), ')')
	}
	return b
}

var delayIDs = [16]string{
	"", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4",
	"TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1",
	"SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3",
}

var delaySkips = [8]string{"", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"}

// appendDelay appends up to three parts: the dependence of the next
// instruction, how many to skip, and the dependence of the one after those.
func appendDelay(b []byte, v uint32) []byte {
	start := len(b)
	part := func(name, value, invalid string, n uint32) {
		if n == 0 {
			return
		}
		if len(b) > start {
			b = append(b, " | "...)
		}
		if value == "" {
			value = invalid
		}
		b = append(append(append(append(b, name...), '('), value...), ')')
	}
	id0, skip, id1 := v&0xf, v>>4&7, v>>7&0xf
	part("instid0", delayIDs[id0], "/* invalid instid value */", id0)
	part("instskip", delaySkips[skip], "/* invalid instskip value */", skip)
	part("instid1", delayIDs[id1], "/* invalid instid value */", id1)
	if len(b) == start {
		return append(b, '0')
	}
	return b
}

// hwRegs names the hardware registers by number.
var hwRegs = map[uint32]string{
	1: "MODE", 2: "STATUS", 3: "TRAPSTS", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS",
	15: "SH_MEM_BASES", 18: "PERF_SNAPSHOT_PC_LO", 19: "PERF_SNAPSHOT_PC_HI",
	20: "FLAT_SCR_LO", 21: "FLAT_SCR_HI", 23: "HW_ID1", 24: "HW_ID2",
	27: "PERF_SNAPSHOT_DATA", 29: "SHADER_CYCLES",
}

// HWReg takes the immediate of s_getreg and s_setreg apart: the register's
// number, the first bit and the number of bits.
func HWReg(imm uint32) (id, first, bits int) {
	return int(imm & 63), int(imm >> 6 & 31), int(imm>>11&31) + 1
}

func appendHWReg(b []byte, v uint32) []byte {
	id, first, bits := HWReg(v)
	b = append(b, "hwreg("...)
	if name := hwRegs[uint32(id)]; name != "" {
		b = append(append(b, "HW_REG_"...), name...)
	} else {
		b = appendUint(b, uint32(id))
	}
	if first != 0 || bits != 32 {
		b = appendUint(append(b, ", "...), uint32(first))
		b = appendUint(append(b, ", "...), uint32(bits))
	}
	return append(b, ')')
}

// messages names the messages by number, which is the low byte.
var messages = map[uint32]string{
	1: "MSG_INTERRUPT", 2: "MSG_HS_TESSFACTOR", 3: "MSG_DEALLOC_VGPRS",
	5: "MSG_STALL_WAVE_GEN", 6: "MSG_HALT_WAVES", 9: "MSG_GS_ALLOC_REQ",
	128: "MSG_RTN_GET_DOORBELL", 129: "MSG_RTN_GET_DDID", 130: "MSG_RTN_GET_TMA",
	131: "MSG_RTN_GET_REALTIME", 132: "MSG_RTN_SAVE_WAVE", 133: "MSG_RTN_GET_TBA",
	134: "MSG_RTN_GET_TBA_TO_PC",
}

func appendMessage(b []byte, v uint32) []byte {
	if name := messages[v&0xff]; name != "" {
		return append(append(append(b, "sendmsg("...), name...), ')')
	}
	if v > 0xff {
		return appendUint(b, v)
	}
	return append(appendUint(append(b, "sendmsg("...), v), ", 0, 0)"...)
}

const dsSwizzle = 53 // ds_swizzle_b32

// Bits of the offset of ds_swizzle_b32, by what the high ones say.
const (
	swizzleFFT    = 0xe000 // and above: a transform's lane order
	swizzleRotate = 0xc000
	swizzleQuad   = 0x8000 // with the bits 14:8 zero: four selectors
)

// appendSwizzle appends the pattern of ds_swizzle_b32, most specific first.
func appendSwizzle(b []byte, v uint32) []byte {
	if v == 0 {
		return b
	}
	b = append(b, " offset:"...)
	list := func(name string, ns ...uint32) []byte {
		b = append(append(b, "swizzle("...), name...)
		for _, n := range ns {
			b = appendUint(append(b, ','), n)
		}
		return append(b, ')')
	}
	and, or, xor := v&31, v>>5&31, v>>10&31
	switch {
	case v >= swizzleFFT:
		return list("FFT", and)
	case v >= swizzleRotate:
		return list("ROTATE", v>>10&1, or)
	case v&0xff00 == swizzleQuad:
		return list("QUAD_PERM", v&3, v>>2&3, v>>4&3, v>>6&3)
	case v >= swizzleQuad:
		return appendUint(b, v)
	case and == 31 && or == 0 && xor&(xor-1) == 0 && xor != 0:
		return list("SWAP", xor)
	case and == 31 && or == 0 && xor&(xor+1) == 0 && xor > 1:
		return list("REVERSE", xor+1)
	}
	if group := 32 - and; xor == 0 && group > 1 && group&(group-1) == 0 && or < group {
		return list("BROADCAST", group, or)
	}
	return appendBitmask(b, and, or, xor)
}

// appendBitmask appends the five bits of a lane number after "and", "or" and
// "xor", the highest first: constant, kept or inverted.
func appendBitmask(b []byte, and, or, xor uint32) []byte {
	b = append(b, `swizzle(BITMASK_PERM,"`...)
	for i := 4; i >= 0; i-- {
		zero, ones := or^xor, (and|or)^xor // what becomes of lane 0 and of lane 31
		b = append(b, [4]byte{'0', 'i', 'p', '1'}[zero>>i&1|ones>>i&1<<1])
	}
	return append(b, `")`...)
}

// versions names the low byte of s_version.
var versions = map[uint32]string{0: "GFX7", 4: "GFX10", 6: "GFX11", 9: "GFX12"}

// appendVersion appends a sum of the version and up to three flags, which the
// assembler nests to the left.
func appendVersion(b []byte, v uint32) []byte {
	text := strconv.Itoa(int(v & 0xff))
	if name := versions[v&0xff]; name != "" {
		text = "UC_VERSION_" + name
	}
	sum := false
	for i, flag := range [3]string{"W64", "W32", "MDP"} {
		if v>>(13+i)&1 == 0 {
			continue
		}
		if sum {
			text = "(" + text + ")"
		}
		text += "|UC_VERSION_" + flag + "_BIT"
		sum = true
	}
	return append(b, text...)
}
