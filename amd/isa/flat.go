package isa

// FLAT, GLOBAL and SCRATCH: memory by an address in vector registers, or by a
// scalar base and an offset in a vector register.
//
//	31:26 110111 | 24:18 opcode | 17:16 segment | 15 slc | 14 glc | 13 dlc | 12:0 offset
//	63:56 vdst | 55 sve | 54:48 saddr | 47:40 data | 39:32 addr

// The fields of FLAT operands.
const (
	fFlatDst  Field = iota // bits 63:56
	fFlatAddr              // bits 39:32: by the segment and saddr, one register, two or none
	fFlatData              // bits 47:40
	fFlatS                 // bits 54:48: a scalar address or offset, or none
)

const (
	segFlat = iota
	segScratch
	segGlobal
)

func decodeFLAT(d *decoder) {
	seg := d.w0 >> 16 & 3
	code := d.w0 >> 18 & 0x7f
	var op *Op
	switch seg {
	case segFlat:
		op = flat[code]
	case segScratch:
		op = scratch[code]
	case segGlobal:
		op = global[code]
	}
	if op == nil {
		d.unknown("reserved FLAT opcode or segment")
		return
	}
	d.in.Op = op
	if !d.extend(2) {
		return
	}
	glc := d.w0>>14&1 != 0
	d.in.Mods.Flags = Flags(d.w0>>15&1)*SLC | Flags(d.w0>>14&1)*GLC | Flags(d.w0>>13&1)*DLC
	d.in.Mods.Offset = int32(d.w0<<19) >> 19
	if seg == segFlat {
		d.in.Mods.Offset = int32(d.w0 & 0x1fff) // unsigned, and bit 12 should be 0
		if d.w1>>16&0xff != RegNull {
			d.unknown("flat with a scalar address")
		}
	}
	for i := range op.Args {
		a := &op.Args[i]
		if a.Field == fFlatDst && op.Flags&OpAtomic != 0 && !glc {
			continue // only with glc does an atomic return a value
		}
		o := d.operand(a.Access)
		switch a.Field {
		case fFlatDst:
			d.vgpr(o, d.w1>>24, a.Type)
		case fFlatAddr:
			d.flatAddr(o, seg)
		case fFlatData:
			d.vgpr(o, d.w1>>8&0xff, a.Type)
		case fFlatS:
			d.flatScalar(o, seg)
		}
	}
}

func (d *decoder) flatAddr(o *Operand, seg uint32) {
	addr, saddr, sve := d.w1&0xff, d.w1>>16&0x7f, d.w1>>23&1 != 0
	switch {
	case seg == segScratch && !sve:
		o.Kind = Off
	case seg == segScratch || seg == segGlobal && saddr != RegNull:
		d.vgpr(o, addr, B32)
	default:
		d.vgpr(o, addr, B64)
	}
}

func (d *decoder) flatScalar(o *Operand, seg uint32) {
	saddr := d.w1 >> 16 & 0x7f
	if seg == segGlobal && d.w1>>23&1 != 0 {
		d.unknown("global with the scratch address bit")
	}
	switch {
	case saddr == RegNull:
		o.Kind = Off
	case saddr == RegExecHi, saddr == RegExecLo && seg == segGlobal && d.in.Op.Flags&opAddTid == 0:
		d.unknown("exec as an address")
	case seg == segScratch:
		d.ssrc(o, saddr, B32)
	default:
		d.ssrc(o, saddr, B64)
	}
}

// flatRow is an operation of up to three segments.
type flatRow struct {
	code     int
	name     string // without the segment
	data     Type
	get      Type // what is loaded or returned
	flags    OpFlags
	segments uint8
}

const (
	inFlat    = 1 << segFlat
	inScratch = 1 << segScratch
	inGlobal  = 1 << segGlobal
	inMemory  = inFlat | inGlobal
	inAll     = inMemory | inScratch

	opD16    OpFlags = 1 << 4 // a load that keeps the other half of the register
	opAddTid OpFlags = 1 << 5 // the address is the scalar one plus 4 times the lane
)

// flatTable makes the table of one segment.
func flatTable(f Format, seg uint8, prefix string) []*Op {
	var rows []row
	for _, r := range flatRows {
		if r.segments&(1<<seg) == 0 {
			continue
		}
		var args []Arg
		if r.get != NoType {
			access := Write
			if r.flags&opD16 != 0 {
				access |= Read
			}
			args = append(args, Arg{fFlatDst, r.get, access})
		}
		if r.flags&opAddTid == 0 {
			args = append(args, Arg{fFlatAddr, NoType, Read})
		}
		if r.data != NoType {
			args = append(args, Arg{fFlatData, r.data, Read})
		}
		if seg != segFlat {
			args = append(args, Arg{fFlatS, NoType, Read})
		}
		rows = append(rows, row{r.code, prefix + r.name, args, r.flags})
	}
	return table(f, "", rows)
}

