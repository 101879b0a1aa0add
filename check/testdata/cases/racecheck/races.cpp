// Two workgroups of four waves share memory, well and badly.
#include "../kernel.h"

// LDS read without a barrier.
KERNEL(128) lds_read_without_a_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	y[item() + 128 * group()] = s[item() ^ 32];
}

// LDS reused without a barrier.
KERNEL(128) lds_reused_without_a_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	barrier();
	u32 v = s[item() ^ 32];
	s[item()] = v + 1;
	y[item() + 128 * group()] = v;
}

// LDS written behind a bare barrier.
KERNEL(128) lds_written_behind_a_bare_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	bare_barrier();
	y[item() + 128 * group()] = s[item() ^ 32];
}

// LDS handed over at a barrier.
KERNEL(128) lds_handed_over_at_a_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	barrier();
	y[item() + 128 * group()] = s[item() ^ 32];
}

// LDS handed over with a fence for LDS only.
KERNEL(128) lds_handed_over_with_a_fence_for_lds_only(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	barrier_lds();
	y[item() + 128 * group()] = s[item() ^ 32];
}

// LDS within a wave needs no barrier.
KERNEL(128) lds_within_a_wave_needs_no_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	FENCE(__ATOMIC_ACQ_REL, "wavefront");
	y[item() + 128 * group()] = s[item() ^ 1];
}

// Bytes of one dword by different waves.
KERNEL(128) bytes_of_one_dword_by_different_waves(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u8 s[512];
	s[item() % 32 * 4 + item() / 32] = x[item()];
	barrier();
	y[item() + 128 * group()] = s[item() % 32 * 4 + item() / 32];
}

// A byte of another wave's dword.
KERNEL(128) a_byte_of_another_wave_s_dword(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u8 s[512];
	s[item() % 32 * 4 + item() / 32] = x[item()];
	y[item() + 128 * group()] = s[item() % 32 * 4 + (item() / 32 ^ 1)];
}

// All read what one wrote.
KERNEL(128) all_read_what_one_wrote(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s;
	if (item() == 0) s = x[0];
	barrier();
	y[item() + 128 * group()] = s;
}

// LDS atomics of all waves.
KERNEL(128) lds_atomics_of_all_waves(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s;
	if (item() == 0) s = 0;
	barrier();
	__scoped_atomic_fetch_add(&s, item(), 0, __MEMORY_SCOPE_WRKGRP);
	barrier();
	y[item() + 128 * group()] = s;
}

// An LDS counter that is set while others add to it.
KERNEL(128) an_lds_counter_that_is_set_while_others_add_to_it(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s;
	if (item() < 32) s = 0;
	else __scoped_atomic_fetch_add(&s, item(), 0, __MEMORY_SCOPE_WRKGRP);
	barrier();
	y[item() + 128 * group()] = s;
}

// Global memory without a barrier.
KERNEL(128) global_memory_without_a_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	y[i] = x[i ^ 32];
}

// Global memory handed over at a barrier.
KERNEL(128) global_memory_handed_over_at_a_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	barrier();
	y[i] = x[i ^ 32];
}

// Global memory with a fence for LDS only.
KERNEL(128) global_memory_with_a_fence_for_lds_only(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	barrier_lds();
	y[i] = x[i ^ 32];
}

// Global memory released and not acquired.
KERNEL(128) global_memory_released_and_not_acquired(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	FENCE(__ATOMIC_RELEASE, "workgroup");
	bare_barrier();
	y[i] = x[i ^ 32];
}

// Global memory acquired and not released.
KERNEL(128) global_memory_acquired_and_not_released(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	bare_barrier();
	FENCE(__ATOMIC_ACQUIRE, "workgroup");
	y[i] = x[i ^ 32];
}

// Global memory released, and loads past the caches.
KERNEL(128) global_memory_released_and_loads_past_the_caches(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	FENCE(__ATOMIC_RELEASE, "workgroup");
	bare_barrier();
	y[i] = __scoped_atomic_load_n(x + (i ^ 32), 0, __MEMORY_SCOPE_DEVICE);
}

// Global memory handed over twice.
KERNEL(128) global_memory_handed_over_twice(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	barrier();
	y[i] = x[i ^ 32];
	barrier();
	x[i ^ 32] = y[i ^ 64];
	barrier();
	y[i] = x[i ^ 96];
}

// Global memory overwritten after others read it.
KERNEL(128) global_memory_overwritten_after_others_read_it(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	y[i] = x[i ^ 32];
	x[i] = i;
}

// Global memory overwritten behind a barrier.
KERNEL(128) global_memory_overwritten_behind_a_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	y[i] = x[i ^ 32];
	barrier();
	x[i] = i;
}

