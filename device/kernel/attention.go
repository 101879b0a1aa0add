package kernel

// The attention kernels compute op.Attention: queries [rows][KVHeads][Group][HeadDim] of floats
// over a layer's caches of f16, keys [slots][KVHeads][Context][HeadDim] and
// values [slots][KVHeads][Context][VDim]; results [rows][KVHeads][Group][VDim]
// of floats. Group is the query heads of a KV head, 1 to 64. HeadDim and VDim
// are multiples of 16 up to 576. Queries, caches, results and states are
// aligned to 16 bytes.
//
// Row i attends the keys of slot Slot[i] from first = max(0, Pos[i]+1-Window),
// or 0 if Window is 0, up to and including Pos[i], which is below Context. Pos
// and Slot are int32 [rows]. Mask, if not 0, is added to the scores times
// Scale: [rows][MaskKeys], floats if MaskF32 is 1, f16 if it is 0; MaskKeys is
// beyond every position. A key whose mask is -Inf is left out, whatever it and
// its value hold. A row that is left no key gives zeros.
//
// The split lanes divide a row's keys as package attn does, at boundaries that
// depend on nothing else: the row's splits are those that attn.SplitOf gives
// its keys, counted from its first. States are partial states
// [rows][KVHeads][Splits] of attn.StateFloats(Group, VDim) floats each: [Group]
// maxima, [Group] sums and [Group][VDim] outputs as attn.State has them, but
// that maxima are base-2 logarithms: the sum is of 2^(s log2(e) - maximum).
// Splits is attn.Plan's, or any number that no row exceeds.
//
// Kernels named _128 and _64 are for HeadDim and VDim of that size, on matrix
// units: 16 keys and 16 query heads at once, queries and probabilities rounded
// to f16. The others compute in f32. All are built for wave32 and wave64.

var (
	attentionProduce    = &Kernel{Name: "attention_produce", Source: "attention_produce", Items: 256}
	attentionProduce128 = &Kernel{Name: "attention_produce_128", Source: "attention_tile", Items: 256}
	attentionProduce64  = &Kernel{Name: "attention_produce_64", Source: "attention_tile", Items: 256}
	attentionSerial     = &Kernel{Name: "attention_serial", Source: "attention_serial", Items: 256}
)

// AttentionProduce leaves a partial state for each row, KV head and split of
// the row; splits that the row has not are left alone.
type AttentionProduce struct {
	Q, K, V, Mask, Pos, Slot, States Pointer
	KVHeads, Group, HeadDim, VDim    uint32
	Context, Window, Splits          uint32
	MaskKeys, MaskF32                uint32
	Scale                            float32
}

// Kernel is attention_produce.
func (AttentionProduce) Kernel() *Kernel { return attentionProduce }

// Launch is for a number of rows.
func (a AttentionProduce) Launch(rows int) Launch { return a.of(a, rows) }

func (a AttentionProduce) of(form Args, rows int) Launch {
	return Launch{form, [3]uint32{a.Splits, a.KVHeads, uint32(rows)}}
}

// LaunchTile is Launch on matrix units. It reports whether there is a kernel
// for these heads.
func (a AttentionProduce) LaunchTile(rows int) (Launch, bool) {
	switch {
	case a.HeadDim != a.VDim:
	case a.HeadDim == 128:
		return a.of(AttentionProduce128(a), rows), true
	case a.HeadDim == 64:
		return a.of(AttentionProduce64(a), rows), true
	}
	return Launch{}, false
}

// AttentionProduce128 is AttentionProduce for heads of 128.
type AttentionProduce128 AttentionProduce

// Kernel is attention_produce_128.
func (AttentionProduce128) Kernel() *Kernel { return attentionProduce128 }

// AttentionProduce64 is AttentionProduce for heads of 64.
type AttentionProduce64 AttentionProduce

// Kernel is attention_produce_64.
func (AttentionProduce64) Kernel() *Kernel { return attentionProduce64 }

// AttentionSerial is attention in one pass over the keys, of any shape: a
// workgroup for each KV head and row.
type AttentionSerial struct {
	Q, K, V, Mask, Pos, Slot, Out Pointer
	KVHeads, Group, HeadDim, VDim uint32
	Context, Window               uint32
	MaskKeys, MaskF32             uint32
	Scale                         float32
}

// Kernel is attention_serial.
func (AttentionSerial) Kernel() *Kernel { return attentionSerial }

// Launch is for a number of rows.
func (a AttentionSerial) Launch(rows int) Launch {
	return Launch{a, [3]uint32{a.KVHeads, uint32(rows), 1}}
}
