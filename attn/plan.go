package attn

// BlockKeys is the unit of splitting, in keys.
const BlockKeys = 64

// Reducer says how partial states are merged.
type Reducer uint8

// The reducers, by the number of blocks.
const (
	Direct      Reducer = iota // up to DirectBlocks
	Cooperative                // up to CooperativeBlocks
	Multipass                  // beyond
)

func (r Reducer) String() string {
	return [...]string{"direct", "cooperative", "multipass"}[r]
}

// The most blocks that the smaller reducers take: 256 and 2048 keys.
const (
	DirectBlocks      = 4
	CooperativeBlocks = 32
)

// ReducerFor is the reducer of so many keys.
func ReducerFor(keys int) Reducer {
	switch b := Blocks(keys); {
	case b <= DirectBlocks:
		return Direct
	case b <= CooperativeBlocks:
		return Cooperative
	}
	return Multipass
}

// Blocks is the number of blocks that hold so many keys.
func Blocks(keys int) int { return (keys + BlockKeys - 1) / BlockKeys }

// Where splits get longer, in keys, and how long they are there. Short splits
// at the start keep every core busy at small depths; longer ones behind them
// keep the merge small at large ones.
const (
	nearEnd, nearKeys = DirectBlocks * BlockKeys, 1 * BlockKeys
	midEnd, midKeys   = CooperativeBlocks * BlockKeys, 4 * BlockKeys
	farKeys           = 8 * BlockKeys

	nearSplits = nearEnd / nearKeys
	midSplits  = (midEnd - nearEnd) / midKeys
)

// SplitOf is the split that a key belongs to. The boundaries are the same for
// every row, every depth and every device: a row's partial states, and with
// them the bits of its result, depend on nothing but its own keys.
func SplitOf(key int) int {
	switch {
	case key < nearEnd:
		return key / nearKeys
	case key < midEnd:
		return nearSplits + (key-nearEnd)/midKeys
	}
	return nearSplits + midSplits + (key-midEnd)/farKeys
}

// SplitStart is the first key of a split.
func SplitStart(split int) int {
	switch {
	case split < nearSplits:
		return split * nearKeys
	case split < nearSplits+midSplits:
		return nearEnd + (split-nearSplits)*midKeys
	}
	return midEnd + (split-nearSplits-midSplits)*farKeys
}

// Splits is the number of splits that hold the keys [first, end): those of a
// row whose window begins at first.
func Splits(first, end int) int {
	if first >= end {
		return 0
	}
	return SplitOf(end-1) - SplitOf(first) + 1
}

// Shape is what a split is planned from.
type Shape struct {
	Rows    int // query rows at once
	Heads   int // query heads
	KVHeads int // a divisor of Heads
	VDim    int // elements of a value head
	Keys    int // the most that a row attends
	Window  int // of those, the last that are attended; 0: all
}

// Plan is how attention of a shape is split, known before anything is
// allocated.
type Plan struct {
	Blocks  int // of BlockKeys
	Splits  int // the most of a row
	Reducer Reducer
	// Floats is the workspace in float32: for each row, KV head and split the
	// partial states of the group's heads, [group] maxima, [group] sums and
	// [group][VDim] outputs.
	Floats int
}

// NewPlan plans a shape.
func NewPlan(s Shape) Plan {
	group := s.Heads / s.KVHeads
	p := Plan{Blocks: Blocks(s.Keys), Splits: Splits(0, s.Keys), Reducer: ReducerFor(s.Keys)}
	if s.Window > 0 && s.Window < s.Keys {
		// A window of w keys touches at most one split more than w keys of the
		// shortest splits that it can lie in.
		p.Splits = min(p.Splits, s.Window/nearKeys+2)
	}
	p.Floats = s.Rows * s.KVHeads * p.Splits * StateFloats(group, s.VDim)
	return p
}

// StateFloats is the size of one partial state of a group of heads in float32.
func StateFloats(group, vDim int) int { return group * (vDim + 2) }
