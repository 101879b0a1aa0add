// What the kernels of the cases begin with: freestanding, no headers.
#pragma once
typedef unsigned u32;
typedef int i32;
typedef float f32;
typedef unsigned char u8;
typedef unsigned long long u64;
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define SHARED [[clang::loader_uninitialized]] static LDS
#define KERNEL(items) extern "C" __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(items, items))) void
#define FENCE(...) __builtin_amdgcn_fence(__VA_ARGS__)

static inline u32 item() { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
static inline u32 wave() { return __builtin_amdgcn_readfirstlane(item() / 32); }

// The workgroup's barrier, with the fences that languages give it.
static inline void barrier() {
	FENCE(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	FENCE(__ATOMIC_ACQUIRE, "workgroup");
}

// The same with fences for LDS only: what goes wrong in this project's bug.
static inline void barrier_lds() {
	FENCE(__ATOMIC_RELEASE, "workgroup", "local");
	__builtin_amdgcn_s_barrier();
	FENCE(__ATOMIC_ACQUIRE, "workgroup", "local");
}

// The instruction alone.
static inline void bare_barrier() { __builtin_amdgcn_s_barrier(); }
