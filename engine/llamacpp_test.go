package engine_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/reference"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

var writeModels = flag.String("write-models", "", "write the models of testdata/llamacpp, and the token ids to run, to this directory")

// A peer is a model that llama.cpp has run: testdata/llamacpp/NAME.txt.
type peer struct {
	name  string
	c     synth.Config
	large bool // generated into a file, not with -short
}

func peers() []peer {
	var ps []peer
	add := func(name string, c synth.Config) {
		if c.FFN == 0 {
			c.FFN = 256
		}
		if c.Vocab == 0 {
			c.Vocab = 512
		}
		ps = append(ps, peer{name: name, c: c})
	}
	for _, t := range quant.Supported() {
		add("qwen3-"+t.String(), synth.Config{Arch: "qwen3", Type: t, Seed: 3})
	}
	for _, t := range []quant.Type{quant.F32, quant.Q8_0, quant.Q4_K} {
		add("llama-"+t.String(), synth.Config{Arch: "llama", Type: t, Seed: 3})
		add("qwen2-"+t.String(), synth.Config{Arch: "qwen2", Type: t, Seed: 3})
		add("qwen3moe-"+t.String(), synth.Config{Arch: "qwen3moe", Type: t, Experts: 6, Layers: 1, Seed: 3})
	}
	for _, s := range []synth.Scaling{synth.Linear, synth.YaRN, synth.Llama3} {
		add("llama-"+string(s), synth.Config{Arch: "llama", Rope: s, RopeContext: 32})
	}
	add("qwen2-yarn", synth.Config{Arch: "qwen2", Rope: synth.YaRN, RopeContext: 32})
	add("llama-tied", synth.Config{Arch: "llama", Tied: true})
	add("qwen3-wide", synth.Config{Arch: "qwen3", HeadDim: 128, Heads: 8, Layers: 3, Type: quant.Q6_K})
	ps = append(ps,
		peer{name: "qwen3-0.6b-shape-Q8_0", large: true, c: synth.Config{
			Arch: "qwen3", Type: quant.Q8_0, Layers: 28, Hidden: 1024, FFN: 3072, Heads: 16, KVHeads: 8, HeadDim: 128,
			Vocab: 4096, Context: 4096, RopeBase: 1e6,
		}},
		peer{name: "qwen3moe-shape-Q8_0", large: true, c: synth.Config{
			Arch: "qwen3moe", Type: quant.Q8_0, Layers: 4, Hidden: 1024, FFN: 3072, Heads: 16, KVHeads: 4, HeadDim: 128,
			Experts: 32, ExpertsUsed: 8, ExpertFFN: 384, Vocab: 4096, Context: 4096, RopeBase: 1e6,
		}})
	return ps
}

// golden is what llama.cpp computed: see testdata/llamacpp/README.md.
type golden struct {
	vocab   int
	digest  string // FNV-1a of the file
	ids     []int32
	at      []position
	greedy  []int32   // the continuation after the last id
	margins []float64 // best minus second best logit at each of them
}

// position is the logits after ids[:at+1].
type position struct {
	at     int
	top    []int32   // the ten best
	logits []float64 // of top

	// Sums over all logits: plain, of squares, and with the signs of sign.
	sum, square, signed float64
}

// readGolden parses one file of testdata/llamacpp.
func readGolden(t *testing.T, name string) *golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "llamacpp", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{}
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if err := g.line(s.Text()); err != nil {
			t.Fatalf("%s.txt: %q: %v", name, s.Text(), err)
		}
	}
	if len(g.ids) == 0 || len(g.at) == 0 || len(g.greedy) != 64 || len(g.margins) != 64 {
		t.Fatalf("%s.txt is not complete", name)
	}
	return g
}

func (g *golden) line(line string) (err error) {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "model":
		at := strings.Index(rest, "vocab=")
		var layers, size int
		_, err = fmt.Sscanf(rest[at:], "vocab=%d layers=%d bytes=%d fnv1a=%s", &g.vocab, &layers, &size, &g.digest)
	case "ids":
		g.ids, err = parseIDs(rest)
	case "greedy":
		g.greedy, err = parseIDs(rest)
	case "margins":
		for _, f := range strings.Fields(rest) {
			v, e := strconv.ParseFloat(f, 64)
			if e != nil {
				return e
			}
			g.margins = append(g.margins, v)
		}
	case "at":
		return g.position(strings.Fields(rest))
	default:
		return fmt.Errorf("unknown line")
	}
	return err
}

