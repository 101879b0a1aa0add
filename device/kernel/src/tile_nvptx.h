// 16 keys against 8 query heads on NVIDIA's matrix units.
//
// A product is of 16 rows A and 8 columns B, 16 elements long. Lane l = 4 g + t
// gives elements 2t, 2t+1, 2t+8 and 2t+9 of rows g and g+8 and of column g, and
// gets columns 2t and 2t+1 of result rows g and g+8. The order of a product's
// elements is free if it is the same in A and B, and so is that of A's rows: both
// are chosen so that a lane loads 16 bytes at once.
#pragma once
#include "attention.h"

// multiply adds to c the product of rows a and columns b.
DEV void multiply(f32 (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
// transpose turns a matrix of 8 rows of 8 halfs, of which lane 4 g + t has two of row g.
DEV u32 transpose(u32 x) {
	u32 y;
	asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
	return y;
}
DEV u32 pair(f32 low, f32 high) { return __builtin_bit_cast(u32, f16x2{(f16)low, (f16)high}); }
DEV u32 lows(u32 a, u32 b) { return (a & 0xffff) | b << 16; }
DEV u32 highs(u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }

template <u32 DIM> struct Tile {
	enum {
		HEADS = 8,
		SCORES = 4, // that a lane has
		OWN = 2     // heads that they belong to
	};
	struct Memory {};

	u32x4 k[2][DIM / 32];    // of keys g and g+8: elements 32 i + 8 t to +7
	u32x4 v[DIM / 64][4];    // of keys 2t, 2t+1, 2t+8, 2t+9: elements 64 i + 8 g to +7
	f32 out[DIM / 64][4][4]; // of elements 64 i + 8 g + 2 r and +1, each of two heads

	// key and own say which key a lane's score is of, and which of its heads.
	static __attribute__((always_inline)) u32 key(u32 i) { return lane_id() / 4 + i / 2 * 8; }
	static constexpr u32 own(u32 i) { return i % 2; }
	static __attribute__((always_inline)) u32 head(u32 o) { return lane_id() % 4 * 2 + o; }

	// most_of and sum_of are over the lanes that have the same heads.
	static __attribute__((always_inline)) f32 most_of(f32 x) {
		x = __builtin_fmaxf(x, across<4>(x)), x = __builtin_fmaxf(x, across<8>(x));
		return __builtin_fmaxf(x, across<16>(x));
	}
	static __attribute__((always_inline)) f32 sum_of(f32 x) {
		x += across<4>(x), x += across<8>(x);
		return x + across<16>(x);
	}

	__attribute__((always_inline)) void clear() {
		UNROLL for (u32 i = 0; i < DIM / 64; i++)
			UNROLL for (u32 r = 0; r < 4; r++)
				UNROLL for (u32 j = 0; j < 4; j++) out[i][r][j] = 0;
	}

	// load loads the keys, and their values, that row(i) names for i below 16.
	template <class F> __attribute__((always_inline)) void load(const GLOBAL f16 *keys, const GLOBAL f16 *values, F row) {
		u32 g = lane_id() / 4, t = lane_id() % 4;
		UNROLL for (u32 half = 0; half < 2; half++) {
			const GLOBAL f16 *from = keys + (u64)row(g + 8 * half) * DIM + 8 * t;
			UNROLL for (u32 i = 0; i < DIM / 32; i++) k[half][i] = *(const GLOBAL u32x4 *)(from + 32 * i);
		}
		UNROLL for (u32 j = 0; j < 4; j++) {
			const GLOBAL f16 *from = values + (u64)row(2 * t + j % 2 + j / 2 * 8) * DIM + 8 * g;
			UNROLL for (u32 i = 0; i < DIM / 64; i++) v[i][j] = *(const GLOBAL u32x4 *)(from + 64 * i);
		}
	}

	// score computes the lane's scores; q is [8][stride].
	__attribute__((always_inline)) void score(f32 (&s)[SCORES], const LDS f16 *q, u32 stride) const {
		UNROLL for (u32 i = 0; i < SCORES; i++) s[i] = 0;
		q += lane_id() / 4 * stride + lane_id() % 4 * 8;
		UNROLL for (u32 i = 0; i < DIM / 32; i++) {
			u32x4 b = *(const LDS u32x4 *)(q + 32 * i);
			multiply(s, k[0][i].x, k[1][i].x, k[0][i].y, k[1][i].y, b.x, b.y);
			multiply(s, k[0][i].z, k[1][i].z, k[0][i].w, k[1][i].w, b.z, b.w);
		}
	}

	// add rescales the outputs and adds the values, times p.
	__attribute__((always_inline)) void add(LDS Memory *, const f32 (&p)[SCORES], const f32 (&change)[OWN]) {
		u32 b0 = transpose(pair(p[0], p[1])), b1 = transpose(pair(p[2], p[3]));
		UNROLL for (u32 i = 0; i < DIM / 64; i++)
			UNROLL for (u32 r = 0; r < 4; r++) {
				UNROLL for (u32 j = 0; j < 4; j++) out[i][r][j] *= change[j % 2];
				u32 x[4];
				UNROLL for (u32 j = 0; j < 4; j++) x[j] = v[i][j][r];
				multiply(out[i][r], lows(x[0], x[1]), highs(x[0], x[1]), lows(x[2], x[3]), highs(x[2], x[3]), b0, b1);
			}
	}

	// give stores the outputs of heads [from, from + count) to [count][stride].
	__attribute__((always_inline)) void give(LDS f32 *to, u32 from, u32 count, u32 stride) const {
		UNROLL for (u32 o = 0; o < OWN; o++) {
			u32 h = head(o) - from;
			if (h >= count) continue;
			UNROLL for (u32 i = 0; i < DIM / 64; i++)
				UNROLL for (u32 r = 0; r < 4; r++)
					UNROLL for (u32 j = 0; j < 2; j++) to[h * stride + 64 * i + lane_id() / 4 * 8 + 2 * r + j] = out[i][r][2 * j + o];
		}
	}
};
