package device

// Reason is why a registration declined: one of a closed list.
type Reason string

// The reasons. A registration's Match gives those of the first group, dispatch
// those of the others.
const (
	ReasonType   Reason = "type"
	ReasonShape  Reason = "shape"
	ReasonCPU    Reason = "cpu"
	ReasonFusion Reason = "fusion"
	ReasonMemory Reason = "memory"

	ReasonDisabled    Reason = "disabled"
	ReasonQuarantined Reason = "quarantined"

	ReasonBounds Reason = "bounds"
	ReasonAlign  Reason = "align"
	ReasonAccess Reason = "access"
	ReasonAlias  Reason = "alias"
	ReasonResult Reason = "result"
)

// Reasons is the whole list with what each means.
func Reasons() []ReasonMeaning {
	return []ReasonMeaning{
		{ReasonType, "the kernel does not read or write this element type"},
		{ReasonShape, "the kernel does not take these sizes, or another takes them better"},
		{ReasonCPU, "the processor lacks the instructions"},
		{ReasonFusion, "the operations that follow are not those of the fused form"},
		{ReasonMemory, "the workspace, or the arena with it, would be larger than allowed"},
		{ReasonDisabled, "switched off by name prefix"},
		{ReasonQuarantined, "faulted before in a step of this shape"},
		{ReasonBounds, "a binding reaches past the end of its value"},
		{ReasonAlign, "a binding is not aligned as the kernel needs it"},
		{ReasonAccess, "a binding writes what may only be read, or reads what nothing has written"},
		{ReasonAlias, "a written binding shares bytes with another binding"},
		{ReasonResult, "a result that is needed later is not written, or not all of it"},
	}
}

// ReasonMeaning is a reason explained.
type ReasonMeaning struct {
	Reason  Reason `json:"reason"`
	Meaning string `json:"meaning"`
}