func (g *golden) position(fields []string) error {
	at, err := strconv.Atoi(fields[0])
	if err != nil {
		return err
	}
	if n := len(g.at); n == 0 || g.at[n-1].at != at {
		g.at = append(g.at, position{at: at})
	}
	p := &g.at[len(g.at)-1]
	for _, f := range fields[1:] {
		if id, logit, ok := strings.Cut(f, ":"); ok {
			i, err1 := strconv.Atoi(id)
			v, err2 := strconv.ParseFloat(logit, 64)
			if err1 != nil || err2 != nil {
				return fmt.Errorf("bad logit %s", f)
			}
			p.top, p.logits = append(p.top, int32(i)), append(p.logits, v)
			continue
		}
		key, value, _ := strings.Cut(f, "=")
		if to := map[string]*float64{"sum": &p.sum, "sum2": &p.square, "project": &p.signed}[key]; to != nil {
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return err
			}
		}
	}
	return nil
}

func parseIDs(s string) (ids []int32, err error) {
	for _, f := range strings.Fields(s) {
		v, err := strconv.ParseInt(f, 10, 32)
		if err != nil {
			return nil, err
		}
		ids = append(ids, int32(v))
	}
	return ids, nil
}

// sign is +1 or -1 for logit i: the top bit of splitmix64.
func sign(i int) float64 {
	z := uint64(i)*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return 1 - 2*float64(z>>63)
}

