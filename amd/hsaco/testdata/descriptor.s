// Descriptors with fields that no compiler sets, and a kernel without metadata.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align 8
	.globl odd
	.type odd,@function
odd:
	s_endpgm
.Lodd_end:
	.size odd, .Lodd_end-odd

	.p2align 8
	.globl bare
	.type bare,@function
bare:
	s_nop 0
	s_endpgm
.Lbare_end:
	.size bare, .Lbare_end-bare

	.rodata
	.p2align 6
	.amdhsa_kernel odd
		.amdhsa_group_segment_fixed_size 65536
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 1
		.amdhsa_wavefront_size32 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 1
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 100
		.amdhsa_next_free_sgpr 50
		.amdhsa_float_round_mode_32 1
		.amdhsa_float_round_mode_16_64 2
		.amdhsa_float_denorm_mode_32 2
		.amdhsa_float_denorm_mode_16_64 1
		.amdhsa_dx10_clamp 0
		.amdhsa_ieee_mode 0
		.amdhsa_fp16_overflow 1
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_memory_ordered 0
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 4
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 1
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 1
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 1
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 1
	.end_amdhsa_kernel

	.amdhsa_kernel bare
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 1
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.printf: [ '1:1:4:%d\n' ]
amdhsa.kernels:
  - .name: odd
    .symbol: odd.kd
    .kind: init
    .kernarg_segment_size: 24
    .kernarg_segment_align: 16
    .group_segment_fixed_size: 65536
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 52
    .vgpr_count: 100
    .sgpr_spill_count: 7
    .vgpr_spill_count: 300
    .max_flat_workgroup_size: 1024
    .uses_dynamic_stack: true
    .workgroup_processor_mode: 0
    .args:
      - .name: p
        .type_name: 'float*'
        .offset: 0
        .size: 8
        .value_kind: dynamic_shared_pointer
        .address_space: local
        .pointee_align: 4096
        .access: read_only
        .actual_access: write_only
        .is_const: true
        .is_restrict: true
        .is_volatile: true
      - .offset: 16
        .size: 8
        .value_kind: hidden_global_offset_x
...
	.end_amdgpu_metadata
