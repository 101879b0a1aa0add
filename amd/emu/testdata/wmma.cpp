// One 16x16x16 tile with each matrix instruction. a holds rows, b columns:
// lane l takes line l % 16 of both. The result is whole: [row][column].
#include "sample.h"

typedef f16 f16x16 __attribute__((ext_vector_type(16)));
typedef __bf16 bf16x16 __attribute__((ext_vector_type(16)));
typedef short i16x16 __attribute__((ext_vector_type(16)));
typedef i32 i32x4 __attribute__((ext_vector_type(4)));
typedef i32 i32x2 __attribute__((ext_vector_type(2)));

#if WAVE64
#define W(name) name##_w64
enum { LANES = 64, EACH = 4 };
typedef f32 f32xE __attribute__((ext_vector_type(4)));
typedef i32 i32xE __attribute__((ext_vector_type(4)));
typedef f16 f16xH __attribute__((ext_vector_type(8)));
typedef short i16xH __attribute__((ext_vector_type(8)));
#else
#define W(name) name##_w32
enum { LANES = 32, EACH = 8 };
typedef f32 f32xE __attribute__((ext_vector_type(8)));
typedef i32 i32xE __attribute__((ext_vector_type(8)));
typedef f16 f16xH __attribute__((ext_vector_type(16)));
typedef short i16xH __attribute__((ext_vector_type(16)));
#endif

// index is the place in the tile of a lane's element i.
static inline u32 index(u32 lane, u32 i) { return (i * (LANES / 16) + lane / 16) * 16 + lane % 16; }

KERNEL(LANES) f32_f16(const GLOBAL f16x16 *a, const GLOBAL f16x16 *b, GLOBAL f32 *c) {
	u32 l = local_id();
	f32xE acc;
	for (u32 i = 0; i < EACH; i++) acc[i] = c[index(l, i)];
	acc = W(__builtin_amdgcn_wmma_f32_16x16x16_f16)(a[l % 16], b[l % 16], acc);
	for (u32 i = 0; i < EACH; i++) c[index(l, i)] = acc[i];
}

KERNEL(LANES) f32_bf16(const GLOBAL i16x16 *a, const GLOBAL i16x16 *b, GLOBAL f32 *c) {
	u32 l = local_id();
	f32xE acc;
	for (u32 i = 0; i < EACH; i++) acc[i] = c[index(l, i)];
	acc = W(__builtin_amdgcn_wmma_f32_16x16x16_bf16)(a[l % 16], b[l % 16], acc);
	for (u32 i = 0; i < EACH; i++) c[index(l, i)] = acc[i];
}

// The 16-bit results are in the low halves.
KERNEL(LANES) f16_f16(const GLOBAL f16x16 *a, const GLOBAL f16x16 *b, GLOBAL f16 *c) {
	u32 l = local_id();
	f16xH acc = {};
	for (u32 i = 0; i < EACH; i++) acc[2 * i] = c[index(l, i)];
	acc = W(__builtin_amdgcn_wmma_f16_16x16x16_f16)(a[l % 16], b[l % 16], acc, false);
	for (u32 i = 0; i < EACH; i++) c[index(l, i)] = acc[2 * i];
}

KERNEL(LANES) bf16_bf16(const GLOBAL i16x16 *a, const GLOBAL i16x16 *b, GLOBAL short *c) {
	u32 l = local_id();
	i16xH acc = {};
	for (u32 i = 0; i < EACH; i++) acc[2 * i] = c[index(l, i)];
	acc = W(__builtin_amdgcn_wmma_bf16_16x16x16_bf16)(a[l % 16], b[l % 16], acc, false);
	for (u32 i = 0; i < EACH; i++) c[index(l, i)] = acc[2 * i];
}

#define BYTES(NAME, SA, SB, CLAMP)                                                                                       \
	KERNEL(LANES) NAME(const GLOBAL i32x4 *a, const GLOBAL i32x4 *b, GLOBAL i32 *c) {                                \
		u32 l = local_id();                                                                                      \
		i32xE acc;                                                                                               \
		for (u32 i = 0; i < EACH; i++) acc[i] = c[index(l, i)];                                                  \
		acc = W(__builtin_amdgcn_wmma_i32_16x16x16_iu8)(SA, a[l % 16], SB, b[l % 16], acc, CLAMP);               \
		for (u32 i = 0; i < EACH; i++) c[index(l, i)] = acc[i];                                                  \
	}
BYTES(i8_i8, true, true, false)
BYTES(u8_i8, false, true, false)
BYTES(u8_u8_clamp, false, false, true)

#define NIBBLES(NAME, SA, SB, CLAMP)                                                                                     \
	KERNEL(LANES) NAME(const GLOBAL i32x2 *a, const GLOBAL i32x2 *b, GLOBAL i32 *c) {                                \
		u32 l = local_id();                                                                                      \
		i32xE acc;                                                                                               \
		for (u32 i = 0; i < EACH; i++) acc[i] = c[index(l, i)];                                                  \
		acc = W(__builtin_amdgcn_wmma_i32_16x16x16_iu4)(SA, a[l % 16], SB, b[l % 16], acc, CLAMP);               \
		for (u32 i = 0; i < EACH; i++) c[index(l, i)] = acc[i];                                                  \
	}
NIBBLES(i4_i4, true, true, false)
NIBBLES(u4_i4, false, true, false)
NIBBLES(u4_u4_clamp, false, false, true)
