package kernel

import "github.com/holdfast-llm/holdfast/attn"

// reduceChannels is what a workgroup of the reducers merges of a row.
const reduceChannels = 256

func reducer(name string) *Kernel {
	return &Kernel{Name: "attention_reduce_" + name, Source: "attention_reduce", Items: 256}
}

var (
	reduceDirect        = reducer("direct")
	reduceCooperative   = reducer("cooperative")
	reduceMultipass     = reducer("multipass")
	reduceDirectQ8      = reducer("direct_q8")
	reduceCooperativeQ8 = reducer("cooperative_q8")
	reduceMultipassQ8   = reducer("multipass_q8")
)

// AttentionReduce merges each row's partial states to Out, in the order of the
// keys, the maximum first: States, Pos, Out, Window and Splits are those of
// AttentionProduce. All three forms give the same bits; they differ in how the
// states' scales are found.
type AttentionReduce struct {
	States, Pos, Out     Pointer
	KVHeads, Group, VDim uint32
	Window, Splits       uint32
}

// Launch is the form for a number of rows of up to so many keys.
func (a AttentionReduce) Launch(rows, keys int) Launch {
	switch attn.ReducerFor(keys) {
	case attn.Direct:
		return a.of(AttentionReduceDirect(a), rows)
	case attn.Cooperative:
		return a.of(AttentionReduceCooperative(a), rows)
	}
	return a.of(AttentionReduceMultipass(a), rows)
}

func (a AttentionReduce) of(form Args, rows int) Launch {
	return reduceLaunch(form, a.KVHeads*a.Group*a.VDim, rows)
}

func reduceLaunch(form Args, channels uint32, rows int) Launch {
	return Launch{form, [3]uint32{(channels + reduceChannels - 1) / reduceChannels, uint32(rows), 1}}
}

// AttentionReduceDirect finds a state's scale anew for each element: for up to
// attn.DirectBlocks blocks.
type AttentionReduceDirect AttentionReduce

// Kernel is attention_reduce_direct.
func (AttentionReduceDirect) Kernel() *Kernel { return reduceDirect }

// AttentionReduceCooperative has a wave find a head's scales, one a lane: for
// up to attn.CooperativeBlocks blocks.
type AttentionReduceCooperative AttentionReduce

// Kernel is attention_reduce_cooperative.
func (AttentionReduceCooperative) Kernel() *Kernel { return reduceCooperative }

// AttentionReduceMultipass passes over the states in turns: for any number.
type AttentionReduceMultipass AttentionReduce

// Kernel is attention_reduce_multipass.
func (AttentionReduceMultipass) Kernel() *Kernel { return reduceMultipass }

// AttentionReduceQ8 is AttentionReduce that also packs the finished rows for
// the projection behind it: Q8 has rows of Q8_1 x4, whole 128s of elements, the
// last padded with zeros.
type AttentionReduceQ8 struct {
	States, Pos, Out, Q8 Pointer
	KVHeads, Group, VDim uint32
	Window, Splits       uint32
}

// Launch is the form for a number of rows of up to so many keys.
func (a AttentionReduceQ8) Launch(rows, keys int) Launch {
	switch attn.ReducerFor(keys) {
	case attn.Direct:
		return a.of(AttentionReduceDirectQ8(a), rows)
	case attn.Cooperative:
		return a.of(AttentionReduceCooperativeQ8(a), rows)
	}
	return a.of(AttentionReduceMultipassQ8(a), rows)
}

func (a AttentionReduceQ8) of(form Args, rows int) Launch {
	return reduceLaunch(form, a.KVHeads*a.Group*a.VDim, rows)
}

// AttentionReduceDirectQ8 is AttentionReduceDirect with the pack.
type AttentionReduceDirectQ8 AttentionReduceQ8

// Kernel is attention_reduce_direct_q8.
func (AttentionReduceDirectQ8) Kernel() *Kernel { return reduceDirectQ8 }

// AttentionReduceCooperativeQ8 is AttentionReduceCooperative with the pack.
type AttentionReduceCooperativeQ8 AttentionReduceQ8

// Kernel is attention_reduce_cooperative_q8.
func (AttentionReduceCooperativeQ8) Kernel() *Kernel { return reduceCooperativeQ8 }

// AttentionReduceMultipassQ8 is AttentionReduceMultipass with the pack.
type AttentionReduceMultipassQ8 AttentionReduceQ8

// Kernel is attention_reduce_multipass_q8.
func (AttentionReduceMultipassQ8) Kernel() *Kernel { return reduceMultipassQ8 }
