// The likeliest token.
#include "order.h"
#include "row.h"

enum { ITEMS = 1024 };

// argmax: out[row] = the index of the greatest logit, the lowest of equals, or -1
// with a fault.
KERNEL(ITEMS) argmax(const GLOBAL f32 *logits, GLOBAL i32 *out, GLOBAL Fault *faults, u32 n, u32 mark) {
	SHARED u64 keys[ITEMS / WAVE];
	u64 row = group_x();
	logits += row * n;

	// A work-item's own greatest: it meets them in the order of their indices, so
	// only what is above the best, or its first NaN, takes its place.
	u32 at = 4 * local_id();
	f32 best = at < n ? logits[at] : 0;
	for (u32 i = at; i < n; i += 4 * ITEMS) {
		f32x4 x = load4(logits, i, n);
		UNROLL for (u32 k = 0; k < 4; k++)
			if (!(x[k] <= best) && best == best && i + k < n) best = x[k], at = i + k;
	}
	u64 key = greatest(at < n ? order_key(best, at) : 0);
	if (lane_id() == 0) keys[wave_id()] = key;
	barrier_lds();
	if (wave_id()) return;
	key = greatest(lane_id() < ITEMS / WAVE ? keys[lane_id()] : 0);
	if (lane_id()) return;
	at = order_index(key), best = logits[at];
	if (!finite(best)) report(faults + row, mark, at, best);
	out[row] = finite(best) ? (i32)at : -1;
}
