// A global that holds addresses: dynamic relocations once linked.
#define GLOBAL __attribute__((address_space(1)))

extern "C" GLOBAL int table[4] = {1, 2, 3, 4};
extern "C" GLOBAL int *GLOBAL pointers[2] = {&table[1], &table[3]};
static GLOBAL int hidden[2] = {5, 6};
extern "C" GLOBAL int *GLOBAL relative = &hidden[1];

extern "C" __attribute__((amdgpu_kernel)) void follow(GLOBAL int *out)
{
	out[0] = *pointers[0] + *pointers[1] + *relative;
}
