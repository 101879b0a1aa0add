package emu

import "math/bits"

// Logic, shifts and bit fields. Shift counts are taken modulo the width.

var bitOperations = map[string]operation{
	"v_and_b32":          {run: andB32},
	"v_or_b32":           {run: orB32},
	"v_xor_b32":          {run: xorB32},
	"v_xnor_b32":         {run: int2(func(a, b uint32) uint32 { return ^(a ^ b) })},
	"v_not_b32":          {run: int1(func(a uint32) uint32 { return ^a })},
	"v_or3_b32":          {run: int3(func(a, b, c uint32) uint32 { return a | b | c })},
	"v_xor3_b32":         {run: int3(func(a, b, c uint32) uint32 { return a ^ b ^ c })},
	"v_and_or_b32":       {run: andOrB32},
	"v_xad_u32":          {run: int3(func(a, b, c uint32) uint32 { return a ^ b + c })},
	"v_lshlrev_b32":      {run: lshlB32},
	"v_lshrrev_b32":      {run: lshrB32},
	"v_ashrrev_i32":      {run: ashrI32},
	"v_lshl_add_u32":     {run: lshlAddU32},
	"v_add_lshl_u32":     {run: addLshlU32},
	"v_lshl_or_b32":      {run: lshlOrB32},
	"v_lshlrev_b64":      {wide: lshlB64},
	"v_lshrrev_b64":      {wide: wide2(func(_ *wave, a, b uint64) uint64 { return b >> (a & 63) })},
	"v_ashrrev_i64":      {wide: wide2(func(_ *wave, a, b uint64) uint64 { return uint64(int64(b) >> (a & 63)) })},
	"v_bfe_u32":          {run: bfeU32},
	"v_bfe_i32":          {run: int3(bfeI32)},
	"v_bfi_b32":          {run: int3(func(a, b, c uint32) uint32 { return a&b | ^a&c })},
	"v_bfm_b32":          {run: int2(func(a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) })},
	"v_bfrev_b32":        {run: int1(bits.Reverse32)},
	"v_alignbit_b32":     {run: int3(func(a, b, c uint32) uint32 { return uint32((uint64(a)<<32 | uint64(b)) >> (c & 31)) })},
	"v_alignbyte_b32":    {run: int3(func(a, b, c uint32) uint32 { return uint32((uint64(a)<<32 | uint64(b)) >> (c & 3 * 8)) })},
	"v_perm_b32":         {run: int3(permute)},
	"v_clz_i32_u32":      {run: int1(clz)},
	"v_ctz_i32_b32":      {run: int1(ctz)},
	"v_cls_i32":          {run: int1(cls)},
	"v_bcnt_u32_b32":     {run: int2(func(a, b uint32) uint32 { return uint32(bits.OnesCount32(a)) + b })},
	"v_mbcnt_lo_u32_b32": {run: mbcntLo},
	"v_mbcnt_hi_u32_b32": {run: mbcntHi},
}

func andB32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] & bs[i]
	}
}

func orB32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] | bs[i]
	}
}

func xorB32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] ^ bs[i]
	}
}

func andOrB32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = as[i]&bs[i] | cs[i]
	}
}

func lshlB32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = bs[i] << (as[i] & 31)
	}
}

func lshrB32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = bs[i] >> (as[i] & 31)
	}
}

func ashrI32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = uint32(int32(bs[i]) >> (as[i] & 31))
	}
}

func lshlAddU32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = as[i]<<(bs[i]&31) + cs[i]
	}
}

func addLshlU32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = (as[i] + bs[i]) << (cs[i] & 31)
	}
}

func lshlOrB32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = as[i]<<(bs[i]&31) | cs[i]
	}
}

func lshlB64(w *wave, d, a, b, _ *wide) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = bs[i] << (as[i] & 63)
	}
}

func bfeU32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = as[i] >> (bs[i] & 31) & (1<<(cs[i]&31) - 1)
	}
}

// bfeI32 is c bits of a from bit b, sign extended; no bits are 0.
func bfeI32(a, b, c uint32) uint32 {
	n := c & 31
	if n == 0 {
		return 0
	}
	v := uint32(int32(a)>>(b&31)) & (1<<n - 1)
	return uint32(int32(v<<(32-n)) >> (32 - n))
}

// permute makes a word of four bytes that c's bytes choose: one of the eight
// of a (high) and b, the sign of every second, 0x00 or 0xff.
func permute(a, b, c uint32) uint32 {
	in := uint64(a)<<32 | uint64(b)
	var d uint32
	for i := 0; i < 32; i += 8 {
		var v uint32
		switch sel := c >> i & 0xff; {
		case sel >= 13:
			v = 0xff
		case sel == 12:
		case sel >= 8:
			v = -uint32(in>>(16*(sel-8)+15)&1) & 0xff
		default:
			v = uint32(in>>(8*sel)) & 0xff
		}
		d |= v << i
	}
	return d
}

// clz, ctz and cls count leading zeros, trailing zeros and leading bits like
// the sign (with the sign); -1 if there is no other bit.

func clz(a uint32) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros32(a))
}

func ctz(a uint32) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.TrailingZeros32(a))
}

func cls(a uint32) uint32 { return clz(a ^ uint32(int32(a)>>31)) }

// mbcntLo adds to b the bits of a that belong to the lower lanes, of lanes 0
// to 31; mbcntHi those of lanes 32 to 63.
func mbcntLo(w *wave, d, a, b, _ *lanes) {
	for i := range d[:w.n] {
		below := uint32(1)<<min(i, 32) - 1
		d[i] = uint32(bits.OnesCount32(a[i]&below)) + b[i]
	}
}

func mbcntHi(w *wave, d, a, b, _ *lanes) {
	for i := range d[:w.n] {
		below := uint32(1)<<max(i-32, 0) - 1
		d[i] = uint32(bits.OnesCount32(a[i]&below)) + b[i]
	}
}
