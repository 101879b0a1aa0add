package isa

import "math/bits"

// MIMG: images through a descriptor, and intersections of rays.
//
//	31:26 111100 | 25:18 opcode | 17 d16 | 16 a16 | 15 r128 | 14 glc | 13 dlc | 12 slc | 11:8 dmask | 7 unorm | 4:2 dim | 0 nsa
//	62:58 ssamp/4 | 54 lwe | 53 tfe | 52:48 srsrc/4 | 47:40 vdata | 39:32 vaddr
//	with nsa: 95:64 the second to fifth address register
//
// How many registers an address has follows from the operation, dim and a16.
// They are a range, one operand; with nsa each is an operand of its own, but
// for the fifth, which is a range of all that are left.

// The fields of MIMG operands.
const (
	fImgData Field = iota // bits 47:40: as many registers as dmask has bits
	fImgAddr              // bits 39:32, and with nsa the third word
	fImgRsrc              // bits 52:48: eight scalar registers; four for rays
	fImgSamp              // bits 62:58: four scalar registers
)

// The flags of image operations. The first say what an address has beside its
// coordinates, in this order.
const (
	imgOffset  OpFlags = 1 << (17 + iota) // a word of offsets
	imgBias                               // a bias of the level of detail
	imgCompare                            // a value to compare with
	imgGrad                               // derivatives
	imgGrad16                             // derivatives that are halves, in pairs
	imgLevel                              // after the coordinates, a level of detail or a limit of it
	imgSize                               // no coordinates
	imgGather                             // the data are four texels, whatever dmask is
	imgNoD16                              // the data are never halves
	imgRay                                // an operation on rays
	imgRay64                              // likewise, with an address of 64 bits
)

// imgDims are the dimensions of an image, with the numbers of coordinates and
// of derivatives.
var imgDims = [8]struct {
	name          string
	coords, grads int
}{
	{"1D", 1, 2},
	{"2D", 2, 4},
	{"3D", 3, 6},
	{"CUBE", 3, 4},
	{"1D_ARRAY", 2, 2},
	{"2D_ARRAY", 3, 4},
	{"2D_MSAA", 3, 4},
	{"2D_MSAA_ARRAY", 4, 4},
}

// noSuchImage is why words are unknown that LLVM prints in the shape of some
// other instruction, for want of one with that many registers.
const noSuchImage = "an image operation with so many registers does not exist"

func decodeMIMG(d *decoder) {
	op := mimg[d.w0>>18&0xff]
	if op == nil {
		d.unknown("reserved MIMG opcode")
		return
	}
	d.in.Op = op
	if !d.extend(2 + int(d.w0&1)) {
		return
	}
	m := &d.in.Mods
	m.DMask, m.Dim = uint8(d.w0>>8&0xf), uint8(d.w0>>2&7)
	m.Flags = Flags(d.w0>>17&1)*D16 | Flags(d.w0>>16&1)*A16 | Flags(d.w0>>15&1)*R128 | Flags(d.w0>>14&1)*GLC |
		Flags(d.w0>>13&1)*DLC | Flags(d.w0>>12&1)*SLC | Flags(d.w0>>7&1)*UNorm | Flags(d.w1>>22&1)*LWE | Flags(d.w1>>21&1)*TFE
	if d.w1>>26&0x1f != 0 && !op.samples() {
		d.unknown("a sampler, which the operation does not have")
	}
	if m.Flags&D16 != 0 && op.Flags&imgNoD16 != 0 {
		d.unknown("d16, which the operation does not have")
	}
	if op.isRay() && (m.Flags&^A16 != UNorm|R128 || m.DMask != 0xf || m.Dim != 0) {
		d.unknown("a modifier of an operation on rays, which has a16 alone")
	}
	for i := range op.Args {
		a := &op.Args[i]
		switch a.Field {
		case fImgData:
			d.imageData(a)
		case fImgAddr:
			if op.isRay() {
				d.rayAddr()
			} else {
				d.imageAddr()
			}
		case fImgRsrc:
			d.ssrc(d.operand(Read), d.w1>>16&0x1f<<2, a.Type)
		case fImgSamp:
			d.ssrc(d.operand(Read), d.w1>>26&0x1f<<2, a.Type)
		}
	}
}

func (o *Op) isRay() bool { return o.Flags&(imgRay|imgRay64) != 0 }

// samples says whether the operation has a sampler.
func (o *Op) samples() bool { return o.Args[len(o.Args)-1].Field == fImgSamp }

