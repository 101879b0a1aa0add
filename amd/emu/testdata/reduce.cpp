// Sums, maxima, a scan and a histogram of an array.
#include "sample.h"

enum { ITEMS = 256, GROUPS = 8, EACH = 16, BINS = 64 };

SHARED f32 partial[ITEMS / 32];
SHARED u32 scan[ITEMS];
SHARED u32 bins[BINS];

// sums and tops are a result for each workgroup.
KERNEL(ITEMS) reduce(const GLOBAL f32 *in, GLOBAL f32 *sums, GLOBAL f32 *tops) {
	u32 t = local_id(), g = group_x();
	f32 sum = 0, top = -1e30f;
	for (u32 i = 0; i < EACH; i++) {
		f32 x = in[(g * EACH + i) * ITEMS + t];
		sum += x;
		top = x > top ? x : top;
	}
	for (u32 m = 16; m; m >>= 1) {
		sum += shuffle(sum, m);
		f32 other = shuffle(top, m);
		top = other > top ? other : top;
	}
	if ((t & 31) == 0) partial[t >> 5] = sum;
	barrier();
	if (t == 0) {
		f32 all = 0;
		for (u32 i = 0; i < ITEMS / 32; i++) all += partial[i];
		sums[g] = all;
	}
	barrier();
	if ((t & 31) == 0) partial[t >> 5] = top;
	barrier();
	if (t == 0) {
		f32 all = -1e30f;
		for (u32 i = 0; i < ITEMS / 32; i++) all = partial[i] > all ? partial[i] : all;
		tops[g] = all;
	}
}

// out is the inclusive sum of in, within each workgroup; count the values by
// their low bits, over all of them.
KERNEL(ITEMS) prefix(const GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *count) {
	u32 t = local_id(), at = group_x() * ITEMS + t, x = in[at];
	if (t < BINS) bins[t] = 0;
	scan[t] = x;
	barrier();
	__scoped_atomic_fetch_add(&bins[x % BINS], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
	for (u32 d = 1; d < ITEMS; d <<= 1) {
		u32 y = t >= d ? scan[t - d] : 0;
		barrier();
		scan[t] += y;
		barrier();
	}
	out[at] = scan[t];
	if (t < BINS) __scoped_atomic_fetch_add(&count[t], bins[t], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

#if !defined(__AMDGCN__)
static f32 *in, *sums, *tops;
static u32 *values, *out, *count;
int main() {
	in = take<f32>(GROUPS * EACH * ITEMS), values = take<u32>(GROUPS * ITEMS);
	sums = (f32 *)calloc(GROUPS, 4), tops = (f32 *)calloc(GROUPS, 4);
	out = (u32 *)calloc(GROUPS * ITEMS, 4), count = (u32 *)calloc(BINS, 4);
	launch(GROUPS, 1, ITEMS, [] { reduce(in, sums, tops); });
	launch(GROUPS, 1, ITEMS, [] { prefix(values, out, count); });
	give(sums, GROUPS), give(tops, GROUPS), give(out, GROUPS * ITEMS), give(count, BINS);
}
#endif
