// Attention of some keys on matrix units, for heads of DIM elements.
#pragma once
#if defined(__AMDGCN__)
#include "tile_gfx11.h"
#else
#include "tile_nvptx.h"
#endif

// Tiles is the query heads of a tile over keys: each wave takes 16 keys at a
// time and has a state of its own; at the end the waves' states are merged.
template <u32 DIM> struct Tiles {
	enum {
		HEADS = Tile<DIM>::HEADS,
		WAVES = ITEMS / WAVE,
		STEP = 16 * WAVES,    // keys from a wave's tile to its next
		STRIDE = DIM + 8,     // of a query, against bank conflicts
		ROUND = 4             // heads merged at once
	};
	struct Wave {
		typename Tile<DIM>::Memory tile;
		f32 bias[16];
	};
	struct Memory {
		f32 max[WAVES][HEADS], sum[WAVES][HEADS], factor[WAVES][HEADS];
		f32 all_max[HEADS], all_sum[HEADS];
		union {
			struct {
				f16 q[HEADS][STRIDE];
				Wave wave[WAVES];
			};
			f32 out[WAVES][ROUND][DIM + 4];
		};
	};

	LDS Memory *m;
	Tile<DIM> tile;

	// over attends heads [head, head + heads) to keys [lo, hi).
	__attribute__((always_inline)) void over(const Keys &x, u32 head, u32 heads, u32 lo, u32 hi) {
		typedef Tile<DIM> T;
		for (u32 i = 4 * local_id(); i < HEADS * DIM; i += 4 * ITEMS) {
			f32x4 y = i < heads * DIM ? *(const GLOBAL f32x4 *)(x.q + head * DIM + i) * x.scale : f32x4{};
			*(LDS f16x4 *)&m->q[i / DIM][i % DIM] = __builtin_convertvector(y, f16x4);
		}
		barrier_lds();
		f32 max[T::OWN], sum[T::OWN];
		UNROLL for (u32 o = 0; o < T::OWN; o++) max[o] = NOTHING, sum[o] = 0;
		tile.clear();
		for (u32 base = lo + 16 * wave_id(); base < hi; base += STEP) {
			LDS Wave *w = &m->wave[wave_id()];
			bool whole = hi - base >= 16 && !x.masked();
			u32 kept = whole ? 0xffff : biases(w, x, base, hi);
			if (!kept) continue;
			// A key left out is not read: one that is not stands in for it.
			u32 other = (u32)__builtin_ctz(kept);
			tile.load(x.k + (u64)base * DIM, x.v + (u64)base * DIM, [&](u32 i) __attribute__((always_inline)) { return kept >> i & 1 ? i : other; });
			f32 s[T::SCORES];
			tile.score(s, m->q[0], STRIDE);
			if (!whole)
				UNROLL for (u32 i = 0; i < T::SCORES; i++) {
					f32 bias = w->bias[T::key(i)];
					s[i] = bias == NOTHING ? NOTHING : s[i] + bias;
				}
			f32 top[T::OWN], zero[T::OWN], change[T::OWN];
			UNROLL for (u32 o = 0; o < T::OWN; o++) top[o] = max[o];
			UNROLL for (u32 i = 0; i < T::SCORES; i++) top[T::own(i)] = __builtin_fmaxf(top[T::own(i)], s[i]);
			UNROLL for (u32 o = 0; o < T::OWN; o++) {
				top[o] = T::most_of(top[o]);
				zero[o] = origin(top[o]), change[o] = exp2_(max[o] - zero[o]);
				max[o] = top[o], sum[o] *= change[o];
			}
			UNROLL for (u32 i = 0; i < T::SCORES; i++) {
				s[i] = exp2_(s[i] - zero[T::own(i)]);
				sum[T::own(i)] += s[i];
			}
			tile.add(&w->tile, s, change);
		}
		UNROLL for (u32 o = 0; o < T::OWN; o++) {
			sum[o] = T::sum_of(sum[o]);
			m->max[wave_id()][T::head(o)] = max[o], m->sum[wave_id()][T::head(o)] = sum[o];
		}
		barrier_lds();
		if (local_id() < HEADS) merge(local_id());
		barrier_lds();
	}

	// give hands the heads' outputs to f(head, element, value), each to one item.
	template <class F> __attribute__((always_inline)) void give(u32 heads, F f) {
		for (u32 from = 0; from < heads; from += ROUND) {
			tile.give(&m->out[wave_id()][0][0], from, ROUND, DIM + 4);
			barrier_lds();
			for (u32 i = local_id(); i < ROUND * DIM; i += ITEMS) {
				u32 h = i / DIM, d = i % DIM;
				f32 y = 0;
				UNROLL for (u32 w = 0; w < WAVES; w++) y += m->factor[w][from + h] * m->out[w][h][d];
				if (from + h < heads) f(from + h, d, y);
			}
			barrier_lds();
		}
	}

private:
	// biases stores what is added to the scores of the 16 keys from base on, and
	// returns which are kept, a bit each.
	static __attribute__((always_inline)) u32 biases(LDS Wave *w, const Keys &x, u32 base, u32 hi) {
		u32 i = lane_id() % 16;
		f32 bias = base + i < hi ? x.bias(base + i) : NOTHING;
		w->bias[i] = bias;
		barrier_wave();
		return ballot(bias != NOTHING) & 0xffff;
	}

	// merge makes a head's maximum and sum from those of the waves.
	__attribute__((always_inline)) void merge(u32 head) {
		f32 top = NOTHING, sum = 0;
		UNROLL for (u32 w = 0; w < WAVES; w++) top = __builtin_fmaxf(top, m->max[w][head]);
		UNROLL for (u32 w = 0; w < WAVES; w++) {
			f32 factor = exp2_(m->max[w][head] - origin(top));
			m->factor[w][head] = factor, sum += factor * m->sum[w][head];
		}
		m->all_max[head] = top, m->all_sum[head] = sum;
	}
};

// leave_tiles writes the state of a span of keys.
template <u32 DIM> DEV void leave_tiles(LDS typename Tiles<DIM>::Memory *memory, const Keys &x, Span keys, State to) {
	for (u32 head = 0; head < x.group; head += Tiles<DIM>::HEADS) {
		Tiles<DIM> tiles;
		tiles.m = memory;
		u32 heads = least(x.group - head, (u32)Tiles<DIM>::HEADS);
		tiles.over(x, head, heads, keys.first, keys.end);
		if (local_id() < heads) to.most[head + local_id()] = memory->all_max[local_id()], to.sum[head + local_id()] = memory->all_sum[local_id()];
		tiles.give(heads, [&](u32 h, u32 d, f32 y) __attribute__((always_inline)) { to.out[(u64)(head + h) * DIM + d] = y; });
	}
}
