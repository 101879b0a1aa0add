// Matrix-vector products with Q4_K weights.
#include "matvec.h"
#include "q8.h"

// A unit is a quarter of a block of 256 weights: two groups of 32, in the low and
// the high nibbles of 32 bytes. Four neighbouring lanes share a block.
struct Q4K {
	static constexpr bool RAGGED = false;
	static constexpr u32 BYTES = 144;
	struct Weights {
		u32x4 head; // d, dmin; twelve bytes of scales and minima
		u32x4 q[2];
	};
	struct Acts {
		u32x4 low[2], high[2]; // for the nibbles
		u32x2 ds;
	};
	// The six bits of a scale are in one place for the first four groups of a
	// block and in two for the others. What this lane's two groups need:
	u32 quarter;
	u32 shift, minima_shift; // to the bytes with the lower bits
	u32 lower, upper;        // which bits those are, and those of the other place

	DEV u32 units(u32 cols) { return cols / 64; }
	DEV u32 row_bytes(u32 cols) { return cols / 256 * BYTES; }
	DEV u64 acts_bytes(u32 cols) { return q8_bytes(cols); }
	INLINE Q4K(u32 lane) : quarter(lane % 4) {
		shift = quarter % 2 * 16;
		bool first = quarter < 2;
		minima_shift = first ? shift : shift + 4;
		lower = first ? 0x3f3f : 0x0f0f;
		upper = first ? 0 : 0x3030;
	}
	INLINE u32 at(u32 unit) const { return unit / 4 * BYTES; }

	INLINE Acts acts(const GLOBAL u8 *x, u32 unit) const {
		u32 group = unit / 2 * Q8_BYTES, half = quarter % 2;
		const GLOBAL u8 *q = x + (group + half * 64);
		return {{load<u32x4, 16>(q + 16), load<u32x4, 16>(q + 32)}, {load<u32x4, 16>(q + 48), load<u32x4, 16>(q + 64)},
		        load<u32x2, 8>(x + (group + half * 8))};
	}
	INLINE Weights weights(const GLOBAL u8 *w, u32 at) const {
		const GLOBAL u8 *p = w + at, *q = w + (at + quarter * 32);
		return {load<u32x4, 16>(p), {load<u32x4, 16>(q + 16), load<u32x4, 16>(q + 32)}};
	}
	INLINE f32 dot(const Weights &w, const Acts &x, f32 sum) const {
		i32 a = 0, b = 0; // b is 16 times what it means: high nibbles stay where they are
		UNROLL for (u32 half = 0; half < 2; half++)
			UNROLL for (u32 i = 0; i < 4; i++) {
				u32 q = w.q[half][i];
				a = dot4u(q & 0x0f0f0f0f, x.low[half][i], a);
				b = dot4u(q & 0xf0f0f0f0, x.high[half][i], b);
			}
		u32 dd = w.head[0], y = w.head[1], z = w.head[2], t = w.head[3];
		bool first = quarter < 2;
		u32 scales = ((first ? y : t) >> shift & lower) | (y >> (shift + 2) & upper);
		u32 minima = ((first ? z : t) >> minima_shift & lower) | (z >> (shift + 2) & upper);
		u32 ds0 = x.ds[0], ds1 = x.ds[1];
		f32 scaled = __builtin_fmaf((f32)a * (f32)(scales & 255), low_half(ds0), (f32)b * (f32)(scales >> 8) * (low_half(ds1) * 0x1p-4f));
		f32 below = __builtin_fmaf((f32)(minima & 255), high_half(ds0), (f32)(minima >> 8) * high_half(ds1));
		return __builtin_fmaf(-high_half(dd), below, __builtin_fmaf(low_half(dd), scaled, sum));
	}
};

MATVEC(q4_k, Q4K)
