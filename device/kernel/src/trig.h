// Sine and cosine in double precision.
#pragma once
#include "gpu.h"

// sincos_ is within 2^-52 of the sine and cosine of x, and of the sine relatively
// where that is near 0, for |x| up to 2^30.
DEV void sincos_(double x, double *sine, double *cosine) {
	constexpr double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
	// pi/2 in two parts. k times the first is a multiple of 2^-52, as x is of
	// 2^-53 where k is not 0: the first difference is exact.
	constexpr double HALF_PI = 0x1.921fb54442d18p+0, REST = 0x1.1a62633145c07p-54;
	double k = __builtin_rint(x * TWO_OVER_PI);
	double r = __builtin_fma(-k, REST, __builtin_fma(-k, HALF_PI, x));

	// |r| is up to pi/4: what the series leave out is below 2^-58.
	double q = r * r;
	double s = __builtin_fma(q, 1 / 355687428096000.0, -1 / 1307674368000.0); // 1/17!, 1/15!
	s = __builtin_fma(q, s, 1 / 6227020800.0);
	s = __builtin_fma(q, s, -1 / 39916800.0);
	s = __builtin_fma(q, s, 1 / 362880.0);
	s = __builtin_fma(q, s, -1 / 5040.0);
	s = __builtin_fma(q, s, 1 / 120.0);
	s = __builtin_fma(q, s, -1 / 6.0);
	s = __builtin_fma(r * q, s, r);
	double c = __builtin_fma(q, 1 / 20922789888000.0, -1 / 87178291200.0); // 1/16!, 1/14!
	c = __builtin_fma(q, c, 1 / 479001600.0);
	c = __builtin_fma(q, c, -1 / 3628800.0);
	c = __builtin_fma(q, c, 1 / 40320.0);
	c = __builtin_fma(q, c, -1 / 720.0);
	c = __builtin_fma(q, c, 1 / 24.0);
	c = __builtin_fma(q, c, -1 / 2.0);
	c = __builtin_fma(q, c, 1);

	// Each quarter turn makes the sine the cosine, and the cosine minus the sine.
	i32 turns = (i32)k;
	*sine = turns & 1 ? c : s, *cosine = turns & 1 ? s : c;
	if (turns & 2) *sine = -*sine;
	if ((turns + 1) & 2) *cosine = -*cosine;
}
