// Attention of some keys with scalar arithmetic, for heads of any size.
#pragma once
#include "attention.h"

// Fold is four query heads of a KV head over keys, a block of them at a time:
// each key's scores by four items, the block's maxima and exponentials by a wave
// a head, and the values by four sets of items, each for its sixteen keys.
struct Fold {
	enum {
		HEADS = 4,            // query heads at once
		BLOCK = 64,           // keys at once
		SETS = ITEMS / 64,    // of items that share out a block's values
		TILE = 2 * 64,        // elements of a value that a set holds at once, two an item
		TILES = (MOST_DIM + TILE - 1) / TILE
	};
	struct Memory {
		f32 q[HEADS][MOST_DIM];
		f32 bias[BLOCK];
		f32x4 p[BLOCK]; // scores, then their exponentials, of the four heads
		f32 rescale[HEADS];
		f32 max[HEADS], sum[HEADS];
		f32 out[SETS][HEADS][TILE];
	};

	LDS Memory *m;
	f32 out[TILES][HEADS][2];

	// over attends heads [head, head + heads) to keys [lo, hi). Afterwards
	// m->max and m->sum are those of the heads.
	__attribute__((always_inline)) void over(const Keys &x, u32 head, u32 heads, u32 lo, u32 hi) {
		u32 id = local_id(), set = wave_id() * WAVE / 64, pair = id % 64;
		for (u32 h = 0; h < HEADS; h++)
			for (u32 d = id; d < x.head_dim; d += ITEMS) m->q[h][d] = h < heads ? x.q[(head + h) * x.head_dim + d] * x.scale : 0;
		UNROLL for (u32 t = 0; t < TILES; t++)
			UNROLL for (u32 h = 0; h < HEADS; h++) out[t][h][0] = out[t][h][1] = 0;
		u32 column[TILES]; // of this item, any that there is where it has none
		UNROLL for (u32 t = 0; t < TILES; t++) column[t] = t * TILE + 2 * pair < x.v_dim ? t * TILE + 2 * pair : 0;
		f32 max = NOTHING, sum = 0; // of the head of this wave
		for (u32 base = lo; base < hi; base += BLOCK) {
			u32 n = least(hi - base, (u32)BLOCK);
			barrier_lds(); // the last block has been used
			if (id < BLOCK) m->bias[id] = id < n ? x.bias(base + id) : NOTHING;
			barrier_lds();
			scores(x, base, heads);
			barrier_lds();
			if (wave_id() < heads) exponentials(wave_id(), max, sum);
			barrier_lds();
			u32 v_dim = again(x.v_dim);
			UNROLL for (u32 t = 0; t < TILES; t++)
				if (t * TILE < v_dim)
					UNROLL for (u32 h = 0; h < HEADS; h++) out[t][h][0] *= m->rescale[h], out[t][h][1] *= m->rescale[h];
			for (u32 key = set * (BLOCK / SETS); key < least(n, (set + 1) * (BLOCK / SETS)); key++) {
				if (uniform(__builtin_bit_cast(u32, m->bias[key])) == __builtin_bit_cast(u32, NOTHING)) continue;
				f32x4 p = m->p[key];
				const GLOBAL f16 *v = x.v + (u64)(base + key) * v_dim;
				u32 width = again(v_dim);
				UNROLL for (u32 t = 0; t < TILES; t++)
					if (t * TILE < width) {
						f16x2 y = *(const GLOBAL f16x2 *)(v + column[t]);
						f32 a = (f32)y.x, b = (f32)y.y;
						UNROLL for (u32 h = 0; h < HEADS; h++) out[t][h][0] += p[h] * a, out[t][h][1] += p[h] * b;
					}
			}
		}
		if (wave_id() < heads && lane_id() == 0) m->max[wave_id()] = max, m->sum[wave_id()] = sum;
		barrier_lds();
	}

