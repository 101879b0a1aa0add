package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

func TestAFileThatShrinksWhileMappedIsAFaultAndNotACrash(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse to shrink a mapped file, or zero its pages")
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q8_0}), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := open(t, f, engine.Config{Threads: 3})
	s := sequence(t, e)
	prefill(t, s, text(20, 512)...)
	if err := os.Truncate(path, f.DataOffset()); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the engine stays usable: it says the same again
		_, err = s.Decode(context.Background(), 1)
		var fault *device.Fault
		if !errors.As(err, &fault) {
			t.Fatalf("error %v, want a *device.Fault", err)
		}
		if fault.Launch == "" || fault.Device != "cpu" {
			t.Errorf("the fault does not say where: %v", err)
		}
		if s.Len() != 20 {
			t.Errorf("%d tokens after a step that failed, want 20", s.Len())
		}
		if _, err := s.Prefill(context.Background(), text(20, 512)); !errors.As(err, &fault) {
			t.Fatalf("prefill: error %v, want a *device.Fault", err)
		}
	}
}

// poison writes a NaN into the first block of every row of a tensor: its F16
// scale, or the element itself.
func poison(t *testing.T, x *gguf.Tensor) {
	t.Helper()
	scaleAt := map[quant.Type]int{quant.Q2_K: 80, quant.Q3_K: 108, quant.Q6_K: 208}[x.Type]
	for at := 0; at < len(x.Data); at += x.Type.RowBytes(x.Dims[0]) {
		switch x.Type {
		case quant.F32:
			binary.LittleEndian.PutUint32(x.Data[at:], math.Float32bits(float32(math.NaN())))
		case quant.BF16:
			binary.LittleEndian.PutUint16(x.Data[at:], 0x7fc0)
		default:
			binary.LittleEndian.PutUint16(x.Data[at+scaleAt:], 0x7e00)
		}
	}
	row := make([]float32, x.Dims[0])
	if err := quant.Dequantize(x.Type, row, x.Data[:x.Type.RowBytes(len(row))]); err != nil || row[0] == row[0] {
		t.Fatalf("%s of %s: first element %v, want NaN (%v)", x.Name, x.Type, row[0], err)
	}
}

// TestANaNInAnyTensorIsAnErrorAndNeverAToken poisons one tensor at a time and
// runs a token alone, a prompt, and a token after it.
func TestANaNInAnyTensorIsAnErrorAndNeverAToken(t *testing.T) {
	types := quant.Supported()
	if testing.Short() {
		types = []quant.Type{quant.Q8_0, quant.Q4_K}
	}
	for _, typ := range types {
		for _, arch := range []string{"qwen2", "qwen3moe"} {
			if arch == "qwen2" && typ != quant.Q8_0 {
				continue // for its biases; the rest is in the other
			}
			c := synth.Config{Arch: arch, Type: typ, Layers: 1, FFN: 256, Vocab: 260, Experts: 2, ExpertFFN: 256, Context: 64}
			if arch == "qwen2" {
				c.Experts = 0
			}
			clean := synth.Model(c)
			f, err := gguf.Parse("synth", clean)
			if err != nil {
				t.Fatal(err)
			}
			for i := range f.Tensors {
				x := &f.Tensors[i]
				t.Run(arch+" "+typ.String()+" "+x.Name, func(t *testing.T) {
					saved := append([]byte(nil), x.Data...)
					defer copy(x.Data, saved)
					e := open(t, f, engine.Config{Batch: 20})
					s := sequence(t, e)
					decode(t, s, 1, 2, 3)
					poison(t, x)
					if _, err := s.Decode(context.Background(), 4); err == nil {
						t.Error("a token gives logits")
					} else {
						checkNaN(t, err)
					}
					s.Truncate(0)
					if _, err := s.Prefill(context.Background(), text(20, 260)); err == nil {
						t.Error("a prompt gives logits")
					} else {
						checkNaN(t, err)
					}
				})
			}
		}
	}
}

func checkNaN(t *testing.T, err error) {
	t.Helper()
	var fault *device.Fault
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("error %v, want a *device.Fault that says NaN", err)
	}
}

func TestANaNRouterNamesTheExpert(t *testing.T) {
	f, err := gguf.Parse("synth", synth.Model(synth.Config{Arch: "qwen3moe", Layers: 2, Experts: 4, Vocab: 260}))
	if err != nil {
		t.Fatal(err)
	}
	router, ok := f.Tensor("blk.1.ffn_gate_inp.weight")
	if !ok {
		t.Fatal("no router")
	}
	binary.LittleEndian.PutUint32(router.Data[2*router.Type.RowBytes(router.Dims[0]):], math.Float32bits(float32(math.NaN())))
	e := open(t, f, engine.Config{})
	s := sequence(t, e)
	_, err = s.Decode(context.Background(), 7)
	var fault *device.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want a *device.Fault", err)
	}
	for _, want := range []string{"blk.1.ffn_gate_inp", "router logit of expert 2 is NaN"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	r, err := s.Generate(context.Background(), engine.Request{Prompt: []int32{7}, MaxTokens: 3})
	if !errors.As(err, &fault) || len(r.Tokens) != 0 {
		t.Errorf("generate: error %v, tokens %v; want a fault and none", err, r.Tokens)
	}
}
