package hsaco

import "fmt"

// descriptorBytes is the size of a kernel descriptor, and its alignment.
const descriptorBytes = 64

// What a gfx11 compute unit or workgroup processor gives one workgroup or wave.
const (
	LDSBytesMax = 64 << 10
	VGPRsMax    = 256
	SGPRsMax    = 108 // s0..s105 and VCC, as metadata counts them

	// ScratchBytesWaveMax is 15 bits of 64 dwords, for all lanes of a wave.
	ScratchBytesWaveMax = (1<<15 - 1) * 64 * 4
)

// Descriptor is a kernel descriptor: what the packet processor reads to start
// a kernel. Fields are as in the file; the methods take the registers apart,
// with gfx11's meaning of the bits.
type Descriptor struct {
	LDSBytes       uint32 // static, of a workgroup
	ScratchBytes   uint32 // of a work-item
	KernargBytes   uint32 // 0 in objects from before LLVM wrote it
	EntryOffset    int64  // of the first instruction from the descriptor; 0 before linking
	Rsrc1          uint32 // COMPUTE_PGM_RSRC1
	Rsrc2          uint32
	Rsrc3          uint32
	Properties     uint16 // kernel code properties
	KernargPreload uint16 // gfx940 and later; 0 on gfx11
}

// parseDescriptor takes the 64 bytes of a descriptor.
func parseDescriptor(b []byte) Descriptor {
	return Descriptor{
		LDSBytes: le.Uint32(b), ScratchBytes: le.Uint32(b[4:]), KernargBytes: le.Uint32(b[8:]),
		EntryOffset: int64(le.Uint64(b[16:])),
		Rsrc3:       le.Uint32(b[44:]), Rsrc1: le.Uint32(b[48:]), Rsrc2: le.Uint32(b[52:]),
		Properties: le.Uint16(b[56:]), KernargPreload: le.Uint16(b[58:]),
	}
}

// bits returns n bits of v from bit at.
func bits(v uint32, at, n uint) uint32 { return v >> at & (1<<n - 1) }

// RoundMode is a rounding mode as the MODE register encodes it.
type RoundMode uint8

// The rounding modes.
const (
	RoundNearestEven RoundMode = iota
	RoundUp
	RoundDown
	RoundToZero
)

func (m RoundMode) String() string {
	return [...]string{"to nearest even", "up", "down", "to zero"}[m&3]
}

// DenormMode says which denormals are kept, as the MODE register encodes it.
type DenormMode uint8

// The denormal modes.
const (
	FlushBoth    DenormMode = iota
	FlushResults            // denormal inputs are kept
	FlushInputs             // denormal results are kept
	KeepDenormals
)

func (m DenormMode) String() string {
	return [...]string{"flushed", "flushed in results", "flushed in inputs", "kept"}[m&3]
}

// WavefrontSize is 32 or 64.
func (d *Descriptor) WavefrontSize() int {
	if d.Properties>>10&1 == 1 {
		return 32
	}
	return 64
}

// VGPRs is how many vector registers a lane may name: the count in units of 8
// (wave32) or 4 (wave64).
func (d *Descriptor) VGPRs() int {
	return (int(bits(d.Rsrc1, 0, 6)) + 1) * 256 / d.WavefrontSize()
}

// GranulatedSGPRs is the field of that name, 0 on gfx11, where every wave has all.
func (d *Descriptor) GranulatedSGPRs() int { return int(bits(d.Rsrc1, 6, 4)) }

// Priority is the wave's, 0..3.
func (d *Descriptor) Priority() int { return int(bits(d.Rsrc1, 10, 2)) }

// FloatMode is the initial low byte of the MODE register: the four modes below.
func (d *Descriptor) FloatMode() uint8 { return uint8(bits(d.Rsrc1, 12, 8)) }

// Round32 is how 32-bit floats round.
func (d *Descriptor) Round32() RoundMode { return RoundMode(bits(d.Rsrc1, 12, 2)) }

// Round16And64 is how 16-bit and 64-bit floats round.
func (d *Descriptor) Round16And64() RoundMode { return RoundMode(bits(d.Rsrc1, 14, 2)) }

// Denorm32 is what happens to 32-bit denormals.
func (d *Descriptor) Denorm32() DenormMode { return DenormMode(bits(d.Rsrc1, 16, 2)) }

// Denorm16And64 is what happens to 16-bit and 64-bit denormals.
func (d *Descriptor) Denorm16And64() DenormMode { return DenormMode(bits(d.Rsrc1, 18, 2)) }

// Privileged waves are refused by drivers.
func (d *Descriptor) Privileged() bool { return bits(d.Rsrc1, 20, 1) == 1 }

// DX10Clamp says that clamping turns a NaN into 0.
func (d *Descriptor) DX10Clamp() bool { return bits(d.Rsrc1, 21, 1) == 1 }

// IEEEMode says that signalling NaNs are quieted as IEEE 754-2008 wants.
func (d *Descriptor) IEEEMode() bool { return bits(d.Rsrc1, 23, 1) == 1 }

// FP16Overflow says that overflowing half results are clamped, not infinite.
func (d *Descriptor) FP16Overflow() bool { return bits(d.Rsrc1, 26, 1) == 1 }

// WGPMode says that a workgroup's waves may sit on both compute units of a
// workgroup processor, with an L0 cache each. Otherwise it is CU mode.
func (d *Descriptor) WGPMode() bool { return bits(d.Rsrc1, 29, 1) == 1 }

