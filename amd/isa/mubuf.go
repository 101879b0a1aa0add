package isa

// MUBUF: memory through a buffer descriptor, and the cache operations.
//
//	31:26 111000 | 25:18 opcode | 14 glc | 13 dlc | 12 slc | 11:0 offset
//	63:56 soffset | 55 idxen | 54 offen | 53 tfe | 52:48 srsrc/4 | 47:40 vdata | 39:32 vaddr

// The fields of MUBUF and MTBUF operands.
const (
	fVData   Field = iota // bits 47:40
	fVAddr                // bits 39:32: by idxen and offen, none, one or two registers
	fRsrc                 // bits 52:48: four scalar registers
	fSOffset              // bits 63:56
)

func decodeMUBUF(d *decoder) {
	if d.w0>>25&1 != 0 {
		d.unknown("reserved MUBUF bit")
		return
	}
	op := mubuf[d.w0>>18&0xff]
	if op == nil {
		d.unknown("reserved MUBUF opcode")
		return
	}
	d.in.Op = op
	if d.extend(2) {
		d.buffer()
	}
}

const (
	bufDLC = 1 << 13
	bufGLC = 1 << 14
	bufTFE = 1 << 21 // in the second word, as are the next two
	bufOff = 1 << 22
	bufIdx = 1 << 23
)

// buffer reads the fields that MUBUF and MTBUF share.
func (d *decoder) buffer() {
	op := d.in.Op
	if len(op.Args) == 0 {
		if d.w0&(bufGLC|bufDLC) != 0 || d.w1&(bufTFE|bufOff|bufIdx) != 0 {
			d.unknown("a modifier of a cache operation, which has none")
		}
		return
	}
	m := &d.in.Mods
	m.Offset = int32(d.w0 & 0xfff)
	m.Flags = Flags(d.w0>>14&1)*GLC | Flags(d.w0>>13&1)*DLC | Flags(d.w0>>12&1)*SLC |
		Flags(d.w1>>21&1)*TFE | Flags(d.w1>>22&1)*OffEn | Flags(d.w1>>23&1)*IdxEn
	if m.Flags&TFE != 0 && (op.Flags&OpAtomic != 0 || op.Format == MTBUF) {
		d.unknown("tfe where the operation has none")
	}
	for i := range op.Args {
		a := &op.Args[i]
		o := d.operand(a.Access)
		switch a.Field {
		case fVData:
			d.vgpr(o, d.w1>>8&0xff, a.Type)
			if m.Flags&TFE != 0 {
				d.vgprs(o, d.w1>>8&0xff, int(o.N)+1) // one more register, for the fault status
			}
			if op.Flags&OpAtomic != 0 && m.Flags&GLC == 0 {
				o.Access = Read // only with glc does an atomic return a value
			}
		case fVAddr:
			switch m.Flags & (OffEn | IdxEn) {
			case 0:
				o.Kind = Off
			case OffEn | IdxEn:
				d.vgpr(o, d.w1&0xff, B64) // the index, then the offset
			default:
				d.vgpr(o, d.w1&0xff, B32)
			}
		case fRsrc:
			d.ssrc(o, d.w1>>16&0x1f<<2, a.Type)
		case fSOffset:
			if d.ssrc(o, d.w1>>24, a.Type); o.Kind == Special && o.Reg == RegLDSDirect {
				d.unknown("src_lds_direct as an offset")
			}
		}
	}
}

func bufArgs(t Type, access Access) []Arg {
	return []Arg{{fVData, t, access}, {fVAddr, NoType, Read}, {fRsrc, B128, Read}, {fSOffset, B32, Read}}
}

func bufLoad(t Type) []Arg   { return bufArgs(t, Write) }
func bufStore(t Type) []Arg  { return bufArgs(t, Read) }
func bufAtomic(t Type) []Arg { return bufArgs(t, Read|Write) }

var bufHalf = bufArgs(B32, Read|Write) // keeps the other half of the register

