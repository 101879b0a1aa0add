// The hand-over that this project is about, as small as it gets. A workgroup of
// 128 work-items reduces the partial results of SPLITS splits to a row of 256
// floats, each wave its part, and packs the row to bytes, each wave another
// part: what is packed was stored by another wave. BARRIER is what lies between.
//
// reduce_q8 is the second of two launches. fused_q8 is all in one: each workgroup
// makes one split, and the one that is last, by a counter, reduces and packs.
#include "../kernel.h"

#define COLUMNS 256
#define SPLITS 4

// waves that run side by side make no difference to whose element it is.
static inline u32 mirrored(u32 i) { return COLUMNS - 1 - i; }

static inline void reduce(GLOBAL f32 *partial, GLOBAL f32 *out) {
	for (u32 i = item(); i < COLUMNS; i += 128) {
		f32 sum = 0;
		for (u32 s = 0; s < SPLITS; s++)
			sum += partial[s * COLUMNS + i];
		out[i] = sum;
	}
}

static inline void pack(GLOBAL f32 *out, GLOBAL u8 *q8) {
	for (u32 i = item(); i < COLUMNS; i += 128)
		q8[mirrored(i)] = (u8)(i32)out[mirrored(i)];
}

KERNEL(128) reduce_q8(GLOBAL f32 *partial, GLOBAL f32 *out, GLOBAL u8 *q8) {
	reduce(partial, out);
	BARRIER();
	pack(out, q8);
}

KERNEL(128) fused_q8(GLOBAL f32 *partial, GLOBAL f32 *out, GLOBAL u8 *q8, GLOBAL u32 *counter) {
	SHARED u32 arrived;
	for (u32 i = item(); i < COLUMNS; i += 128)
		partial[group() * COLUMNS + i] = (f32)(i % 16 + group());
	FENCE(__ATOMIC_RELEASE, "agent");
	bare_barrier();
	if (item() == 0)
		arrived = __scoped_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
	barrier();
	if (arrived != SPLITS - 1)
		return;
	FENCE(__ATOMIC_ACQUIRE, "agent");
	reduce(partial, out);
	BARRIER();
	pack(out, q8);
}

// The same with nothing handed over: each work-item packs what it has stored.
KERNEL(128) serial_q8(GLOBAL f32 *partial, GLOBAL f32 *out, GLOBAL u8 *q8) {
	reduce(partial, out);
	for (u32 i = item(); i < COLUMNS; i += 128)
		q8[i] = (u8)(i32)out[i];
}
