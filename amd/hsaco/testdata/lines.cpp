// A kernel with an inlined function, for its line table; freestanding C++.
using u32 = unsigned;
#define GLOBAL __attribute__((address_space(1)))

static inline __attribute__((always_inline)) u32 mix(u32 x)
{
	x ^= x >> 16;
	return x * 0x7feb352du;
}

extern "C" __attribute__((amdgpu_kernel)) void hash(GLOBAL u32 *out, u32 n)
{
	u32 t = __builtin_amdgcn_workitem_id_x();
	u32 sum = 0;
	for (u32 i = 0; i < n; i++)
		sum += mix(t + i);
	out[t] = sum;
}
