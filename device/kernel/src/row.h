// Rows of floats, four neighbours to a work-item.
#pragma once
#include "gpu.h"

// PIECE is the elements of a row that a workgroup of 256 computes.
constexpr u32 PIECE = 1024;

// load4 is elements i to i+3 of a row of n, 0 from n on; i is a multiple of 4.
// Rows begin at multiples of 16 bytes if their length is one.
DEV f32x4 load4(const GLOBAL f32 *row, u32 i, u32 n) {
	f32x4 v = 0;
	if (n % 4 == 0) {
		if (i < n) v = *(const GLOBAL f32x4 *)(row + i);
		return v;
	}
	UNROLL for (u32 k = 0; k < 4; k++)
		if (i + k < n) v[k] = row[i + k];
	return v;
}

// store4 is load4's inverse; what lies from n on stays.
DEV void store4(GLOBAL f32 *row, u32 i, u32 n, f32x4 v) {
	if (n % 4 == 0) {
		if (i < n) *(GLOBAL f32x4 *)(row + i) = v;
		return;
	}
	UNROLL for (u32 k = 0; k < 4; k++)
		if (i + k < n) row[i + k] = v[k];
}
