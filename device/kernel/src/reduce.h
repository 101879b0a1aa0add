// Sums over waves and workgroups, in the same order every time.
#pragma once
#include "lanes.h"

static_assert(WAVE == 32);

// wave_sum is the sum over a wave's lanes; each gets it.
DEV f32 wave_sum(f32 x) {
	x += across<16>(x), x += across<8>(x), x += across<4>(x), x += across<2>(x);
	return x + across<1>(x);
}

// group_sum is the sum over the work-items of a workgroup of N, which calls it
// once: scratch is not free again before a barrier.
template <u32 N> DEV f32 group_sum(f32 x, LDS f32 (&scratch)[N / WAVE]) {
	x = wave_sum(x);
	if (lane_id() == 0) scratch[wave_id()] = x;
	barrier_lds();
	f32 sum = 0;
	UNROLL for (u32 i = 0; i < N / WAVE; i++) sum += scratch[i];
	return sum;
}
