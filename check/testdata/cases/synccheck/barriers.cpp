// Workgroups of four waves come to barriers, all of them or not.
#include "../kernel.h"

// A barrier in a branch that some lanes take.
KERNEL(128) a_barrier_in_a_branch_that_some_lanes_take(GLOBAL u32 *x) {
	if (item() % 32 < 5) {
		x[item()] = 1;
		bare_barrier();
		x[item()] = 2;
	}
	x[item()] = 3;
}

// A barrier in a loop that lanes leave at different times.
KERNEL(128) a_barrier_in_a_loop_that_lanes_leave_at_different_times(GLOBAL u32 *x) {
	for (u32 i = 0; i <= item() % 3; i++) {
		x[item()] += i;
		bare_barrier();
	}
	x[item()] = 3;
}

// Two barriers, one in each arm of a branch of lanes.
KERNEL(128) two_barriers_one_in_each_arm_of_a_branch_of_lanes(GLOBAL u32 *x) {
	if (item() % 2) {
		x[item()] = 1;
		bare_barrier();
	} else {
		x[item()] = 2;
		bare_barrier();
	}
}

// At -O0 too.
KERNEL(128) at_o0_too(GLOBAL u32 *x) {
	if (item() % 32 < 5) {
		x[item()] = 1;
		bare_barrier();
	}
	x[item()] = 3;
}

// Waves meet at different barriers.
KERNEL(128) waves_meet_at_different_barriers(GLOBAL u32 *x) {
	u32 w = wave();
	if (w & 1) {
		x[item()] = 1;
		bare_barrier();
		x[item()] = 4;
	} else {
		x[item()] = 2;
		bare_barrier();
	}
}

// A wave returns before a barrier.
KERNEL(128) a_wave_returns_before_a_barrier(GLOBAL u32 *x) {
	if (wave() == 3) return;
	x[item()] = 1;
	bare_barrier();
	x[item()] = 2;
}

// A wave spins on what another would write behind a barrier.
KERNEL(128) a_wave_spins_on_what_another_would_write_behind_a_barrier(GLOBAL u32 *x) {
	u32 w = wave();
	if (w == 0) {
		while (__atomic_load_n(x, 0) == 0);
	}
	bare_barrier();
	if (w == 1) __atomic_store_n(x, 1u, 0);
}

// A barrier that all lanes reach.
KERNEL(128) a_barrier_that_all_lanes_reach(GLOBAL u32 *x) {
	x[item()] = 1;
	barrier();
	x[item() ^ 32] += 2;
}

// Work in a branch between barriers.
KERNEL(128) work_in_a_branch_between_barriers(GLOBAL u32 *x) {
	if (item() % 2) x[item()] = 1;
	barrier();
	if (item() % 3) x[item()] += 2;
	barrier();
	x[item()] += 3;
}

// Work in a branch between barriers at -O0.
KERNEL(128) work_in_a_branch_between_barriers_at_o0(GLOBAL u32 *x) {
	if (item() % 2) x[item()] = 1;
	barrier();
	if (item() % 3) x[item()] += 2;
	barrier();
	x[item()] += 3;
}

// Lanes that returned before a barrier stay away.
KERNEL(128) lanes_that_returned_before_a_barrier_stay_away(GLOBAL u32 *x) {
	if (item() % 32 > 20) return;
	x[item()] = 1;
	barrier();
	x[item()] += 3;
}

// A barrier in a loop of as many turns for all.
KERNEL(128) a_barrier_in_a_loop_of_as_many_turns_for_all(GLOBAL u32 *x) {
	for (u32 i = 0; i < 5; i++) {
		x[item()] += i;
		barrier();
	}
}

// A barrier in a branch that the whole workgroup takes.
KERNEL(128) a_barrier_in_a_branch_that_the_whole_workgroup_takes(GLOBAL u32 *x) {
	if (group() == 0) {
		x[item()] = 1;
		barrier();
		x[item()] = 2;
	}
}

// A barrier in a loop whose turns depend on the workgroup.
KERNEL(128) a_barrier_in_a_loop_whose_turns_depend_on_the_workgroup(GLOBAL u32 *x) {
	for (u32 i = 0; i <= group(); i++) {
		x[item()] += i;
		barrier();
	}
}

// One wave writes what all wait for.
KERNEL(128) one_wave_writes_what_all_wait_for(GLOBAL u32 *x) {
	SHARED u32 s;
	if (item() == 0) s = 7;
	barrier();
	x[item()] = s;
}

// Waves that take different ways and meet at one barrier.
KERNEL(128) waves_that_take_different_ways_and_meet_at_one_barrier(GLOBAL u32 *x) {
	u32 w = wave();
	if (w & 1) x[item()] = 1;
	else if (w) x[item()] = 3;
	barrier();
	x[item()] += 2;
}

// Waves that return after the last barrier.
KERNEL(128) waves_that_return_after_the_last_barrier(GLOBAL u32 *x) {
	x[item()] = 1;
	barrier();
	if (item() / 32 == 2) return;
	x[item()] = 2;
}

// One wave is done and the others spin on its flag.
KERNEL(128) one_wave_is_done_and_the_others_spin_on_its_flag(GLOBAL u32 *x) {
	u32 w = wave();
	if (w == 3) {
		__atomic_store_n(x, 1u, 3);
		return;
	}
	while (__atomic_load_n(x, 2) == 0);
	x[item()] = 2;
}
