// The natural exponential, and what is made of it.
#pragma once
#include "gpu.h"

// exp_ is within 3 ULP of e^x, or 0 below 2^-126; of a NaN it is anything. The
// product with log2(e) is kept in two parts: rounding it once would cost as many
// ULP as x is large.
DEV f32 exp_(f32 x) {
	constexpr f32 LOG2E = 0x1.715476p+0f, REST = 0x1.4ae0cp-26f, LN2 = 0x1.62e43p-1f;
	x = __builtin_fminf(__builtin_fmaxf(x, -104), 89); // 0 and infinity from there on
	f32 high = x * LOG2E;
	f32 low = __builtin_fmaf(x, REST, __builtin_fmaf(x, LOG2E, -high));
	return exp2_(high) * __builtin_fmaf(low, LN2, 1);
}

// swiglu_ is silu(gate) * up.
DEV f32 swiglu_(f32 gate, f32 up) { return gate / (1 + exp_(-gate)) * up; }
