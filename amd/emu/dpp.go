package emu

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Data-parallel primitives: the first source comes from other lanes of the
// same row of 16 (DPP16) or group of 8 (DPP8).

// permutation says where the lanes of a DPP source come from.
type permutation struct {
	from     [64]uint8 // the lane
	inside   uint64    // lanes whose source is in the row
	enabled  uint64    // lanes that may be written, by row_mask and bank_mask
	zero     bool      // a lane without a source reads 0; otherwise it is not written
	inactive bool      // inactive lanes are sources too
}

// newPermutation is nil for an instruction without DPP.
func newPermutation(m *isa.Mods) *permutation {
	p := &permutation{inside: ^uint64(0), enabled: ^uint64(0), inactive: m.Flags&isa.FI != 0}
	switch m.DPP {
	case isa.NoDPP:
		return nil
	case isa.DPP8:
		p.zero = true
		for i := range p.from {
			p.from[i] = uint8(i&^7 | int(m.DPP8Lanes>>(3*(i&7))&7))
		}
	case isa.DPP16:
		p.zero = m.Flags&isa.BoundCtrl != 0
		for i := range p.from {
			if j := dppLane(m.DPPCtrl, i); j >= 0 {
				p.from[i] = uint8(j)
			} else {
				p.inside &^= 1 << i
			}
			if m.RowMask>>(i>>4)&1 == 0 || m.BankMask>>(i>>2&3)&1 == 0 {
				p.enabled &^= 1 << i
			}
		}
	}
	return p
}

// dppLane is the lane that lane i reads under dpp_ctrl, or -1.
func dppLane(ctrl uint16, i int) int {
	row, in, n := i&^15, i&15, int(ctrl&15)
	switch ctrl & 0x1f0 {
	case 0x100: // row_shl
		in += n
	case 0x110: // row_shr
		in -= n
	case 0x120: // row_ror
		in = (in - n) & 15
	case 0x140: // row_mirror, row_half_mirror
		if n == 0 {
			in = 15 - in
		} else {
			in ^= 7
		}
	case 0x150: // row_share
		in = n
	case 0x160: // row_xmask
		in ^= n
	default: // quad_perm
		in = in&^3 | int(ctrl>>(2*(in&3))&3)
	}
	if in < 0 || in > 15 {
		return -1
	}
	return row | in
}

// apply fills dst from src and returns the lanes that may be written.
func (p *permutation) apply(w *wave, dst, src *lanes) uint64 {
	for i, from := range p.from[:w.n] {
		dst[i&63] = src[from&63]
	}
	valid, active := p.inside, w.active()
	if !p.inactive && active != w.all() {
		for i, from := range p.from[:w.n] {
			if active>>(from&63)&1 == 0 {
				valid &^= 1 << (i & 63)
			}
		}
	}
	if !p.zero {
		return p.enabled & valid
	}
	for m := w.all() &^ valid; m != 0; m &= m - 1 {
		dst[bits.TrailingZeros64(m)&63] = 0
	}
	return p.enabled
}

// DPPSource is the lane that a lane takes the first source of a DPP instruction
// from; reads is false if it takes 0 instead, writes if its destination stays as it
// is. exec is the active lanes of n.
func DPPSource(m *isa.Mods, exec uint64, n, lane int) (from int, reads, writes bool) {
	p := newPermutation(m)
	if p == nil {
		return lane, true, true
	}
	from = int(p.from[lane&63])
	valid := p.inside>>(lane&63)&1 != 0 && from < n && (p.inactive || exec>>from&1 != 0)
	return from, valid, p.enabled>>(lane&63)&1 != 0 && (valid || p.zero)
}
