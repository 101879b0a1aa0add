// Matrix-vector products with Q8_0 weights.
#include "matvec.h"
#include "q8.h"

// A unit is a block of 32 weights: a half d and 32 signed bytes.
struct Q8_0 {
	static constexpr bool RAGGED = false;
	static constexpr u32 BYTES = 34;
	struct Weights {
		u32x4 q[2];
		f16 d;
	};
	struct Acts {
		u32x4 q[2];
		f16 d;
	};

	DEV u32 units(u32 cols) { return cols / 32; }
	DEV u32 row_bytes(u32 cols) { return cols / 32 * BYTES; }
	DEV u64 acts_bytes(u32 cols) { return q8_bytes(cols); }
	INLINE Q8_0(u32) {}
	INLINE u32 at(u32 unit) const { return unit * BYTES; }

	INLINE Acts acts(const GLOBAL u8 *x, u32 unit) const {
		u32 group = unit / 4 * Q8_BYTES, block = unit % 4;
		const GLOBAL u8 *q = x + (group + block * 32);
		return {{load<u32x4, 16>(q + 16), load<u32x4, 16>(q + 32)}, load<f16, 4>(x + (group + block * 4))};
	}
	INLINE Weights weights(const GLOBAL u8 *w, u32 at) const {
		const GLOBAL u8 *p = w + at;
		return {{load<u32x4, 2>(p + 2), load<u32x4, 2>(p + 18)}, load<f16, 2>(p)};
	}
	INLINE f32 dot(const Weights &w, const Acts &x, f32 sum) const {
		i32 n = 0;
		UNROLL for (u32 half = 0; half < 2; half++)
			UNROLL for (u32 i = 0; i < 4; i++) n = dot4(w.q[half][i], x.q[half][i], n);
		return __builtin_fmaf((f32)w.d * (f32)x.d, (f32)n, sum);
	}
};

MATVEC(q8_0, Q8_0)
