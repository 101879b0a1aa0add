// Merging a row's partial states, and packing the finished row.
#pragma once
#include "attention.h"
#include "q8.h"

enum Form { DIRECT, COOPERATIVE, MULTIPASS };

// Scale is what a state counts for: 2^(its maximum - the greatest), and its sum.
struct Scale {
	f32 factor, sum;
};

struct Merge {
	enum {
		CHANNELS = ITEMS,      // elements of a row at once
		HEADS = CHANNELS / 16, // that they lie in, at most
		TURN = 64              // states at once in the multipass form
	};
	struct Memory {
		Scale scales[HEADS][TURN];
	};

	const GLOBAL f32 *states; // [kv_heads][splits] of the row
	GLOBAL f32 *out;          // [kv_heads][group][v_dim] of the row
	u32 group, v_dim, splits; // splits that there is room for
	u32 count;                // that the row has, at least 1

	// head is the first of the states of a query head.
	__attribute__((always_inline)) const GLOBAL f32 *head(u32 h) const {
		return states + (u64)(h / group) * splits * state_floats(group, v_dim) + h % group;
	}

	// over writes CHANNELS elements of the row, or those up to end. The sum over
	// states runs in the order of the keys in every form, so that all give the
	// same bits.
	template <Form form> __attribute__((always_inline)) void over(LDS Memory *m, u32 from, u32 end) const {
		u32 size = state_floats(group, v_dim), channel = from + local_id();
		end = least(end, from + (u32)CHANNELS);
		u32 first = from / v_dim, h = least(channel, end - 1) / v_dim;
		const GLOBAL f32 *mine = head(h), *o = mine - h % group + 2 * group + (h % group) * v_dim + channel % v_dim;
		f32 x = 0, sum = 0;
		if (form == DIRECT) {
			f32 top = NOTHING;
			for (u32 i = 0; i < count; i++) top = __builtin_fmaxf(top, mine[i * size]);
			if (channel < end)
				for (u32 i = 0; i < count; i++) add(x, sum, {exp2_(mine[i * size] - origin(top)), mine[i * size + group]}, o[i * size]);
		} else {
			for (u32 begin = 0; begin < count; begin += TURN) {
				u32 n = least(count - begin, (u32)TURN);
				if (begin) barrier_lds(); // the last turn's scales have been used
				for (u32 j = first + wave_id(); j <= (end - 1) / v_dim; j += ITEMS / WAVE) scales<form>(m->scales[j - first], head(j), begin, n);
				barrier_lds();
				if (channel < end)
					for (u32 i = 0; i < n; i++) add(x, sum, m->scales[h - first][i], o[(u64)(begin + i) * size]);
			}
			barrier_lds();
		}
		if (channel < end) out[channel] = sum == 0 ? 0 : x / sum;
	}

private:
	static __attribute__((always_inline)) void add(f32 &x, f32 &sum, Scale s, f32 o) {
		sum = __builtin_fmaf(s.factor, s.sum, sum);
		x = __builtin_fmaf(s.factor, o, x);
	}

	// scales has a wave find the scales of n of a head's states. The cooperative
	// form has a lane for each and reads them once; the other passes over all
	// for the maximum.
	template <Form form> __attribute__((always_inline)) void scales(LDS Scale *to, const GLOBAL f32 *from, u32 begin, u32 n) const {
		u64 size = state_floats(group, v_dim);
		u32 lane = lane_id();
		f32 mine = NOTHING, top = NOTHING;
		if (form == COOPERATIVE) {
			if (lane < n) top = mine = from[lane * size];
		} else {
			for (u32 i = lane; i < count; i += WAVE) top = __builtin_fmaxf(top, from[i * size]);
		}
		top = origin(all_max(top));
		for (u32 i = lane; i < n; i += WAVE) {
			if (form == MULTIPASS) mine = from[(begin + i) * size];
			to[i] = {exp2_(mine - top), from[(begin + i) * size + group]};
		}
	}
};

// pack_q8 packs elements [from, end) of a row: from is a multiple of 128, and
// behind end there are zeros up to the next one.
DEV void pack_q8(const GLOBAL f32 *row, GLOBAL u8 *q8, u32 from, u32 end) {
	u32 stop = (end + Q8_ELEMS - 1) / Q8_ELEMS * Q8_ELEMS;
	for (u32 at = from + 4 * local_id(); at < stop; at += 4 * ITEMS) q8_pack(q8, at, at < end ? *(const GLOBAL f32x4 *)(row + at) : f32x4{});
}
