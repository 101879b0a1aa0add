// Matrix-vector products with weights that are floats or halfs.
#include "matvec.h"

// A unit is 16 bytes of weights, which begin anywhere that is a multiple of
// their size.
template <class T> struct Floats {
	static constexpr bool RAGGED = true;
	static constexpr u32 N = 16 / sizeof(T);
	struct Weights {
		T w[N];
	};
	struct Acts {
		f32x4 x[N / 4];
	};

	DEV u32 units(u32 cols) { return cols / N; }
	DEV u32 row_bytes(u32 cols) { return cols * (u32)sizeof(T); }
	DEV u64 acts_bytes(u32 cols) { return (u64)cols * sizeof(f32); }
	INLINE Floats(u32) {}
	INLINE u32 at(u32 unit) const { return unit * 16; }

	INLINE Acts acts(const GLOBAL u8 *x, u32 unit) const {
		Acts a;
		UNROLL for (u32 i = 0; i < N / 4; i++) a.x[i] = load<f32x4, 4>(x + (unit * N + i * 4) * (u32)sizeof(f32));
		return a;
	}
	INLINE Weights weights(const GLOBAL u8 *w, u32 at) const {
		return __builtin_bit_cast(Weights, load<u32x4, sizeof(T)>(w + at));
	}
	INLINE f32 dot(const Weights &w, const Acts &x, f32 sum) const {
		UNROLL for (u32 i = 0; i < N; i++) sum = __builtin_fmaf((f32)w.w[i], x.x[i / 4][i % 4], sum);
		return sum;
	}
	INLINE f32 rest(const GLOBAL u8 *w, u32 at, const GLOBAL u8 *x, u32 cols, const Share &s, f32 sum) const {
		for (u32 i = cols / N * N + s.lane; i < cols; i += s.lanes)
			sum = __builtin_fmaf((f32)load<T, sizeof(T)>(w + (at + i * (u32)sizeof(T))), load<f32, 4>(x + i * (u32)sizeof(f32)), sum);
		return sum;
	}
};

MATVEC(f32, Floats<f32>)
MATVEC(f16, Floats<f16>)
