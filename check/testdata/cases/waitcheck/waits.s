// Registers that are used while a load is on its way into them, and near misses. In
// each kernel v1 is four times the work-item, v[2:3] and s[4:5] are x, v9, v10 and
// v20 are 0.

.macro begin name
	.text
	.globl \name
	.p2align 8
	.type \name, @function
\name:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v2, vcc_lo, s4, v1
	v_add_co_ci_u32 v3, vcc_lo, s5, 0, vcc_lo
	v_mov_b32 v9, 0
	v_mov_b32 v10, 0
	v_mov_b32 v20, 0
.endm

.macro end name
	s_endpgm
.Lend_\name:
	.size \name, .Lend_\name - \name
	.rodata
	.p2align 6
	.amdhsa_kernel \name
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 8
		.amdhsa_group_segment_fixed_size 512
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
.endm

begin a_load_is_used_at_once
	global_load_b32 v10, v1, s[4:5]
	v_add_nc_u32 v11, v10, v10
end a_load_is_used_at_once

begin the_second_of_two_loads_behind_a_wait_for_the_first
	global_load_b32 v10, v1, s[4:5]
	global_load_b32 v11, v1, s[4:5]
	s_waitcnt vmcnt(1)
	v_mov_b32 v12, v11
end the_second_of_two_loads_behind_a_wait_for_the_first

begin a_wait_for_stores_is_none_for_loads
	global_load_b32 v10, v1, s[4:5]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v12, v10
end a_wait_for_stores_is_none_for_loads

begin a_barrier_waits_for_nothing
	global_load_b32 v10, v1, s[4:5]
	s_barrier
	v_mov_b32 v12, v10
end a_barrier_waits_for_nothing

begin a_load_of_lds_is_used_at_once
	ds_load_b32 v10, v1
	v_mov_b32 v11, v10
end a_load_of_lds_is_used_at_once

begin the_first_of_two_loads_of_lds
	ds_load_b32 v10, v1
	ds_load_b32 v11, v1
	v_mov_b32 v12, v10
end the_first_of_two_loads_of_lds

begin scalar_loads_return_in_any_order
	s_load_b32 s10, s[4:5], 0x0
	s_load_b32 s11, s[4:5], 0x4
	s_waitcnt lgkmcnt(1)
	s_add_u32 s12, s10, 1
end scalar_loads_return_in_any_order

begin lds_does_not_count_scalar_loads_down
	s_load_b32 s10, s[4:5], 0x0
	ds_load_b32 v10, v1
	s_waitcnt lgkmcnt(1)
	s_add_u32 s12, s10, 1
end lds_does_not_count_scalar_loads_down

begin an_atomic_that_returns_is_used_at_once
	global_atomic_add_u32 v10, v1, v20, s[4:5] glc
	v_mov_b32 v11, v10
end an_atomic_that_returns_is_used_at_once