var (
	flat    = flatTable(FLAT, segFlat, "flat_")
	scratch = flatTable(SCRATCH, segScratch, "scratch_")
	global  = flatTable(GLOBAL, segGlobal, "global_")
)

var flatRows = []flatRow{
	{16, "load_u8", NoType, B32, 0, inAll},
	{17, "load_i8", NoType, B32, 0, inAll},
	{18, "load_u16", NoType, B32, 0, inAll},
	{19, "load_i16", NoType, B32, 0, inAll},
	{20, "load_b32", NoType, B32, 0, inAll},
	{21, "load_b64", NoType, B64, 0, inAll},
	{22, "load_b96", NoType, B96, 0, inAll},
	{23, "load_b128", NoType, B128, 0, inAll},
	{24, "store_b8", B32, NoType, 0, inAll},
	{25, "store_b16", B32, NoType, 0, inAll},
	{26, "store_b32", B32, NoType, 0, inAll},
	{27, "store_b64", B64, NoType, 0, inAll},
	{28, "store_b96", B96, NoType, 0, inAll},
	{29, "store_b128", B128, NoType, 0, inAll},
	{30, "load_d16_u8", NoType, B32, opD16, inAll},
	{31, "load_d16_i8", NoType, B32, opD16, inAll},
	{32, "load_d16_b16", NoType, B32, opD16, inAll},
	{33, "load_d16_hi_u8", NoType, B32, opD16, inAll},
	{34, "load_d16_hi_i8", NoType, B32, opD16, inAll},
	{35, "load_d16_hi_b16", NoType, B32, opD16, inAll},
	{36, "store_d16_hi_b8", B32, NoType, 0, inAll},
	{37, "store_d16_hi_b16", B32, NoType, 0, inAll},
	{40, "load_addtid_b32", NoType, B32, opAddTid, inGlobal},
	{41, "store_addtid_b32", B32, NoType, opAddTid, inGlobal},
	{51, "atomic_swap_b32", B32, B32, OpAtomic, inMemory},
	{52, "atomic_cmpswap_b32", B64, B32, OpAtomic, inMemory}, // data: new, then expected
	{53, "atomic_add_u32", B32, B32, OpAtomic, inMemory},
	{54, "atomic_sub_u32", B32, B32, OpAtomic, inMemory},
	{55, "atomic_csub_u32", B32, B32, OpAtomic, inGlobal},
	{56, "atomic_min_i32", B32, B32, OpAtomic, inMemory},
	{57, "atomic_min_u32", B32, B32, OpAtomic, inMemory},
	{58, "atomic_max_i32", B32, B32, OpAtomic, inMemory},
	{59, "atomic_max_u32", B32, B32, OpAtomic, inMemory},
	{60, "atomic_and_b32", B32, B32, OpAtomic, inMemory},
	{61, "atomic_or_b32", B32, B32, OpAtomic, inMemory},
	{62, "atomic_xor_b32", B32, B32, OpAtomic, inMemory},
	{63, "atomic_inc_u32", B32, B32, OpAtomic, inMemory},
	{64, "atomic_dec_u32", B32, B32, OpAtomic, inMemory},
	{65, "atomic_swap_b64", B64, B64, OpAtomic, inMemory},
	{66, "atomic_cmpswap_b64", B128, B64, OpAtomic, inMemory},
	{67, "atomic_add_u64", B64, B64, OpAtomic, inMemory},
	{68, "atomic_sub_u64", B64, B64, OpAtomic, inMemory},
	{69, "atomic_min_i64", B64, B64, OpAtomic, inMemory},
	{70, "atomic_min_u64", B64, B64, OpAtomic, inMemory},
	{71, "atomic_max_i64", B64, B64, OpAtomic, inMemory},
	{72, "atomic_max_u64", B64, B64, OpAtomic, inMemory},
	{73, "atomic_and_b64", B64, B64, OpAtomic, inMemory},
	{74, "atomic_or_b64", B64, B64, OpAtomic, inMemory},
	{75, "atomic_xor_b64", B64, B64, OpAtomic, inMemory},
	{76, "atomic_inc_u64", B64, B64, OpAtomic, inMemory},
	{77, "atomic_dec_u64", B64, B64, OpAtomic, inMemory},
	{80, "atomic_cmpswap_f32", B64, F32, OpAtomic, inMemory},
	{81, "atomic_min_f32", F32, F32, OpAtomic, inMemory},
	{82, "atomic_max_f32", F32, F32, OpAtomic, inMemory},
	{86, "atomic_add_f32", F32, F32, OpAtomic, inMemory},
}
