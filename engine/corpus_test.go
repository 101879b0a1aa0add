package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// A survey runs broken files: each must be refused or run, without a panic,
// without taking long, and without allocating more than twice its size.
type survey struct {
	t                *testing.T
	refused, running int
	last             string // the last file that ran
}

// overhead is what an engine allocates whatever the file's size: programs,
// workers' scratch, and the tokenizer's tables of Unicode.
const overhead = 1 << 20

func (s *survey) run(name string, b []byte) {
	s.t.Helper()
	defer func() {
		if r := recover(); r != nil {
			s.t.Errorf("%s: panic: %v", name, r)
		}
	}()
	start := time.Now()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := s.use(b)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 2*uint64(len(b))+overhead {
		s.t.Errorf("%s: %d bytes allocated for a file of %d (error: %v)", name, n, len(b), err)
	}
	if d := time.Since(start); d > 10*time.Second {
		s.t.Errorf("%s: took %v (error: %v)", name, d, err)
	}
	if err != nil {
		s.refused++
	} else {
		s.running++
		s.last = name
	}
}

// use does with a file what a user would.
func (s *survey) use(b []byte) error {
	f, err := gguf.Parse("broken", b)
	if err != nil {
		return err
	}
	e, err := engine.New(engine.Config{File: f, Threads: 1, Batch: 16, Context: 32})
	if err != nil {
		return err
	}
	defer e.Close()
	if tok, err := e.Tokenizer(); err == nil {
		tok.Encode("some text", true, true)
	}
	q, err := e.NewSequence()
	if err != nil {
		return err
	}
	if _, err := q.Prefill(context.Background(), []int32{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}); err != nil {
		return err
	}
	_, err = q.Decode(context.Background(), 1)
	return err
}

func (s *survey) done(least int) {
	s.t.Logf("%d refused, %d ran", s.refused, s.running)
	if s.refused < least {
		s.t.Errorf("only %d files were refused, want at least %d: the changes break too little", s.refused, least)
	}
}

func corpusModel(arch string) []byte {
	return synth.Model(synth.Config{Arch: arch, Type: quant.Q8_0, Layers: 1, FFN: 256, Vocab: 260, Experts: map[string]int{"qwen3moe": 3}[arch], Context: 64})
}

