// Rotary positions, and the caches of keys and values.
#include "trig.h"

enum { ITEMS = 64 };

// rope_table: table[row] = the cosines, then the sines, of pos[row] * inv_freq,
// times magnitude. Angles are in double precision: at position 40,000 one in
// single would be off by 0.002.
KERNEL(ITEMS) rope_table(const GLOBAL double *inv_freq, const GLOBAL i32 *pos, GLOBAL f32 *table, u32 half, double magnitude) {
	u32 row = group_y(), i = group_x() * ITEMS + local_id();
	if (i >= half) return;
	double sine, cosine;
	sincos_((double)pos[row] * inv_freq[i], &sine, &cosine);
	table += (u64)row * 2 * half;
	table[i] = (f32)(cosine * magnitude), table[half + i] = (f32)(sine * magnitude);
}

// Pair is two elements of a head that turn together.
struct Pair {
	u32 first, second;
	DEV Pair of(u32 i, u32 half, u32 interleaved) { return interleaved ? Pair{2 * i, 2 * i + 1} : Pair{i, half + i}; }
};

// turn rotates (a, b) by an angle.
DEV void turn(f32 *a, f32 *b, f32 cosine, f32 sine) {
	f32 x = *a, y = *b;
	*a = __builtin_fmaf(x, cosine, -(y * sine));
	*b = __builtin_fmaf(x, sine, y * cosine);
}

// rope: each head of x turned by its row's angles, in place. One workgroup a
// head.
KERNEL(ITEMS) rope(GLOBAL f32 *x, const GLOBAL f32 *table, u32 heads, u32 head_dim, u32 half, u32 interleaved) {
	u32 row = group_y();
	x += ((u64)row * heads + group_x()) * head_dim, table += (u64)row * 2 * half;
	for (u32 i = local_id(); i < half; i += ITEMS) {
		Pair p = Pair::of(i, half, interleaved);
		f32 a = x[p.first], b = x[p.second];
		turn(&a, &b, table[i], table[half + i]);
		x[p.first] = a, x[p.second] = b;
	}
}

// cached is where a cache has this workgroup's head of its row: heads of a
// context of positions of dim halves.
DEV GLOBAL f16 *cached(GLOBAL f16 *cache, const GLOBAL i32 *pos, const GLOBAL i32 *slot, u32 kv_heads, u32 context, u32 dim) {
	u32 row = group_y();
	u64 head = (u64)(u32)slot[row] * kv_heads + group_x();
	return cache + (head * context + (u32)pos[row]) * dim;
}

// store rounds elements from and on, up to n, to nearest even.
DEV void store(GLOBAL f16 *cache, const GLOBAL f32 *x, u32 from, u32 n) {
	for (u32 i = from + local_id(); i < n; i += ITEMS) cache[i] = (f16)x[i];
}

// kv_store: keys and values of rows into the caches. One workgroup a head.
KERNEL(ITEMS) kv_store(const GLOBAL f32 *k, const GLOBAL f32 *v, GLOBAL f16 *k_cache, GLOBAL f16 *v_cache, const GLOBAL i32 *pos, const GLOBAL i32 *slot, u32 kv_heads, u32 head_dim, u32 v_dim, u32 context) {
	u64 head = (u64)group_y() * kv_heads + group_x();
	store(cached(k_cache, pos, slot, kv_heads, context, head_dim), k + head * head_dim, 0, head_dim);
	store(cached(v_cache, pos, slot, kv_heads, context, v_dim), v + head * v_dim, 0, v_dim);
}

// rope_kv_store: rope of the keys on their way to kv_store.
KERNEL(ITEMS) rope_kv_store(const GLOBAL f32 *k, const GLOBAL f32 *v, const GLOBAL f32 *table, GLOBAL f16 *k_cache, GLOBAL f16 *v_cache, const GLOBAL i32 *pos, const GLOBAL i32 *slot, u32 kv_heads, u32 head_dim, u32 v_dim, u32 context, u32 half, u32 interleaved) {
	u32 row = group_y();
	u64 head = (u64)row * kv_heads + group_x();
	k += head * head_dim, table += (u64)row * 2 * half;
	GLOBAL f16 *out = cached(k_cache, pos, slot, kv_heads, context, head_dim);
	for (u32 i = local_id(); i < half; i += ITEMS) {
		Pair p = Pair::of(i, half, interleaved);
		f32 a = k[p.first], b = k[p.second];
		turn(&a, &b, table[i], table[half + i]);
		out[p.first] = (f16)a, out[p.second] = (f16)b;
	}
	store(out, k, 2 * half, head_dim);
	store(cached(v_cache, pos, slot, kv_heads, context, v_dim), v + head * v_dim, 0, v_dim);
}
