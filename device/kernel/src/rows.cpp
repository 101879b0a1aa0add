// Rows of matrices: the embedding of a token, the rows whose logits are wanted.
#include "row.h"

enum { ITEMS = 256 };

DEV f32 half_at(const GLOBAL u8 *p) { return *(const GLOBAL f16 *)p; }

// The four elements from i on, a multiple of 4, of a row of n: package quant's
// formulas, with its roundings.

struct F32Row {
	static constexpr u32 ELEMS = 1, BYTES = 4;
	DEV f32x4 four(const GLOBAL u8 *row, u32 i, u32 n) { return load4((const GLOBAL f32 *)row, i, n); }
};

struct F16Row {
	static constexpr u32 ELEMS = 1, BYTES = 2;
	DEV f32x4 four(const GLOBAL u8 *row, u32 i, u32 n) {
		f32x4 v = 0;
		UNROLL for (u32 k = 0; k < 4; k++)
			if (i + k < n) v[k] = half_at(row + 2 * (i + k));
		return v;
	}
};

struct Q8_0Row {
	static constexpr u32 ELEMS = 32, BYTES = 34;
	DEV f32x4 four(const GLOBAL u8 *row, u32 i, u32) {
		const GLOBAL u8 *block = row + (u64)(i / 32) * BYTES;
		const GLOBAL i8 *q = (const GLOBAL i8 *)block + 2 + i % 32;
		f32 d = half_at(block);
		f32x4 v;
		UNROLL for (u32 k = 0; k < 4; k++) v[k] = (f32)q[k] * d;
		return v;
	}
};

struct Q4_KRow {
	static constexpr u32 ELEMS = 256, BYTES = 144;
	DEV f32x4 four(const GLOBAL u8 *row, u32 i, u32) {
		const GLOBAL u8 *block = row + (u64)(i / 256) * BYTES, *scales = block + 4;
		u32 g = i % 256 / 32, scale, minimum;
		if (g < 4) {
			scale = scales[g] & 63, minimum = scales[g + 4] & 63;
		} else {
			scale = (scales[g + 4] & 15) | scales[g - 4] >> 6 << 4;
			minimum = scales[g + 4] >> 4 | scales[g] >> 6 << 4;
		}
		f32 d = half_at(block) * (f32)scale, m = half_at(block + 2) * (f32)minimum;
		u32 q = *(const GLOBAL u32 *)(block + 16 + g / 2 * 32 + i % 32) >> 4 * (g % 2);
		f32x4 v;
		// The product has 11 + 6 + 4 bits: fused with the difference it is no other.
		UNROLL for (u32 k = 0; k < 4; k++) v[k] = d * (f32)(q >> 8 * k & 15) - m;
		return v;
	}
};

struct Q6_KRow {
	static constexpr u32 ELEMS = 256, BYTES = 210;
	DEV f32x4 four(const GLOBAL u8 *row, u32 i, u32) {
		const GLOBAL u8 *block = row + (u64)(i / 256) * BYTES;
		u32 j = i % 256, half = j / 128, quarter = j / 32 % 4, l = j % 32;
		const GLOBAL u8 *low = block + 64 * half + quarter % 2 * 32 + l, *high = block + 128 + 32 * half + l;
		f32 d = half_at(block + 208) * (f32)(i8)block[192 + j / 16];
		f32x4 v;
		UNROLL for (u32 k = 0; k < 4; k++) {
			u32 q = (low[k] >> quarter / 2 * 4 & 15) | (high[k] >> quarter * 2 & 3) << 4;
			v[k] = d * (f32)((i32)q - 32);
		}
		return v;
	}
};

// get_rows: out[row] = the row of table that tokens[row] names.
template <class Row> DEV void get_rows(const GLOBAL u8 *table, const GLOBAL i32 *tokens, GLOBAL f32 *out, u32 n) {
	u32 row = group_y(), i = group_x() * PIECE + 4 * local_id();
	if (i >= n) return;
	table += (u64)(u32)tokens[row] * (n / Row::ELEMS * Row::BYTES);
	store4(out + (u64)row * n, i, n, Row::four(table, i, n));
}

#define GET_ROWS(name, Row) \
	KERNEL(ITEMS) name(const GLOBAL u8 *table, const GLOBAL i32 *tokens, GLOBAL f32 *out, u32 n) { get_rows<Row>(table, tokens, out, n); }

GET_ROWS(get_rows_f32, F32Row)
GET_ROWS(get_rows_f16, F16Row)
GET_ROWS(get_rows_q8_0, Q8_0Row)
GET_ROWS(get_rows_q4_k, Q4_KRow)
GET_ROWS(get_rows_q6_k, Q6_KRow)

// select_rows: out[row] = x[output[row]].
KERNEL(ITEMS) select_rows(const GLOBAL f32 *x, const GLOBAL i32 *output, GLOBAL f32 *out, u32 n) {
	u32 row = group_y(), i = group_x() * PIECE + 4 * local_id();
	store4(out + (u64)row * n, i, n, load4(x + (u64)(u32)output[row] * n, i, n));
}
