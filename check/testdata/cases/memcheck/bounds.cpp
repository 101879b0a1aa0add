// A workgroup of 64 work-items accesses what it has, and what it has not: x of 256
// bytes, y of 100, r of 256 that is read-only; n is 64.
#include "../kernel.h"

// A load one element past the end.
KERNEL(64) a_load_one_element_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) x[0] = x[n];
}

// A load far past the end.
KERNEL(64) a_load_far_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) x[0] = x[n + 10];
}

// A load before the start.
KERNEL(64) a_load_before_the_start(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) x[0] = x[(i32)n - 67];
}

// A store past the end.
KERNEL(64) a_store_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item() + 1] = 7;
}

// A load that reaches past the end.
KERNEL(64) a_load_that_reaches_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item()] = *(GLOBAL u32 *)(y + 34 + item());
}

// A byte past the end.
KERNEL(64) a_byte_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) x[0] = y[n + 36];
}

// An atomic past the end.
KERNEL(64) an_atomic_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	__atomic_fetch_add(x + n, 1u, 0);
}

// A scalar load past the end.
KERNEL(64) a_scalar_load_past_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item()] = r[n];
}

// A store to what is read-only.
KERNEL(64) a_store_to_what_is_read_only(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	((GLOBAL u32 *)r)[item()] = 1;
}

// A store to kernel arguments.
KERNEL(64) a_store_to_kernel_arguments(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) *(GLOBAL u32 *)(u64)__builtin_amdgcn_kernarg_segment_ptr() = 1;
}

// A store to code.
KERNEL(64) a_store_to_code(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	u64 pc;
	asm volatile("s_getpc_b64 %0" : "=s"(pc));
	if (item() == 0) *(GLOBAL u32 *)pc = 1;
}

// A load at null.
KERNEL(64) a_load_at_null(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	GLOBAL u32 *p = (GLOBAL u32 *)(u64)(n - 64);
	x[item()] = p[item()];
}

// An atomic that is not aligned.
KERNEL(64) an_atomic_that_is_not_aligned(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	__atomic_fetch_add((GLOBAL u32 *)(y + 2 + (n - 64)), 1u, 0);
}

// LDS beyond its end.
KERNEL(64) lds_beyond_its_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	SHARED u32 s[16];
	s[item() % 16] = 1;
	barrier();
	x[item()] = s[item()];
}

// Two places at fault.
KERNEL(64) two_places_at_fault(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) {
		x[0] = x[n];
		x[n + 1] = 3;
	}
}

// What is written there is read again.
KERNEL(64) what_is_written_there_is_read_again(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[n + item()] = 5;
	FENCE(__ATOMIC_ACQ_REL, "workgroup");
	if (x[n + item()] == 0) y[item()] = 1;
}

// All of a buffer.
KERNEL(64) all_of_a_buffer(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item()] = r[item()] + y[item()];
}

// The last byte.
KERNEL(64) the_last_byte(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) y[99] = 1;
}

// A misaligned load inside.
KERNEL(64) a_misaligned_load_inside(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item()] = *(GLOBAL u32 __attribute__((aligned(1))) *)(y + item() % 4 * 8 + 1);
}

// Masked lanes beyond the end.
KERNEL(64) masked_lanes_beyond_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	u32 i = item() * 2;
	if (i < n) x[i] = r[i];
}

// A branch around a load beyond the end.
KERNEL(64) a_branch_around_a_load_beyond_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (n > 64) x[0] = x[n];
}

// An address beyond the end that is not used.
KERNEL(64) an_address_beyond_the_end_that_is_not_used(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	GLOBAL u32 *p = x + n + item();
	x[item()] = (u32)(u64)p;
}

// A pointer to the end that goes back.
KERNEL(64) a_pointer_to_the_end_that_goes_back(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	GLOBAL u32 *p = x + n;
	x[item()] = p[-1 - (i32)item()];
}

// LDS up to its end.
KERNEL(64) lds_up_to_its_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	SHARED u32 s[64];
	s[item()] = 1;
	barrier();
	x[item()] = s[63 - item()];
}

// LDS beyond the variable and inside the allocation.
KERNEL(64) lds_beyond_the_variable_and_inside_the_allocation(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	SHARED u32 s[64];
	SHARED u32 t[64];
	t[item()] = 1;
	s[item()] = 1;
	barrier();
	x[item()] = s[63 - item()] + t[item()];
}

// Scratch.
KERNEL(64) scratch(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	u32 a[16];
	for (u32 i = 0; i < 16; i++) a[i] = r[i];
	x[item()] = a[r[item()] % 16];
}

// An aligned atomic.
KERNEL(64) an_aligned_atomic(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	__atomic_fetch_add(x + item() % 64, 1u, 0);
}

// A null pointer that is not followed.
KERNEL(64) a_null_pointer_that_is_not_followed(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	GLOBAL u32 *p = (GLOBAL u32 *)(u64)(n - 64);
	if (p) x[item()] = *p;
}

// Kernel arguments that are read.
KERNEL(64) kernel_arguments_that_are_read(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item()] = *(const u32 *)__builtin_amdgcn_kernarg_segment_ptr();
}

// Equal values stored to what is writable.
KERNEL(64) equal_values_stored_to_what_is_writable(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	x[item() % 64] = 1;
}

// A loop to the last element.
KERNEL(64) a_loop_to_the_last_element(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	u32 s = 0;
	for (u32 i = 0; i < n; i++) s += r[i];
	x[item()] = s;
}

// Eight bytes at the end.
KERNEL(64) eight_bytes_at_the_end(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	if (item() == 0) ((GLOBAL u64 *)x)[31] = 1;
}

// Dot products of whole vectors.
KERNEL(64) dot_products_of_whole_vectors(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {
	u64 s = 0;
	for (u32 i = item() % 2; i < 16; i += 2) s += ((GLOBAL u64 *)r)[i * 2];
	x[item()] = s;
}

// An output that is read back.
KERNEL(64) an_output_that_is_read_back(GLOBAL u32 *x, GLOBAL u32 *out) {
	out[item()] = x[item()];
	x[item()] = out[item() ^ 1];
}

// An output that is only written.
KERNEL(64) an_output_that_is_only_written(GLOBAL u32 *x, GLOBAL u32 *out) {
	out[item()] = x[item()];
	x[item()] = x[item()] + 1;
}
