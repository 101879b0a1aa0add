// The fused kernels with the bug that this project is named for, for checkers to
// find: between the stores of a finished row and its pack, LDS is ordered and
// global memory is not. A wave may pack what was there before. Never to be used.
// Built for wave32 and wave64.
#define BEFORE_PACK barrier_lds
#include "attention_fold.h"
#include "attention_fused.h"
#include "attention_tile.h"

FUSED_Q8(attention_planted_q8, Fold::Memory, leave)
FUSED_Q8(attention_planted_128_q8, Tiles<128>::Memory, leave_tiles<128>)