var mubuf = table(MUBUF, "", []row{
	{0, "buffer_load_format_x", bufLoad(B32), 0},
	{1, "buffer_load_format_xy", bufLoad(B64), 0},
	{2, "buffer_load_format_xyz", bufLoad(B96), 0},
	{3, "buffer_load_format_xyzw", bufLoad(B128), 0},
	{4, "buffer_store_format_x", bufStore(B32), 0},
	{5, "buffer_store_format_xy", bufStore(B64), 0},
	{6, "buffer_store_format_xyz", bufStore(B96), 0},
	{7, "buffer_store_format_xyzw", bufStore(B128), 0},
	{8, "buffer_load_d16_format_x", bufHalf, 0},
	{9, "buffer_load_d16_format_xy", bufLoad(B32), 0},
	{10, "buffer_load_d16_format_xyz", bufArgs(B64, Read|Write), 0},
	{11, "buffer_load_d16_format_xyzw", bufLoad(B64), 0},
	{12, "buffer_store_d16_format_x", bufStore(B32), 0},
	{13, "buffer_store_d16_format_xy", bufStore(B32), 0},
	{14, "buffer_store_d16_format_xyz", bufStore(B64), 0},
	{15, "buffer_store_d16_format_xyzw", bufStore(B64), 0},
	{16, "buffer_load_u8", bufLoad(B32), 0},
	{17, "buffer_load_i8", bufLoad(B32), 0},
	{18, "buffer_load_u16", bufLoad(B32), 0},
	{19, "buffer_load_i16", bufLoad(B32), 0},
	{20, "buffer_load_b32", bufLoad(B32), 0},
	{21, "buffer_load_b64", bufLoad(B64), 0},
	{22, "buffer_load_b96", bufLoad(B96), 0},
	{23, "buffer_load_b128", bufLoad(B128), 0},
	{24, "buffer_store_b8", bufStore(B32), 0},
	{25, "buffer_store_b16", bufStore(B32), 0},
	{26, "buffer_store_b32", bufStore(B32), 0},
	{27, "buffer_store_b64", bufStore(B64), 0},
	{28, "buffer_store_b96", bufStore(B96), 0},
	{29, "buffer_store_b128", bufStore(B128), 0},
	{30, "buffer_load_d16_u8", bufHalf, 0},
	{31, "buffer_load_d16_i8", bufHalf, 0},
	{32, "buffer_load_d16_b16", bufHalf, 0},
	{33, "buffer_load_d16_hi_u8", bufHalf, 0},
	{34, "buffer_load_d16_hi_i8", bufHalf, 0},
	{35, "buffer_load_d16_hi_b16", bufHalf, 0},
	{36, "buffer_store_d16_hi_b8", bufStore(B32), 0},
	{37, "buffer_store_d16_hi_b16", bufStore(B32), 0},
	{38, "buffer_load_d16_hi_format_x", bufHalf, 0},
	{39, "buffer_store_d16_hi_format_x", bufStore(B32), 0},
	{43, "buffer_gl0_inv", nil, 0},
	{44, "buffer_gl1_inv", nil, 0},
	{51, "buffer_atomic_swap_b32", bufAtomic(B32), OpAtomic},
	{52, "buffer_atomic_cmpswap_b32", bufAtomic(B64), OpAtomic}, // new, then expected; the first returns
	{53, "buffer_atomic_add_u32", bufAtomic(B32), OpAtomic},
	{54, "buffer_atomic_sub_u32", bufAtomic(B32), OpAtomic},
	{55, "buffer_atomic_csub_u32", bufAtomic(B32), OpAtomic},
	{56, "buffer_atomic_min_i32", bufAtomic(B32), OpAtomic},
	{57, "buffer_atomic_min_u32", bufAtomic(B32), OpAtomic},
	{58, "buffer_atomic_max_i32", bufAtomic(B32), OpAtomic},
	{59, "buffer_atomic_max_u32", bufAtomic(B32), OpAtomic},
	{60, "buffer_atomic_and_b32", bufAtomic(B32), OpAtomic},
	{61, "buffer_atomic_or_b32", bufAtomic(B32), OpAtomic},
	{62, "buffer_atomic_xor_b32", bufAtomic(B32), OpAtomic},
	{63, "buffer_atomic_inc_u32", bufAtomic(B32), OpAtomic},
	{64, "buffer_atomic_dec_u32", bufAtomic(B32), OpAtomic},
	{65, "buffer_atomic_swap_b64", bufAtomic(B64), OpAtomic},
	{66, "buffer_atomic_cmpswap_b64", bufAtomic(B128), OpAtomic},
	{67, "buffer_atomic_add_u64", bufAtomic(B64), OpAtomic},
	{68, "buffer_atomic_sub_u64", bufAtomic(B64), OpAtomic},
	{69, "buffer_atomic_min_i64", bufAtomic(B64), OpAtomic},
	{70, "buffer_atomic_min_u64", bufAtomic(B64), OpAtomic},
	{71, "buffer_atomic_max_i64", bufAtomic(B64), OpAtomic},
	{72, "buffer_atomic_max_u64", bufAtomic(B64), OpAtomic},
	{73, "buffer_atomic_and_b64", bufAtomic(B64), OpAtomic},
	{74, "buffer_atomic_or_b64", bufAtomic(B64), OpAtomic},
	{75, "buffer_atomic_xor_b64", bufAtomic(B64), OpAtomic},
	{76, "buffer_atomic_inc_u64", bufAtomic(B64), OpAtomic},
	{77, "buffer_atomic_dec_u64", bufAtomic(B64), OpAtomic},
	{80, "buffer_atomic_cmpswap_f32", bufAtomic(B64), OpAtomic},
	{81, "buffer_atomic_min_f32", bufAtomic(F32), OpAtomic},
	{82, "buffer_atomic_max_f32", bufAtomic(F32), OpAtomic},
	{86, "buffer_atomic_add_f32", bufAtomic(F32), OpAtomic},
})
