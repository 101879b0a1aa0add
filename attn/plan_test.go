package attn

import (
	"math/rand/v2"
	"testing"
)

func TestReducerGoesByBlocks(t *testing.T) {
	for _, c := range []struct {
		keys, blocks int
		want         Reducer
	}{
		{1, 1, Direct},
		{64, 1, Direct},
		{65, 2, Direct},
		{256, 4, Direct},
		{257, 5, Cooperative},
		{2048, 32, Cooperative},
		{2049, 33, Multipass},
		{32769, 513, Multipass},
		{131072, 2048, Multipass},
	} {
		if b, r := Blocks(c.keys), ReducerFor(c.keys); b != c.blocks || r != c.want {
			t.Errorf("%d keys: %d blocks, %s; want %d, %s", c.keys, b, r, c.blocks, c.want)
		}
	}
}

func TestEveryKeyIsInOneSplitOfWholeBlocks(t *testing.T) {
	for key, split := 0, 0; key < 20000; key++ {
		if key == SplitStart(split+1) {
			split++
		}
		if got := SplitOf(key); got != split {
			t.Fatalf("key %d is in split %d, want %d, which starts at %d", key, got, split, SplitStart(split))
		}
	}
	for split := range 200 {
		if at := SplitStart(split); at%BlockKeys != 0 || SplitStart(split+1) <= at {
			t.Errorf("split %d is [%d, %d), want whole blocks of %d", split, at, SplitStart(split+1), BlockKeys)
		}
	}
}

func TestSplitsOfASpanAreThoseItsKeysAreIn(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		a, b := r.IntN(6000), r.IntN(6000)
		first, end := min(a, b), max(a, b)
		in := map[int]bool{}
		for key := first; key < end; key++ {
			in[SplitOf(key)] = true
		}
		if got := Splits(first, end); got != len(in) {
			t.Errorf("keys [%d, %d): %d splits, want %d", first, end, got, len(in))
		}
	}
}

// A plan has room for whatever row of its shape: at every depth, with every
// window.
func TestPlanHasRoomForEveryRow(t *testing.T) {
	for _, window := range []int{0, 1, 2, 64, 65, 66, 200, 1000, 4096} {
		for _, keys := range []int{1, 64, 65, 256, 257, 2048, 2049, 5000} {
			p := NewPlan(Shape{Rows: 3, Heads: 8, KVHeads: 2, VDim: 16, Keys: keys, Window: window})
			for end := 1; end <= keys; end++ {
				first := 0
				if window > 0 {
					first = max(0, end-window)
				}
				if n := Splits(first, end); n > p.Splits {
					t.Fatalf("%d keys, window %d: row at %d has %d splits, planned %d", keys, window, end-1, n, p.Splits)
				}
			}
			if want := 3 * 2 * p.Splits * 4 * (16 + 2); p.Floats != want {
				t.Errorf("%d keys, window %d: %d floats, want %d", keys, window, p.Floats, want)
			}
		}
	}
}

func TestPlansOfModels(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape Shape
		want  Plan
	}{
		{"Qwen3-0.6B at 256", Shape{Rows: 1, Heads: 16, KVHeads: 8, VDim: 128, Keys: 256}, Plan{4, 4, Direct, 4 * 8 * 2 * 130}},
		{"Qwen3-0.6B at 2048", Shape{Rows: 1, Heads: 16, KVHeads: 8, VDim: 128, Keys: 2048}, Plan{32, 11, Cooperative, 11 * 8 * 2 * 130}},
		{"Qwen3-0.6B at 4096", Shape{Rows: 1, Heads: 16, KVHeads: 8, VDim: 128, Keys: 4096}, Plan{64, 15, Multipass, 15 * 8 * 2 * 130}},
		{"Qwen3-Coder-30B at 131072", Shape{Rows: 1, Heads: 32, KVHeads: 4, VDim: 128, Keys: 131072}, Plan{2048, 263, Multipass, 263 * 32 * 130}},
	} {
		if got := NewPlan(c.shape); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// What splits and reducers do to a row: parts of any sizes, merged in any
// order and any grouping, are the whole.
func TestAnyOrderAndGroupingOfBlocksIsTheWhole(t *testing.T) {
	const n, vDim = 300, 6
	r := rand.New(rand.NewPCG(9, 10))
	scores, values := random(r, n, vDim, 5)
	want := finish(stateOf(scores, values, vDim))
	for range 300 {
		var parts []State
		for at := 0; at < n; {
			end := min(n, at+1+r.IntN(64))
			parts = append(parts, stateOf(scores[at:end], values[at:end], vDim))
			at = end
		}
		for len(parts) > 1 { // any two become one
			i := r.IntN(len(parts))
			x := parts[i]
			parts = append(parts[:i], parts[i+1:]...)
			parts[r.IntN(len(parts))].Merge(x)
		}
		// Weights sum to 1, values are of size 1: a few roundings of n terms.
		if d := maxDiff(finish(parts[0]), want); d > (n+8)*4*0x1p-24 {
			t.Fatalf("off by %g", d)
		}
	}
}
