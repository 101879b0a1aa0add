// Matrix-vector products: what is the same for every type of weights.
//
// A row is cut into units. LANES lanes of a wave, 4 to 32, share ROWS rows and take
// turns at their units, so that each unit of activations serves ROWS times; in
// the end the lanes add up what they have, in an order that the row's length
// alone decides. Waves know nothing of each other.
//
// A Format says what a unit is:
//
//	row_bytes(cols), units(cols)   of a row of weights; whole units only
//	acts_bytes(cols)               of a row of activations
//	Format(lane)                   is for the units lane, lane + lanes, ...
//	at(unit)                       where it begins in the row, in bytes
//	Weights weights(w, offset)     its weights, from w + offset on
//	Acts acts(x, unit)             its activations; both are loads and nothing else
//	f32 dot(weights, acts, sum)    sum plus their product
//	f32 rest(w, offset, x, ...)    sum plus what is left behind the last unit, if
//	                               RAGGED says that there can be something
#pragma once
#include "exp.h"
#include "lanes.h"

enum { ITEMS = 128, WAVES = ITEMS / 32, ROWS = 4 };

// What lies at multiples of A bytes only. Blocks of 34 or 210 bytes leave no
// more than 2; gfx11 loads that in one piece.
template <class T, u32 A> struct __attribute__((packed, aligned(A))) Loose {
	T v;
};
template <class T, u32 A> DEV T load(const GLOBAL u8 *p) { return ((const GLOBAL Loose<T, A> *)p)->v; }

// Share is a wave's part of a matrix: ROWS rows from the first on for every lanes
// lanes, as far as the height allows.
struct Share {
	u32 lanes, log;  // of a wave that share a row, and its logarithm
	u32 first, last; // rows
	u32 lane, row;   // this lane among those that share, and its first row behind the first
	INLINE Share(u32 lanes, u32 height, u32 rows) : lanes(lanes), log(__builtin_ctz(lanes)) {
		first = (group_x() * WAVES + wave_id()) * (rows * 32 >> log);
		last = height - 1;
		lane = lane_id() & (lanes - 1);
		row = (lane_id() >> log) * rows;
	}
	INLINE bool none() const { return first > last; }
	// offset is that of this lane's row r from the first row on, in bytes; behind
	// the last row it is that of the last, whose results nobody keeps.
	INLINE u32 offset(u32 r, u32 row_bytes) const { return least(row + r, last - first) * row_bytes; }
};

// fold adds up four sums over a share's lanes; lane i gets that of sum i % 4.
DEV f32 fold(const f32 (&sum)[ROWS], const Share &s) {
	static_assert(ROWS == 4);
	bool odd = s.lane & 1, high = s.lane & 2;
	f32 a = (odd ? sum[1] : sum[0]) + across<1>(odd ? sum[0] : sum[1]);
	f32 b = (odd ? sum[3] : sum[2]) + across<1>(odd ? sum[2] : sum[3]);
	f32 v = (high ? b : a) + across<2>(high ? a : b);
	if (s.lanes > 4) v += across<4>(v);
	if (s.lanes > 8) v += across<8>(v);
	if (s.lanes > 16) v += across<16>(v);
	return v;
}

// products are those of a share's rows r of w[r], each with x, for fold.
template <class Format> DEV void products(f32 (&sum)[ROWS], const GLOBAL u8 *const (&w)[ROWS], const u32 (&offset)[ROWS], const GLOBAL u8 *x, u32 cols, const Share &s) {
	Format f(s.lane);
	u32 units = Format::units(cols);
	UNROLL for (u32 r = 0; r < ROWS; r++) sum[r] = 0;
	for (u32 u = s.lane; u < units; u += s.lanes) {
		typename Format::Weights weights[ROWS];
		UNROLL for (u32 r = 0; r < ROWS; r++) weights[r] = f.weights(w[r], offset[r] + f.at(u));
		typename Format::Acts acts = f.acts(x, u);
		issue_loads();
		UNROLL for (u32 r = 0; r < ROWS; r++) sum[r] = f.dot(weights[r], acts, sum[r]);
	}
	if constexpr (Format::RAGGED)
		UNROLL for (u32 r = 0; r < ROWS; r++) sum[r] = f.rest(w[r], offset[r], x, cols, s, sum[r]);
}

// element is x[i] for i below 2^30, whose offset needs no more than a register.
template <class T> DEV GLOBAL T &element(GLOBAL T *x, u32 i) { return *(GLOBAL T *)((const GLOBAL u8 *)x + i * (u32)sizeof(T)); }

// matvec is Out of MatVec for a row of x, number y of add.
template <class Format> DEV void matvec(const GLOBAL u8 *w, const GLOBAL u8 *x, const GLOBAL f32 *bias, const GLOBAL f32 *add, GLOBAL f32 *out, u64 y, u32 cols, u32 height, u32 lanes) {
	Share s(lanes, height, ROWS);
	if (s.none()) return;
	u32 row_bytes = Format::row_bytes(cols);
	w += (u64)s.first * row_bytes;
	const GLOBAL u8 *rows[ROWS];
	u32 offset[ROWS];
	UNROLL for (u32 r = 0; r < ROWS; r++) rows[r] = w, offset[r] = s.offset(r, row_bytes);
	f32 sum[ROWS];
	products<Format>(sum, rows, offset, x, cols, s);
	f32 v = fold(sum, s);
	u32 row = s.first + s.row + s.lane;
	if (s.lane >= ROWS || row >= height) return;
	if (bias) v += element(bias, row);
	if (add) v += element(add + y * height, row);
	element(out, row) = v;
}

