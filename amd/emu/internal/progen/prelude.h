// What generated programs are made of. One text for the host, which is the
// witness, and for gfx11: a program is a list of phases; the host runs each
// phase for one work-item after the other, the device for all at once with
// barriers between.
//
// Everything here is defined behaviour, and the same on both sides:
//  - shift counts are masked, divisors of zero and the one quotient that
//    overflows are replaced, floats become integers only within range;
//  - the sign and payload of a NaN are nobody's business: a float becomes bits
//    through bits(), which makes every NaN the same, and the sign of a NaN is
//    never read;
//  - min and max of +0 and -0 may be either: + 0 makes it +0;
//  - half arithmetic rounds once for each operation. x86 has none, so that the
//    host computes in float and rounds (enough for + - * / and sqrt), and fma
//    in double (enough: when a half product and a half sum come near a tie,
//    they lie within 53 bits).
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef f16 h2 __attribute__((ext_vector_type(2)));
typedef i16 s2 __attribute__((ext_vector_type(2)));
typedef u16 w2 __attribute__((ext_vector_type(2)));
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x3 __attribute__((ext_vector_type(3)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

enum {
	N = 96,           // work-items in a workgroup: three wave32, or one and a half wave64
	GROUPS = 2,       // workgroups
	INWORDS = 2048,   // words of input
	MEMWORDS = 16,    // words of global memory that are a work-item's own
	OWNWORDS = 4,     // words of LDS that are a work-item's own
	NOUT = 20,        // 64-bit results of a work-item
	NSHARED = 16,     // accumulators, in LDS and in global memory
	FADD = 12,        // the one that holds a float
};

#if defined(__AMDGCN__)
#define DEVICE 1
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#else
#define DEVICE 0
#define GLOBAL
#define LDS
#endif
#define FN template <class T> static inline
#define SFN static inline

// ctx is what a phase knows of its surroundings.
struct ctx {
	const GLOBAL u32 *in;
	GLOBAL u32 *mem;
	GLOBAL u64 *acc;
	LDS u32 *own;
	LDS u64 *sh;
	u32 tid, gid;
};

template <class T> struct limits {
	static constexpr int bits = sizeof(T) * 8;
	static constexpr bool is_signed = (T)-1 < (T)0;
	static constexpr T min = is_signed ? (T)((u64)1 << (bits - 1)) : (T)0;
};

// ---- where clang 22 errs

// apart(x) is x, but the compiler does not know what is in it, nor moves it to
// another branch. Each of the macros below stands where the compiler for gfx11
// is known to combine operations wrongly (miscompiled.go says how), and is
// apart() in a compilation that defines it to be.
#if DEVICE
FN T apart(T x) {
	if constexpr (sizeof(T) >= 4) asm volatile("" : "+v"(x));
	return x;
}
SFN f16 apart(f16 x) {
	u32 b = __builtin_bit_cast(u16, x);
	asm volatile("" : "+v"(b));
	return __builtin_bit_cast(f16, (u16)b);
}
#endif
#ifndef CARRY
#define CARRY(x) (x)
#endif
#ifndef COMPLEMENT
#define COMPLEMENT(x) (x)
#endif
#ifndef LANES
#define LANES(x) (x)
#endif
#ifndef HALF
#define HALF(x) (x)
#endif
#ifndef NARROW
#define NARROW(x) (x)
#endif
#ifndef SUM
#define SUM(x) (x)
#endif

#ifndef FACTOR
#define FACTOR(x) (x)
#endif
#define NOT(x) COMPLEMENT(~(x))

// ---- integers

FN T divs(T a, T b) {
	if (b == 0) return (T)0;
	if (limits<T>::is_signed && a == limits<T>::min && b == (T)-1) return a;
	return (T)(a / b);
}
FN T rems(T a, T b) {
	if (b == 0) return a;
	if (limits<T>::is_signed && a == limits<T>::min && b == (T)-1) return (T)0;
	return (T)(a % b);
}
FN T shl(T a, u32 n) { return (T)(a << (n & (limits<T>::bits - 1))); }
FN T shr(T a, u32 n) { return (T)(a >> (n & (limits<T>::bits - 1))); }
FN T imin(T a, T b) { return a < b ? a : b; }
FN T imax(T a, T b) { return a > b ? a : b; }
FN T iabs(T a) { return a < (T)0 ? (T)-a : a; }
template <class T> using unsigned_of = __make_unsigned(T);
FN T rotl(T a, u32 n) {
	typedef unsigned_of<T> U;
	n &= limits<T>::bits - 1;
	return (T)(U)((U)a << n | (U)a >> ((limits<T>::bits - n) & (limits<T>::bits - 1)));
}
FN T popc(T a) { return (T)__builtin_popcountll((u64)(unsigned_of<T>)a); }
FN T clz(T a) {
	if (a == 0) return (T)limits<T>::bits;
	if (limits<T>::bits == 64) return (T)__builtin_clzll((u64)a);
	return (T)(__builtin_clz((u32)(unsigned_of<T>)a) - (32 - limits<T>::bits));
}
FN T ctz(T a) {
	if (a == 0) return (T)limits<T>::bits;
	return limits<T>::bits == 64 ? (T)__builtin_ctzll((u64)a) : (T)__builtin_ctz((u32)a);
}
FN T rev(T a) {
	switch (sizeof(T)) {
	case 1: return (T)__builtin_bitreverse8((u8)a);
	case 2: return (T)__builtin_bitreverse16((u16)a);
	case 4: return (T)__builtin_bitreverse32((u32)a);
	}
	return (T)__builtin_bitreverse64((u64)a);
}
FN T swap(T a) {
	switch (sizeof(T)) {
	case 1: return (T)((u8)a << 4 | (u8)a >> 4);
	case 2: return (T)__builtin_bswap16((u16)a);
	case 4: return (T)__builtin_bswap32((u32)a);
	}
	// Not bswap64: clang 22 at -O0 copies only the low half of each word
	// (v_mov_b16) before it permutes the bytes.
	return (T)((u64)__builtin_bswap32((u32)a) << 32 | __builtin_bswap32((u32)((u64)a >> 32)));
}
FN T bfe(T a, u32 offset, u32 width) {
	T x = shr<T>(a, offset);
	width &= limits<T>::bits - 1;
	return (T)(x & (T)(((u64)1 << width) - 1));
}
FN T sext(T a, u32 width) { // the low width bits, sign-extended
	width = limits<T>::bits - 1 - (width & (limits<T>::bits - 1));
	typedef __make_signed(T) S;
	return (T)((S)(T)(a << width) >> width);
}
FN T addsat(T a, T b) { return __builtin_elementwise_add_sat(CARRY(a), CARRY(b)); }
FN T subsat(T a, T b) { return __builtin_elementwise_sub_sat(CARRY(a), CARRY(b)); }
FN T carry(T a, T b) {
	T r;
	return (T)__builtin_add_overflow(CARRY(a), CARRY(b), &r);
}
FN T borrow(T a, T b) {
	T r;
	return (T)__builtin_sub_overflow(CARRY(a), CARRY(b), &r);
}
FN T mulover(T a, T b) {
	T r;
	return (T)__builtin_mul_overflow(CARRY(a), CARRY(b), &r);
}
SFN u32 umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
SFN i32 smulhi(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
SFN u64 umulhi64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
SFN i64 smulhi64(i64 a, i64 b) { return (i64)((__int128)a * FACTOR(b) >> 64); }
SFN u32 mulu24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
SFN u32 mulhu24(u32 a, u32 b) { return (u32)((u64)(a & 0xffffff) * (b & 0xffffff) >> 32); }
SFN i32 muls24(i32 a, i32 b) { return (a << 8 >> 8) * (b << 8 >> 8); }
SFN u32 funnel(u32 hi, u32 lo, u32 n) { return (u32)(((u64)hi << 32 | lo) >> (n & 31)); }
SFN u32 signbits(i32 a) { return (u32)__builtin_clrsb(a); }
SFN u32 byteof(u32 a, int i) { return a >> (8 * i) & 255; }
SFN u32 nibble(u32 a, int i) { return a >> (4 * i) & 15; }

// The instructions that C has no operator for, beside what they mean.
#if DEVICE
SFN u32 perm(u32 a, u32 b, u32 s) { return __builtin_amdgcn_perm(a, b, s); }
SFN u32 alignbyte(u32 a, u32 b, u32 n) { return __builtin_amdgcn_alignbyte(a, b, n); }
SFN u32 ubfe(u32 a, u32 o, u32 w) { return __builtin_amdgcn_ubfe(a, o & 31, w & 31); }
SFN i32 sbfe(i32 a, u32 o, u32 w) { return __builtin_amdgcn_sbfe(a, o & 31, w & 31); }
SFN u32 sadu8(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_u8(a, b, c); }
SFN u32 sadhiu8(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_hi_u8(a, b, c); }
SFN u32 msadu8(u32 a, u32 b, u32 c) { return __builtin_amdgcn_msad_u8(a, b, c); }
SFN u32 sadu16(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_u16(a, b, c); }
SFN u32 lerp(u32 a, u32 b, u32 c) { return __builtin_amdgcn_lerp(a, b, c); }
SFN u32 dotu4(u32 a, u32 b, u32 c) { return __builtin_amdgcn_udot4(a, b, c, false); }
SFN u32 dotu4sat(u32 a, u32 b, u32 c) { return __builtin_amdgcn_udot4(a, b, c, true); }
SFN i32 dotss4(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot4(true, (i32)a, true, (i32)b, c, false); }
SFN i32 dotsu4(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot4(true, (i32)a, false, (i32)b, c, false); }
SFN i32 dotus4sat(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot4(false, (i32)a, true, (i32)b, c, true); }
SFN u32 dotu8(u32 a, u32 b, u32 c) { return __builtin_amdgcn_udot8(a, b, c, false); }
SFN i32 dotss8(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot8(true, (i32)a, true, (i32)b, c, false); }
SFN i32 dotus8(u32 a, u32 b, i32 c) { return __builtin_amdgcn_sudot8(false, (i32)a, true, (i32)b, c, false); }
SFN u32 packi16(i32 a, i32 b) { return __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_i16(a, b)); }
SFN u32 packu16(u32 a, u32 b) { return __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_u16(a, b)); }
#else
SFN u32 perm(u32 a, u32 b, u32 s) {
	u64 ab = (u64)a << 32 | b;
	u32 r = 0;
	for (int i = 0; i < 4; i++) {
		u32 k = byteof(s, i), v;
		if (k >= 13) v = 255;
		else if (k == 12) v = 0;
		else if (k >= 8) v = ab >> (16 * (k - 8) + 15) & 1 ? 255 : 0;
		else v = ab >> (8 * k) & 255;
		r |= v << (8 * i);
	}
	return r;
}
SFN u32 alignbyte(u32 a, u32 b, u32 n) { return (u32)(((u64)a << 32 | b) >> (8 * (n & 3))); }
SFN u32 ubfe(u32 a, u32 o, u32 w) { return (a >> (o & 31)) & ((1u << (w & 31)) - 1); }
SFN i32 sbfe(i32 a, u32 o, u32 w) {
	o &= 31, w &= 31;
	if (w == 0) return 0;
	i32 x = a >> o;
	if (o + w >= 32) return x;
	return x << (32 - w) >> (32 - w);
}
SFN u32 diff(u32 a, u32 b) { return a > b ? a - b : b - a; }
SFN u32 sadu8(u32 a, u32 b, u32 c) {
	for (int i = 0; i < 4; i++) c += diff(byteof(a, i), byteof(b, i));
	return c;
}
SFN u32 sadhiu8(u32 a, u32 b, u32 c) { return (sadu8(a, b, 0) << 16) + c; }
SFN u32 msadu8(u32 a, u32 b, u32 c) {
	for (int i = 0; i < 4; i++)
		if (byteof(b, i)) c += diff(byteof(a, i), byteof(b, i));
	return c;
}
SFN u32 sadu16(u32 a, u32 b, u32 c) { return c + diff(a & 0xffff, b & 0xffff) + diff(a >> 16, b >> 16); }
SFN u32 lerp(u32 a, u32 b, u32 c) {
	u32 r = 0;
	for (int i = 0; i < 4; i++) r |= (byteof(a, i) + byteof(b, i) + (byteof(c, i) & 1)) >> 1 << (8 * i);
	return r;
}
SFN u32 saturate(u64 x) { return x > 0xffffffff ? 0xffffffff : (u32)x; }
SFN i32 ssaturate(i64 x) { return x > 0x7fffffff ? 0x7fffffff : x < -0x7fffffffll - 1 ? (i32)0x80000000 : (i32)x; }
SFN u64 dotu4_(u32 a, u32 b) {
	u64 r = 0;
	for (int i = 0; i < 4; i++) r += byteof(a, i) * byteof(b, i);
	return r;
}
SFN i64 dot4_(bool sa, u32 a, bool sb, u32 b) {
	i64 r = 0;
	for (int i = 0; i < 4; i++) {
		i32 x = sa ? (i8)byteof(a, i) : (i32)byteof(a, i), y = sb ? (i8)byteof(b, i) : (i32)byteof(b, i);
		r += x * y;
	}
	return r;
}
SFN i64 dot8_(bool sa, u32 a, bool sb, u32 b) {
	i64 r = 0;
	for (int i = 0; i < 8; i++) {
		i32 x = (i32)nibble(a, i), y = (i32)nibble(b, i);
		if (sa) x = x << 28 >> 28;
		if (sb) y = y << 28 >> 28;
		r += x * y;
	}
	return r;
}
SFN u32 dotu4(u32 a, u32 b, u32 c) { return c + (u32)dotu4_(a, b); }
SFN u32 dotu4sat(u32 a, u32 b, u32 c) { return saturate(dotu4_(a, b) + c); }
SFN i32 dotss4(u32 a, u32 b, i32 c) { return (i32)(dot4_(true, a, true, b) + c); }
SFN i32 dotsu4(u32 a, u32 b, i32 c) { return (i32)(dot4_(true, a, false, b) + c); }
SFN i32 dotus4sat(u32 a, u32 b, i32 c) { return ssaturate(dot4_(false, a, true, b) + c); }
SFN u32 dotu8(u32 a, u32 b, u32 c) { return (u32)(dot8_(false, a, false, b) + c); }
SFN i32 dotss8(u32 a, u32 b, i32 c) { return (i32)(dot8_(true, a, true, b) + c); }
SFN i32 dotus8(u32 a, u32 b, i32 c) { return (i32)(dot8_(false, a, true, b) + c); }
SFN u32 packi16(i32 a, i32 b) {
	a = a > 32767 ? 32767 : a < -32768 ? -32768 : a;
	b = b > 32767 ? 32767 : b < -32768 ? -32768 : b;
	return (u32)(u16)a | (u32)(u16)b << 16;
}
SFN u32 packu16(u32 a, u32 b) { return (a > 65535 ? 65535 : a) | (b > 65535 ? 65535 : b) << 16; }
#endif

// ---- bits of everything

template <class U, class T> static inline U cast(T x) { return __builtin_bit_cast(U, x); }
SFN u8 bits(u8 x) { return x; }
SFN u16 bits(u16 x) { return x; }
SFN u32 bits(u32 x) { return x; }
SFN u64 bits(u64 x) { return x; }
SFN u8 bits(i8 x) { return (u8)x; }
SFN u16 bits(i16 x) { return (u16)x; }
SFN u32 bits(i32 x) { return (u32)x; }
SFN u64 bits(i64 x) { return (u64)x; }
SFN u16 bits(f16 x) { return x != x ? (u16)0x7e00 : cast<u16>(x); }
SFN u32 bits(f32 x) { return x != x ? 0x7fc00000u : cast<u32>(x); }
SFN u64 bits(f64 x) { return x != x ? 0x7ff8000000000000ull : cast<u64>(x); }
SFN u32 bits(h2 x) {
	f16 a = x.x, b = x.y;
	return (u32)bits(a) | (u32)bits(b) << 16;
}
SFN u32 bits(s2 x) { return cast<u32>(x); }
SFN u32 bits(w2 x) { return cast<u32>(x); }
SFN f16 fromb(u16 x) { return (x & 0x7fff) > 0x7c00 ? cast<f16>((u16)0x7e00) : cast<f16>(x); }
SFN f32 fromb(u32 x) { return (x & 0x7fffffff) > 0x7f800000 ? cast<f32>(0x7fc00000u) : cast<f32>(x); }
SFN f64 fromb(u64 x) { return (x & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? cast<f64>((u64)0x7ff8000000000000ull) : cast<f64>(x); }
template <class T> struct unsigned_like;
template <> struct unsigned_like<f16> { typedef u16 type; };
template <> struct unsigned_like<f32> { typedef u32 type; };
template <> struct unsigned_like<f64> { typedef u64 type; };
FN T fromw(u64 x) { return fromb((typename unsigned_like<T>::type)x); } // any float from its bits
FN T small(u64 x) { return (T)(i16)(u16)x * (T)0x1p-6; }                // a float of everyday size
SFN h2 pair(f16 a, f16 b) { return (h2){HALF(a), HALF(b)}; }
SFN s2 spair(i16 a, i16 b) { return (s2){a, b}; }
SFN w2 wpair(u16 a, u16 b) { return (w2){a, b}; }

// ---- floats

SFN f32 guard(f16 x) { return (f32)x; }
SFN f32 guard(f32 x) { return x; }
SFN f64 guard(f64 x) { return x; }
template <class T, class F> static inline T toint(F x) {
	auto y = guard(x);
	typedef decltype(y) G;
	constexpr G limit = (G)2 * (G)((u64)1 << (limits<T>::bits - 1 - limits<T>::is_signed));
	if (limits<T>::is_signed ? y >= -limit && y < limit : y > (G)-1 && y < limit) return (T)x;
	return (T)7;
}
SFN f16 sqrt_(f16 x) { return __builtin_sqrtf16(x); }
SFN f32 sqrt_(f32 x) { return __builtin_sqrtf(x); }
SFN f64 sqrt_(f64 x) { return __builtin_sqrt(x); }
SFN f16 fabs_(f16 x) { return __builtin_fabsf16(x); }
SFN f32 fabs_(f32 x) { return __builtin_fabsf(x); }
SFN f64 fabs_(f64 x) { return __builtin_fabs(x); }
SFN f16 floor_(f16 x) { return __builtin_floorf16(x); }
SFN f32 floor_(f32 x) { return __builtin_floorf(x); }
SFN f64 floor_(f64 x) { return __builtin_floor(x); }
SFN f16 ceil_(f16 x) { return __builtin_ceilf16(x); }
SFN f32 ceil_(f32 x) { return __builtin_ceilf(x); }
SFN f64 ceil_(f64 x) { return __builtin_ceil(x); }
SFN f16 trunc_(f16 x) { return __builtin_truncf16(x); }
SFN f32 trunc_(f32 x) { return __builtin_truncf(x); }
SFN f64 trunc_(f64 x) { return __builtin_trunc(x); }
SFN f16 rint_(f16 x) { return __builtin_rintf16(x); }
SFN f32 rint_(f32 x) { return __builtin_rintf(x); }
SFN f64 rint_(f64 x) { return __builtin_rint(x); }
SFN f16 fmin_(f16 a, f16 b) { return __builtin_fminf16(a, b) + (f16)0; }
SFN f32 fmin_(f32 a, f32 b) { return __builtin_fminf(a, b) + 0.0f; }
SFN f64 fmin_(f64 a, f64 b) { return __builtin_fmin(a, b) + 0.0; }
SFN f16 fmax_(f16 a, f16 b) { return __builtin_fmaxf16(a, b) + (f16)0; }
SFN f32 fmax_(f32 a, f32 b) { return __builtin_fmaxf(a, b) + 0.0f; }
SFN f64 fmax_(f64 a, f64 b) { return __builtin_fmax(a, b) + 0.0; }
SFN f16 csign_(f16 a, f16 b) { return __builtin_copysignf16(a, b != b ? (f16)1 : b); }
SFN f32 csign_(f32 a, f32 b) { return __builtin_copysignf(a, b != b ? 1.0f : b); }
SFN f64 csign_(f64 a, f64 b) { return __builtin_copysign(a, b != b ? 1.0 : b); }
SFN bool finite(f16 x) { return __builtin_isfinite((f32)x); }
SFN bool finite(f32 x) { return __builtin_isfinite(x); }
SFN bool finite(f64 x) { return __builtin_isfinite(x); }
FN T real(T x) { return finite(x) ? x : (T)1; } // no NaN, no infinity
#define CLASS(x, mask) __builtin_isfpclass(x, mask)
SFN f32 fma_(f32 a, f32 b, f32 c) { return SUM(__builtin_fmaf(a, b, c)); }
SFN f64 fma_(f64 a, f64 b, f64 c) { return SUM(__builtin_fma(a, b, c)); }
FN T med_(T a, T b, T c) { return fmax_(fmin_(a, b), fmin_(fmax_(a, b), c)); }
#if DEVICE
SFN f16 fma_(f16 a, f16 b, f16 c) { return SUM((f16)__builtin_fmaf16(a, b, c)); }
SFN h2 fma_(h2 a, h2 b, h2 c) { return __builtin_elementwise_fma(a, b, c); }
SFN h2 fmin_(h2 a, h2 b) { return __builtin_elementwise_min(a, b) + (h2)(f16)0; }
SFN h2 fmax_(h2 a, h2 b) { return __builtin_elementwise_max(a, b) + (h2)(f16)0; }
SFN f16 ldexp_(f16 x, i32 n) { return __builtin_amdgcn_ldexph(x, n % 64); }
SFN f32 ldexp_(f32 x, i32 n) { return __builtin_ldexpf(x, n % 512); }
SFN f64 ldexp_(f64 x, i32 n) { return __builtin_ldexp(x, n % 4096); }
SFN f16 fract_(f16 x) { return __builtin_amdgcn_fracth(x); }
SFN f32 fract_(f32 x) { return __builtin_amdgcn_fractf(x); }
SFN f64 fract_(f64 x) { return __builtin_amdgcn_fract(x); }
SFN f16 mant_(f16 x) { return __builtin_amdgcn_frexp_manth(x); }
SFN f32 mant_(f32 x) { return __builtin_amdgcn_frexp_mantf(x); }
SFN f64 mant_(f64 x) { return __builtin_amdgcn_frexp_mant(x); }
SFN i32 expo_(f16 x) { return __builtin_amdgcn_frexp_exph(x); }
SFN i32 expo_(f32 x) { return __builtin_amdgcn_frexp_expf(x); }
SFN i32 expo_(f64 x) { return __builtin_amdgcn_frexp_exp(x); }
SFN f32 med3(f32 a, f32 b, f32 c) { return __builtin_amdgcn_fmed3f(real(a), real(b), real(c)) + 0.0f; }
SFN f16 med3(f16 a, f16 b, f16 c) { return __builtin_amdgcn_fmed3h(real(a), real(b), real(c)) + (f16)0; }
SFN u32 pkrtz(f32 a, f32 b) { return cast<u32>(__builtin_amdgcn_cvt_pkrtz(a != a ? 1.0f : a, b != b ? 1.0f : b)); }
SFN f32 dot2(h2 a, h2 b, f32 c) { return __builtin_amdgcn_fdot2(a, b, c, false); }
SFN u32 pku8(f32 x, u32 i, u32 old) { return __builtin_amdgcn_cvt_pk_u8_f32(x, i & 3, old); }
#else
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
extern "C" double frexp(double, int *);
SFN f16 fma_(f16 a, f16 b, f16 c) { return (f16)__builtin_fma((f64)a, (f64)b, (f64)c); }
SFN h2 fma_(h2 a, h2 b, h2 c) { return pair(fma_((f16)a.x, (f16)b.x, (f16)c.x), fma_((f16)a.y, (f16)b.y, (f16)c.y)); }
SFN h2 fmin_(h2 a, h2 b) { return pair(fmin_((f16)a.x, (f16)b.x), fmin_((f16)a.y, (f16)b.y)); }
SFN h2 fmax_(h2 a, h2 b) { return pair(fmax_((f16)a.x, (f16)b.x), fmax_((f16)a.y, (f16)b.y)); }
SFN f16 ldexp_(f16 x, i32 n) { return (f16)ldexp((f64)x, n % 64); }
SFN f32 ldexp_(f32 x, i32 n) { return ldexpf(x, n % 512); }
SFN f64 ldexp_(f64 x, i32 n) { return ldexp(x, n % 4096); }
SFN f16 fract_(f16 x) { return fmin_((f16)(x - floor_(x)), (f16)0x1.ffcp-1); }
SFN f32 fract_(f32 x) { return fmin_(x - floor_(x), 0x1.fffffep-1f); }
SFN f64 fract_(f64 x) { return fmin_(x - floor_(x), 0x1.fffffffffffffp-1); }
SFN f64 mant_(f64 x) {
	int e;
	return frexp(x, &e);
}
SFN f32 mant_(f32 x) { return (f32)mant_((f64)x); }
SFN f16 mant_(f16 x) { return (f16)(f32)mant_((f64)x); }
SFN i32 expo_(f64 x) {
	int e;
	frexp(x, &e);
	return e;
}
SFN i32 expo_(f32 x) { return expo_((f64)x); }
SFN i32 expo_(f16 x) { return expo_((f64)x); }
SFN f32 med3(f32 a, f32 b, f32 c) { return med_(real(a), real(b), real(c)); }
SFN f16 med3(f16 a, f16 b, f16 c) { return med_(real(a), real(b), real(c)); }
SFN u16 rtz(f32 x) { // to half, rounded towards zero
	typedef f32 f32x4 __attribute__((vector_size(16)));
	f32x4 v = {x != x ? 1.0f : x, 0, 0, 0};
	return (u16)__builtin_ia32_vcvtps2ph(v, 3)[0];
}
SFN u32 pkrtz(f32 a, f32 b) { return (u32)rtz(a) | (u32)rtz(b) << 16; }
SFN f32 dot2(h2 a, h2 b, f32 c) { return (f32)a.x * (f32)b.x + (f32)a.y * (f32)b.y + c; }
SFN u32 pku8(f32 x, u32 i, u32 old) {
	i = 8 * (i & 3);
	return (old & ~(255u << i)) | (u32)rint_(x) << i;
}
#endif
FN T rounded(T x, u32 how) {
	switch (how & 3) {
	case 0: return floor_(x);
	case 1: return ceil_(x);
	case 2: return trunc_(x);
	}
	return rint_(x);
}
FN T fract(T x) { return fract_(real(x)); }
FN T mant(T x) { return mant_(real(x)); }
FN i32 expo(T x) { return expo_(real(x)); }
// What a sum of products of small integers is does not depend on its order.
SFN f32 dot2small(u32 a, u32 b, i32 c) {
	return dot2(pair((f16)(i8)a, (f16)(i8)(a >> 8)), pair((f16)(i8)b, (f16)(i8)(b >> 8)), (f32)(c >> 12));
}
SFN u32 pku8small(u32 x, u32 i, u32 old) { return pku8((f32)(x % 256), i, old); }
SFN s2 smin(s2 a, s2 b) { return __builtin_elementwise_min(a, b); }
SFN s2 smax(s2 a, s2 b) { return __builtin_elementwise_max(a, b); }
SFN w2 wmin(w2 a, w2 b) { return __builtin_elementwise_min(a, b); }
SFN w2 wmax(w2 a, w2 b) { return __builtin_elementwise_max(a, b); }

// ---- memory: any index is fine, accesses are aligned

FN T ld(const ctx &c, u32 i) { return ((const GLOBAL T *)c.in)[i & (INWORDS * 4 / sizeof(T) - 1)]; }
FN T ldmem(const ctx &c, u32 i) { return ((GLOBAL T *)(c.mem + c.gid * MEMWORDS))[i & (MEMWORDS * 4 / sizeof(T) - 1)]; }
FN void stmem(const ctx &c, u32 i, T v) { ((GLOBAL T *)(c.mem + c.gid * MEMWORDS))[i & (MEMWORDS * 4 / sizeof(T) - 1)] = v; }
FN T ldown(const ctx &c, u32 i) { return ((LDS T *)(c.own + c.tid * OWNWORDS))[i & (OWNWORDS * 4 / sizeof(T) - 1)]; }
FN void stown(const ctx &c, u32 i, T v) { ((LDS T *)(c.own + c.tid * OWNWORDS))[i & (OWNWORDS * 4 / sizeof(T) - 1)] = v; }
SFN u32 mix(u32x4 v) { return v.x + v.y * 3 + v.z * 5 + v.w * 7; }
SFN u32 ldwide(const ctx &c, u32 i) { return mix(((const GLOBAL u32x4 *)c.in)[i & (INWORDS / 4 - 1)]); }
SFN u32 ldownwide(const ctx &c) { return mix(*(LDS u32x4 *)(c.own + c.tid * OWNWORDS)); }
SFN void stwide(const ctx &c, u32 i, u32 a, u32 b) {
	((GLOBAL u32x4 *)(c.mem + c.gid * MEMWORDS))[i & (MEMWORDS / 4 - 1)] = (u32x4){a, b, a ^ b, a + b};
}
SFN void stownwide(const ctx &c, u32 a, u32 b) { *(LDS u32x4 *)(c.own + c.tid * OWNWORDS) = (u32x4){a, b, a - b, a | b}; }

// Atomics on a work-item's own words, whose old value is known ...
#define OWNED(NAME, OP)                                                                                                  \
	FN T mem_##NAME(const ctx &c, u32 i, T v) {                                                                      \
		return OP((GLOBAL T *)(c.mem + c.gid * MEMWORDS) + (i & (MEMWORDS * 4 / sizeof(T) - 1)), v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
	}                                                                                                                \
	FN T own_##NAME(const ctx &c, u32 i, T v) {                                                                      \
		return OP((LDS T *)(c.own + c.tid * OWNWORDS) + (i & (OWNWORDS * 4 / sizeof(T) - 1)), v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); \
	}
OWNED(add, __scoped_atomic_fetch_add)
OWNED(sub, __scoped_atomic_fetch_sub)
OWNED(and, __scoped_atomic_fetch_and)
OWNED(or, __scoped_atomic_fetch_or)
OWNED(xor, __scoped_atomic_fetch_xor)
OWNED(min, __scoped_atomic_fetch_min)
OWNED(max, __scoped_atomic_fetch_max)
OWNED(swap, __scoped_atomic_exchange_n)
FN T mem_cas(const ctx &c, u32 i, T expect, T v) {
	GLOBAL T *p = (GLOBAL T *)(c.mem + c.gid * MEMWORDS) + (i & (MEMWORDS * 4 / sizeof(T) - 1));
	__scoped_atomic_compare_exchange_n(p, &expect, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
	return expect;
}
FN T own_cas(const ctx &c, u32 i, T expect, T v) {
	LDS T *p = (LDS T *)(c.own + c.tid * OWNWORDS) + (i & (OWNWORDS * 4 / sizeof(T) - 1));
	__scoped_atomic_compare_exchange_n(p, &expect, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
	return expect;
}
// ... and on words that everybody shares, with one operation for each, so that
// the order does not matter and the old value does not count.
#define SHARED(K, NAME, T, OP)                                                                                           \
	SFN void all_##NAME(const ctx &c, T v) { OP((GLOBAL T *)(c.acc + K), v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); } \
	SFN void group_##NAME(const ctx &c, T v) { OP((LDS T *)(c.sh + K), v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); }
SHARED(0, add32, u32, __scoped_atomic_fetch_add)
SHARED(1, or32, u32, __scoped_atomic_fetch_or)
SHARED(2, and32, u32, __scoped_atomic_fetch_and)
SHARED(3, xor32, u32, __scoped_atomic_fetch_xor)
SHARED(4, umax32, u32, __scoped_atomic_fetch_max)
SHARED(5, umin32, u32, __scoped_atomic_fetch_min)
SHARED(6, smax32, i32, __scoped_atomic_fetch_max)
SHARED(7, smin32, i32, __scoped_atomic_fetch_min)
SHARED(8, add64, u64, __scoped_atomic_fetch_add)
SHARED(9, xor64, u64, __scoped_atomic_fetch_xor)
SHARED(10, smax64, i64, __scoped_atomic_fetch_max)
SHARED(11, umin64, u64, __scoped_atomic_fetch_min)
SHARED(FADD, fadd, f32, __scoped_atomic_fetch_add)
SFN void all_faddsmall(const ctx &c, i8 v) { all_fadd(c, (f32)v); }
SFN void group_faddsmall(const ctx &c, i8 v) { group_fadd(c, (f32)v); }

// ---- phases and what goes on between them

struct lds {
	u64 sh[NSHARED];
	u64 ex[N];
	u32 own[N * OWNWORDS];
};

#if DEVICE
__attribute__((loader_uninitialized)) static LDS lds shared;
SFN void barrier() {
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define PROGRAM(NAME, STATE)                                                                                             \
	extern "C" __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(N, N))) void NAME( \
	    const GLOBAL u32 *__restrict__ in, GLOBAL u64 *__restrict__ out, GLOBAL u32 *__restrict__ mem, GLOBAL u64 *__restrict__ acc) { \
		u32 tid = __builtin_amdgcn_workitem_id_x(), gid = __builtin_amdgcn_workgroup_id_x() * N + tid;           \
		ctx c = {in, mem, acc, (LDS u32 *)shared.own, (LDS u64 *)shared.sh, tid, gid};                           \
		STATE s;                                                                                                 \
		for (int i = 0; i < OWNWORDS; i++) shared.own[tid * OWNWORDS + i] = in[(gid * OWNWORDS + i) & (INWORDS - 1)]; \
		if (tid < NSHARED) shared.sh[tid] = tid == FADD ? 0 : in[tid];                                                             \
		barrier();
#define END }
#define EACH(STATEMENT) { STATEMENT; }
#define EXCHANGE(DST, SRC, M, K)                        \
	shared.ex[tid] = SRC;                           \
	barrier();                                      \
	DST = (decltype(DST))shared.ex[(tid * M + K) % N]; \
	barrier();
#define GATHER(DST, K)                      \
	barrier();                          \
	DST = (decltype(DST))shared.sh[K];  \
	barrier();
SFN u32 lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
#define PERMUTE(DST, SRC, INDEX) DST = (decltype(DST))__builtin_amdgcn_ds_bpermute((i32)((lane() & 32) | ((INDEX) & 31)) << 2, (i32)(SRC));
#define DPP(DST, SRC, CONTROL) DST = (decltype(DST))__builtin_amdgcn_update_dpp((i32)(DST), (i32)(SRC), CONTROL, 15, 15, false);
#define DPP8(DST, SRC, SEL) DST = (decltype(DST))LANES(__builtin_amdgcn_mov_dpp8((u32)(SRC), SEL));
#define SWIZZLE(DST, SRC, MASK) DST = (decltype(DST))__builtin_amdgcn_ds_swizzle((i32)(SRC), MASK);
#define PERMLANE(DST, SRC, LO, HI) DST = (decltype(DST))__builtin_amdgcn_permlane16((u32)(DST), (u32)(SRC), LO, HI, false, false);
#define PERMLANEX(DST, SRC, LO, HI) DST = (decltype(DST))__builtin_amdgcn_permlanex16((u32)(DST), (u32)(SRC), LO, HI, false, false);
#define FIRST(DST, SRC) DST = (decltype(DST))__builtin_amdgcn_readfirstlane((i32)(SRC));
#define READ(DST, SRC, LANE) DST = (decltype(DST))__builtin_amdgcn_readlane((i32)(SRC), LANE);
#if WAVE64
#define BALLOT(DST, COND) DST = (decltype(DST))__builtin_amdgcn_ballot_w64(COND);
#else
#define BALLOT(DST, COND) DST = (decltype(DST))__builtin_amdgcn_ballot_w32(COND);
#endif
#define COUNT(DST, SRC) DST = (decltype(DST))__builtin_amdgcn_mbcnt_hi((u32)((u64)(SRC) >> 32), __builtin_amdgcn_mbcnt_lo((u32)(SRC), 5));
#else
static lds shared;
static u32 wave; // 32 or 64
#define PROGRAM(NAME, STATE)                                                                       \
	static void NAME(const u32 *in, u64 *out, u32 *mem, u64 *acc) {                            \
		for (u32 group = 0; group < GROUPS; group++) {                                     \
			static STATE items[N];                                                     \
			static u64 ex[N];                                                          \
			for (u32 i = 0; i < N * OWNWORDS; i++) shared.own[i] = in[(group * N * OWNWORDS + i) & (INWORDS - 1)]; \
			for (u32 i = 0; i < NSHARED; i++) shared.sh[i] = i == FADD ? 0 : in[i];
#define END \
	}   \
	}
#define EACH(STATEMENT)                                                                      \
	for (u32 tid = 0; tid < N; tid++) {                                                  \
		u32 gid = group * N + tid;                                                   \
		auto &s = items[tid];                                                        \
		ctx c = {in, mem, acc, shared.own, shared.sh, tid, gid};                     \
		STATEMENT;                                                                   \
	}
// CROSS gives DST what FROM says: the lane whose SRC it is, or -1 for none.
#define CROSS(DST, SRC, FROM)                                           \
	EACH(ex[tid] = (u64)(SRC))                                      \
	EACH(i32 row = tid & ~31; i32 i = tid & 31; i32 from = FROM; if (from >= 0) DST = (decltype(DST))ex[from]; (void)row; (void)i)
#define EXCHANGE(DST, SRC, M, K) CROSS(DST, SRC, (i32)((tid * M + K) % N))
#define GATHER(DST, K) EACH(DST = (decltype(DST))shared.sh[K])
#define PERMUTE(DST, SRC, INDEX) \
	EACH(ex[tid] = (u64)(SRC)) \
	EACH(DST = (decltype(DST))ex[(tid & ~31) | ((INDEX) & 31)])
SFN i32 dpp(i32 i, i32 control) { // the lane of 32 that lane i reads, or -1
	i32 row = i & 16, k = i & 15, n = control & 15;
	if (control < 0x100) return (i & ~3) | (control >> (2 * (i & 3)) & 3);
	switch (control >> 4) {
	case 0x10: return k + n > 15 ? -1 : i + n;
	case 0x11: return k < n ? -1 : i - n;
	case 0x12: return row | ((k - n) & 15);
	case 0x14: return n == 0 ? row | (15 - k) : row | (k ^ 7);
	case 0x15: return row | n;
	case 0x16: return row | (k ^ n);
	}
	return -1;
}
#define DPP(DST, SRC, CONTROL) CROSS(DST, SRC, dpp(i, CONTROL) < 0 ? -1 : row | dpp(i, CONTROL))
#define DPP8(DST, SRC, SEL) CROSS(DST, SRC, row | (i & ~7) | (SEL >> (3 * (i & 7)) & 7))
#define SWIZZLE(DST, SRC, MASK) CROSS(DST, SRC, row | (((i & (MASK & 31)) | (MASK >> 5 & 31)) ^ (MASK >> 10 & 31)))
#define SELECT(LO, HI) ((i & 8 ? HI : LO) >> (4 * (i & 7)) & 15)
#define PERMLANE(DST, SRC, LO, HI) CROSS(DST, SRC, row | (i & 16) | SELECT(LO, HI))
#define PERMLANEX(DST, SRC, LO, HI) CROSS(DST, SRC, row | (~i & 16) | SELECT(LO, HI))
#define FIRST(DST, SRC) CROSS(DST, SRC, (i32)(tid / wave * wave))
#define READ(DST, SRC, LANE) CROSS(DST, SRC, (i32)(tid / wave * wave) + LANE)
#define BALLOT(DST, COND)                                                                            \
	EACH(ex[tid] = (COND))                                                                       \
	EACH(u32 base = tid / wave * wave; u64 m = 0; for (u32 k = 0; k < wave && base + k < N; k++) m |= ex[base + k] << k; DST = (decltype(DST))m)
#define COUNT(DST, SRC) EACH(u32 k = tid % wave; DST = (decltype(DST))(5 + __builtin_popcountll((u64)(SRC) & (((u64)1 << k) - 1))))

// The host's main: for each program, input from the standard input, results to
// the standard output. Its argument is the wave size.
extern "C" long read(int, void *, unsigned long);
extern "C" long write(int, const void *, unsigned long);
typedef void program(const u32 *, u64 *, u32 *, u64 *);
static bool all(bool writing, void *p, u64 n) {
	for (char *b = (char *)p; n > 0;) {
		long k = writing ? write(1, b, n) : read(0, b, n);
		if (k <= 0) return false;
		b += k, n -= k;
	}
	return true;
}
#define MAIN(...)                                                                            \
	int main(int argc, char **argv) {                                                    \
		static program *const programs[] = {__VA_ARGS__};                            \
		static u32 in[INWORDS], mem[GROUPS * N * MEMWORDS];                          \
		static u64 out[GROUPS * N * NOUT], acc[NSHARED];                             \
		wave = argc > 1 && argv[1][0] == '6' ? 64 : 32;                              \
		for (program *p : programs) {                                                \
			if (!all(false, in, sizeof in)) return 1;                            \
			for (u32 i = 0; i < GROUPS * N * MEMWORDS; i++) mem[i] = in[i & (INWORDS - 1)]; \
			for (u32 i = 0; i < NSHARED; i++) acc[i] = i == FADD ? 0 : in[i];                    \
			__builtin_memset(out, 0, sizeof out);                                \
			p(in, out, mem, acc);                                                \
			if (!all(true, out, sizeof out) || !all(true, mem, sizeof mem) || !all(true, acc, sizeof acc)) return 1; \
		}                                                                            \
	}
#endif
