// Operations element by element. A workgroup has a PIECE of a row.
#include "exp.h"
#include "q8.h"
#include "row.h"

enum { ITEMS = 256 };

// at is the first of this work-item's four elements.
DEV u32 at() { return group_x() * PIECE + 4 * local_id(); }

// add: out = a + b.
KERNEL(ITEMS) add(const GLOBAL f32 *a, const GLOBAL f32 *b, GLOBAL f32 *out, u32 n) {
	u64 row = (u64)group_y() * n;
	u32 i = at();
	store4(out + row, i, n, load4(a + row, i, n) + load4(b + row, i, n));
}

DEV f32x4 gated(f32x4 gate, f32x4 up) {
	f32x4 y;
	UNROLL for (u32 k = 0; k < 4; k++) y[k] = swiglu_(gate[k], up[k]);
	return y;
}

// swiglu: out = gate / (1 + exp(-gate)) * up.
KERNEL(ITEMS) swiglu(const GLOBAL f32 *gate, const GLOBAL f32 *up, GLOBAL f32 *out, u32 n) {
	u64 row = (u64)group_y() * n;
	u32 i = at();
	store4(out + row, i, n, gated(load4(gate + row, i, n), load4(up + row, i, n)));
}

// swiglu_q8: swiglu in Q8_1 x4.
KERNEL(ITEMS) swiglu_q8(const GLOBAL f32 *gate, const GLOBAL f32 *up, GLOBAL u8 *q8, u32 n) {
	u64 row = (u64)group_y() * n;
	u32 i = at();
	if (i >= (n + Q8_ELEMS - 1) / Q8_ELEMS * Q8_ELEMS) return;
	q8_pack(q8 + group_y() * q8_bytes(n), i, gated(load4(gate + row, i, n), load4(up + row, i, n)));
}

// weighted is the sum over u of weights[u] times elements i to i+3 of x[u], rows
// of n. WHOLE says that n is a multiple of 4: then loads wait for nothing.
template <bool WHOLE> DEV f32x4 weighted(const GLOBAL f32 *x, const GLOBAL f32 *weights, u32 i, u32 n, u32 used) {
	f32x4 sum = 0;
	_Pragma("unroll 4") for (u32 u = 0; u < used; u++, x += n)
		sum += weights[u] * (WHOLE ? *(const GLOBAL f32x4 *)(x + i) : load4(x, i, n));
	return sum;
}

// moe_sum: out = the sum over u of weights[u] * x[u], used rows of n to a row of
// out.
KERNEL(ITEMS) moe_sum(const GLOBAL f32 *x, const GLOBAL f32 *weights, GLOBAL f32 *out, u32 n, u32 used) {
	u64 row = group_y();
	u32 i = at();
	if (i >= n) return;
	weights += row * used, x += row * used * n, out += row * n;
	store4(out, i, n, n % 4 == 0 ? weighted<true>(x, weights, i, n, used) : weighted<false>(x, weights, i, n, used));
}