// A wave reads what it wrote.
KERNEL(128) a_wave_reads_what_it_wrote(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	FENCE(__ATOMIC_ACQ_REL, "wavefront");
	y[i] = x[i ^ 3];
}

// Masked lanes touch nothing.
KERNEL(128) masked_lanes_touch_nothing(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	if (item() < 32) x[i] = i;
	if (item() >= 32) y[i] = x[i];
}

// Everybody reads the same.
KERNEL(128) everybody_reads_the_same(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	y[item() + 128 * group()] = x[0] + x[item()];
}

// A workgroup reads another's.
KERNEL(128) a_workgroup_reads_another_s(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	x[i] = i;
	barrier();
	y[i] = x[i ^ 128];
}

// Two workgroups write the same.
KERNEL(128) two_workgroups_write_the_same(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	x[item()] = group();
}

// The last workgroup reads all, behind a counter.
KERNEL(128) the_last_workgroup_reads_all_behind_a_counter(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	SHARED u32 last;
	x[i] = i;
	FENCE(__ATOMIC_RELEASE, "agent");
	bare_barrier();
	if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
	barrier();
	if (last != 1) return;
	FENCE(__ATOMIC_ACQUIRE, "agent");
	y[item()] = x[item()] + x[item() + 128];
}

// The last workgroup reads all, and did not acquire.
KERNEL(128) the_last_workgroup_reads_all_and_did_not_acquire(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	SHARED u32 last;
	x[i] = i;
	FENCE(__ATOMIC_RELEASE, "agent");
	bare_barrier();
	if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
	barrier_lds();
	if (last != 1) return;
	y[item()] = x[item()] + x[item() + 128];
}

// The last workgroup acquires for a workgroup only.
KERNEL(128) the_last_workgroup_acquires_for_a_workgroup_only(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	SHARED u32 last;
	x[i] = i;
	FENCE(__ATOMIC_RELEASE, "agent");
	bare_barrier();
	if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
	barrier();
	if (last != 1) return;
	y[item()] = x[item()] + x[item() + 128];
}

// The last workgroup reads all, and nobody released.
KERNEL(128) the_last_workgroup_reads_all_and_nobody_released(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	u32 i = item() + 128 * group();
	SHARED u32 last;
	x[i] = i;
	bare_barrier();
	if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
	barrier_lds();
	if (last != 1) return;
	FENCE(__ATOMIC_ACQUIRE, "agent");
	y[item()] = x[item()] + x[item() + 128];
}

