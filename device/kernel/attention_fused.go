package kernel

func fused(name, source string) *Kernel {
	return &Kernel{Name: "attention_fused" + name, Source: source, Items: 256}
}

var (
	attentionFused      = fused("", "attention_fused")
	attentionFusedQ8    = fused("_q8", "attention_fused")
	attentionFused128   = fused("_128", "attention_tile")
	attentionFused128Q8 = fused("_128_q8", "attention_tile")
	attentionFused64    = fused("_64", "attention_tile")
	attentionFused64Q8  = fused("_64_q8", "attention_tile")
)

// AttentionFused is AttentionProduce and the reducer behind it in one launch:
// of each row and KV head, the workgroup that leaves its last state merges all
// of them to Out.
//
// Counters are uint32 [rows][KVHeads], 0 before the launch and after it: a
// workgroup adds 1 when its state is there, and the last one takes them all
// away again. Status is one uint32, 0 before: a workgroup that finds a counter
// of its row's number of splits or more writes the counter's index + 1 and
// merges nothing. A wrong counter that is lower may have set off the merge
// early; it is wrong after the launch by as much as before. So results are good
// if after the launch the status and every counter are 0, and only then.
type AttentionFused struct {
	Q, K, V, Mask, Pos, Slot, States, Counters, Status, Out Pointer
	KVHeads, Group, HeadDim, VDim                           uint32
	Context, Window, Splits                                 uint32
	MaskKeys, MaskF32                                       uint32
	Scale                                                   float32
}

// Kernel is attention_fused.
func (AttentionFused) Kernel() *Kernel { return attentionFused }

// Launch is for a number of rows.
func (a AttentionFused) Launch(rows int) Launch { return a.of(a, rows) }

func (a AttentionFused) of(form Args, rows int) Launch {
	return Launch{form, [3]uint32{a.Splits, a.KVHeads, uint32(rows)}}
}

// LaunchTile is Launch on matrix units. It reports whether there is a kernel
// for these heads.
func (a AttentionFused) LaunchTile(rows int) (Launch, bool) {
	switch {
	case a.HeadDim != a.VDim:
	case a.HeadDim == 128:
		return a.of(AttentionFused128(a), rows), true
	case a.HeadDim == 64:
		return a.of(AttentionFused64(a), rows), true
	}
	return Launch{}, false
}

// AttentionFused128 is AttentionFused for heads of 128.
type AttentionFused128 AttentionFused

// Kernel is attention_fused_128.
func (AttentionFused128) Kernel() *Kernel { return attentionFused128 }

// AttentionFused64 is AttentionFused for heads of 64.
type AttentionFused64 AttentionFused

// Kernel is attention_fused_64.
func (AttentionFused64) Kernel() *Kernel { return attentionFused64 }

// AttentionFusedQ8 is AttentionFused whose last workgroup also packs what it
// merged for the projection behind it: Q8 has rows of Q8_1 x4. Group * VDim,
// what a workgroup merges, must be a multiple of 128: a group of four blocks.
type AttentionFusedQ8 struct {
	Q, K, V, Mask, Pos, Slot, States, Counters, Status, Out, Q8 Pointer
	KVHeads, Group, HeadDim, VDim                               uint32
	Context, Window, Splits                                     uint32
	MaskKeys, MaskF32                                           uint32
	Scale                                                       float32
}

// Kernel is attention_fused_q8.
func (AttentionFusedQ8) Kernel() *Kernel { return attentionFusedQ8 }

// Launch is for a number of rows.
func (a AttentionFusedQ8) Launch(rows int) Launch { return a.of(a, rows) }

func (a AttentionFusedQ8) of(form Args, rows int) Launch {
	return Launch{form, [3]uint32{a.Splits, a.KVHeads, uint32(rows)}}
}

// LaunchTile is Launch on matrix units. It reports whether there is a kernel
// for these heads.
func (a AttentionFusedQ8) LaunchTile(rows int) (Launch, bool) {
	switch {
	case a.HeadDim != a.VDim:
	case a.HeadDim == 128:
		return a.of(AttentionFused128Q8(a), rows), true
	case a.HeadDim == 64:
		return a.of(AttentionFused64Q8(a), rows), true
	}
	return Launch{}, false
}

// AttentionFused128Q8 is AttentionFusedQ8 for heads of 128.
type AttentionFused128Q8 AttentionFusedQ8

// Kernel is attention_fused_128_q8.
func (AttentionFused128Q8) Kernel() *Kernel { return attentionFused128Q8 }

// AttentionFused64Q8 is AttentionFusedQ8 for heads of 64.
type AttentionFused64Q8 AttentionFusedQ8

// Kernel is attention_fused_64_q8.
func (AttentionFused64Q8) Kernel() *Kernel { return attentionFused64Q8 }
