// Split attention, the first launch: partial states.
// Built for wave32 and wave64.
#include "attention_fold.h"

KERNEL(ITEMS) attention_produce(OPERANDS, GLOBAL f32 *states, HEADS_AND_KEYS, u32 splits, MASK_AND_SCALE) {
	SHARED Fold::Memory memory;
	PRODUCE(leave)
}
