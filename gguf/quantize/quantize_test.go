package quantize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/golden"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// models have the shapes that the rules tell apart. They are small: where rows
// are shorter than a K-quant's block, the stand-in type still shows the choice.
var models = []struct {
	name   string
	config synth.Config
	file   bool // also compare every byte of the file with llama.cpp's
}{
	{"tied", synth.Config{Arch: "qwen3", Tied: true, Hidden: 256, FFN: 256, Heads: 2, KVHeads: 1, Vocab: 320}, true},
	{"untied, rows of 320", synth.Config{Arch: "llama", Layers: 17, Hidden: 256, FFN: 320, Heads: 4, KVHeads: 2}, false},
	{"four query heads for a key head", synth.Config{Arch: "qwen3", Layers: 9, Hidden: 256, FFN: 256, Heads: 4, KVHeads: 1}, false},
	{"8 experts", synth.Config{Arch: "qwen3moe", Layers: 9, Hidden: 64, ExpertFFN: 64, Heads: 4, KVHeads: 2}, false},
	{"5 experts", synth.Config{Arch: "qwen3moe", Layers: 9, Hidden: 64, ExpertFFN: 64, Heads: 4, KVHeads: 2, Experts: 5}, false},
	{"llama of 80 layers", synth.Config{Arch: "llama", Layers: 80, Hidden: 64, FFN: 64, Heads: 4, KVHeads: 2}, false},
	{"llama of 80 layers, all heads their own", synth.Config{Arch: "llama", Layers: 80, Hidden: 64, FFN: 64, Heads: 4, KVHeads: 4}, false},
	{"qwen2 of 80 layers", synth.Config{Arch: "qwen2", Layers: 80, Hidden: 64, FFN: 64, Heads: 4, KVHeads: 2}, false},
	{"rows of 48", synth.Config{Arch: "llama", Layers: 3, Hidden: 48, FFN: 96, Heads: 4, KVHeads: 2}, false},
}

// runs is the types in order, repeats counted: "F32 Q4_K*3 Q6_K".
func runs(types []quant.Type) string {
	var parts []string
	for i := 0; i < len(types); {
		n := 1
		for i+n < len(types) && types[i+n] == types[i] {
			n++
		}
		part := types[i].String()
		if n > 1 {
			part += fmt.Sprintf("*%d", n)
		}
		parts = append(parts, part)
		i += n
	}
	return strings.Join(parts, " ")
}

// typesOf lists what a plan, or a file, gives the tensors that can be quantised
// at all; the others are F32 in every mix.
func typesOf[T any](tensors []T, get func(*T) (*gguf.Tensor, quant.Type)) string {
	var types []quant.Type
	for i := range tensors {
		if t, typ := get(&tensors[i]); quantizable(t) {
			types = append(types, typ)
		} else if typ != t.Type {
			return fmt.Sprintf("%s became %s", t.Name, typ)
		}
	}
	return runs(types)
}

// TestPeer compares the types of all tensors, in order, with those llama.cpp
// chooses for the same models, and for one model the whole file. The golden file
// is llama.cpp's: see testdata/llama_quantize.c for how to make it.
func TestPeer(t *testing.T) {
	var out strings.Builder
	peer := os.Getenv("HOLDFAST_LLAMA_QUANTIZE")
	if golden.Updating() && peer == "" {
		t.Skip("the golden file comes from llama.cpp: see testdata/llama_quantize.c")
	}
	for _, m := range models {
		model := synth.Model(m.config)
		// On a platform whose floating point makes other weights, the bytes
		// cannot agree; the checksum here shows it.
		fmt.Fprintf(&out, "%s, source %08x\n", m.name, crc32.ChecksumIEEE(model))
		for _, mix := range Mixes() {
			var types, sum string
			if golden.Updating() {
				b := runPeer(t, peer, model, mix)
				types = typesOf(parse(t, b).Tensors, func(t *gguf.Tensor) (*gguf.Tensor, quant.Type) { return t, t.Type })
				sum = checksum(b)
			} else {
				plan, err := Plan(parse(t, model), mix, false)
				if err != nil {
					t.Fatal(err)
				}
				types = typesOf(plan, func(c *Choice) (*gguf.Tensor, quant.Type) { return c.Tensor, c.Type })
				if m.file {
					sum = checksum(run(t, model, mix))
				}
			}
			if !m.file {
				sum = ""
			}
			fmt.Fprintf(&out, "%-6s %s%s\n", mix.Name, types, sum)
		}
	}
	golden.Check(t, "llama.cpp.txt", out.String())
}

func checksum(file []byte) string { return fmt.Sprintf("; file %08x", crc32.ChecksumIEEE(file)) }

