// Normalisation: x / sqrt(mean(x^2) + eps) * weight.
#include "q8.h"
#include "reduce.h"
#include "row.h"

enum { ITEMS = 256 };

DEV f32 squares(f32x4 x) {
	f32 sum = 0;
	UNROLL for (u32 k = 0; k < 4; k++) sum = __builtin_fmaf(x[k], x[k], sum);
	return sum;
}

DEV f32 scale_of(f32 sum, u32 n, f32 eps) { return 1 / __builtin_sqrtf(sum / (f32)n + eps); }

// Four are elements of a row and their weights, 0 where i is beyond the row. A
// work-item's first ones stay in its registers while the sum is made.
struct Four {
	f32x4 x, weight;
};
DEV Four four(const GLOBAL f32 *x, const GLOBAL f32 *weight, u32 i, u32 n) {
	Four v = {0, 0};
	if (i < n) v = {load4(x, i, n), load4(weight, i, n)};
	return v;
}

// scaled writes x * scale * weight to where it is wanted: as floats, in Q8_1 x4,
// or both.
DEV void scaled(Four v, const GLOBAL f32 *x, const GLOBAL f32 *weight, f32 scale, GLOBAL f32 *out, GLOBAL u8 *q8, u32 n) {
	u32 end = (n + Q8_ELEMS - 1) / Q8_ELEMS * Q8_ELEMS;
	for (u32 i = 4 * local_id(); i < end; i += 4 * ITEMS, v = four(x, weight, i, n)) {
		f32x4 y = v.x * scale * v.weight;
		if (out) store4(out, i, n, y);
		if (q8) q8_pack(q8, i, y);
	}
}

// row_of is this workgroup's row in Q8_1 x4, or null.
DEV GLOBAL u8 *row_of(GLOBAL u8 *q8, u32 n) {
	return q8 ? q8 + group_x() * q8_bytes(n) : q8;
}

// norm_row is the norm of a row x.
DEV void norm_row(const GLOBAL f32 *x, const GLOBAL f32 *weight, GLOBAL f32 *out, GLOBAL u8 *q8, u32 n, f32 eps) {
	SHARED f32 scratch[ITEMS / WAVE];
	u32 i = 4 * local_id();
	Four first = four(x, weight, i, n);
	f32 sum = squares(first.x);
	while ((i += 4 * ITEMS) < n) sum += squares(load4(x, i, n));
	scaled(first, x, weight, scale_of(group_sum<ITEMS>(sum, scratch), n, eps), out, q8, n);
}

// rms_norm: the norm of groups of n elements. One workgroup a group.
KERNEL(ITEMS) rms_norm(const GLOBAL f32 *x, const GLOBAL f32 *weight, GLOBAL f32 *out, u32 n, f32 eps) {
	u64 at = (u64)group_x() * n;
	norm_row(x + at, weight, out + at, nullptr, n, eps);
}

// rms_norm_short is rms_norm with one wave a group.
KERNEL(WAVE) rms_norm_short(const GLOBAL f32 *x, const GLOBAL f32 *weight, GLOBAL f32 *out, u32 n, f32 eps) {
	u64 at = (u64)group_x() * n;
	x += at, out += at;
	u32 i = 4 * lane_id();
	Four v = four(x, weight, i, n);
	f32 sum = squares(v.x);
	while ((i += 4 * WAVE) < n) sum += squares(load4(x, i, n));
	f32 scale = scale_of(wave_sum(sum), n, eps);
	for (i = 4 * lane_id(); i < n; i += 4 * WAVE, v = four(x, weight, i, n)) store4(out, i, n, v.x * scale * v.weight);
}

// rms_norm_q8: the norm of rows in Q8_1 x4, and as floats if out is not null. One
// workgroup a row.
KERNEL(ITEMS) rms_norm_q8(const GLOBAL f32 *x, const GLOBAL f32 *weight, GLOBAL f32 *out, GLOBAL u8 *q8, u32 n, f32 eps) {
	u64 at = (u64)group_x() * n;
	norm_row(x + at, weight, out ? out + at : out, row_of(q8, n), n, eps);
}

// add_rms_norm: sum = a + b and its norm, as floats, in Q8_1 x4, or both. One
// workgroup a row.
KERNEL(ITEMS) add_rms_norm(const GLOBAL f32 *a, const GLOBAL f32 *b, const GLOBAL f32 *weight, GLOBAL f32 *sum, GLOBAL f32 *out, GLOBAL u8 *q8, u32 n, f32 eps) {
	SHARED f32 scratch[ITEMS / WAVE];
	u64 at = (u64)group_x() * n;
	a += at, b += at, sum += at;
	u32 i = 4 * local_id();
	Four first = {0, 0};
	if (i < n) {
		first = {load4(a, i, n) + load4(b, i, n), load4(weight, i, n)};
		store4(sum, i, n, first.x);
	}
	f32 total = squares(first.x);
	while ((i += 4 * ITEMS) < n) {
		f32x4 x = load4(a, i, n) + load4(b, i, n);
		store4(sum, i, n, x);
		total += squares(x);
	}
	// A work-item reads back what it stored itself.
	scaled(first, sum, weight, scale_of(group_sum<ITEMS>(total, scratch), n, eps), out ? out + at : out, row_of(q8, n), n);
}
