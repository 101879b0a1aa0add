// Split attention, the second launch: each row's states are merged.
// Built for wave32 and wave64.
#include "attention_merge.h"

#define STATES const GLOBAL f32 *states, const GLOBAL i32 *pos, GLOBAL f32 *out
#define HEADS_AND_SPLITS u32 kv_heads, u32 group, u32 v_dim, u32 window, u32 splits

// reduce merges Merge::CHANNELS elements of a row in one workgroup.
template <Form form> DEV void reduce(LDS Merge::Memory *memory, STATES, HEADS_AND_SPLITS) {
	u32 row = group_y(), channels = kv_heads * group * v_dim;
	Merge merge = {states + (u64)row * kv_heads * splits * state_floats(group, v_dim), out + (u64)row * channels, group, v_dim, splits, splits_of(span(pos, row, window))};
	merge.over<form>(memory, group_x() * Merge::CHANNELS, channels);
}

// pack packs what reduce wrote: the stores of all waves are in memory, and the
// loads behind see them.
DEV void pack(const GLOBAL f32 *out, GLOBAL u8 *q8, u32 channels) {
	barrier();
	u32 row = group_y(), from = group_x() * Merge::CHANNELS;
	pack_q8(out + (u64)row * channels, q8 + (u64)row * q8_bytes(channels), from, least(channels, from + (u32)Merge::CHANNELS));
}

#define REDUCE(name, form)                                                                   \
	KERNEL(ITEMS) attention_reduce_##name(STATES, HEADS_AND_SPLITS) {                    \
		SHARED Merge::Memory memory;                                                 \
		reduce<form>(&memory, states, pos, out, kv_heads, group, v_dim, window, splits); \
	}                                                                                    \
	KERNEL(ITEMS) attention_reduce_##name##_q8(STATES, GLOBAL u8 *q8, HEADS_AND_SPLITS) { \
		SHARED Merge::Memory memory;                                                 \
		reduce<form>(&memory, states, pos, out, kv_heads, group, v_dim, window, splits); \
		pack(out, q8, kv_heads *group *v_dim);                                       \
	}

REDUCE(direct, DIRECT)
REDUCE(cooperative, COOPERATIVE)
REDUCE(multipass, MULTIPASS)