// MemOrdered says that loads of different kinds return in order.
func (d *Descriptor) MemOrdered() bool { return bits(d.Rsrc1, 30, 1) == 1 }

// ForwardProgress says that the oldest waves need not be preferred.
func (d *Descriptor) ForwardProgress() bool { return bits(d.Rsrc1, 31, 1) == 1 }

// UsesScratch is ENABLE_PRIVATE_SEGMENT.
func (d *Descriptor) UsesScratch() bool { return bits(d.Rsrc2, 0, 1) == 1 }

// UserSGPRCount is how many scalar registers the packet processor fills.
func (d *Descriptor) UserSGPRCount() int { return int(bits(d.Rsrc2, 1, 5)) }

// WorkgroupIDs says which of the workgroup's x, y and z follow the user SGPRs.
func (d *Descriptor) WorkgroupIDs() [3]bool {
	return [3]bool{bits(d.Rsrc2, 7, 1) == 1, bits(d.Rsrc2, 8, 1) == 1, bits(d.Rsrc2, 9, 1) == 1}
}

// WorkgroupInfo says that one more SGPR has information on the workgroup.
func (d *Descriptor) WorkgroupInfo() bool { return bits(d.Rsrc2, 10, 1) == 1 }

// WorkitemIDs is how many of a work-item's x, y and z the kernel wants, 1..3.
// gfx11 packs them into v0, 10 bits each.
func (d *Descriptor) WorkitemIDs() int { return int(bits(d.Rsrc2, 11, 2)) + 1 }

// Exceptions is the set of enabled floating-point and integer exceptions, in
// the order of COMPUTE_PGM_RSRC2's bits from 24: invalid, denormal, division by
// zero, overflow, underflow, inexact, integer division by zero.
func (d *Descriptor) Exceptions() uint8 { return uint8(bits(d.Rsrc2, 24, 7)) }

// SharedVGPRs is how many registers the halves of a wave64 share.
func (d *Descriptor) SharedVGPRs() int { return int(bits(d.Rsrc3, 0, 4)) * 8 }

// InstPrefBytes is how much code is prefetched when a wave starts.
func (d *Descriptor) InstPrefBytes() int { return int(bits(d.Rsrc3, 4, 6)) * 128 }

// DynamicStack says that the kernel calls what it cannot bound.
func (d *Descriptor) DynamicStack() bool { return d.Properties>>11&1 == 1 }

// UserSGPR is one value that the packet processor puts into scalar registers.
type UserSGPR struct {
	Name  string `json:"name"` // as in the directive .amdhsa_user_sgpr_NAME
	First int    `json:"first"`
	Count int    `json:"count"`
}

var userSGPRs = [...]UserSGPR{ // in the order of their bits and registers
	{Name: "private_segment_buffer", Count: 4},
	{Name: "dispatch_ptr", Count: 2},
	{Name: "queue_ptr", Count: 2},
	{Name: "kernarg_segment_ptr", Count: 2},
	{Name: "dispatch_id", Count: 2},
	{Name: "flat_scratch_init", Count: 2},
	{Name: "private_segment_size", Count: 1},
}

// UserSGPRs lists the enabled values with their registers. The workgroup's ids
// (WorkgroupIDs) come in the registers from UserSGPRCount.
func (d *Descriptor) UserSGPRs() []UserSGPR {
	var list []UserSGPR
	next := 0
	for bit, u := range userSGPRs {
		if d.Properties>>bit&1 == 1 {
			u.First = next
			next += u.Count
			list = append(list, u)
		}
	}
	return list
}

// check says what of the descriptor no gfx11 machine can do.
func (d *Descriptor) check(at uint64, who string) *Error {
	wave := uint64(d.WavefrontSize())
	last := UserSGPR{}
	if list := d.UserSGPRs(); len(list) > 0 {
		last = list[len(list)-1]
	}
	detail := ""
	switch {
	case d.LDSBytes > LDSBytesMax:
		detail = fmt.Sprintf("%d bytes of LDS, a workgroup has %d", d.LDSBytes, LDSBytesMax)
	case d.VGPRs() > VGPRsMax:
		detail = fmt.Sprintf("%d VGPRs, a lane has %d", d.VGPRs(), VGPRsMax)
	case d.VGPRs()+d.SharedVGPRs() > VGPRsMax:
		detail = fmt.Sprintf("%d VGPRs and %d shared ones, a lane has %d", d.VGPRs(), d.SharedVGPRs(), VGPRsMax)
	case d.SharedVGPRs() > 0 && wave == 32:
		detail = fmt.Sprintf("%d shared VGPRs in a wave32", d.SharedVGPRs())
	case uint64(d.ScratchBytes)*wave > ScratchBytesWaveMax:
		detail = fmt.Sprintf("%d bytes of scratch in each of %d lanes, a wave has %d", d.ScratchBytes, wave, ScratchBytesWaveMax)
	case d.UserSGPRCount() > 16:
		detail = fmt.Sprintf("%d user SGPRs, there are 16", d.UserSGPRCount())
	case last.First+last.Count > d.UserSGPRCount():
		return refuse(BadDescriptor, at, "%s: %s in s%d, of %d user SGPRs", who, last.Name, last.First, d.UserSGPRCount())
	default:
		return nil
	}
	return refuse(OverLimit, at, "%s: %s", who, detail)
}
