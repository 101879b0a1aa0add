// The end of a fused launch: the workgroup that leaves a row's last state for a
// KV head merges them all.
#pragma once
#include "attention_merge.h"

// Arrival is the counter of a row and KV head.
struct Arrival {
	GLOBAL u32 *counters, *status;
	u32 index, count; // of the counter; of workgroups that arrive at it

	// last reports whether this workgroup is the last of count to have come
	// here: then everything that the others stored before can be read.
	__attribute__((always_inline)) bool last(LDS u32 *before) const {
		barrier(); // the stores of all waves are in memory
		if (local_id() == 0) {
			u32 n = fetch_add(counters + index, 1);
			if (n >= count) *status = index + 1;
			*before = n;
		}
		barrier(); // no wave reads what its caches had before the addition
		return uniform(*before) == count - 1;
	}

	// reset takes the arrivals away again: a counter that was not 0 stays wrong.
	__attribute__((always_inline)) void reset() const {
		if (local_id() == 0) fetch_add(counters + index, 0u - count);
	}
};

// BEFORE_PACK is between the stores of a finished row and the loads of its pack,
// by other waves: it must order global memory.
#if !defined(BEFORE_PACK)
#define BEFORE_PACK barrier
#endif

// Group is the query heads of a row and KV head, and where their states and
// results lie.
struct Group {
	GLOBAL f32 *states, *out; // of all rows
	u32 row, kv_head, kv_heads, group, v_dim, splits;

	__attribute__((always_inline)) u64 index() const { return (u64)row * kv_heads + kv_head; }
	__attribute__((always_inline)) State state(u32 split) const { return state_at(states, index() * splits + split, group, v_dim); }
	__attribute__((always_inline)) void merge(LDS Merge::Memory *memory, u32 count) const {
		Merge merge = {states + index() * splits * state_floats(group, v_dim), out + index() * group * v_dim, group, v_dim, splits, count};
		for (u32 from = 0; from < group * v_dim; from += Merge::CHANNELS) merge.over<MULTIPASS>(memory, from, group * v_dim);
	}
	__attribute__((always_inline)) void pack(GLOBAL u8 *q8) const {
		BEFORE_PACK();
		u32 channels = group * v_dim;
		pack_q8(out + index() * channels, q8 + (u64)row * q8_bytes(kv_heads * channels) + kv_head * q8_bytes(channels), 0, channels);
	}
};

// FUSED and FUSED_Q8 define an entry point, of which leave(memory, keys, span,
// state) is the part that differs: one workgroup a split, KV head and row.
#define ARRIVALS GLOBAL f32 *states, GLOBAL u32 *counters, GLOBAL u32 *status, GLOBAL f32 *out
#define FUSED_BODY(Scratch, leave, pack) \
	SHARED Scratch memory; \
	SHARED Merge::Memory scales; \
	SHARED u32 before; \
	Group of = {states, out, group_z(), group_y(), kv_heads, group, v_dim, splits}; \
	Span all = span(pos, of.row, window), keys = part(all, group_x()); \
	if (keys.first == keys.end) return; \
	Keys x = keys_of(of.row, of.kv_head, q, k, v, mask, pos, slot, kv_heads, group, head_dim, v_dim, context, window, mask_keys, mask_f32, scale); \
	leave(&memory, x, keys, of.state(group_x())); \
	Arrival arrival = {counters, status, (u32)of.index(), splits_of(all)}; \
	if (!arrival.last(&before)) return; \
	of.merge(&scales, arrival.count); \
	pack; \
	arrival.reset();
#define FUSED(name, Scratch, leave) \
	KERNEL(ITEMS) name(OPERANDS, ARRIVALS, HEADS_AND_KEYS, u32 splits, MASK_AND_SCALE) { FUSED_BODY(Scratch, leave, ) }
#define FUSED_Q8(name, Scratch, leave) \
	KERNEL(ITEMS) name(OPERANDS, ARRIVALS, GLOBAL u8 *q8, HEADS_AND_KEYS, u32 splits, MASK_AND_SCALE) { FUSED_BODY(Scratch, leave, of.pack(q8)) }
