// Q8_1 x4, the form of quantised activations: quant.go has its definition.
#pragma once
#include "lanes.h"

constexpr u32 Q8_ELEMS = 128, Q8_BYTES = 144; // of a group of four blocks

// q8_bytes is the size of a row of n elements.
DEV u64 q8_bytes(u32 n) { return (u64)((n + Q8_ELEMS - 1) / Q8_ELEMS) * Q8_BYTES; }

// The halfs of a word.
DEV f32 low_half(u32 x) { return (f32)__builtin_bit_cast(f16, (u16)x); }
DEV f32 high_half(u32 x) { return (f32)__builtin_bit_cast(f16, (u16)(x >> 16)); }

// q8_pack packs x, four consecutive elements of a row from number at on, a
// multiple of 4. Eight neighbouring lanes, at / 4 % 8 each, pack a block
// together: all of them must take part, with zeros behind the end of the row.
DEV void q8_pack(GLOBAL u8 *row, u32 at, f32x4 x) {
	// Without their signs, floats are in the order of their bits, NaNs on top.
	u32 top = 0;
	UNROLL for (u32 i = 0; i < 4; i++) {
		f32 v = x[i];
		top = most(top, __builtin_bit_cast(u32, v) & 0x7fffffff);
	}
	top = most(top, across<1>(top)), top = most(top, across<2>(top)), top = most(top, across<4>(top));
	bool finite = top < 0x7f800000;
	f32 d = finite ? __builtin_bit_cast(f32, top) / 127 : __builtin_nanf("");
	f32 inverse = top ? 1 / d : 0;
	i32 sum = 0;
	u32 packed = 0;
	UNROLL for (u32 i = 0; i < 4; i++) {
		f32 v = x[i] * inverse;
		// Past 127 are NaNs, and what is infinite because 1/d is.
		i32 q = __builtin_fabsf(v) <= 128 ? (i32)__builtin_roundf(v) : 0;
		sum += q;
		packed |= (u32)(q & 255) << 8 * i;
	}
	sum += across<1>(sum), sum += across<2>(sum), sum += across<4>(sum);
	GLOBAL u8 *group = row + at / Q8_ELEMS * Q8_BYTES;
	*(GLOBAL u32 *)(group + 16 + at % Q8_ELEMS) = packed;
	if (at % 32 == 0) {
		f16 pair[2] = {(f16)d, (f16)((f32)sum * d)};
		*(GLOBAL u32 *)(group + at % Q8_ELEMS / 8) = __builtin_bit_cast(u32, pair);
	}
}
