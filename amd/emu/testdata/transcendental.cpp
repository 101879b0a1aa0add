// Each approximating instruction over an array.
#include "sample.h"

#define UNARY(NAME, T, EXPRESSION)                                             \
	KERNEL(64) NAME(const GLOBAL T *in, GLOBAL T *out) {                   \
		u32 i = group_x() * 64 + local_id();                           \
		T x = in[i];                                                   \
		out[i] = EXPRESSION;                                           \
	}
UNARY(exp2_f32, f32, __builtin_amdgcn_exp2f(x))
UNARY(log2_f32, f32, __builtin_amdgcn_logf(x))
UNARY(rcp_f32, f32, __builtin_amdgcn_rcpf(x))
UNARY(rsq_f32, f32, __builtin_amdgcn_rsqf(x))
UNARY(sqrt_f32, f32, __builtin_amdgcn_sqrtf(x))
UNARY(sin_f32, f32, __builtin_amdgcn_sinf(x))
UNARY(cos_f32, f32, __builtin_amdgcn_cosf(x))
UNARY(rcp_f64, double, __builtin_amdgcn_rcp(x))
UNARY(rsq_f64, double, __builtin_amdgcn_rsq(x))
UNARY(sqrt_f64, double, __builtin_amdgcn_sqrt(x))
UNARY(rcp_f16, f16, __builtin_amdgcn_rcph(x))
UNARY(rsq_f16, f16, __builtin_amdgcn_rsqh(x))
UNARY(sqrt_f16, f16, __builtin_amdgcn_sqrth(x))
UNARY(sin_f16, f16, __builtin_amdgcn_sinh(x))
UNARY(cos_f16, f16, __builtin_amdgcn_cosh(x))
UNARY(exp2_f16, f16, __builtin_elementwise_exp2(x))
UNARY(log2_f16, f16, __builtin_elementwise_log2(x))