	// give hands the heads' outputs to f(head, element, value), each to one item.
	template <class F> __attribute__((always_inline)) void give(const Keys &x, u32 heads, F f) {
		u32 id = local_id(), set = wave_id() * WAVE / 64, pair = id % 64;
		UNROLL for (u32 t = 0; t < TILES; t++)
			if (t * TILE < x.v_dim) {
				UNROLL for (u32 h = 0; h < HEADS; h++) m->out[set][h][2 * pair] = out[t][h][0], m->out[set][h][2 * pair + 1] = out[t][h][1];
				barrier_lds();
				for (u32 i = id; i < heads * TILE; i += ITEMS) {
					u32 h = i / TILE, d = i % TILE;
					f32 y = 0;
					UNROLL for (u32 s = 0; s < SETS; s++) y += m->out[s][h][d];
					if (t * TILE + d < x.v_dim) f(h, t * TILE + d, y);
				}
				barrier_lds();
			}
	}

private:
	// scores are of a block's keys: four items take a key's elements in turns of
	// eight. A key left out is not read.
	__attribute__((always_inline)) void scores(const Keys &x, u32 base, u32 heads) {
		u32 key = local_id() / 4, turn = local_id() % 4, head_dim = again(x.head_dim);
		f32 s[HEADS] = {}, bias = m->bias[key];
		if (bias != NOTHING) {
			const GLOBAL f16 *k = x.k + (u64)(base + key) * head_dim;
			for (u32 d = 8 * turn; d < head_dim; d += 32) {
				f16x8 y = *(const GLOBAL f16x8 *)(k + d);
				UNROLL for (u32 h = 0; h < HEADS; h++)
					if (h == 0 || again(heads) > 1) // those behind the last have zeros for queries
						UNROLL for (u32 i = 0; i < 8; i++) s[h] += (f32)y[i] * m->q[h][d + i];
			}
		}
		f32 mine = 0;
		UNROLL for (u32 h = 0; h < HEADS; h++) {
			s[h] += across<1>(s[h]), s[h] += across<2>(s[h]);
			mine = turn == h ? s[h] : mine;
		}
		((LDS f32 *)&m->p[key])[turn] = bias == NOTHING ? NOTHING : mine + bias;
	}

	// exponentials replaces a head's scores and brings max and sum up to date.
	__attribute__((always_inline)) void exponentials(u32 h, f32 &max, f32 &sum) {
		LDS f32 *p = (LDS f32 *)m->p + h;
		f32 s[BLOCK / WAVE], top = max;
		UNROLL for (u32 i = 0; i < BLOCK / WAVE; i++) {
			s[i] = p[HEADS * (i * WAVE + lane_id())];
			top = __builtin_fmaxf(top, s[i]);
		}
		top = all_max(top);
		f32 zero = origin(top), change = exp2_(max - zero), added = 0;
		UNROLL for (u32 i = 0; i < BLOCK / WAVE; i++) {
			s[i] = exp2_(s[i] - zero);
			p[HEADS * (i * WAVE + lane_id())] = s[i];
			added += s[i];
		}
		max = top, sum = sum * change + all_sum(added);
		if (lane_id() == 0) m->rescale[h] = change;
	}
};

// leave writes the state of a span of keys.
DEV void leave(LDS Fold::Memory *memory, const Keys &x, Span keys, State to) {
	for (u32 head = 0; head < x.group; head += Fold::HEADS) {
		Fold fold = {memory, {}};
		u32 heads = least(x.group - head, (u32)Fold::HEADS);
		fold.over(x, head, heads, keys.first, keys.end);
		if (local_id() < heads) to.most[head + local_id()] = memory->max[local_id()], to.sum[head + local_id()] = memory->sum[local_id()];
		fold.give(x, heads, [&](u32 h, u32 d, f32 y) __attribute__((always_inline)) { to.out[(u64)(head + h) * x.v_dim + d] = y; });
	}
}
