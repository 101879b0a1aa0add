// What the kernels need of their machine: one source for gfx11, wave32 or
// wave64, and for NVPTX. Freestanding C++20, clang 22.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef int i32;
typedef _Float16 f16;
typedef float f32;
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));

#define DEV static inline __attribute__((always_inline))
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
// SHARED declares memory of the workgroup, whose content is undefined at first.
#define SHARED [[clang::loader_uninitialized]] static LDS
#define UNROLL _Pragma("unroll")

template <class T> DEV T least(T a, T b) { return a < b ? a : b; }
template <class T> DEV T most(T a, T b) { return a > b ? a : b; }

#if defined(__AMDGCN__)

#if __AMDGCN_WAVEFRONT_SIZE__ == 64 || defined(WAVE64)
constexpr u32 WAVE = 64;
#else
constexpr u32 WAVE = 32;
#endif

// KERNEL begins an entry point whose workgroups have n work-items. Without the
// attribute the compiler has to allow for 1,024 and spills.
#define KERNEL(n) extern "C" __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(n, n))) void

DEV u32 local_id() { return __builtin_amdgcn_workitem_id_x(); }
DEV u32 group_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEV u32 group_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEV u32 group_z() { return __builtin_amdgcn_workgroup_id_z(); }

// barrier orders everything, LDS and global memory, among the waves of a
// workgroup: release, meet, acquire.
DEV void barrier() {
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
// barrier_lds orders LDS only. What one wave stores to global memory another
// may not read behind it: that is the hand-over bug this project is named for.
DEV void barrier_lds() {
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}
// barrier_wave orders LDS among the lanes of a wave.
DEV void barrier_wave() {
	__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
	__builtin_amdgcn_wave_barrier();
}

DEV u32 lane_id() { return local_id() % WAVE; }
DEV u32 wave_id() { return __builtin_amdgcn_readfirstlane(local_id() / WAVE); }

// exp2_ is within 1 ULP; denormal results are 0.
DEV f32 exp2_(f32 x) { return __builtin_amdgcn_exp2f(x); }
// dot4 is c plus the products of four signed bytes.
DEV i32 dot4(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot4(true, (i32)a, true, (i32)b, c, false); }
// dot4u is dot4 with unsigned bytes in a.
DEV i32 dot4u(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot4(false, (i32)a, true, (i32)b, c, false); }
// fetch_add is an atomic addition that everything before it on this work-item
// is visible ahead of, and everything after it behind, on the whole device.
DEV u32 fetch_add(GLOBAL u32 *p, u32 v) { return __scoped_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE); }

#elif defined(__NVPTX__)

constexpr u32 WAVE = 32;

#define KERNEL(n) extern "C" __attribute__((nvptx_kernel, used)) void

DEV u32 local_id() { return __nvvm_read_ptx_sreg_tid_x(); }
DEV u32 group_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEV u32 group_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEV u32 group_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
DEV void barrier() { __syncthreads(); }
DEV void barrier_lds() { __syncthreads(); }
DEV void barrier_wave() { __nvvm_bar_warp_sync(~0u); }
DEV u32 lane_id() { return local_id() % WAVE; }
DEV u32 wave_id() { return local_id() / WAVE; }
DEV f32 exp2_(f32 x) {
	f32 y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}
DEV i32 dot4(u32 a, u32 b, i32 c) {
	i32 d;
	asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
	return d;
}
DEV i32 dot4u(u32 a, u32 b, i32 c) {
	i32 d;
	asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
	return d;
}
// Clang's own scoped atomic becomes a relaxed one on NVPTX.
DEV u32 fetch_add(GLOBAL u32 *p, u32 v) {
	u32 old;
	asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
	return old;
}

#endif
