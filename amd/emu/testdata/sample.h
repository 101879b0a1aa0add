// What the sample kernels need of their machine. On gfx11 that is the machine;
// on the host each work-item is a fiber, and a barrier switches to the next.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef int i32;
typedef _Float16 f16;
typedef float f32;

#if defined(__AMDGCN__)
#define GLOBAL __attribute__((address_space(1)))
#define SHARED [[clang::loader_uninitialized]] static __attribute__((address_space(3)))
#define KERNEL(N) extern "C" __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(N, N))) void
static inline u32 local_id() { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 group_x() { return __builtin_amdgcn_workgroup_id_x(); }
static inline u32 group_y() { return __builtin_amdgcn_workgroup_id_y(); }
static inline void barrier() {
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
// shuffle is x of the lane whose number differs by the bits of mask.
static inline f32 shuffle(f32 x, u32 mask) {
	u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
	return __builtin_bit_cast(f32, __builtin_amdgcn_ds_bpermute((i32)((lane ^ mask) << 2), __builtin_bit_cast(i32, x)));
}
static inline f32 exp2_(f32 x) { return __builtin_amdgcn_exp2f(x); }
#define WHOLE_FENCE(order) __builtin_amdgcn_fence(order, "agent")
#else
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#define GLOBAL
#define SHARED static
#define KERNEL(N) static void
enum { MOST = 256, STACK = 1 << 16 };
static ucontext_t home, fibers[MOST];
static bool ended[MOST];
static u32 items, self, groupx, groupy;
static u32 arrived, passed;
static f32 exchanged[2][MOST];
static u32 turn[MOST];
static void (*body)();
static inline u32 local_id() { return self; }
static inline u32 group_x() { return groupx; }
static inline u32 group_y() { return groupy; }
static void yield() { swapcontext(&fibers[self], &home); }
// barrier waits for all work-items; the kernels here use shuffle, too, only
// where all of them do.
static void barrier() {
	u32 mine = passed;
	if (++arrived == items) {
		arrived = 0;
		passed++;
	}
	while (passed == mine) yield();
}
static f32 shuffle(f32 x, u32 mask) {
	f32 *slots = exchanged[turn[self]++ & 1]; // the last shuffle's may still be read
	slots[self] = x;
	barrier();
	return slots[self ^ mask];
}
static f32 exp2_(f32 x) { return (f32)exp2((double)x); }
#define WHOLE_FENCE(order)
static void fiber() {
	body();
	ended[self] = true;
	yield();
}
// launch runs body for every work-item of every workgroup.
static void launch(u32 gx, u32 gy, u32 n, void (*f)()) {
	static char stacks[MOST][STACK];
	items = n, body = f;
	for (groupy = 0; groupy < gy; groupy++)
		for (groupx = 0; groupx < gx; groupx++) {
			for (u32 i = 0; i < n; i++) {
				getcontext(&fibers[i]);
				fibers[i].uc_stack.ss_sp = stacks[i];
				fibers[i].uc_stack.ss_size = STACK;
				makecontext(&fibers[i], fiber, 0);
				ended[i] = false, turn[i] = 0;
			}
			for (u32 left = n; left > 0;)
				for (u32 i = 0; i < n; i++) {
					if (ended[i]) continue;
					self = i;
					swapcontext(&home, &fibers[i]);
					left -= ended[i];
				}
		}
}
// take and give are arrays of the standard input and output.
template <class T> static T *take(u64 n) {
	T *p = (T *)malloc(n * sizeof(T));
	if (fread(p, sizeof(T), n, stdin) != n) exit(1);
	return p;
}
template <class T> static void give(const T *p, u64 n) {
	if (fwrite(p, sizeof(T), n, stdout) != n) exit(1);
}
#endif
