// The router of a mixture of experts.
#include "exp.h"
#include "order.h"
#include "reduce.h"

enum { ITEMS = WAVE };

// moe_route: the used of the experts with the highest logits, highest first, the
// lower id first among equals, and the softmax of their logits over all experts,
// or over the chosen ones if renorm; times scale, where 0 is 1. A row is one
// wave.
KERNEL(ITEMS) moe_route(const GLOBAL f32 *logits, GLOBAL i32 *chosen, GLOBAL f32 *weights, GLOBAL Fault *faults, u32 experts, u32 used, u32 renorm, f32 scale, u32 mark) {
	u64 row = group_x();
	u32 lane = lane_id();
	logits += row * experts, chosen += row * used, weights += row * used;

	// In each round the greatest key up to the bound: those before are above it.
	f32 peak = 0, total = 0;
	u64 bound = ~0ull;
	for (u32 u = 0; u < used; u++) {
		u64 key = 0;
		for (u32 e = lane; e < experts; e += WAVE) {
			u64 k = order_key(logits[e], e);
			if (k <= bound) key = most(key, k);
		}
		key = greatest(key);
		bound = key - 1;
		// Whatever the logits and however many are asked for, ids are of experts.
		u32 id = least(order_index(key), experts - 1);
		f32 logit = logits[id];
		if (u == 0) {
			peak = logit;
			if (lane == 0 && !finite(peak)) report(faults + row, mark, id, peak);
		}
		f32 p = exp_(logit - peak);
		total += p;
		// Below, the lane that stored a weight reads it.
		if (lane == u % WAVE) chosen[u] = (i32)id, weights[u] = p;
	}

	if (!renorm) {
		total = 0;
		for (u32 e = lane; e < experts; e += WAVE) total += exp_(logits[e] - peak);
		total = wave_sum(total);
	}
	if (!finite(peak)) total = __builtin_nanf("");
	if (scale == 0) scale = 1;
	for (u32 u = lane; u < used; u += WAVE) weights[u] = weights[u] / total * scale;
}
