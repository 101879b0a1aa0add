// Kernels whose buffers the host touches at the wrong time, and at the right one.
#include "../kernel.h"

// x doubled into out.
KERNEL(64) doubled(GLOBAL u32 *x, GLOBAL u32 *out) {
	u32 i = item() + 64 * group();
	out[i] = 2 * x[i];
}

// The first half of x doubled into the first half of out.
KERNEL(64) half_doubled(GLOBAL u32 *x, GLOBAL u32 *out) {
	if (group() == 0)
		out[item()] = 2 * x[item()];
}

// One more in place.
KERNEL(64) incremented(GLOBAL u32 *x, GLOBAL u32 *out) { x[item() + 64 * group()] += 1; }
