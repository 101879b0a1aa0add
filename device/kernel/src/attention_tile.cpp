// Split attention on matrix units, in two launches and in one.
// Built for wave32 and wave64.
#include "attention_tile.h"
#include "attention_fused.h"

#define KERNELS(dim) \
	KERNEL(ITEMS) attention_produce_##dim(OPERANDS, GLOBAL f32 *states, HEADS_AND_KEYS, u32 splits, MASK_AND_SCALE) { \
		SHARED Tiles<dim>::Memory memory; \
		PRODUCE(leave_tiles<dim>) \
	} \
	FUSED(attention_fused_##dim, Tiles<dim>::Memory, leave_tiles<dim>) \
	FUSED_Q8(attention_fused_##dim##_q8, Tiles<dim>::Memory, leave_tiles<dim>)

KERNELS(128)
KERNELS(64)
