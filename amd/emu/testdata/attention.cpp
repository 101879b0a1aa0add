// Decode attention in one launch of two passes: each workgroup handles one
// block of the cache for one head and leaves a partial result; the one that
// completes a head's count merges the head's partial results.
#include "sample.h"

// How many blocks of the cache there are.
#if !defined(BLOCK_COUNT)
#define BLOCK_COUNT 36
#endif

enum { HEADS = 4, BLOCKS = BLOCK_COUNT, TOKENS = 64, DIMS = 64, ITEMS = 128 };

SHARED f32 scores[TOKENS];
SHARED u32 last;

KERNEL(ITEMS) attention(const GLOBAL f32 *q, const GLOBAL f16 *k, const GLOBAL f16 *v, GLOBAL f32 *part, GLOBAL f32 *most, GLOBAL f32 *sums, GLOBAL u32 *count, GLOBAL f32 *out, u32 tokens) {
	u32 t = local_id(), block = group_x(), head = group_y(), lane = t & 31;
	for (u32 i = t >> 5; i < TOKENS; i += ITEMS / 32) {
		u32 token = block * TOKENS + i;
		f32 dot = 0;
		if (token < tokens)
			for (u32 d = lane; d < DIMS; d += 32) dot += q[head * DIMS + d] * (f32)k[(u64)(token * HEADS + head) * DIMS + d];
		for (u32 m = 16; m; m >>= 1) dot += shuffle(dot, m);
		if (lane == 0) scores[i] = token < tokens ? dot * 0.18033688f : -1e30f;
	}
	barrier();
	f32 max = -1e30f, sum = 0;
	for (u32 i = 0; i < TOKENS; i++) max = scores[i] > max ? scores[i] : max;
	for (u32 i = 0; i < TOKENS; i++) sum += exp2_(scores[i] - max);
	u32 slot = head * BLOCKS + block;
	if (t < DIMS) {
		f32 a = 0;
		for (u32 i = 0; i < TOKENS; i++) {
			u32 token = block * TOKENS + i;
			if (token < tokens) a += exp2_(scores[i] - max) * (f32)v[(u64)(token * HEADS + head) * DIMS + t];
		}
		part[slot * DIMS + t] = a;
	}
	if (t == 0) most[slot] = max, sums[slot] = sum;
	barrier();
	if (t == 0) {
		WHOLE_FENCE(__ATOMIC_RELEASE);
		last = __scoped_atomic_fetch_add(&count[head], 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE) == BLOCKS - 1;
		WHOLE_FENCE(__ATOMIC_ACQUIRE);
	}
	barrier();
	if (!last) return;
	WHOLE_FENCE(__ATOMIC_ACQUIRE);
	f32 top = -1e30f, total = 0, a = 0;
	for (u32 b = 0; b < BLOCKS; b++) {
		f32 m = most[head * BLOCKS + b];
		top = m > top ? m : top;
	}
	for (u32 b = 0; b < BLOCKS; b++) total += sums[head * BLOCKS + b] * exp2_(most[head * BLOCKS + b] - top);
	if (t >= DIMS) return;
	for (u32 b = 0; b < BLOCKS; b++) a += part[(head * BLOCKS + b) * DIMS + t] * exp2_(most[head * BLOCKS + b] - top);
	out[head * DIMS + t] = a / total;
}

#if !defined(__AMDGCN__)
static f32 *q, *part, *most, *sums, *out;
static f16 *k, *v;
static u32 *count, *tokens;
int main() {
	tokens = take<u32>(1);
	q = take<f32>(HEADS * DIMS);
	k = take<f16>(HEADS * DIMS * BLOCKS * TOKENS);
	v = take<f16>(HEADS * DIMS * BLOCKS * TOKENS);
	part = (f32 *)calloc(HEADS * BLOCKS * DIMS, 4), most = (f32 *)calloc(HEADS * BLOCKS, 4), sums = (f32 *)calloc(HEADS * BLOCKS, 4);
	count = (u32 *)calloc(HEADS, 4), out = (f32 *)calloc(HEADS * DIMS, 4);
	launch(BLOCKS, HEADS, ITEMS, [] { attention(q, k, v, part, most, sums, count, out, *tokens); });
	give(out, HEADS * DIMS);
}
#endif
