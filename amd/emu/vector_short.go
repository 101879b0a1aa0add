package emu

// Integers of 16 bits. With clamp the result saturates.

var shortOperations = map[string]operation{
	"v_add_nc_u16":    {run: addU32, saturate: int2(func(a, b uint32) uint32 { return min(a&0xffff+b&0xffff, 0xffff) })},
	"v_sub_nc_u16":    {run: subU32, saturate: int2(func(a, b uint32) uint32 { return subSatU32(a&0xffff, b&0xffff) })},
	"v_add_nc_i16":    {run: addU32, saturate: int2(func(a, b uint32) uint32 { return satI16(i16(a) + i16(b)) })},
	"v_sub_nc_i16":    {run: subU32, saturate: int2(func(a, b uint32) uint32 { return satI16(i16(a) - i16(b)) })},
	"v_mul_lo_u16":    {run: mulLoU32},
	"v_mad_u16":       {run: int3(func(a, b, c uint32) uint32 { return a*b + c }), saturate: int3(madSatU16)},
	"v_mad_i16":       {run: int3(func(a, b, c uint32) uint32 { return a*b + c }), saturate: int3(madSatI16)},
	"v_min_u16":       {run: int2(func(a, b uint32) uint32 { return min(a&0xffff, b&0xffff) })},
	"v_max_u16":       {run: int2(func(a, b uint32) uint32 { return max(a&0xffff, b&0xffff) })},
	"v_min_i16":       {run: int2(func(a, b uint32) uint32 { return uint32(min(i16(a), i16(b))) })},
	"v_max_i16":       {run: int2(func(a, b uint32) uint32 { return uint32(max(i16(a), i16(b))) })},
	"v_min3_u16":      {run: int3(func(a, b, c uint32) uint32 { return min(a&0xffff, b&0xffff, c&0xffff) })},
	"v_max3_u16":      {run: int3(func(a, b, c uint32) uint32 { return max(a&0xffff, b&0xffff, c&0xffff) })},
	"v_med3_u16":      {run: int3(func(a, b, c uint32) uint32 { return median(a&0xffff, b&0xffff, c&0xffff) })},
	"v_min3_i16":      {run: int3(func(a, b, c uint32) uint32 { return uint32(min(i16(a), i16(b), i16(c))) })},
	"v_max3_i16":      {run: int3(func(a, b, c uint32) uint32 { return uint32(max(i16(a), i16(b), i16(c))) })},
	"v_med3_i16":      {run: int3(func(a, b, c uint32) uint32 { return uint32(median(i16(a), i16(b), i16(c))) })},
	"v_lshlrev_b16":   {run: int2(func(a, b uint32) uint32 { return b << (a & 15) })},
	"v_lshrrev_b16":   {run: int2(func(a, b uint32) uint32 { return b & 0xffff >> (a & 15) })},
	"v_ashrrev_i16":   {run: int2(func(a, b uint32) uint32 { return uint32(i16(b) >> (a & 15)) })},
	"v_and_b16":       {run: andB32},
	"v_or_b16":        {run: orB32},
	"v_xor_b16":       {run: xorB32},
	"v_not_b16":       {run: int1(func(a uint32) uint32 { return ^a })},
	"v_sat_pk_u8_i16": {run: int1(func(a uint32) uint32 { return satU8(i16(a)) | satU8(i16(a>>16))<<8 })},
	"v_cvt_i32_i16":   {run: int1(func(a uint32) uint32 { return uint32(i16(a)) })},
	"v_cvt_u32_u16":   {run: int1(func(a uint32) uint32 { return a & 0xffff })},
}

func satI16(v int32) uint32 { return uint32(max(-1<<15, min(v, 1<<15-1))) }

func satU8(v int32) uint32 { return uint32(max(0, min(v, 255))) }

func madSatU16(a, b, c uint32) uint32 {
	return uint32(min(uint64(a&0xffff)*uint64(b&0xffff)+uint64(c&0xffff), 0xffff))
}

func madSatI16(a, b, c uint32) uint32 {
	return satI16(int32(max(-1<<31, min(int64(i16(a))*int64(i16(b))+int64(i16(c)), 1<<31-1))))
}
