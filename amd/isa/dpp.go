package isa

import "strconv"

// Data-parallel primitives: src0 comes from another lane. A source code says
// that a DPP word follows, which has the register and where its lanes go.

// The source codes of the DPP words.
const (
	codeDPP8   = 233
	codeDPP8FI = 234
	codeDPP16  = 250
)

// isDPP says whether src0's code announces a DPP word.
func isDPP(code uint32) bool { return code == codeDPP8 || code == codeDPP8FI || code == codeDPP16 }

// dpp reads the DPP word, which gives src0 its register. The short encodings
// have no modifiers of their own and take them from the DPP16 word.
func (d *decoder) dpp(f *vfields) {
	if !isDPP(f.src[0]) {
		return
	}
	if !d.in.Op.allowsDPP() {
		d.unknown("DPP, which the operation does not have")
		return
	}
	if !d.extend(d.words + 1) {
		return
	}
	w, m := d.in.Words[d.words-1], &d.in.Mods
	code := f.src[0]
	f.src[0] = 256 + w&0xff
	if code != codeDPP16 {
		m.DPP, m.DPP8Lanes = DPP8, w>>8
		if code == codeDPP8FI {
			m.Flags |= FI
		}
		return
	}
	m.DPP = DPP16
	m.DPPCtrl = uint16(w >> 8 & 0x1ff)
	m.BankMask, m.RowMask = uint8(w>>24&0xf), uint8(w>>28)
	if w>>18&1 != 0 {
		m.Flags |= FI
	}
	if w>>19&1 != 0 {
		m.Flags |= BoundCtrl
	}
	if !validDPPCtrl(m.DPPCtrl) {
		d.unknown("reserved dpp_ctrl")
	}
	if f.short {
		f.neg = w>>20&1 | w>>22&1<<1
		f.abs = w>>21&1 | w>>23&1<<1
		d.modBits(f, false, 0)
	}
}

// allowsDPP says whether the operation has DPP forms: not with operands of more
// than a register, and not where the table says so.
func (o *Op) allowsDPP() bool {
	if o.Flags&OpNoDPP != 0 {
		return false
	}
	for i := range o.Args {
		if t := o.Args[i].Type; t.Dwords() > 1 {
			return false
		}
	}
	return true
}

// The values of dpp_ctrl that are not a quad permutation (0 to 0xff). Those
// with 15 or 16 values have the lane count or the lane in the low 4 bits.
const (
	dppRowShl        = 0x100
	dppRowShr        = 0x110
	dppRowRor        = 0x120
	dppRowMirror     = 0x140
	dppRowHalfMirror = 0x141
	dppRowShare      = 0x150
	dppRowXmask      = 0x160
)

func validDPPCtrl(c uint16) bool {
	switch c & 0x1f0 {
	case dppRowShl, dppRowShr, dppRowRor:
		return c&0xf != 0
	case dppRowMirror:
		return c <= dppRowHalfMirror
	case dppRowShare, dppRowXmask:
		return true
	}
	return c < 0x100
}

// appendDPP appends the DPP modifiers.
func (in *Inst) appendDPP(b []byte) []byte {
	m := &in.Mods
	switch m.DPP {
	case NoDPP:
		return b
	case DPP8:
		b = append(b, " dpp8:["...)
		for i := range 8 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '0'+byte(m.DPP8Lanes>>(3*i)&7))
		}
		b = append(b, ']')
	case DPP16:
		b = appendDPPCtrl(b, m.DPPCtrl)
		b = appendHex(append(b, " row_mask:"...), uint32(m.RowMask))
		b = appendHex(append(b, " bank_mask:"...), uint32(m.BankMask))
		if m.Flags&BoundCtrl != 0 {
			b = append(b, " bound_ctrl:1"...)
		}
	}
	if m.Flags&FI != 0 {
		b = append(b, " fi:1"...)
	}
	return b
}

func appendDPPCtrl(b []byte, c uint16) []byte {
	name := ""
	switch c & 0x1f0 {
	case dppRowShl:
		name = " row_shl:"
	case dppRowShr:
		name = " row_shr:"
	case dppRowRor:
		name = " row_ror:"
	case dppRowMirror:
		if c == dppRowHalfMirror {
			return append(b, " row_half_mirror"...)
		}
		return append(b, " row_mirror"...)
	case dppRowShare:
		name = " row_share:"
	case dppRowXmask:
		name = " row_xmask:"
	default:
		b = append(b, " quad_perm:["...)
		for i := range 4 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '0'+byte(c>>(2*i)&3))
		}
		return append(b, ']')
	}
	return strconv.AppendInt(append(b, name...), int64(c&0xf), 10)
}
