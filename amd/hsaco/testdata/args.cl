// Arguments of many kinds, LDS of static and of dynamic size, scratch, and the
// hidden arguments of the runtime. It needs no library.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { int a; double b; char c; } pair;

__attribute__((reqd_work_group_size(64, 2, 1)))
kernel void many(global const float *restrict in, global int *volatile out, constant uint *table, local float *dynamic,
                 char c, short s, int i, long l, half h, float4 v, pair p, uchar3 u)
{
	local float tile[128];
	uint t = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workitem_id_y();
	tile[t] = in[t + 128 * __builtin_amdgcn_workgroup_id_x()] + dynamic[t];
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	out[t] = (int)(tile[127 - t] + c + s + i + l + (float)h + v.x + v.w + p.a + (float)p.b + p.c + u.z) + table[t & 7];
}

constant int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

kernel void scratch(global int *out, int n)
{
	volatile int stack[40];
	for (int i = 0; i < 40; i++)
		stack[i] = n + squares[i & 7];
	out[__builtin_amdgcn_workitem_id_x()] = stack[n & 31];
}

kernel void hidden(global int *out)
{
	out[0] = *(constant int *)__builtin_amdgcn_implicitarg_ptr();
}

kernel void empty(void) {}
