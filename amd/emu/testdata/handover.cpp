// Work-items of different waves hand values over through global memory, with
// one link of the synchronisation after the other missing.
#include "sample.h"

enum { ITEMS = 128 };

#if defined(__AMDGCN__)
// What a barrier for local memory only is since LLVM 21: the store need not
// have arrived.
static inline void local_barrier() {
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

// The store has arrived, but the reader's cache is not invalidated.
static inline void release_only() {
	asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_waitcnt_vscnt null, 0x0\n\ts_barrier" ::: "memory");
}

// The reader's cache is invalidated, but the store need not have arrived.
static inline void acquire_only() {
	asm volatile("s_barrier\n\tbuffer_gl0_inv" ::: "memory");
}

// Each item reads what the item 32 or 64 further on wrote, which it has read
// before: so it may have the old line.
#define HANDOVER(NAME, BARRIER)                                                       \
	KERNEL(ITEMS) NAME(GLOBAL u32 *shared, GLOBAL u32 *out) {                 \
		u32 t = local_id(), other = (t + 32) % ITEMS;                                  \
		u32 before = shared[other];                                                    \
		asm volatile("" ::"v"(before));                                                \
		release_only();                                                                \
		shared[t] = t + 1000;                                                          \
		BARRIER();                                                                     \
		out[t] = shared[other];                                                        \
	}
HANDOVER(whole, barrier)
HANDOVER(local_only, local_barrier)
HANDOVER(no_acquire, release_only)
HANDOVER(no_release, acquire_only)

// The same through local memory: right, and without a wait for the store.
SHARED u32 local[ITEMS];
KERNEL(ITEMS) through_local(GLOBAL u32 *out) {
	u32 t = local_id();
	local[t] = t + 1000;
	local_barrier();
	out[t] = local[(t + 32) % ITEMS];
}
KERNEL(ITEMS) through_local_no_wait(GLOBAL u32 *out) {
	u32 t = local_id();
	u32 at = (u32)(u64)(__attribute__((address_space(3))) u32 *)local; // keeps it allocated
	asm volatile("ds_store_b32 %0, %1\n\ts_barrier" ::"v"(at + t * 4), "v"(t + 1000) : "memory");
	out[t] = local[(t + 32) % ITEMS];
}

// A flag in global memory from one workgroup to another, with scopes. The
// reader gives up in time if the writer has not started.
KERNEL(32) message(GLOBAL u32 *data, GLOBAL u32 *flag, GLOBAL u32 *out) {
	u32 t = local_id();
	if (group_x() == 0) {
		data[t] = t + 1000;
		WHOLE_FENCE(__ATOMIC_RELEASE);
		if (t == 0) __scoped_atomic_store_n(flag, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
		return;
	}
	u32 old = data[t], seen = 0;
	asm volatile("" ::"v"(old));
	for (u32 i = 0; i < 100000 && !seen; i++) seen = __scoped_atomic_load_n(flag, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
	WHOLE_FENCE(__ATOMIC_ACQUIRE);
	out[t] = seen ? data[t] : 0;
}
#endif
