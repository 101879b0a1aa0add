package bench

import "runtime"

// Params is what to measure: every combination of its lists is a test. Defaults
// has llama-bench's values.
type Params struct {
	Model       []string // paths; "" is the embedded model
	NPrompt     []int    // each a test of processing so many tokens; 0 is none
	NGen        []int    // each a test of generating so many; 0 is none
	PromptGen   [][2]int // each a test of both, one after the other
	NDepth      []int    // tokens in the context before the test
	NBatch      []int    // tokens given to the engine at once
	NUBatch     []int    // tokens of a step
	TypeK       []string // type of cached keys
	TypeV       []string
	Threads     []int
	CPUMask     []string
	CPUStrict   []bool
	Poll        []int
	NGPULayers  []int
	NCPUMoE     []int
	SplitMode   []string
	LoadMode    []string
	MainGPU     []int
	NoKVOffload []bool
	FlashAttn   []string // on, off or auto
	Devices     []string
	TensorSplit []string
	Override    []string // tensor buffer overrides
	Embeddings  []bool
	NoOpOffload []bool
	NoHost      []bool
	FitTarget   []int // MiB
	FitCtx      []int

	Repetitions int
	NoWarmup    bool
	DelaySec    int // before each test
}

// Defaults is llama-bench's defaults, with the embedded model.
func Defaults() Params {
	return Params{
		Model:       []string{""},
		NPrompt:     []int{512},
		NGen:        []int{128},
		NDepth:      []int{0},
		NBatch:      []int{2048},
		NUBatch:     []int{512},
		TypeK:       []string{"f16"},
		TypeV:       []string{"f16"},
		Threads:     []int{runtime.GOMAXPROCS(0)},
		CPUMask:     []string{"0x0"},
		CPUStrict:   []bool{false},
		Poll:        []int{50},
		NGPULayers:  []int{-1},
		NCPUMoE:     []int{0},
		SplitMode:   []string{"layer"},
		LoadMode:    []string{"mmap"},
		MainGPU:     []int{0},
		NoKVOffload: []bool{false},
		FlashAttn:   []string{"auto"},
		Devices:     []string{"auto"},
		TensorSplit: []string{"0.00"},
		Override:    []string{"none"},
		Embeddings:  []bool{false},
		NoOpOffload: []bool{false},
		NoHost:      []bool{false},
		FitTarget:   []int{0},
		FitCtx:      []int{0},
		Repetitions: 5,
	}
}

// Test is one combination.
type Test struct {
	Model           string
	NPrompt, NGen   int
	NDepth          int
	NBatch, NUBatch int
	TypeK, TypeV    string
	Threads         int
	CPUMask         string
	CPUStrict       bool
	Poll            int
	NGPULayers      int
	NCPUMoE         int
	SplitMode       string
	LoadMode        string
	MainGPU         int
	NoKVOffload     bool
	FlashAttn       string
	Devices         string
	TensorSplit     string
	Override        string
	Embeddings      bool
	NoOpOffload     bool
	NoHost          bool
	FitTarget       int
	FitCtx          int
}

// Tests lists the combinations in llama-bench's order: the model changes
// slowest, and for each set of the other parameters the prompt tests come first,
// then generation, then both together.
func (p Params) Tests() []Test {
	tests := []Test{{}}
	cross(&tests, p.Model, func(t *Test, v string) { t.Model = v })
	cross(&tests, p.FitTarget, func(t *Test, v int) { t.FitTarget = v })
	cross(&tests, p.FitCtx, func(t *Test, v int) { t.FitCtx = v })
	cross(&tests, p.NGPULayers, func(t *Test, v int) { t.NGPULayers = v })
	cross(&tests, p.NCPUMoE, func(t *Test, v int) { t.NCPUMoE = v })
	cross(&tests, p.SplitMode, func(t *Test, v string) { t.SplitMode = v })
	cross(&tests, p.LoadMode, func(t *Test, v string) { t.LoadMode = v })
	cross(&tests, p.MainGPU, func(t *Test, v int) { t.MainGPU = v })
	cross(&tests, p.Devices, func(t *Test, v string) { t.Devices = v })
	cross(&tests, p.TensorSplit, func(t *Test, v string) { t.TensorSplit = v })
	cross(&tests, p.Override, func(t *Test, v string) { t.Override = v })
	cross(&tests, p.NoHost, func(t *Test, v bool) { t.NoHost = v })
	cross(&tests, p.Embeddings, func(t *Test, v bool) { t.Embeddings = v })
	cross(&tests, p.NoOpOffload, func(t *Test, v bool) { t.NoOpOffload = v })
	cross(&tests, p.NBatch, func(t *Test, v int) { t.NBatch = v })
	cross(&tests, p.NUBatch, func(t *Test, v int) { t.NUBatch = v })
	cross(&tests, p.TypeK, func(t *Test, v string) { t.TypeK = v })
	cross(&tests, p.TypeV, func(t *Test, v string) { t.TypeV = v })
	cross(&tests, p.NoKVOffload, func(t *Test, v bool) { t.NoKVOffload = v })
	cross(&tests, p.FlashAttn, func(t *Test, v string) { t.FlashAttn = v })
	cross(&tests, p.Threads, func(t *Test, v int) { t.Threads = v })
	cross(&tests, p.CPUMask, func(t *Test, v string) { t.CPUMask = v })
	cross(&tests, p.CPUStrict, func(t *Test, v bool) { t.CPUStrict = v })
	cross(&tests, p.NDepth, func(t *Test, v int) { t.NDepth = v })
	cross(&tests, p.Poll, func(t *Test, v int) { t.Poll = v })

	var kinds [][2]int
	for _, n := range p.NPrompt {
		kinds = append(kinds, [2]int{n, 0})
	}
	for _, n := range p.NGen {
		kinds = append(kinds, [2]int{0, n})
	}
	kinds = append(kinds, p.PromptGen...)
	var real [][2]int
	for _, k := range kinds {
		if k != [2]int{} {
			real = append(real, k)
		}
	}
	cross(&tests, real, func(t *Test, v [2]int) { t.NPrompt, t.NGen = v[0], v[1] })
	return tests
}

// cross replaces each test by one for each value.
func cross[T any](tests *[]Test, values []T, set func(*Test, T)) {
	out := make([]Test, 0, len(*tests)*len(values))
	for _, t := range *tests {
		for _, v := range values {
			set(&t, v)
			out = append(out, t)
		}
	}
	*tests = out
}