// gate_up is Out of MatVecSwiGLU for a row of x: a lane has PAIRS rows of both
// matrices.
enum { PAIRS = ROWS / 2 };

template <class Format> DEV void gate_up(const GLOBAL u8 *gate, const GLOBAL u8 *up, const GLOBAL u8 *x, GLOBAL f32 *out, u32 cols, u32 height, u32 lanes) {
	Share s(lanes, height, PAIRS);
	if (s.none()) return;
	u32 row_bytes = Format::row_bytes(cols);
	gate += (u64)s.first * row_bytes, up += (u64)s.first * row_bytes;
	const GLOBAL u8 *rows[ROWS];
	u32 offset[ROWS];
	UNROLL for (u32 r = 0; r < ROWS; r++) rows[r] = r < PAIRS ? gate : up, offset[r] = s.offset(r % PAIRS, row_bytes);
	f32 sum[ROWS];
	products<Format>(sum, rows, offset, x, cols, s);
	f32 g = fold(sum, s), u = across<PAIRS>(g);
	u32 row = s.first + s.row + s.lane;
	if (s.lane < PAIRS && row < height) element(out, row) = swiglu_(g, u);
}

// set_flag makes a word 1 that others may set at the same time.
DEV void set_flag(GLOBAL u32 *p) { __scoped_atomic_fetch_or(p, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }

// no_expert is what comes out for an id that is no expert's: zeros for this
// wave's rows, and the status.
DEV void no_expert(GLOBAL f32 *out, GLOBAL u32 *status, u32 height, u32 lanes, u32 rows) {
	Share s(lanes, height, rows);
	u32 row = s.first + lane_id();
	if (lane_id() < rows * 32 >> s.log && row < height) out[row] = 0;
	if (group_x() == 0 && local_id() == 0) set_flag(status);
}

// matvec_id is Out of MatVecID for vector group_z of those that share x's row
// group_y.
template <class Format> DEV void matvec_id(const GLOBAL u8 *w, const GLOBAL u8 *x, const GLOBAL i32 *chosen, GLOBAL f32 *out, GLOBAL u32 *status, u32 cols, u32 height, u32 experts, u32 share, u32 lanes) {
	u64 y = group_y(), v = y * share + group_z();
	u32 id = uniform((u32)chosen[v]);
	x += y * Format::acts_bytes(cols), out += v * height;
	if (id >= experts) return no_expert(out, status, height, lanes, ROWS);
	matvec<Format>(w + (u64)id * height * Format::row_bytes(cols), x, nullptr, nullptr, out, 0, cols, height, lanes);
}

// gate_up_id is Out of MatVecSwiGLUID in the same way.
template <class Format> DEV void gate_up_id(const GLOBAL u8 *gate, const GLOBAL u8 *up, const GLOBAL u8 *x, const GLOBAL i32 *chosen, GLOBAL f32 *out, GLOBAL u32 *status, u32 cols, u32 height, u32 experts, u32 share, u32 lanes) {
	u64 y = group_y(), v = y * share + group_z();
	u32 id = uniform((u32)chosen[v]);
	x += y * Format::acts_bytes(cols), out += v * height;
	if (id >= experts) return no_expert(out, status, height, lanes, PAIRS);
	u64 matrix = (u64)id * height * Format::row_bytes(cols);
	gate_up<Format>(gate + matrix, up + matrix, x, out, cols, height, lanes);
}

// MATVEC defines the kernels for a format; what they take is in matvec.go.
#define MATVEC(name, Format) \
	KERNEL(ITEMS) matvec_##name(const GLOBAL u8 *w, const GLOBAL u8 *x, const GLOBAL f32 *bias, const GLOBAL f32 *add, GLOBAL f32 *out, u32 cols, u32 height, u32 lanes) { \
		u64 y = group_y(); \
		matvec<Format>(w, x + y * Format::acts_bytes(cols), bias, add, out + y * height, y, cols, height, lanes); \
	} \
	KERNEL(ITEMS) matvec_id_##name(const GLOBAL u8 *w, const GLOBAL u8 *x, const GLOBAL i32 *chosen, GLOBAL f32 *out, GLOBAL u32 *status, u32 cols, u32 height, u32 experts, u32 share, u32 lanes) { \
		matvec_id<Format>(w, x, chosen, out, status, cols, height, experts, share, lanes); \
	} \
	KERNEL(ITEMS) matvec_swiglu_##name(const GLOBAL u8 *gate, const GLOBAL u8 *up, const GLOBAL u8 *x, GLOBAL f32 *out, u32 cols, u32 height, u32 lanes) { \
		u64 y = group_y(); \
		gate_up<Format>(gate, up, x + y * Format::acts_bytes(cols), out + y * height, cols, height, lanes); \
	} \
	KERNEL(ITEMS) matvec_swiglu_id_##name(const GLOBAL u8 *gate, const GLOBAL u8 *up, const GLOBAL u8 *x, const GLOBAL i32 *chosen, GLOBAL f32 *out, GLOBAL u32 *status, u32 cols, u32 height, u32 experts, u32 share, u32 lanes) { \
		gate_up_id<Format>(gate, up, x, chosen, out, status, cols, height, experts, share, lanes); \
	}
