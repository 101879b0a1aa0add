// Decode attention whose result is packed to 8 bits: each item computes one
// element of a head's output and stores it, then packs an element that another
// wave stored. With LOCAL_ONLY the barrier in between waits for local memory
// only, and the store need not have arrived.
#include "sample.h"

enum { HEADS = 2, TOKENS = 64, DIMS = 128, ITEMS = DIMS, BLOCK = 32 };

#if defined(__AMDGCN__)
SHARED f32 scores[TOKENS];

static inline void barrier_out() {
#if defined(LOCAL_ONLY)
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
#else
	barrier();
#endif
}

KERNEL(ITEMS) attention_q8(const GLOBAL f32 *q, const GLOBAL f32 *k, const GLOBAL f32 *v, GLOBAL f32 *out, GLOBAL f32 *scales, GLOBAL i8 *packed) {
	u32 t = local_id(), head = group_x(), lane = t % 32;
	q += head * DIMS, out += head * DIMS, packed += head * DIMS, scales += head * DIMS / BLOCK;
	k += head * TOKENS * DIMS, v += head * TOKENS * DIMS;
	for (u32 i = t / 32; i < TOKENS; i += ITEMS / 32) {
		f32 dot = 0;
		for (u32 d = lane; d < DIMS; d += 32) dot += q[d] * k[i * DIMS + d];
		for (u32 m = 16; m; m >>= 1) dot += shuffle(dot, m);
		if (lane == 0) scores[i] = dot;
	}
	barrier();
	f32 max = scores[0], sum = 0, x = 0;
	for (u32 i = 1; i < TOKENS; i++) max = scores[i] > max ? scores[i] : max;
	for (u32 i = 0; i < TOKENS; i++) {
		f32 p = exp2_(scores[i] - max);
		sum += p, x += p * v[i * DIMS + t];
	}
	out[t] = x / sum;
	barrier_out();
	u32 at = (t + BLOCK) % DIMS; // what the next wave computed
	x = out[at];
	f32 most = __builtin_fabsf(x);
	for (u32 m = BLOCK / 2; m; m >>= 1) {
		f32 other = shuffle(most, m);
		most = other > most ? other : most;
	}
	if (at % BLOCK == 0) scales[at / BLOCK] = most / 127;
	packed[at] = (i8)(most > 0 ? __builtin_rintf(x * 127 / most) : 0);
}
#endif