func parse(t *testing.T, b []byte) *gguf.File {
	t.Helper()
	f, err := gguf.Parse("synthetic", b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func runPeer(t *testing.T, peer string, model []byte, mix Mix) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, model, 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(peer, in, out, fmt.Sprint(mix.FileType)).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", mix.Name, err, msg)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run is Plan and Write in memory.
func run(t *testing.T, model []byte, mix Mix) []byte {
	t.Helper()
	f := parse(t, model)
	plan, err := Plan(f, mix, false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	var done atomic.Int64
	if err := Write(t.Context(), &b, f, mix, plan, func(n int64) { done.Add(n) }); err != nil {
		t.Fatal(err)
	}
	var want int64
	for i := range f.Tensors {
		want += int64(len(f.Tensors[i].Data))
	}
	if done.Load() != want {
		t.Errorf("%s: progress of %d bytes, the tensors have %d", mix.Name, done.Load(), want)
	}
	return b.Bytes()
}

func TestMetadata(t *testing.T) {
	f := parse(t, synth.Model(synth.Config{Arch: "qwen3", Hidden: 64, FFN: 64, Layers: 1}))
	f.KV = append(f.KV, gguf.KV{Key: "split.count", Value: uint16(2)})
	mix, _ := Lookup("q5_k")
	kvs := metadata(f, mix)
	got := map[string]any{}
	for _, kv := range kvs {
		got[kv.Key] = kv.Value
	}
	if got["general.file_type"] != uint32(17) || got["general.quantization_version"] != uint32(2) {
		t.Errorf("file type %v, quantization version %v", got["general.file_type"], got["general.quantization_version"])
	}
	if _, ok := got["split.count"]; ok {
		t.Error("split.count was kept")
	}
	for _, kv := range f.KV {
		if !strings.HasPrefix(kv.Key, "split.") && kv.Key != "general.file_type" && !reflect.DeepEqual(got[kv.Key], kv.Value) {
			t.Errorf("key %q: %v, want %v", kv.Key, got[kv.Key], kv.Value)
		}
	}
}

func TestPureQuantisesAlike(t *testing.T) {
	f := parse(t, synth.Model(synth.Config{Arch: "llama", Hidden: 256, FFN: 256, Layers: 4}))
	mix, _ := Lookup("Q4_K_M")
	plan, err := Plan(f, mix, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range plan {
		want := quant.Q4_K
		if len(c.Tensor.Dims) == 1 {
			want = quant.F32
		}
		if c.Type != want {
			t.Errorf("%s is %s, want %s", c.Tensor.Name, c.Type, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	mix, _ := Lookup("Q8_0")
	t.Run("an unknown architecture", func(t *testing.T) {
		f := parse(t, synth.Model(synth.Config{Hidden: 64, FFN: 64, Layers: 1}))
		f.KV[0].Value = "rwkv"
		_, err := Plan(f, mix, false)
		if err == nil || !strings.Contains(err.Error(), `architecture "rwkv" is not supported (supported: llama qwen2 qwen3 qwen3moe)`) {
			t.Error(err)
		}
	})
	t.Run("a file that is quantised already", func(t *testing.T) {
		f := parse(t, synth.Model(synth.Config{Hidden: 64, FFN: 64, Layers: 1, Type: quant.Q4_0}))
		plan, err := Plan(f, mix, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckSources(plan, false); !errors.Is(err, ErrRequantize) || !strings.Contains(err.Error(), "of type Q4_0") {
			t.Error(err)
		}
		if err := CheckSources(plan, true); err != nil {
			t.Error(err)
		}
	})
	t.Run("a weight that is NaN", func(t *testing.T) {
		f := parse(t, synth.Model(synth.Config{Hidden: 64, FFN: 64, Layers: 1}))
		w, _ := f.Tensor("blk.0.ffn_up.weight")
		at := (7*64 + 5) * 4
		copy(w.Data[at:], []byte{0, 0, 0xc0, 0x7f})
		if v := math.Float32frombits(0x7fc00000); v == v {
			t.Fatal("not a NaN")
		}
		plan, err := Plan(f, mix, false)
		if err != nil {
			t.Fatal(err)
		}
		err = Write(t.Context(), &bytes.Buffer{}, f, mix, plan, func(int64) {})
		if err == nil || !strings.Contains(err.Error(), `tensor "blk.0.ffn_up.weight": row 7, element 5 is NaN`) {
			t.Error(err)
		}
	})
	t.Run("an interrupt", func(t *testing.T) {
		f := parse(t, synth.Model(synth.Config{Hidden: 64, FFN: 64, Layers: 1}))
		plan, err := Plan(f, mix, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Write(ctx, &bytes.Buffer{}, f, mix, plan, func(int64) {}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{"q4_k": "Q4_K_M", "Q3_K": "Q3_K_M", "iq4_xs": "IQ4_XS", "F16": "F16", "Q9_0": ""} {
		if m, ok := Lookup(name); m.Name != want || ok != (want != "") {
			t.Errorf("%s is %q, want %q", name, m.Name, want)
		}
	}
}
