package kernel

var (
	attentionPlantedQ8    = &Kernel{Name: "attention_planted_q8", Source: "attention_planted", Items: 256}
	attentionPlanted128Q8 = &Kernel{Name: "attention_planted_128_q8", Source: "attention_planted", Items: 256}
)

// AttentionPlantedQ8 is AttentionFusedQ8 with a bug, for checkers to find: the
// barrier before the pack orders LDS only, so that Q8 may be packed from what was
// in Out before. No device offers it.
type AttentionPlantedQ8 AttentionFusedQ8

// Kernel is attention_planted_q8.
func (AttentionPlantedQ8) Kernel() *Kernel { return attentionPlantedQ8 }

// Launch is for a number of rows.
func (a AttentionPlantedQ8) Launch(rows int) Launch { return AttentionFusedQ8(a).of(a, rows) }

// AttentionPlanted128Q8 is AttentionFused128Q8 with the same bug.
type AttentionPlanted128Q8 AttentionFusedQ8

// Kernel is attention_planted_128_q8.
func (AttentionPlanted128Q8) Kernel() *Kernel { return attentionPlanted128Q8 }

// Launch is for a number of rows.
func (a AttentionPlanted128Q8) Launch(rows int) Launch { return AttentionFusedQ8(a).of(a, rows) }
