// C = A B for 64x64 matrices, 16x16 tiles in LDS.
#include "sample.h"

enum { N = 64, TILE = 16 };

SHARED f32 as[TILE][TILE + 1];
SHARED f32 bs[TILE][TILE + 1];

KERNEL(256) matmul(const GLOBAL f32 *a, const GLOBAL f32 *b, GLOBAL f32 *c) {
	u32 x = local_id() & 15, y = local_id() >> 4;
	u32 row = group_y() * TILE + y, column = group_x() * TILE + x;
	f32 sum = 0;
	for (u32 at = 0; at < N; at += TILE) {
		as[y][x] = a[row * N + at + x];
		bs[y][x] = b[(at + y) * N + column];
		barrier();
		for (u32 i = 0; i < TILE; i++) sum = __builtin_fmaf(as[y][i], bs[i][x], sum);
		barrier();
	}
	c[row * N + column] = sum;
}

#if !defined(__AMDGCN__)
static f32 *a, *b, *c;
int main() {
	a = take<f32>(N * N), b = take<f32>(N * N), c = (f32 *)calloc(N * N, 4);
	launch(N / TILE, N / TILE, 256, [] { matmul(a, b, c); });
	give(c, N * N);
}
#endif
