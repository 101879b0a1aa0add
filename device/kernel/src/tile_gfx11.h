// 16 keys against 16 query heads on gfx11's matrix units, in wave32 and wave64.
//
// A product is of rows A and columns B, 16 of each and 16 elements long: lane l
// gives row and column l % 16. Of the result it gets column l % 16, of that every
// GROUPS-th row from row l / 16 on. The order of a product's elements is free if
// it is the same in A and B, which decides where loads can be wide.
#pragma once
#include "attention.h"

typedef u32 u32x8 __attribute__((ext_vector_type(8)));
typedef f16 f16x16 __attribute__((ext_vector_type(16)));

constexpr u32 GROUPS = WAVE / 16;        // of lanes with the same columns
constexpr u32 LANE_ROWS = 16 / GROUPS;   // of a result that a lane has
typedef f32 Column __attribute__((ext_vector_type(LANE_ROWS)));

DEV Column multiply(f16x16 a, f16x16 b, Column c) {
#if defined(WAVE64)
	return __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(a, b, c);
#else
	return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
#endif
}

template <u32 DIM> struct Tile {
	enum {
		HEADS = 16,
		SCORES = LANE_ROWS, // that a lane has
		OWN = 1,            // heads that they belong to
		WIDTH = DIM / 16    // elements of a value that a lane loads
	};
	struct Memory {
		f16 p[16][16]; // [head][key], the keys as key() orders them
	};
	typedef u32 Piece __attribute__((ext_vector_type(WIDTH / 2)));

	f16x16 k[DIM / 16];
	Piece v[16];
	Column out[WIDTH];

	// key and own say which key a lane's score is of, and which of its heads.
	static __attribute__((always_inline)) u32 key(u32 i) { return i * GROUPS + lane_id() / 16; }
	static constexpr u32 own(u32) { return 0; }
	static __attribute__((always_inline)) u32 head(u32) { return lane_id() % 16; }

	// most_of and sum_of are over the lanes that have the same head.
	static __attribute__((always_inline)) f32 most_of(f32 x) {
		x = __builtin_fmaxf(x, across<16>(x));
		return WAVE == 64 ? __builtin_fmaxf(x, other_half(x)) : x;
	}
	static __attribute__((always_inline)) f32 sum_of(f32 x) {
		x += across<16>(x);
		return WAVE == 64 ? x + other_half(x) : x;
	}

	__attribute__((always_inline)) void clear() {
		UNROLL for (u32 r = 0; r < WIDTH; r++) out[r] = 0;
	}

	// load loads the keys, and their values, that row(i) names for i below 16.
	template <class F> __attribute__((always_inline)) void load(const GLOBAL f16 *keys, const GLOBAL f16 *values, F row) {
		const GLOBAL f16 *from = keys + (u64)row(lane_id() % 16) * DIM;
		UNROLL for (u32 j = 0; j < DIM / 16; j++) k[j] = *(const GLOBAL f16x16 *)(from + 16 * j);
		u32 mine = lane_id() % 16 * WIDTH * 2; // bytes
		// Product element n is the key that lane group n / SCORES has its score of.
		UNROLL for (u32 n = 0; n < 16; n++) {
			const GLOBAL u8 *line = (const GLOBAL u8 *)(values + (u64)row(n % SCORES * GROUPS + n / SCORES) * DIM);
			v[n] = *(const GLOBAL Piece *)(line + mine);
		}
	}

	// score computes the lane's scores; q is [16][stride].
	__attribute__((always_inline)) void score(f32 (&s)[SCORES], const LDS f16 *q, u32 stride) const {
		Column c = 0;
		q += lane_id() % 16 * stride;
		UNROLL for (u32 j = 0; j < DIM / 16; j++) c = multiply(k[j], *(const LDS f16x16 *)(q + 16 * j), c);
		UNROLL for (u32 i = 0; i < SCORES; i++) s[i] = c[i];
	}

	// add rescales the outputs and adds the values, times p.
	__attribute__((always_inline)) void add(LDS Memory *m, const f32 (&p)[SCORES], const f32 (&change)[OWN]) {
		typedef f16 Part __attribute__((ext_vector_type(SCORES)));
		Part part;
		UNROLL for (u32 i = 0; i < SCORES; i++) part[i] = (f16)p[i];
		u32 head = lane_id() % 16;
		*(LDS Part *)&m->p[head][lane_id() / 16 * SCORES] = part;
		barrier_wave();
		f16x16 b = *(const LDS f16x16 *)m->p[head];
		barrier_wave();
		UNROLL for (u32 r = 0; r < WIDTH; r++) {
			u32x8 a;
			UNROLL for (u32 n = 0; n < 8; n++) a[n] = __builtin_amdgcn_perm(v[2 * n + 1][r / 2], v[2 * n][r / 2], r % 2 ? 0x07060302 : 0x05040100);
			out[r] = multiply(__builtin_bit_cast(f16x16, a), b, out[r] * change[0]);
		}
	}

	// give stores the outputs of heads [from, from + count) to [count][stride].
	__attribute__((always_inline)) void give(LDS f32 *to, u32 from, u32 count, u32 stride) const {
		u32 head = lane_id() % 16 - from;
		if (head >= count) return;
		UNROLL for (u32 i = 0; i < LANE_ROWS; i++)
			UNROLL for (u32 r = 0; r < WIDTH; r++) to[head * stride + key(i) * WIDTH + r] = out[r][i];
	}
};
