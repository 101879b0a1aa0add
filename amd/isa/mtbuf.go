package isa

// MTBUF: memory through a buffer descriptor, in a format of the instruction's.
//
//	31:26 111010 | 25:19 format | 18:15 opcode | 14 glc | 13 dlc | 12 slc | 11:0 offset
//	63:32 as MUBUF

func decodeMTBUF(d *decoder) {
	d.in.Op = mtbuf[d.w0>>15&0xf]
	if d.extend(2) {
		d.in.Mods.Format = uint8(d.w0 >> 19 & 0x7f)
		d.buffer()
	}
}

var mtbuf = table(MTBUF, "", []row{
	{0, "tbuffer_load_format_x", bufLoad(B32), 0},
	{1, "tbuffer_load_format_xy", bufLoad(B64), 0},
	{2, "tbuffer_load_format_xyz", bufLoad(B96), 0},
	{3, "tbuffer_load_format_xyzw", bufLoad(B128), 0},
	{4, "tbuffer_store_format_x", bufStore(B32), 0},
	{5, "tbuffer_store_format_xy", bufStore(B64), 0},
	{6, "tbuffer_store_format_xyz", bufStore(B96), 0},
	{7, "tbuffer_store_format_xyzw", bufStore(B128), 0},
	{8, "tbuffer_load_d16_format_x", bufHalf, 0},
	{9, "tbuffer_load_d16_format_xy", bufLoad(B32), 0},
	{10, "tbuffer_load_d16_format_xyz", bufArgs(B64, Read|Write), 0},
	{11, "tbuffer_load_d16_format_xyzw", bufLoad(B64), 0},
	{12, "tbuffer_store_d16_format_x", bufStore(B32), 0},
	{13, "tbuffer_store_d16_format_xy", bufStore(B32), 0},
	{14, "tbuffer_store_d16_format_xyz", bufStore(B64), 0},
	{15, "tbuffer_store_d16_format_xyzw", bufStore(B64), 0},
})

// bufFormats names the buffer formats 0 to 63; 1 is the text's default.
var bufFormats = [64]string{
	"INVALID", "8_UNORM", "8_SNORM", "8_USCALED", "8_SSCALED", "8_UINT", "8_SINT",
	"16_UNORM", "16_SNORM", "16_USCALED", "16_SSCALED", "16_UINT", "16_SINT", "16_FLOAT",
	"8_8_UNORM", "8_8_SNORM", "8_8_USCALED", "8_8_SSCALED", "8_8_UINT", "8_8_SINT",
	"32_UINT", "32_SINT", "32_FLOAT",
	"16_16_UNORM", "16_16_SNORM", "16_16_USCALED", "16_16_SSCALED", "16_16_UINT", "16_16_SINT", "16_16_FLOAT",
	"10_11_11_FLOAT", "11_11_10_FLOAT",
	"10_10_10_2_UNORM", "10_10_10_2_SNORM", "10_10_10_2_UINT", "10_10_10_2_SINT",
	"2_10_10_10_UNORM", "2_10_10_10_SNORM", "2_10_10_10_USCALED", "2_10_10_10_SSCALED", "2_10_10_10_UINT", "2_10_10_10_SINT",
	"8_8_8_8_UNORM", "8_8_8_8_SNORM", "8_8_8_8_USCALED", "8_8_8_8_SSCALED", "8_8_8_8_UINT", "8_8_8_8_SINT",
	"32_32_UINT", "32_32_SINT", "32_32_FLOAT",
	"16_16_16_16_UNORM", "16_16_16_16_SNORM", "16_16_16_16_USCALED", "16_16_16_16_SSCALED", "16_16_16_16_UINT", "16_16_16_16_SINT", "16_16_16_16_FLOAT",
	"32_32_32_UINT", "32_32_32_SINT", "32_32_32_FLOAT",
	"32_32_32_32_UINT", "32_32_32_32_SINT", "32_32_32_32_FLOAT",
}
