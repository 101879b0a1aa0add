// Split attention, the first launch: partial states.
// Built for wave32 and wave64.
#include "attention_fold.h"

// attention_produce: one workgroup a split, KV head and row.
KERNEL(ITEMS) attention_produce(OPERANDS, GLOBAL f32 *states, HEADS_AND_KEYS, u32 splits, MASK_AND_SCALE) {
	SHARED Fold::Memory memory;
	u32 split = group_x(), head = group_y(), row = group_z();
	Span keys = part(span(pos, row, window), split);
	if (keys.first == keys.end) return;
	Keys x = keys_of(row, head, q, k, v, mask, pos, slot, kv_heads, group, head_dim, v_dim, context, window, mask_keys, mask_f32, scale);
	leave(&memory, x, keys, state_at(states, ((u64)row * kv_heads + head) * splits + split, group, v_dim));
}