// A flag that is polled.
KERNEL(128) a_flag_that_is_polled(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (group() == 1) {
		x[item()] = item();
		FENCE(__ATOMIC_RELEASE, "agent");
		bare_barrier();
		if (item() == 0) __scoped_atomic_store_n(n, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
		return;
	}
	while (__scoped_atomic_load_n(n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
	FENCE(__ATOMIC_ACQUIRE, "agent");
	y[item()] = x[item()];
}

// A flag that is polled, and nothing acquired.
KERNEL(128) a_flag_that_is_polled_and_nothing_acquired(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (group() == 1) {
		x[item()] = item();
		FENCE(__ATOMIC_RELEASE, "agent");
		bare_barrier();
		if (item() == 0) __scoped_atomic_store_n(n, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
		return;
	}
	while (__scoped_atomic_load_n(n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
	y[item()] = x[item()];
}

// A flag that is set before what it stands for.
KERNEL(128) a_flag_that_is_set_before_what_it_stands_for(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (group() == 1) {
		if (item() == 0) __scoped_atomic_store_n(n, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
		bare_barrier();
		x[item()] = item();
		return;
	}
	while (__scoped_atomic_load_n(n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
	FENCE(__ATOMIC_ACQUIRE, "agent");
	y[item()] = x[item()];
}

// A lock.
KERNEL(128) a_lock(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (item() != 0) return;
	u32 free = 0;
	while (!__scoped_atomic_compare_exchange_n(n, &free, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) free = 0;
	FENCE(__ATOMIC_ACQUIRE, "agent");
	x[0] += 1;
	__scoped_atomic_store_n(n, 0u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}

// Workgroups add to a histogram.
KERNEL(128) workgroups_add_to_a_histogram(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	__scoped_atomic_fetch_add(x + item() % 7, 1u, 0, __MEMORY_SCOPE_DEVICE);
}

// One workgroup stores where others add.
KERNEL(128) one_workgroup_stores_where_others_add(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (group() == 0 && item() >= 7) x[item() % 7] = 1;
	else __scoped_atomic_fetch_add(x + item() % 7, 1u, 0, __MEMORY_SCOPE_DEVICE);
}

// LDS as two buffers in turn.
KERNEL(128) lds_as_two_buffers_in_turn(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[256];
	u32 sum = 0;
	for (u32 i = 0; i < 4; i++) {
		s[i % 2 * 128 + item()] = x[item()] + i;
		barrier();
		sum += s[i % 2 * 128 + (item() ^ 32)];
	}
	y[item() + 128 * group()] = sum;
}

// LDS as one buffer in turn, with one barrier.
KERNEL(128) lds_as_one_buffer_in_turn_with_one_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	u32 sum = 0;
	for (u32 i = 0; i < 4; i++) {
		s[item()] = x[item()] + i;
		barrier();
		sum += s[item() ^ 32];
	}
	y[item() + 128 * group()] = sum;
}

// LDS as one buffer in turn, with two barriers.
KERNEL(128) lds_as_one_buffer_in_turn_with_two_barriers(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	u32 sum = 0;
	for (u32 i = 0; i < 4; i++) {
		s[item()] = x[item()] + i;
		barrier();
		sum += s[item() ^ 32];
		barrier();
	}
	y[item() + 128 * group()] = sum;
}

// A tree of additions in LDS.
KERNEL(128) a_tree_of_additions_in_lds(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	for (u32 n = 64; n; n >>= 1) {
		barrier();
		if (item() < n) s[item()] += s[item() + n];
	}
	if (item() == 0) y[group()] = s[0];
}

// A tree of additions in LDS without its last barriers.
KERNEL(128) a_tree_of_additions_in_lds_without_its_last_barriers(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	for (u32 n = 64; n; n >>= 1) {
		if (n > 16) barrier();
		if (item() < n) s[item()] += s[item() + n];
	}
	if (item() == 0) y[group()] = s[0];
}

// A tree of additions in LDS with every other barrier.
KERNEL(128) a_tree_of_additions_in_lds_with_every_other_barrier(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	for (u32 n = 64; n; n >>= 1) {
		if (n != 32) barrier();
		if (item() < n) s[item()] += s[item() + n];
	}
	if (item() == 0) y[group()] = s[0];
}

// Halves of a dword by different waves.
KERNEL(128) halves_of_a_dword_by_different_waves(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	GLOBAL unsigned short *h = (GLOBAL unsigned short *)x + 256 * group();
	h[item() % 32 * 2 + item() / 32 % 2 + item() / 64 * 64] = item();
}

// A transpose through LDS.
KERNEL(128) a_transpose_through_lds(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item() % 32 * 4 + item() / 32] = x[item()];
	barrier();
	y[item() + 128 * group()] = s[item()];
}

// A wave's own part of LDS, read by its lanes.
KERNEL(128) a_wave_s_own_part_of_lds_read_by_its_lanes(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	SHARED u32 s[128];
	s[item()] = x[item()];
	FENCE(__ATOMIC_ACQ_REL, "wavefront");
	y[item() + 128 * group()] = s[item() / 32 * 32 + (item() + 5) % 32];
}

// One wave prepares and the others wait.
KERNEL(128) one_wave_prepares_and_the_others_wait(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (wave() == 0) y[item() + 128 * group()] = x[item()] * 3;
	barrier();
	if (wave() != 0) y[item() + 128 * group()] = y[item() % 32 + 128 * group()];
}

// A counter that is read by an atomic.
KERNEL(128) a_counter_that_is_read_by_an_atomic(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	__scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
	if (item() == 0) y[group()] = __scoped_atomic_fetch_or(n, 0u, 0, __MEMORY_SCOPE_DEVICE);
}

// A counter that is read as if nobody changed it.
KERNEL(128) a_counter_that_is_read_as_if_nobody_changed_it(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	__scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
	if (item() == 0) y[group()] = n[0];
}

// The largest of all, by atomics of both workgroups.
KERNEL(128) the_largest_of_all_by_atomics_of_both_workgroups(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	__scoped_atomic_fetch_max(n, x[item()] + item(), 0, __MEMORY_SCOPE_DEVICE);
}

// Workgroups write rows of their own and read a table.
KERNEL(128) workgroups_write_rows_of_their_own_and_read_a_table(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	for (u32 i = item(); i < 256; i += 128) y[256 * group() + i] = x[i] + x[255 - i];
}

// Lanes write different values to one place.
KERNEL(128) lanes_write_different_values_to_one_place(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (item() < 32) x[group()] = item();
}

// Lanes write the same value to one place.
KERNEL(128) lanes_write_the_same_value_to_one_place(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	if (item() < 32) x[group()] = 7;
}

// Lanes write in any order to places of their own.
KERNEL(128) lanes_write_in_any_order_to_places_of_their_own(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {
	x[(item() * 37 & 127) + 128 * group()] = item();
}
