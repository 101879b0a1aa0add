// Split attention in one launch.
// Built for wave32 and wave64.
#include "attention_fold.h"
#include "attention_fused.h"

FUSED(attention_fused, Fold::Memory, leave)
FUSED_Q8(attention_fused_q8, Fold::Memory, leave)
