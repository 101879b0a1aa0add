// What is read before anybody has written it, where that matters and where it does
// not. x and its like are given, raw has what an allocator left there, y is what
// comes out and is raw too.
#include "../kernel.h"

#define ARGS GLOBAL u32 *x, GLOBAL u32 *raw, GLOBAL u32 *y, u32 n
#define WORKGROUP 128
#define UNROLL _Pragma("unroll")

// A sum over twice as many words of LDS as there are work-items.
KERNEL(WORKGROUP) lds_beyond_what_was_written(ARGS) {
	SHARED u32 s[2 * WORKGROUP];
	s[item()] = x[item()];
	barrier();
	y[item()] = s[item()] + s[item() + 96]; // here
}

KERNEL(WORKGROUP) lds_that_was_written(ARGS) {
	SHARED u32 s[2 * WORKGROUP];
	s[item()] = x[item()], s[item() + WORKGROUP] = 1;
	barrier();
	y[item()] = s[item()] + s[item() + 96];
}

KERNEL(WORKGROUP) lds_that_one_lane_did_not_write(ARGS) {
	SHARED u32 s[WORKGROUP];
	if (item() != 77)
		s[item()] = x[item()];
	barrier();
	y[item()] = s[item() ^ 1] * 3; // here
}

KERNEL(WORKGROUP) lds_that_was_written_under_a_condition(ARGS) {
	SHARED u32 s[WORKGROUP];
	if (item() < n)
		s[item()] = x[item()];
	barrier();
	y[item()] = (item() ^ 1) < n ? s[item() ^ 1] * 3 : 0;
}

// One word of LDS is stored as it is: nothing was computed, and yet it is all that
// the lane stores.
KERNEL(WORKGROUP) lds_is_stored_as_it_is(ARGS) {
	SHARED u32 s[WORKGROUP];
	if (item() < 64)
		s[item()] = x[item()];
	barrier();
	y[item()] = s[item()]; // here
}

KERNEL(WORKGROUP) rows_of_lds_with_padding(ARGS) {
	SHARED u32 s[4 * 33];
	s[item() / 32 * 33 + item() % 32] = x[item()];
	barrier();
	y[item()] = s[item() % 4 * 33 + item() / 4] + 1;
}

typedef u32 u32x4 __attribute__((ext_vector_type(4)));
struct Entry { u32 key; u64 value; };

KERNEL(WORKGROUP) a_structure_with_padding_is_copied(ARGS) {
	SHARED Entry s[WORKGROUP];
	s[item()].key = x[item()], s[item()].value = item();
	barrier();
	((GLOBAL u32x4 *)y)[item()] = ((LDS u32x4 *)s)[item() ^ 1];
}

// Three words of four are used.
KERNEL(WORKGROUP) a_load_wider_than_what_is_used(ARGS) {
	SHARED u32 s[4 * WORKGROUP];
	for (u32 i = 0; i < 3; i++)
		s[4 * item() + i] = x[item()] + i;
	barrier();
	u32x4 v = ((LDS u32x4 *)s)[item() ^ 1];
	y[item()] = v.x + v.y + v.z;
}

KERNEL(WORKGROUP) a_sum_into_what_is_raw(ARGS) {
	y[item()] += x[item()]; // here
}

KERNEL(WORKGROUP) a_sum_into_what_was_set(ARGS) {
	y[item()] = 0;
	asm volatile("" ::: "memory");
	y[item()] += x[item()];
}

KERNEL(WORKGROUP) raw_memory_is_copied(ARGS) {
	y[item()] = raw[item()];
}

KERNEL(WORKGROUP) raw_memory_is_copied_through_lds(ARGS) {
	SHARED u32 s[WORKGROUP];
	s[item()] = raw[item()];
	barrier();
	y[item()] = s[item() ^ 5];
}

