// The greatest of floats with the lowest index, and what is wrong with it.
#pragma once
#include "lanes.h"

// order_key is a number that is greater for a greater x and, among equals, for a
// lower index; a NaN is above everything. It is never 0.
DEV u64 order_key(f32 x, u32 index) {
	u32 bits = __builtin_bit_cast(u32, x + 0); // of both zeros, +0
	u32 rank = bits >> 31 ? ~bits : bits | 1u << 31;
	if (x != x) rank = ~0u;
	return (u64)rank << 32 | ~index;
}

DEV u32 order_index(u64 key) { return ~(u32)key; }

template <u32 MASK> DEV u64 greater(u64 key) {
	return most(key, (u64)across<MASK>((u32)(key >> 32)) << 32 | across<MASK>((u32)key));
}

// greatest is the greatest key of a wave's lanes; each gets it.
DEV u64 greatest(u64 key) {
	static_assert(WAVE == 32);
	return greater<1>(greater<2>(greater<4>(greater<8>(greater<16>(key)))));
}

DEV bool finite(f32 x) { return __builtin_fabsf(x) < __builtin_inff(); }

// Fault is of a row of logits, its first NaN or its greatest if that is infinite;
// mark is of the kernel that found it, 0 for none.
struct Fault {
	u32 mark, index;
	f32 value;
};

// report is the first to find something: others leave the row's fault alone. A
// row has one work-item that calls it.
DEV void report(GLOBAL Fault *fault, u32 mark, u32 index, f32 value) {
	if (fault->mark == 0) *fault = {mark, index, value};
}