// imageData adds the operand of data.
func (d *decoder) imageData(a *Arg) {
	m, op := &d.in.Mods, d.in.Op
	n := max(bits.OnesCount8(m.DMask), 1)
	if op.Flags&imgGather != 0 {
		n = 4
	}
	access := a.Access
	if m.Flags&D16 != 0 {
		n = (n + 1) / 2
		access |= Read // half of the last register may be kept
	}
	if m.Flags&TFE != 0 {
		n++ // for the fault status
	}
	if op.Flags&OpAtomic != 0 {
		if m.Flags&GLC == 0 {
			access = Read // only with glc does an atomic return a value
		}
		// The value, or the new and the expected one; of 32 or 64 bits; and tfe's.
		if own := a.Type.Dwords(); n < own || n > 2*own+1 {
			d.unknown(noSuchImage)
		}
	}
	if op.Flags&imgGather != 0 && n == 3 {
		d.unknown(noSuchImage) // d16 with tfe
	}
	d.registers(access, d.w1>>8&0xff, n)
}

// imageAddr adds the operands of an address.
func (d *decoder) imageAddr() {
	op, m := d.in.Op, &d.in.Mods
	n, most := op.imageAddrWords(m.Dim, m.Flags), 4
	if op.samples() {
		most = op.imageAddrWords(2, 0) // of 3D
	}
	if n > most || n == 1 && d.w0&1 != 0 {
		d.unknown(noSuchImage) // an image of many samples where there is none, or nsa without need
	}
	if d.w0&1 == 0 {
		d.registers(Read, d.w1&0xff, n)
		return
	}
	d.registers(Read, d.w1&0xff, 1)
	for i := 1; i < min(n, 5); i++ {
		size := 1
		if i == 4 {
			size = n - 4
		}
		d.registers(Read, d.in.Words[2]>>(8*(i-1))&0xff, size)
	}
}

// imageAddrWords is the number of address registers.
func (o *Op) imageAddrWords(d uint8, m Flags) int {
	f, dim := o.Flags, &imgDims[d]
	n := bits.OnesCount32(uint32(f & (imgOffset | imgBias | imgCompare)))
	switch {
	case f&imgGrad16 != 0:
		n += (dim.grads/2 + 1) / 2 * 2 // those by x apart from those by y
	case f&imgGrad != 0:
		n += dim.grads
	}
	values := 0
	if f&imgSize == 0 {
		values = dim.coords
	}
	if f&imgLevel != 0 {
		values++
	}
	if m&A16 != 0 {
		values = (values + 1) / 2
	}
	return n + values
}

// rayAddr adds the address of a node, the extent of a ray, and its origin,
// direction and inverse direction; a16 packs the last two together.
func (d *decoder) rayAddr() {
	sizes := []int{1, 1, 3, 3, 3}
	if d.in.Op.Flags&imgRay64 != 0 {
		sizes[0] = 2
	}
	if d.in.Mods.Flags&A16 != 0 {
		sizes = sizes[:4]
	}
	if d.w0&1 == 0 {
		n := 0
		for _, size := range sizes {
			n += size
		}
		d.registers(Read, d.w1&0xff, n)
		return
	}
	reg := d.w1 & 0xff
	for i, size := range sizes {
		if i > 0 {
			reg = d.in.Words[2] >> (8 * (i - 1)) & 0xff
		}
		d.registers(Read, reg, size)
	}
}

// registers adds a range of n vector registers.
func (d *decoder) registers(access Access, reg uint32, n int) {
	o := d.operand(access)
	o.Type = B32
	d.vgprs(o, reg, n)
}

// appendImage appends the text of an image operation.
func appendImage(b []byte, in *Inst) []byte {
	m, op := &in.Mods, in.Op
	nsa := in.Words[0]&1 != 0
	b = append(b, op.Name...)
	if nsa && op.samples() {
		b = append(b, ' ') // as LLVM has it
	}
	scalars := len(op.Args) - 2 // the last operands
	for i := range in.Args() {
		if i == 0 {
			b = append(b, ' ')
		} else {
			b = append(b, ", "...)
		}
		if nsa && i == 1 {
			b = append(b, '[')
		}
		b = in.Operands[i].appendTo(b)
		if nsa && i == int(in.N)-scalars-1 {
			b = append(b, ']')
		}
	}
	if op.isRay() {
		return appendFlag(b, m.Flags, A16, " a16")
	}
	if m.DMask != 0 {
		b = appendHex(append(b, " dmask:"...), uint32(m.DMask))
	}
	b = append(append(b, " dim:SQ_RSRC_IMG_"...), imgDims[m.Dim].name...)
	b = appendFlag(b, m.Flags, UNorm, " unorm")
	b = appendFlag(b, m.Flags, GLC, " glc")
	b = appendFlag(b, m.Flags, SLC, " slc")
	b = appendFlag(b, m.Flags, DLC, " dlc")
	b = appendFlag(b, m.Flags, R128, " r128")
	b = appendFlag(b, m.Flags, A16, " a16")
	b = appendFlag(b, m.Flags, TFE, " tfe")
	b = appendFlag(b, m.Flags, LWE, " lwe")
	return appendFlag(b, m.Flags, D16, " d16")
}