// file is the peer's model, in memory or, if it is large, in a temporary file.
func (p *peer) file(t *testing.T, g *golden) *gguf.File {
	t.Helper()
	if !p.large {
		m := made(p.c)
		checkDigest(t, m.digest, g)
		return m.f
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	checkDigest(t, p.write(t, path), g)
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// write generates the model and returns its digest.
func (p *peer) write(t *testing.T, path string) uint64 {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	w := bufio.NewWriterSize(io.MultiWriter(out, h), 1<<20)
	if err := synth.Write(w, p.c); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return h.Sum64()
}

func checkDigest(t *testing.T, digest uint64, g *golden) {
	t.Helper()
	if have := fmt.Sprintf("%016x", digest); have != g.digest {
		t.Fatalf("the model's digest is %s, llama.cpp ran %s: regenerate the golden", have, g.digest)
	}
}

// prompt is the ids to be run: for experts, those at which no router
// hesitates.
func (p *peer) prompt(f *gguf.File) []int32 {
	const n = 40
	if p.c.Experts == 0 || p.large {
		return text(n, p.c.Vocab)
	}
	ids, _ := settled(reference.New(f), n, p.c.Vocab, 0.3)
	return ids
}

func TestWriteModelsForLlamaCpp(t *testing.T) {
	if *writeModels == "" {
		t.Skip("only with -write-models DIR, to make the goldens of testdata/llamacpp")
	}
	write := func(name string, ids []int32) {
		text := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
		if err := os.WriteFile(filepath.Join(*writeModels, name+".ids"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range peers() {
		p.write(t, filepath.Join(*writeModels, p.name+".gguf"))
		var f *gguf.File
		if !p.large {
			f = model(t, p.c)
		}
		write(p.name, p.prompt(f))
	}
	name := "embedded"
	if err := os.WriteFile(filepath.Join(*writeModels, name+".gguf"), embedded.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	write(name, embeddedPrompt(t, open(t, embeddedFile(t), engine.Config{})))
}

// How far two engines may be from each other, relative to the rms of the
// logits: both are off by what witnessTolerance derives, independently, with a
// cache of F16. llama.cpp rounds activations to F16 or BF16 for weights of
// those types, to within half a unit in the last place.
func peerTolerance(c synth.Config) float64 {
	layers := max(c.Layers, 2)
	if c.Layers == 1 {
		layers = 1
	}
	theirs := map[quant.Type]float64{quant.F16: 1.0 / (1 << 12), quant.BF16: 1.0 / (1 << 9)}[c.Type]
	tol := math.Hypot(math.Sqrt2*witnessTolerance(c.Type, layers, "f16"), 2*theirs*math.Sqrt(float64(4*layers+1)))
	if c.Experts > 8 {
		// Routers sometimes choose differently. With 8 of 32 experts and logits
		// of deviation 1.5 there are 7 experts per unit of logit at the limit, so
		// a difference of 0.03*sqrt(2) swaps the last expert in a tenth of all
		// cases; its share of the branch is a fifth, that of the sum a third of
		// this: 0.2/3*sqrt(0.1*4 layers).
		tol = math.Hypot(tol, 0.04)
	}
	return tol
}

// TestLogitsAgreeWithLlamaCpp compares the logits of three positions and then
// follows llama.cpp's greedy continuation for 64 tokens: at each step its token
// must be the engine's best too, or so close to it that the errors of both can
// make up the difference.
func TestLogitsAgreeWithLlamaCpp(t *testing.T) {
	for i, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && (p.large || i%4 != 0) {
				t.Skip("every fourth is enough for -short, and none of half a gigabyte")
			}
			g := readGolden(t, p.name)
			f := p.file(t, g)
			g.check(t, f, peerTolerance(p.c), p.c.Experts > 0 && !p.large)
		})
	}
}

// TestEmbeddedModelAgreesWithLlamaCpp does the same with the model that comes
// with Holdfast.
func TestEmbeddedModelAgreesWithLlamaCpp(t *testing.T) {
	g := readGolden(t, "embedded")
	h := fnv.New64a()
	h.Write(embedded.Bytes())
	checkDigest(t, h.Sum64(), g)
	f := embeddedFile(t)
	if ids := embeddedPrompt(t, open(t, f, engine.Config{})); !slices.Equal(ids, g.ids) {
		t.Errorf("the prompt is %v, llama.cpp ran %v", ids, g.ids)
	}
	g.check(t, f, peerTolerance(synth.Config{Type: quant.Q8_0, Layers: 8}), false)
}

func embeddedFile(t *testing.T) *gguf.File {
	t.Helper()
	f, err := gguf.Parse(embedded.Name, embedded.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func embeddedPrompt(t *testing.T, e *engine.Engine) []int32 {
	t.Helper()
	tok, err := e.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	return tok.Encode("// Copy copies from src to dst until either EOF is reached\n// on src or an error occurs.\nfunc Copy(dst Writer, src Reader) (written int64, err error) {\n\treturn ", true, true)
}

// check runs the golden's ids on f. With routed, steps at which a router
// hesitates, where the reference says so, are followed but not compared.
func (g *golden) check(t *testing.T, f *gguf.File, tol float64, routed bool) {
	e := open(t, f, engine.Config{Context: len(g.ids) + len(g.greedy)})
	s := sequence(t, e)
	var logits []float32
	scale := 0.0
	for i := range g.at {
		want := &g.at[i]
		scale = math.Sqrt(want.square / float64(g.vocab)) // rms of the logits
		logits = prefill(t, s, g.ids[s.Len():want.at+1]...)
		want.check(t, logits, scale, tol)
	}
	hesitates := func(int32) bool { return false }
	if routed {
		m := reference.New(f)
		for _, id := range g.ids {
			m.Forward(id)
		}
		hesitates = func(id int32) bool { m.Forward(id); return m.RouterGap < 3*1.5*math.Sqrt2*tol }
	}
	// The difference of two logits has an error of sqrt(2)*tol.
	near := 3 * math.Sqrt2 * tol * scale
	decided, unsure := 0, false
	for k, id := range g.greedy {
		top := best(logits)
		switch behind := float64(logits[top] - logits[id]); {
		case unsure:
		case behind > near:
			t.Errorf("step %d: llama.cpp's token %d is %.3f behind %d, want less than %.3f", k, id, behind, top, near)
		case g.margins[k] > near:
			decided++
			if top != id {
				t.Errorf("step %d: token %d, llama.cpp's is %d with a margin of %.3f", k, top, id, g.margins[k])
			}
		}
		if k+1 < len(g.greedy) {
			logits = decode(t, s, id)[0]
			unsure = hesitates(id)
		}
	}
	if decided < 4 {
		t.Errorf("only %d of 64 steps have a margin above %.3f: the test shows nothing", decided, near)
	}
	t.Logf("tolerance %.2g, %d of 64 greedy steps decided by more than %.2g", tol, decided, near)
}

// check compares logits at one position: the rms and the maximum of the
// difference at llama.cpp's ten best, and two digests of all logits.
func (p *position) check(t *testing.T, logits []float32, scale, tol float64) {
	t.Helper()
	square, worst := 0.0, 0.0
	for i, id := range p.top {
		d := (float64(logits[id]) - p.logits[i]) / scale
		square += d * d / float64(len(p.top))
		worst = max(worst, math.Abs(d))
	}
	var sum, signed float64
	for i, v := range logits {
		sum += float64(v)
		signed += float64(v) * sign(i)
	}
	// Differences share a part, so their mean is compared; with random signs
	// they are independent, and a sum of n grows with sqrt(n).
	n := float64(len(logits))
	for _, c := range []struct {
		what      string
		have, max float64
	}{
		{"rms difference of the ten best", math.Sqrt(square), 2 * tol},
		{"largest difference of the ten best", worst, 3 * tol},
		{"difference of the means", math.Abs(sum-p.sum) / n / scale, tol},
		{"difference of the signed sums", math.Abs(signed-p.signed) / math.Sqrt(n) / scale, 3 * tol},
	} {
		t.Logf("position %d: %s: %.2g of %.2g", p.at, c.what, c.have, c.max)
		if !(c.have <= c.max) {
			t.Errorf("position %d: %s: %.2g of the logits' rms, want at most %.2g", p.at, c.what, c.have, c.max)
		}
	}
}
