// Exchange between lanes at distances known to the compiler: on gfx11 part of
// the instruction that uses the value. (Exchange through LDS, ds_bpermute, stays
// within 32 lanes in a wave of 64, too.)
#pragma once
#include "gpu.h"

// INLINE is DEV for members.
#define INLINE inline __attribute__((always_inline))

// across is x of the lane whose number differs by MASK, 1 to 16. All lanes of
// the wave take part.
template <u32 MASK> DEV u32 across(u32 x) {
	static_assert(MASK >= 1 && MASK <= 16);
#if defined(__AMDGCN__)
	if constexpr (MASK == 16) return __builtin_amdgcn_permlanex16(x, x, 0x76543210, 0xfedcba98, false, false);
	else return (u32)__builtin_amdgcn_update_dpp(0, (i32)x, 0x160 | MASK, 0xf, 0xf, true); // row_xmask
#else
	return (u32)__nvvm_shfl_sync_bfly_i32(~0u, (i32)x, MASK, 31);
#endif
}
template <u32 MASK> DEV i32 across(i32 x) { return (i32)across<MASK>((u32)x); }
template <u32 MASK> DEV f32 across(f32 x) { return __builtin_bit_cast(f32, across<MASK>(__builtin_bit_cast(u32, x))); }

// uniform is x, which must be the same in all lanes, where the compiler knows
// that it is.
DEV u32 uniform(u32 x) {
#if defined(__AMDGCN__)
	return __builtin_amdgcn_readfirstlane(x);
#else
	return x;
#endif
}

// issue_loads stands between loads and their use: all of them go out before
// anything waits for one. The compiler would rather save registers.
DEV void issue_loads() {
#if defined(__AMDGCN__)
	__builtin_amdgcn_sched_barrier(0);
#endif
}