func parsed(t *testing.T, b []byte) *gguf.File {
	t.Helper()
	f, err := gguf.Parse("valid", b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFilesCutAnywhereAreRefused(t *testing.T) {
	b := corpusModel("qwen3moe")
	f := parsed(t, b)
	s := &survey{t: t}
	var cuts []int
	for n := 0; n < int(f.DataOffset()); n += 61 {
		cuts = append(cuts, n)
	}
	for _, x := range f.Tensors {
		at := int(x.Offset)
		cuts = append(cuts, at-1, at, at+1, at+len(x.Data)/2, at+len(x.Data)-1)
	}
	for _, n := range cuts {
		s.run(fmt.Sprintf("cut at %d", n), b[:n])
	}
	if s.running != 0 {
		t.Errorf("%d of %d cut files run, one %s", s.running, len(cuts), s.last)
	}
	s.done(len(cuts))
}

// wrongValues are what a key's value is replaced by, one after another.
func wrongValues(v any) []any {
	out := []any{
		uint32(0), uint32(1), uint32(3), uint32(1 << 31), uint64(math.MaxUint64), int32(-1), int64(math.MinInt64), uint8(255), true,
		float32(math.NaN()), float32(math.Inf(1)), float32(-1), float32(0), float64(1e300), float32(1e-45),
		"", "yarn", "\xff\x00",
		[]int32{},
		[]int32{-1, 7},
		[]uint32{0},
		[]float32{float32(math.NaN())},
		[]string{},
		[]string{"", ""},
		[]bool{true},
	}
	switch v := v.(type) {
	case []string:
		if len(v) < 2 {
			break
		}
		out = append(out, v[:len(v)-1], append(slices.Clone(v[1:]), v[1]), slices.Repeat([]string{"a b"}, len(v)))
	case []int32:
		out = append(out, v[:len(v)-1], slices.Repeat([]int32{-7}, len(v)), slices.Repeat([]int32{6}, len(v)))
	}
	return out
}

func TestFilesWithWrongMetadataAreRefusedOrRun(t *testing.T) {
	for _, arch := range []string{"llama", "qwen3moe"} {
		f := parsed(t, corpusModel(arch))
		s := &survey{t: t}
		for i, kv := range f.KV {
			without := slices.Delete(slices.Clone(f.KV), i, i+1)
			s.run("without "+kv.Key, written(t, without, sources(f)))
			for _, v := range wrongValues(kv.Value) {
				if testing.Short() && i%3 != 0 {
					continue
				}
				kvs := append(slices.Clone(without), gguf.KV{Key: kv.Key, Value: v})
				s.run(fmt.Sprintf("%s as %T %.40v", kv.Key, v, v), written(t, kvs, sources(f)))
			}
		}
		s.done(60)
	}
}

func sources(f *gguf.File) (out []gguf.TensorSource) {
	for _, x := range f.Tensors {
		out = append(out, gguf.FromBytes(x.Name, x.Type, x.Data, x.Dims...))
	}
	return out
}

// written is a file of these; nil if the writer refuses them.
func written(t *testing.T, kvs []gguf.KV, tensors []gguf.TensorSource) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gguf.Write(&b, kvs, tensors); err != nil {
		return nil
	}
	return b.Bytes()
}

func TestFilesWithWrongTensorsAreRefused(t *testing.T) {
	for _, arch := range []string{"qwen2", "qwen3moe"} {
		f := parsed(t, corpusModel(arch))
		s := &survey{t: t}
		all := 0
		for i, x := range f.Tensors {
			rest := func() []gguf.TensorSource { return slices.Delete(sources(f), i, i+1) }
			zeros := func(typ quant.Type, dims ...int) []byte {
				n := typ.RowBytes(dims[0])
				for _, d := range dims[1:] {
					n *= d
				}
				return written(t, f.KV, append(rest(), gguf.FromBytes(x.Name, typ, make([]byte, n), dims...)))
			}
			wider := append([]int{2 * x.Dims[0]}, x.Dims[1:]...)
			cases := map[string][]byte{
				"renamed":   written(t, f.KV, append(rest(), gguf.FromBytes(x.Name+".old", x.Type, x.Data, x.Dims...))),
				"besides":   written(t, f.KV, append(sources(f), gguf.FromBytes(x.Name+".old", x.Type, x.Data, x.Dims...))),
				"wider":     zeros(x.Type, wider...),
				"tiny":      zeros(x.Type, x.Type.BlockElems()),
				"four dims": zeros(x.Type, append(slices.Clone(x.Dims), 2, 2, 2)[:4]...),
				"integers":  zeros(quant.I32, x.Dims...),
			}
			if len(x.Dims) > 1 {
				cases["flat"] = zeros(x.Type, x.Elements())
			}
			// Without an output matrix the embeddings serve, and biases may be absent.
			if x.Name != "output.weight" && !strings.HasSuffix(x.Name, ".bias") {
				cases["missing"] = written(t, f.KV, rest())
			}
			if n := len(x.Dims); n > 1 && x.Dims[n-1] != x.Dims[n-2] {
				swapped := slices.Clone(x.Dims)
				swapped[n-1], swapped[n-2] = swapped[n-2], swapped[n-1]
				if swapped[0]%x.Type.BlockElems() == 0 {
					cases["swapped"] = zeros(x.Type, swapped...)
				}
			}
			for name, b := range cases {
				s.run(x.Name+" "+name, b)
				all++
			}
		}
		if s.running != 0 {
			t.Errorf("%s: %d of %d files with a wrong tensor run, one with %s", arch, s.running, all, s.last)
		}
		s.done(all)
	}
}

// TestRandomlyDamagedFilesAreRefusedOrRun overwrites bytes, counts and lengths
// of the part before the data, and swaps whole words.
func TestRandomlyDamagedFilesAreRefusedOrRun(t *testing.T) {
	n := 600
	if testing.Short() {
		n = 150
	}
	for _, arch := range []string{"llama", "qwen3moe"} {
		b := corpusModel(arch)
		head := int(parsed(t, b).DataOffset())
		r := rand.New(rand.NewPCG(1, uint64(len(arch))))
		s := &survey{t: t}
		for i := range n {
			d := slices.Clone(b)
			what := ""
			for range 1 + r.IntN(3) {
				at := r.IntN(head - 8)
				if i%2 == 0 { // in the tensor table, where most bytes matter
					at = head - 8 - r.IntN(min(head-8, 1200))
				}
				switch r.IntN(4) {
				case 0:
					d[at] = byte(r.Uint32())
				case 1:
					d[at] ^= 1 << r.IntN(8)
				case 2:
					binary.LittleEndian.PutUint64(d[at:], []uint64{0, 1, 1 << 31, 1 << 32, 1 << 62, math.MaxUint64}[r.IntN(6)])
				case 3:
					other := r.IntN(head - 8)
					copy(d[at:at+8], b[other:other+8])
				}
				what += fmt.Sprintf(" %d", at)
			}
			s.run(fmt.Sprintf("%s, file %d, changed at%s", arch, i, what), d)
		}
		s.done(n / 4)
	}
}
