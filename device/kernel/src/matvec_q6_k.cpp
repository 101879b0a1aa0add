// Matrix-vector products with Q6_K weights.
#include "matvec.h"
#include "q8.h"

// A unit is a quarter of a block of 256 weights: four groups of 16 that share the
// bytes of their upper bits, 32 apart. Four neighbouring lanes share a block.
struct Q6K {
	static constexpr bool RAGGED = false;
	static constexpr u32 BYTES = 210;
	struct Weights {
		u32x4 low[2], high; // 4 bits of each, and 2
		u32x2 scales;       // of eight groups, every other one of them this lane's
		f16 d;
	};
	struct Acts {
		u32x4 q[4];
		u32x4 ds;
	};
	u32 half, side; // of the block, and of each 32 weights

	DEV u32 units(u32 cols) { return cols / 64; }
	DEV u32 row_bytes(u32 cols) { return cols / 256 * BYTES; }
	DEV u64 acts_bytes(u32 cols) { return q8_bytes(cols); }
	INLINE Q6K(u32 lane) : half(lane / 2 % 2), side(lane % 2) {}
	INLINE u32 at(u32 unit) const { return unit / 4 * BYTES; }

	INLINE Acts acts(const GLOBAL u8 *x, u32 unit) const {
		x += unit / 2 * Q8_BYTES;
		const GLOBAL u8 *q = x + side * 16;
		return {{load<u32x4, 16>(q + 16), load<u32x4, 16>(q + 48), load<u32x4, 16>(q + 80), load<u32x4, 16>(q + 112)}, load<u32x4, 16>(x)};
	}
	INLINE Weights weights(const GLOBAL u8 *w, u32 at) const {
		const GLOBAL u8 *p = w + at, *low = w + (at + half * 64 + side * 16), *high = w + (at + half * 32 + side * 16);
		return {{load<u32x4, 2>(low), load<u32x4, 2>(low + 32)}, load<u32x4, 2>(high + 128), load<u32x2, 2>(w + (at + half * 8) + 192), load<f16, 2>(p + 208)};
	}
	// minus_32 is what 32 less in every weight of a group comes to; the compiler
	// computes it once for all rows.
	static INLINE i32 minus_32(u32x4 q) {
		i32 sum = 0;
		UNROLL for (u32 i = 0; i < 4; i++) sum = dot4u(0x01010101, q[i], sum);
		return sum * -32;
	}
	INLINE f32 dot(const Weights &w, const Acts &x, f32 sum) const {
		i32 n[4];
		UNROLL for (u32 g = 0; g < 4; g++) n[g] = minus_32(x.q[g]);
		UNROLL for (u32 i = 0; i < 4; i++) {
			u32 a = w.low[0][i], b = w.low[1][i], h = w.high[i];
			n[0] = dot4u((a & 0x0f0f0f0f) | (h << 4 & 0x30303030), x.q[0][i], n[0]);
			n[1] = dot4u((b & 0x0f0f0f0f) | (h << 2 & 0x30303030), x.q[1][i], n[1]);
			n[2] = dot4u((a >> 4 & 0x0f0f0f0f) | (h & 0x30303030), x.q[2][i], n[2]);
			n[3] = dot4u((b >> 4 & 0x0f0f0f0f) | (h >> 2 & 0x30303030), x.q[3][i], n[3]);
		}
		f32 scaled = 0;
		UNROLL for (u32 g = 0; g < 4; g++) {
			u32 scales = w.scales[g / 2], ds = x.ds[g];
			scales >>= side * 8; // bytes 0 and 2
			scaled = __builtin_fmaf((f32)n[g] * (f32)(i8)(scales >> g % 2 * 16), low_half(ds), scaled);
		}
		return __builtin_fmaf((f32)w.d, scaled, sum);
	}
};

MATVEC(q6_k, Q6K)
