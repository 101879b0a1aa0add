// Bugs that others had and made public, each as small as it gets, and each with
// its fix: FIX is 0 or 1. What they share with the real ones is their shape, not
// their code.
#include "../kernel.h"

// A reduction keeps its rows in global scratch memory between two steps; the
// barrier between them orders LDS only.
KERNEL(128) scratch_reload(GLOBAL f32 *x, GLOBAL f32 *scratch, GLOBAL f32 *y) {
	scratch[item()] = x[item()] * 2;
	if (FIX)
		barrier();
	else
		barrier_lds();
	y[item()] = scratch[item()] + scratch[(item() + 64) % 128];
}

// The last workgroup adds up what all have staged, and acquires nothing after the
// counter told it that it is the last.
KERNEL(128) last_block(GLOBAL f32 *x, GLOBAL f32 *staging, GLOBAL f32 *y, GLOBAL u32 *counter) {
	SHARED u32 ticket;
	staging[group() * 128 + item()] = x[group() * 128 + item()];
	FENCE(__ATOMIC_RELEASE, "agent");
	bare_barrier();
	if (item() == 0)
		ticket = __scoped_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
	barrier_lds();
	if (ticket != 3)
		return;
	if (FIX)
		FENCE(__ATOMIC_ACQUIRE, "agent");
	f32 sum = 0;
	for (u32 g = 0; g < 4; g++)
		sum += staging[g * 128 + item()];
	y[item()] = sum;
}

// A tile in LDS is loaded again for the next step: the barrier stands before the
// wait for the reads of the old one.
KERNEL(128) read_in_flight(GLOBAL u32 *x, GLOBAL u32 *y) {
	SHARED u32 tile[128];
	tile[item()] = x[item()];
	barrier();
	u32 other = (item() + 64) % 128 * 4, value;
	if (FIX)
		asm volatile("ds_load_b32 %0, %1\n s_waitcnt lgkmcnt(0)\n s_barrier" : "=&v"(value) : "v"(other) : "memory");
	else
		asm volatile("ds_load_b32 %0, %1\n s_barrier\n s_waitcnt lgkmcnt(0)" : "=&v"(value) : "v"(other) : "memory");
	tile[item()] = value + x[item() + 128];
	barrier();
	y[item()] = tile[(item() + 32) % 128] + value;
}

// A compiler moves the stores to LDS behind the barrier that was to cover them,
// since the barrier came without a fence.
KERNEL(128) sunk_store(GLOBAL u32 *x, GLOBAL u32 *y) {
	SHARED u32 tile[128];
	u32 value = x[item()];
	if (FIX) {
		tile[item()] = value;
		barrier();
	} else {
		bare_barrier();
		tile[item()] = value;
	}
	y[item()] = tile[(item() + 64) % 128];
}

// One buffer in LDS serves two reductions, one after the other, with no barrier
// between the last read of the first and the first write of the second.
KERNEL(128) lds_reuse(GLOBAL u32 *x, GLOBAL u32 *y) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	barrier();
	u32 first = s[(item() + 32) % 128] + s[(item() + 64) % 128];
	if (FIX)
		barrier();
	s[item()] = first;
	barrier();
	y[item()] = s[(item() + 96) % 128];
}

// Filed as a miscompilation, and was a data race in the source: all count in one
// place, without atomics.
KERNEL(128) counted_twice(GLOBAL u32 *x, GLOBAL u32 *y) {
	SHARED u32 bins[8];
	if (item() < 8)
		bins[item()] = 0;
	barrier();
	if (FIX)
		__scoped_atomic_fetch_add(&bins[item() / 16], x[item()], __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
	else
		for (u32 i = 0; i < 4; i++)
			if (item() % 32 == 8 * i)
				bins[(item() / 8 + i) % 8] += x[item()];
	barrier();
	if (item() < 8)
		y[item()] = bins[item()];
}

// Keys of 64 values are read in steps of 128 bytes, the last step of the last key
// too: up to 64 bytes beyond the tensor, where an allocator had some slack.
KERNEL(32) head_of_64(GLOBAL f32 *keys, GLOBAL f32 *y, u32 tokens) {
	f32 sum = 0;
	for (u32 t = 0; t < tokens; t++)
		for (u32 d = 0; d < 2; d++) {
			u32 at = t * 48 + d * 32 + item();
			if (!FIX || d * 32 + item() < 48)
				sum += keys[at];
		}
	y[item()] = sum;
}

// A partial attention is combined with the others' before they have been stored.
KERNEL(128) combine(GLOBAL f32 *x, GLOBAL f32 *y) {
	SHARED f32 partial[4], most[4];
	f32 sum = x[item()];
	for (i32 i = 16; i; i >>= 1)
		sum += __builtin_bit_cast(f32, __builtin_amdgcn_ds_bpermute((item() ^ i) * 4, __builtin_bit_cast(i32, sum)));
	if (item() % 32 == 0) {
		partial[item() / 32] = sum;
		most[item() / 32] = x[item()];
	}
	if (FIX)
		barrier();
	f32 all = 0;
	for (u32 w = 0; w < 4; w++)
		all += partial[w] + most[w];
	y[item()] = all;
}

// A convolution takes its weights in fours, also where a row has 30 of them.
KERNEL(32) weights_in_fours(GLOBAL f32 *weights, GLOBAL f32 *y, u32 rows, u32 columns) {
	f32 sum = 0;
	for (u32 i = item() * 4; i < rows * columns; i += 128)
		for (u32 j = 0; j < 4; j++)
			if (!FIX || i + j < rows * columns)
				sum += weights[i + j];
	y[item()] = sum;
}

// The running sums of an attention are rescaled by a factor in LDS, and the next
// factor is stored before all have read this one.
KERNEL(128) rescale(GLOBAL f32 *x, GLOBAL f32 *y) {
	SHARED f32 factor;
	f32 sum = 0;
	for (u32 step = 0; step < 3; step++) {
		if (item() == 0)
			factor = x[step];
		barrier();
		sum = sum * factor + x[item()];
		if (FIX)
			barrier();
	}
	y[item()] = sum;
}

// Attention over a page of values of which a sequence has filled some: the weights
// of the others are 0, but what is there may be a NaN.
KERNEL(32) unwritten_values(GLOBAL f32 *weights, GLOBAL f32 *values, GLOBAL f32 *y, u32 tokens) {
	for (u32 t = 0; t < tokens; t++)
		values[32 * t + item()] = weights[t] * item();
	f32 sum = 0;
	for (u32 t = 0; t < 8; t++) {
		f32 weight = t < tokens ? weights[t] : 0, value = values[32 * t + item()];
		if (FIX)
			value = t < tokens ? value : 0;
		sum += weight * value;
	}
	y[item()] = sum;
}
