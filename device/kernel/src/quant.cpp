// Quantisation of activations.
#include "q8.h"
#include "row.h"

enum { ITEMS = 128 };

// quantize_q8_1 packs rows of n floats. Each work-item has four elements; every
// 32 of them, a wave, a group of 128.
KERNEL(ITEMS) quantize_q8_1(const GLOBAL f32 *x, GLOBAL u8 *out, u32 n) {
	u32 groups = (n + Q8_ELEMS - 1) / Q8_ELEMS, at = (group_x() * ITEMS + local_id()) * 4;
	x += (u64)group_y() * n, out += (u64)group_y() * groups * Q8_BYTES;
	if (at >= groups * Q8_ELEMS) return;
	q8_pack(out, at, load4(x, at, n));
}
