package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// TestEngine runs every kind of test on a small model: what the session says
// of itself must be the file's, and the lanes must be those that ran.
func TestEngine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, synth.Model(synth.Config{Arch: "qwen3", Layers: 1, Hidden: 64, FFN: 64, Heads: 2, KVHeads: 1}), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Defaults()
	p.Model, p.NPrompt, p.NGen, p.PromptGen = []string{path}, []int{20}, []int{3}, [][2]int{{5, 2}}
	p.NDepth, p.NUBatch, p.Repetitions = []int{0, 9}, []int{8}, 2
	p.LoadMode = []string{"mmap", "none"}
	r := &Engine{}
	l := Loop{Runner: r}
	count := 0
	err := l.Run(t.Context(), p, func(x Result) error {
		count++
		f, err := gguf.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if x.ModelFile != path || x.ModelBytes < f.Size()/2 || x.ModelBytes > f.Size() || !strings.HasPrefix(x.ModelType, "qwen3 ?B ") {
			t.Errorf("%s: %+v", x.Name(), x.Info)
		}
		if len(x.SamplesNS) != 2 || !strings.HasPrefix(x.Lane, "attention.") {
			t.Errorf("%s: samples %v, lane %q", x.Name(), x.SamplesNS, x.Lane)
		}
		return nil
	})
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * 3; count != want {
		t.Errorf("%d results, want %d", count, want)
	}
}

func TestEngineStopsWhenInterrupted(t *testing.T) {
	file := synth.Model(synth.Config{Layers: 1, Hidden: 64, FFN: 64, Heads: 2, KVHeads: 1})
	r := &Engine{OpenModel: func(string) (*gguf.File, error) { return gguf.Parse("m", file) }}
	defer r.Close()
	s, err := r.Open(small().Tests()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Prompt(ctx, 16); !errors.Is(err, context.Canceled) {
		t.Errorf("prompt: %v", err)
	}
	if err := s.Generate(ctx, 16); !errors.Is(err, context.Canceled) {
		t.Errorf("generate: %v", err)
	}
}

func TestCheckTest(t *testing.T) {
	ok := Defaults().Tests()[0]
	ok.NGPULayers, ok.SplitMode, ok.MainGPU, ok.NoKVOffload, ok.TensorSplit, ok.FlashAttn = 99, "row", 3, true, "1/2", "on"
	if err := CheckTest(ok); err != nil {
		t.Errorf("parameters of GPUs: %v", err)
	}
	for want, change := range map[string]func(*Test){
		"CPU mask 0x3":    func(t *Test) { t.CPUMask = "0x3" },
		"strict CPU":      func(t *Test) { t.CPUStrict = true },
		"poll 0":          func(t *Test) { t.Poll = 0 },
		"embeddings":      func(t *Test) { t.Embeddings = true },
		"load mode dio":   func(t *Test) { t.LoadMode = "dio" },
		`device "CUDA0"`:  func(t *Test) { t.Devices = "CUDA0" },
		`override "x=y"`:  func(t *Test) { t.Override = "x=y" },
		"tensor override": func(t *Test) { t.Override = "x=y" },
	} {
		x := ok
		change(&x)
		if err := CheckTest(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCPUName(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"x86":      {"processor\t: 0\nmodel name\t: Some  CPU @ 2.00GHz\nflags\t\t: fpu\nmodel name\t: Other\n", "Some CPU @ 2.00GHz"},
		"no names": {"processor\t: 0\n", ""},
	} {
		got := cpuNameIn(c.file)
		if c.want != "" && got != c.want || got == "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