begin a_flat_load_of_lds_behind_a_wait_for_vmcnt
	s_mov_b64 s[8:9], src_shared_base
	v_mov_b32 v4, v20
	v_mov_b32 v5, s9
	flat_load_b32 v10, v[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32 v11, v10
end a_flat_load_of_lds_behind_a_wait_for_vmcnt

begin a_store_of_what_is_being_loaded
	global_load_b32 v10, v1, s[4:5]
	global_store_b32 v1, v10, s[4:5]
end a_store_of_what_is_being_loaded

begin an_address_that_is_being_loaded
	global_load_b32 v10, v1, s[4:5]
	ds_load_b32 v11, v10
end an_address_that_is_being_loaded

begin a_destination_is_written_too_early
	global_load_b32 v10, v1, s[4:5]
	v_mov_b32 v10, 1
end a_destination_is_written_too_early

begin a_destination_is_loaded_through_another_counter
	global_load_b32 v10, v1, s[4:5]
	ds_load_b32 v10, v1
end a_destination_is_loaded_through_another_counter

begin two_scalar_loads_into_one_register
	s_load_b32 s10, s[4:5], 0x0
	s_load_b32 s10, s[4:5], 0x4
end two_scalar_loads_into_one_register

begin a_load_is_waited_for
	global_load_b32 v10, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_add_nc_u32 v11, v10, v10
end a_load_is_waited_for

begin the_first_of_two_loads_behind_a_wait_for_all_but_one
	global_load_b32 v10, v1, s[4:5]
	global_load_b32 v11, v1, s[4:5]
	s_waitcnt vmcnt(1)
	v_mov_b32 v12, v10
end the_first_of_two_loads_behind_a_wait_for_all_but_one

begin a_wait_by_the_counter_s_own_instruction
	global_load_b32 v10, v1, s[4:5]
	s_waitcnt_vmcnt null, 0x0
	v_mov_b32 v12, v10
end a_wait_by_the_counter_s_own_instruction

begin a_wait_until_the_wave_is_idle
	global_load_b32 v10, v1, s[4:5]
	s_load_b32 s10, s[4:5], 0x0
	s_wait_idle
	v_mov_b32 v12, v10
	v_mov_b32 v12, s10
end a_wait_until_the_wave_is_idle

begin stores_do_not_count_among_loads
	global_load_b32 v10, v1, s[4:5]
	global_store_b32 v1, v20, s[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v10
end stores_do_not_count_among_loads

begin a_load_that_nobody_uses
	global_load_b32 v10, v1, s[4:5]
	v_mov_b32 v11, v20
end a_load_that_nobody_uses

begin a_neighbour_of_what_is_loaded
	global_load_b64 v[10:11], v1, s[4:5]
	v_mov_b32 v12, v9
	v_mov_b32 v9, v12
end a_neighbour_of_what_is_loaded

begin a_store_s_data_are_overwritten
	global_store_b32 v1, v20, s[4:5]
	ds_store_b32 v1, v20
	v_mov_b32 v20, 1
end a_store_s_data_are_overwritten

begin an_address_is_overwritten
	global_load_b32 v10, v1, s[4:5]
	v_mov_b32 v1, 1
	s_mov_b32 s4, 0
end an_address_is_overwritten

begin a_load_over_its_own_address
	global_load_b32 v1, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32 v11, v1
end a_load_over_its_own_address

begin a_load_over_an_earlier_one
	global_load_b32 v10, v1, s[4:5]
	global_load_b32 v10, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32 v11, v10
end a_load_over_an_earlier_one

begin lds_over_lds
	ds_load_b32 v10, v1
	ds_load_b32 v10, v1
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v11, v10
end lds_over_lds

begin lds_before_a_scalar_load
	ds_load_b32 v10, v1
	ds_load_b32 v11, v1
	s_load_b32 s10, s[4:5], 0x0
	s_waitcnt lgkmcnt(1)
	v_mov_b32 v12, v10
end lds_before_a_scalar_load

begin lanes_that_the_load_does_not_fill
	s_mov_b32 exec_lo, 0xff
	global_load_b32 v10, v1, s[4:5]
	s_mov_b32 exec_lo, 0xff00
	v_mov_b32 v11, v10
	v_mov_b32 v10, v20
end lanes_that_the_load_does_not_fill

begin a_load_with_no_lane_active
	s_mov_b32 exec_lo, 0
	global_load_b32 v10, v1, s[4:5]
	s_mov_b32 exec_lo, -1
	v_mov_b32 v11, v10
end a_load_with_no_lane_active

begin the_other_half_of_what_is_loaded
	global_load_d16_b16 v10, v1, s[4:5]
	v_mov_b16 v10.h, v20.l
	v_mov_b16 v11.l, v10.h
end the_other_half_of_what_is_loaded

begin two_halves_of_one_register
	global_load_d16_b16 v10, v1, s[4:5]
	global_load_d16_hi_b16 v10, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_mov_b32 v11, v10
end two_halves_of_one_register

begin a_flat_load_of_global_memory
	flat_load_b32 v10, v[2:3]
	s_waitcnt vmcnt(0)
	v_mov_b32 v11, v10
end a_flat_load_of_global_memory

begin an_atomic_that_returns_nothing
	global_atomic_add_u32 v1, v20, s[4:5]
	v_mov_b32 v20, 3
end an_atomic_that_returns_nothing

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: a_load_is_used_at_once, .symbol: a_load_is_used_at_once.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: the_second_of_two_loads_behind_a_wait_for_the_first, .symbol: the_second_of_two_loads_behind_a_wait_for_the_first.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_wait_for_stores_is_none_for_loads, .symbol: a_wait_for_stores_is_none_for_loads.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_barrier_waits_for_nothing, .symbol: a_barrier_waits_for_nothing.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_load_of_lds_is_used_at_once, .symbol: a_load_of_lds_is_used_at_once.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: the_first_of_two_loads_of_lds, .symbol: the_first_of_two_loads_of_lds.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: scalar_loads_return_in_any_order, .symbol: scalar_loads_return_in_any_order.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: lds_does_not_count_scalar_loads_down, .symbol: lds_does_not_count_scalar_loads_down.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: an_atomic_that_returns_is_used_at_once, .symbol: an_atomic_that_returns_is_used_at_once.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_flat_load_of_lds_behind_a_wait_for_vmcnt, .symbol: a_flat_load_of_lds_behind_a_wait_for_vmcnt.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_store_of_what_is_being_loaded, .symbol: a_store_of_what_is_being_loaded.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: an_address_that_is_being_loaded, .symbol: an_address_that_is_being_loaded.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_destination_is_written_too_early, .symbol: a_destination_is_written_too_early.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_destination_is_loaded_through_another_counter, .symbol: a_destination_is_loaded_through_another_counter.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: two_scalar_loads_into_one_register, .symbol: two_scalar_loads_into_one_register.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_load_is_waited_for, .symbol: a_load_is_waited_for.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: the_first_of_two_loads_behind_a_wait_for_all_but_one, .symbol: the_first_of_two_loads_behind_a_wait_for_all_but_one.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_wait_by_the_counter_s_own_instruction, .symbol: a_wait_by_the_counter_s_own_instruction.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_wait_until_the_wave_is_idle, .symbol: a_wait_until_the_wave_is_idle.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: stores_do_not_count_among_loads, .symbol: stores_do_not_count_among_loads.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_load_that_nobody_uses, .symbol: a_load_that_nobody_uses.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_neighbour_of_what_is_loaded, .symbol: a_neighbour_of_what_is_loaded.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_store_s_data_are_overwritten, .symbol: a_store_s_data_are_overwritten.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: an_address_is_overwritten, .symbol: an_address_is_overwritten.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_load_over_its_own_address, .symbol: a_load_over_its_own_address.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_load_over_an_earlier_one, .symbol: a_load_over_an_earlier_one.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: lds_over_lds, .symbol: lds_over_lds.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: lds_before_a_scalar_load, .symbol: lds_before_a_scalar_load.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: lanes_that_the_load_does_not_fill, .symbol: lanes_that_the_load_does_not_fill.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_load_with_no_lane_active, .symbol: a_load_with_no_lane_active.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: the_other_half_of_what_is_loaded, .symbol: the_other_half_of_what_is_loaded.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: two_halves_of_one_register, .symbol: two_halves_of_one_register.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: a_flat_load_of_global_memory, .symbol: a_flat_load_of_global_memory.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: an_atomic_that_returns_nothing, .symbol: an_atomic_that_returns_nothing.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 512, .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 24, .max_flat_workgroup_size: 1024, .args: [{.name: x, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
.end_amdgpu_metadata