KERNEL(WORKGROUP) raw_bytes_are_put_together(ARGS) {
	const GLOBAL u8 *b = (const GLOBAL u8 *)raw + 4 * item();
	y[item()] = b[3] | b[2] << 8 | b[1] << 16 | b[0] << 24;
}

KERNEL(WORKGROUP) raw_memory_is_read_and_left_out(ARGS) {
	u32 v = raw[item()];
	y[item()] = item() < n ? x[item()] : v & 0;
}

KERNEL(WORKGROUP) raw_memory_is_selected_away(ARGS) {
	u32 v = item() < 1000 ? x[item()] : raw[item()];
	y[item()] = v + 1;
}

KERNEL(WORKGROUP) a_counter_in_raw_memory(ARGS) {
	__scoped_atomic_fetch_add(raw, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); // here
}

KERNEL(WORKGROUP) a_counter_in_memory_that_was_set(ARGS) {
	__scoped_atomic_fetch_add(x, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

KERNEL(WORKGROUP) a_histogram_in_lds_that_nobody_cleared(ARGS) {
	SHARED u32 bins[WORKGROUP];
	barrier();
	__scoped_atomic_fetch_add(&bins[x[item()] % WORKGROUP], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); // here
}

KERNEL(WORKGROUP) a_histogram_in_lds(ARGS) {
	SHARED u32 bins[WORKGROUP];
	bins[item()] = 0;
	barrier();
	__scoped_atomic_fetch_add(&bins[x[item()] % WORKGROUP], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
	barrier();
	y[item()] = bins[item()];
}

KERNEL(WORKGROUP) a_raw_index(ARGS) {
	y[raw[item()] % WORKGROUP] = 1; // here
}

KERNEL(WORKGROUP) a_raw_index_that_is_masked(ARGS) {
	y[item() | (raw[item()] & (n - n))] = x[item()];
}

KERNEL(WORKGROUP) a_raw_flag(ARGS) {
	if (raw[0] == 1) // here
		y[item()] = 1;
}

KERNEL(WORKGROUP) a_flag_that_was_set(ARGS) {
	if (x[0] == 1)
		y[item()] = 1;
}

KERNEL(WORKGROUP) raw_conditions_of_lanes(ARGS) {
	if (raw[item()] > 7) // here
		y[item()] = 1;
}

KERNEL(WORKGROUP) conditions_behind_a_bound(ARGS) {
	if (item() < n && x[item()] > 7)
		y[item()] = 1;
}

// Keys of which only some are there: a weight of 0 does not undo a NaN.
KERNEL(WORKGROUP) zero_times_raw(ARGS) {
	f32 sum = 0;
	for (u32 t = 0; t < 4; t++) {
		f32 weight = t < n ? 1.0f : 0.0f;
		sum += weight * ((const GLOBAL f32 *)(t < n ? x : raw))[t * 16 + item() % 16];
	}
	((GLOBAL f32 *)y)[item()] = sum; // here
}

KERNEL(WORKGROUP) zero_instead_of_raw(ARGS) {
	f32 sum = 0;
	for (u32 t = 0; t < 4; t++) {
		f32 weight = t < n ? 1.0f : 0.0f;
		f32 value = ((const GLOBAL f32 *)(t < n ? x : raw))[t * 16 + item() % 16];
		sum += weight * (t < n ? value : 0.0f);
	}
	((GLOBAL f32 *)y)[item()] = sum;
}

// A private array that is indexed at run time is in scratch.
KERNEL(WORKGROUP) an_element_of_scratch(ARGS) {
	volatile u32 a[8];
	for (u32 i = 0; i < n; i++)
		a[i] = x[i];
	y[item()] = a[(item() + x[0]) % 8] + 1; // here
}

KERNEL(WORKGROUP) an_element_of_scratch_that_was_written(ARGS) {
	volatile u32 a[8];
	for (u32 i = 0; i < 8; i++)
		a[i] = x[i];
	y[item()] = a[(item() + x[0]) % 8] + 1;
}

KERNEL(WORKGROUP) three_bytes_of_a_word(ARGS) {
	SHARED u8 s[4 * WORKGROUP];
	for (u32 i = 0; i < 3; i++)
		s[4 * item() + i] = x[item()];
	barrier();
	y[item()] = ((LDS u32 *)s)[item() ^ 1] + 1; // here
}

KERNEL(WORKGROUP) four_bytes_of_a_word(ARGS) {
	SHARED u8 s[4 * WORKGROUP];
	for (u32 i = 0; i < 4; i++)
		s[4 * item() + i] = x[item()];
	barrier();
	y[item()] = ((LDS u32 *)s)[item() ^ 1] + 1;
}

KERNEL(WORKGROUP) three_bytes_of_a_word_and_no_more(ARGS) {
	SHARED u8 s[4 * WORKGROUP];
	for (u32 i = 0; i < 3; i++)
		s[4 * item() + i] = x[item()];
	barrier();
	y[item()] = (((LDS u32 *)s)[item() ^ 1] & 0xffffff) + 1;
}

// A maximum over a row whose end nobody wrote.
KERNEL(WORKGROUP) a_maximum_over_a_raw_end(ARGS) {
	SHARED f32 s[WORKGROUP];
	if (item() < n)
		s[item()] = x[item()];
	barrier();
	f32 m = -1;
	for (u32 i = 0; i < 8; i++)
		m = __builtin_fmaxf(m, s[i]);
	((GLOBAL f32 *)y)[item()] = m; // here
}

KERNEL(WORKGROUP) a_maximum_up_to_the_end(ARGS) {
	SHARED f32 s[WORKGROUP];
	if (item() < n)
		s[item()] = x[item()];
	barrier();
	f32 m = -1;
	for (u32 i = 0; i < n; i++)
		m = __builtin_fmaxf(m, s[i]);
	((GLOBAL f32 *)y)[item()] = m;
}

// Another wave's part of LDS, behind a barrier.
KERNEL(WORKGROUP) what_another_wave_wrote(ARGS) {
	SHARED u32 s[WORKGROUP];
	if (wave() == 0)
		UNROLL for (u32 i = 0; i < 4; i++) s[item() + 32 * i] = x[item() + 32 * i];
	barrier();
	y[item()] = s[item()] * 2;
}

KERNEL(WORKGROUP) a_sum_across_lanes(ARGS) {
	u32 v = x[item()];
	for (u32 i = 1; i < 32; i *= 2)
		v += __builtin_amdgcn_ds_bpermute((item() ^ i) << 2, v);
	y[item()] = v;
}

KERNEL(WORKGROUP) a_sum_across_lanes_of_which_some_are_raw(ARGS) {
	u32 v = item() % 32 < 20 ? x[item()] : raw[item()];
	for (u32 i = 1; i < 32; i *= 2)
		v += __builtin_amdgcn_ds_bpermute((item() ^ i) << 2, v);
	y[item()] = v; // here
}

KERNEL(WORKGROUP) lanes_that_returned(ARGS) {
	if (item() >= n)
		return;
	y[item()] = x[item()] * x[item() + 1];
}

KERNEL(WORKGROUP) halves_of_words(ARGS) {
	SHARED _Float16 s[WORKGROUP];
	s[item()] = (_Float16)(f32)x[item()];
	barrier();
	((GLOBAL _Float16 *)y)[item()] = s[item() ^ 1] * (_Float16)2;
}

KERNEL(WORKGROUP) the_results_of_a_loop_over_rows(ARGS) {
	f32 sum[4] = {};
	for (u32 k = 0; k < n; k++)
		UNROLL for (u32 r = 0; r < 4; r++) sum[r] += (f32)x[k] * (f32)x[r];
	UNROLL for (u32 r = 0; r < 4; r++) ((GLOBAL f32 *)y)[4 * item() + r] = sum[r];
}
