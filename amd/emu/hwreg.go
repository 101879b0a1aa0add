package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

// The hardware registers that s_getreg and s_setreg reach.
const (
	hwMode         = 1
	hwStatus       = 2
	hwTrapStatus   = 3
	hwGPRAlloc     = 5
	hwLDSAlloc     = 6
	hwIBStatus     = 7
	hwMemoryBases  = 15
	hwScratchLo    = 20
	hwScratchHi    = 21
	hwID1          = 23
	hwID2          = 24
	hwShaderCycles = 29
)

// The bits of STATUS that are modelled.
const (
	statusSCC     = 1 << 0
	statusExecZ   = 1 << 9
	statusVCCZ    = 1 << 10
	statusInGroup = 1 << 11 // one of several waves
	statusValid   = 1 << 16
)

// The bits of MODE that a program may change: rounding, denormals, clamp, IEEE,
// exceptions, half overflow, and the disabling of performance counters.
const modeWritable = 1<<29 - 1

// getReg is s_getreg_b32: bits of a hardware register.
func getReg(w *wave, imm, _, _ uint32) uint32 {
	id, first, n := isa.HWReg(imm)
	return uint32(bitField(uint64(w.hardware(id)), uint32(first), uint32(n)))
}

// hardware is the value of a hardware register; those that are not modelled, or
// hidden from programs, are 0.
func (w *wave) hardware(id int) uint32 {
	switch id {
	case hwMode:
		return w.mode
	case hwStatus:
		v := uint32(statusValid) | w.flags
		if w.scc {
			v |= statusSCC
		}
		if w.active() == 0 {
			v |= statusExecZ
		}
		if w.vcc()&w.all() == 0 {
			v |= statusVCCZ
		}
		if len(w.group.waves) > 1 {
			v |= statusInGroup
		}
		return v
	case hwTrapStatus:
		return w.trapStatus
	case hwGPRAlloc:
		return uint32(len(w.vgpr)/8-1) << 12
	case hwLDSAlloc:
		return uint32((len(w.group.lds)+511)/512) << 12
	case hwMemoryBases:
		return PrivateBase>>48 | SharedBase>>48<<16
	case hwID1: // wave slot, SIMD, compute unit
		return uint32(w.id/4&31) | uint32(w.id&3)<<8 | uint32(w.cu>>1&15)<<10 | uint32(w.cu&1)<<14
	case hwShaderCycles:
		return uint32(w.time()) & 0xfffff
	}
	return 0
}

// setReg is s_setreg: it changes bits of MODE, and the exceptions of TRAPSTS.
// Other registers do not change.
func setReg(w *wave, imm, value, _ uint32) uint32 {
	id, first, n := isa.HWReg(imm)
	mask := uint32(1<<n-1) << first
	value = value << first & mask
	switch id {
	case hwMode:
		mask &= modeWritable
		w.mode = w.mode&^mask | value&mask
	case hwTrapStatus:
		mask &= 0x1ff
		w.trapStatus = w.trapStatus&^mask | value&mask
	}
	return 0
}

// time is what clocks show: the instructions that the scheduler has run.
func (w *wave) time() uint64 { return w.now + uint64(w.slice-w.left-w.unused) }

// The messages that are answered.
const (
	messageInterrupt   = 1
	messageDealloc     = 3
	messageGetDoorbell = 128
	messageGetDDID     = 129
	messageGetTMA      = 130
	messageGetRealtime = 131
	messageGetTBA      = 133
)

// answer is s_sendmsg_rtn: the time, or the handle of something that there is
// not.
func answer(w *wave, message, _, _ uint64) uint64 {
	switch message {
	case messageGetRealtime:
		return w.time()
	case messageGetDoorbell, messageGetDDID, messageGetTMA, messageGetTBA:
		return 0
	}
	raise(TrapFault, "message %d is not answered", message)
	return 0
}
