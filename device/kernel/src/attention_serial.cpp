// Attention in one pass over the keys, of any shape.
// Built for wave32 and wave64.
#include "attention_fold.h"

// attention_serial: one workgroup a KV head and row.
KERNEL(ITEMS) attention_serial(OPERANDS, GLOBAL f32 *out, HEADS_AND_KEYS, MASK_AND_SCALE) {
	SHARED Fold::Memory memory;
	u32 kv_head = group_x(), row = group_y();
	Span keys = span(pos, row, window);
	Keys x = keys_of(row, kv_head, q, k, v, mask, pos, slot, kv_heads, group, head_dim, v_dim, context, window, mask_keys, mask_f32, scale);
	out += ((u64)row * kv_heads + kv_head) * group * v_dim;
	for (u32 head = 0; head < group; head += Fold::HEADS) {
		Fold fold = {&memory, {}};
		u32 heads = least(group - head, (u32)Fold::HEADS);
		fold.over(x, head, heads, keys.first, keys.end);
		fold.give(x, heads, [&](u32 h, u32 d, f32 y) __attribute__((always_inline)) {
			f32 sum = memory.sum[h];
			out[(head + h) * v_dim + d] = sum == 0 ? 0 : y / sum;
		});
	}
}
