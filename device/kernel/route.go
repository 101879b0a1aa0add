package kernel

var moeRoute = &Kernel{Name: "moe_route", Source: "route", Items: 32}

// MoERoute chooses the Used of Experts with the highest of Logits,
// [rows][Experts] floats, the lower id first among equals, as the CPU device
// does: Chosen is int32 [rows][Used], highest first, and always of ids in
// 0..Experts-1. Weights, [rows][Used] floats, are the softmax over all experts;
// if Renorm is 1, over the chosen ones; times Scale, where 0 means 1. A row with a NaN, or whose
// highest logit is infinite, gets weights of NaN and a fault with Mark in
// Faults, [rows] of FaultBytes.
type MoERoute struct {
	Logits, Chosen, Weights, Faults Pointer
	Experts, Used, Renorm           uint32
	Scale                           float32
	Mark                            uint32
}

// Kernel is moe_route.
func (MoERoute) Kernel() *Kernel { return moeRoute }

// Launch is for a number of rows.
func (a MoERoute) Launch(rows int) Launch { return Launch{a, [3]uint32{uint32(rows), 1, 1}} }
