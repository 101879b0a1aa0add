// What the attention kernels share: their parameters, which keys a row attends,
// how those are split, and operations across lanes. attention.go has the shapes.
#pragma once
#include "lanes.h"

typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef f16 f16x8 __attribute__((ext_vector_type(8)));

enum {
	ITEMS = 256,   // of a workgroup
	MOST_DIM = 576 // elements of a head
};

constexpr f32 LOG2E = 1.44269504f;
constexpr f32 NOTHING = -__builtin_inff(); // the maximum of no scores

// The parameters of every kernel that reads the cache, before and behind its own.
#define OPERANDS const GLOBAL f32 *q, const GLOBAL f16 *k, const GLOBAL f16 *v, const GLOBAL void *mask, const GLOBAL i32 *pos, const GLOBAL i32 *slot
#define HEADS_AND_KEYS u32 kv_heads, u32 group, u32 head_dim, u32 v_dim, u32 context, u32 window
#define MASK_AND_SCALE u32 mask_keys, u32 mask_f32, f32 scale

// Span is the keys of a row.
struct Span {
	u32 first, end;
};
DEV Span span(const GLOBAL i32 *pos, u32 row, u32 window) {
	u32 end = (u32)pos[row] + 1;
	return {window && window < end ? end - window : 0, end};
}

// The splits of package attn: boundaries in keys, and the lengths between them.
enum {
	NEAR_END = 256, NEAR_KEYS = 64,
	MID_END = 2048, MID_KEYS = 256,
	FAR_KEYS = 512,
	NEAR_SPLITS = NEAR_END / NEAR_KEYS,
	MID_SPLITS = (MID_END - NEAR_END) / MID_KEYS
};
DEV u32 split_of(u32 key) {
	if (key < NEAR_END) return key / NEAR_KEYS;
	if (key < MID_END) return NEAR_SPLITS + (key - NEAR_END) / MID_KEYS;
	return NEAR_SPLITS + MID_SPLITS + (key - MID_END) / FAR_KEYS;
}
DEV u32 split_start(u32 split) {
	if (split < NEAR_SPLITS) return split * NEAR_KEYS;
	if (split < NEAR_SPLITS + MID_SPLITS) return NEAR_END + (split - NEAR_SPLITS) * MID_KEYS;
	return MID_END + (split - NEAR_SPLITS - MID_SPLITS) * FAR_KEYS;
}
DEV u32 splits_of(Span s) { return split_of(s.end - 1) - split_of(s.first) + 1; }
// part is the keys of a span's split, counted from its first: none beyond them.
DEV Span part(Span s, u32 split) {
	split += split_of(s.first);
	Span p = {most(s.first, split_start(split)), least(s.end, split_start(split + 1))};
	return {least(p.first, p.end), p.end};
}

// Keys is one row's and KV head's view of the operands.
struct Keys {
	const GLOBAL f32 *q; // [group][head_dim]
	const GLOBAL f16 *k; // [context][head_dim]
	const GLOBAL f16 *v; // [context][v_dim]
	const GLOBAL f16 *mask16; // [mask_keys]; at most one of the masks is there
	const GLOBAL f32 *mask32;
	u32 group, head_dim, v_dim;
	f32 scale; // log2(e) included

	// bias is what is added to the score of a key, in base 2; -inf leaves it out.
	// Only the mask's own infinity does so: its least numbers stay numbers.
	__attribute__((always_inline)) f32 bias(u32 key) const {
		f32 x = mask32 ? mask32[key] : mask16 ? (f32)mask16[key] : 0, y = x * LOG2E;
		return y == NOTHING && x != NOTHING ? -__FLT_MAX__ : y;
	}
	__attribute__((always_inline)) bool masked() const { return mask32 || mask16; }
};
DEV Keys keys_of(u32 row, u32 head, OPERANDS, HEADS_AND_KEYS, MASK_AND_SCALE) {
	(void)window, (void)pos;
	u64 cache = ((u64)(u32)slot[row] * kv_heads + head) * context, masks = (u64)row * mask_keys;
	return {
		q + ((u64)row * kv_heads + head) * group * head_dim, k + cache * head_dim, v + cache * v_dim,
		mask && !mask_f32 ? (const GLOBAL f16 *)mask + masks : nullptr,
		mask && mask_f32 ? (const GLOBAL f32 *)mask + masks : nullptr,
		group, head_dim, v_dim, scale * LOG2E,
	};
}

// State is where the partial state of a row, KV head and split lies.
struct State {
	GLOBAL f32 *most, *sum, *out; // [group], [group], [group][v_dim]
};
DEV u32 state_floats(u32 group, u32 v_dim) { return group * (v_dim + 2); }
DEV State state_at(GLOBAL f32 *states, u64 index, u32 group, u32 v_dim) {
	states += index * state_floats(group, v_dim);
	return {states, states + group, states + 2 * group};
}

// PRODUCE is the body of an entry point for the first of two launches: one
// workgroup a split, KV head and row; leave(memory, keys, span, state) differs.
#define PRODUCE(leave) \
	u32 split = group_x(), head = group_y(), row = group_z(); \
	Span keys = part(span(pos, row, window), split); \
	if (keys.first == keys.end) return; \
	Keys x = keys_of(row, head, q, k, v, mask, pos, slot, kv_heads, group, head_dim, v_dim, context, window, mask_keys, mask_f32, scale); \
	leave(&memory, x, keys, state_at(states, ((u64)row * kv_heads + head) * splits + split, group, v_dim));

// again is x, forgotten: what follows from it is computed where it is needed and
// not kept in scalar registers, of which wave64 has too few.
DEV u32 again(u32 x) {
#if defined(__AMDGCN__)
	asm volatile("" : "+s"(x));
#endif
	return x;
}

// origin is what exponents are taken relative to: the maximum, or any number if
// there is no score, so that differences to it are no NaNs.
DEV f32 origin(f32 max) { return max == NOTHING ? 0 : max; }

// other_half is x of the lane 32 away, in waves that have one.
DEV f32 other_half(f32 x) {
#if defined(__AMDGCN__)
	return __builtin_bit_cast(f32, __builtin_amdgcn_permlane64(__builtin_bit_cast(u32, x)));
#else
	return x;
#endif
}
// all_max and all_sum are over a wave; every lane has the result.
DEV f32 all_max(f32 x) {
	x = __builtin_fmaxf(x, across<1>(x)), x = __builtin_fmaxf(x, across<2>(x)), x = __builtin_fmaxf(x, across<4>(x));
	x = __builtin_fmaxf(x, across<8>(x)), x = __builtin_fmaxf(x, across<16>(x));
	return WAVE == 64 ? __builtin_fmaxf(x, other_half(x)) : x;
}
DEV f32 all_sum(f32 x) {
	x += across<1>(x), x += across<2>(x), x += across<4>(x), x += across<8>(x), x += across<16>(x);
	return WAVE == 64 ? x + other_half(x) : x;
}
// ballot has a bit for each of the first 32 lanes.
DEV u32 ballot(bool x) {
#if !defined(__AMDGCN__)
	return (u32)__nvvm_vote_ballot_sync(~0u, x);
#elif defined(WAVE64)
	return (u32)__builtin_amdgcn_ballot_w64(x);
#else
	return __builtin_amdgcn_ballot_w32(x);
#endif
}
