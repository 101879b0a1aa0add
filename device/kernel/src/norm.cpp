// Normalisation.
#include "gpu.h"

enum { ITEMS = 256 };

// rms_norm: out = x / sqrt(mean(x^2) + eps) * weight over groups of n elements
// of x. One workgroup a group.
KERNEL(ITEMS) rms_norm(const GLOBAL f32 *x, const GLOBAL f32 *weight, GLOBAL f32 *out, u32 n, f32 eps) {
	SHARED f32 scratch[ITEMS / WAVE];
	x += (u64)group_x() * n, out += (u64)group_x() * n;
	f32 sum = 0;
	for (u32 i = local_id(); i < n; i += ITEMS) sum += x[i] * x[i];
	sum = group_sum<ITEMS>(sum, scratch);
	f32 scale = 1 / __builtin_sqrtf(sum / (f32)n + eps);
	for (u32 i = local_id(); i < n; i += ITEMS) out[i] = x[i] * scale * weight[i];
}
