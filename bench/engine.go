package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/device/all"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/inspect"
)

// Engine is the Runner that times package engine. A model's file
// stays open from test to test; Close ends it.
type Engine struct {
	// OpenModel opens a model, or the embedded one if path is empty; nil is
	// gguf.Open. It is not asked for a file to be read into memory.
	OpenModel func(path string) (*gguf.File, error)
	Disable   []string // name prefixes of registrations not to be used
	// Configure, if not nil, completes each engine's configuration.
	Configure func(*engine.Config)

	file *gguf.File
	path string // with mode, what file was opened as
	mode string
}

// Open implements Runner.
func (r *Engine) Open(t Test) (Session, error) {
	if err := CheckTest(t); err != nil {
		return nil, err
	}
	f, err := r.open(t.Model, t.LoadMode)
	if err != nil {
		return nil, err
	}
	cfg := engine.Config{
		File: f, Threads: t.Threads, Disable: r.Disable,
		Context: max(1, t.NPrompt+t.NGen+t.NDepth), Batch: min(t.NBatch, t.NUBatch),
		CacheK: t.TypeK, CacheV: t.TypeV, Device: deviceName(t),
	}
	if r.Configure != nil {
		r.Configure(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	seq, err := e.NewSequence()
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	s := &engineSession{engine: e, seq: seq, file: f, bos: -1, rng: rand.New(rand.NewPCG(1, 2))}
	s.info = Info{
		ModelFile: f.Name, ModelType: inspect.Description(f),
		CPU: cpuName(), Backends: strings.ToUpper(e.Device()), DeviceKind: e.Device(), Residency: cfg.Residency.String(),
	}
	elements, bytes := inspect.Size(f)
	s.info.ModelParams, s.info.ModelBytes = int64(elements), bytes
	if addsBOS(f) {
		if id, ok := f.Int("tokenizer.ggml.bos_token_id"); ok && id >= 0 && id < int64(e.Hyper().Vocab) {
			s.bos = int32(id)
		}
	}
	return s, nil
}

// open opens a model, or keeps the one that is open.
func (r *Engine) open(path, mode string) (*gguf.File, error) {
	if r.file != nil && r.path == path && r.mode == mode {
		return r.file, nil
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	f, err := r.load(path, mode)
	if err != nil {
		return nil, err
	}
	if strings.Contains(mode, "mlock") {
		if err := f.Lock(); err != nil {
			return nil, errors.Join(fmt.Errorf("bench: load mode %s: %w", mode, err), f.Close())
		}
	}
	r.file, r.path, r.mode = f, path, mode
	return f, nil
}

func (r *Engine) load(path, mode string) (*gguf.File, error) {
	if mode == "none" && path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return gguf.Parse(path, b)
	}
	if r.OpenModel != nil {
		return r.OpenModel(path)
	}
	return gguf.Open(path)
}

// Close ends the model that is open.
func (r *Engine) Close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// CheckTest refuses what the engine would not honour. Parameters of GPUs are
// accepted: without one they mean nothing.
func CheckTest(t Test) error {
	switch {
	case t.CPUMask != "0x0":
		return fmt.Errorf("bench: CPU mask %s: workers cannot be bound to chosen CPUs (0x0 leaves them free)", t.CPUMask)
	case t.CPUStrict:
		return errors.New("bench: strict CPU placement is not supported")
	case t.Poll != 50:
		return fmt.Errorf("bench: poll %d: how long workers spin cannot be chosen (50 is the default)", t.Poll)
	case t.Embeddings:
		return errors.New("bench: embeddings are not supported")
	case t.LoadMode == "dio":
		return errors.New("bench: load mode dio is not supported (none, mmap, mlock and mmap+mlock are)")
	case deviceName(t) == "":
		return fmt.Errorf("bench: device %q is not there: auto and none are the CPU, and there are %s", t.Devices, strings.Join(all.Names(), ", "))
	case t.Override != "none":
		return fmt.Errorf("bench: tensor override %q: the CPU's is the only buffer", t.Override)
	}
	return nil
}

// deviceName is the device of a test; "" if there is none of that name.
func deviceName(t Test) string {
	switch {
	case t.Devices == "auto" || t.Devices == "none":
		return all.Names()[0]
	case slices.Contains(all.Names(), t.Devices):
		return t.Devices
	}
	return ""
}

// addsBOS says whether prompts start with a BOS token: by the file, else by
// the habit of its tokenizer.
func addsBOS(f *gguf.File) bool {
	if add, ok := f.Bool("tokenizer.ggml.add_bos_token"); ok {
		return add
	}
	model, _ := f.String("tokenizer.ggml.model")
	return model == "llama"
}

// engineSession is a sequence of an engine of its own.
type engineSession struct {
	engine *engine.Engine
	seq    *engine.Sequence
	file   *gguf.File
	info   Info
	bos    int32 // -1: none
	rng    *rand.Rand
	tokens []int32
	before engine.Record // at the last call of Lanes
	counts []engine.KernelCount
}

func (s *engineSession) Info() Info { return s.info }

func (s *engineSession) random() int32 { return int32(s.rng.IntN(s.engine.Hyper().Vocab)) }

// first is the token that starts a run: llama-bench's rule, whatever the depth.
func (s *engineSession) first() int32 {
	if s.bos >= 0 {
		return s.bos
	}
	return s.random()
}

func (s *engineSession) Prompt(ctx context.Context, n int) error {
	s.tokens = slices.Grow(s.tokens[:0], n)[:n]
	s.tokens[0] = s.first()
	for i := 1; i < n; i++ {
		s.tokens[i] = s.random()
	}
	_, err := s.seq.Prefill(ctx, s.tokens)
	return err
}

func (s *engineSession) Generate(ctx context.Context, n int) error {
	token := s.first()
	for range n {
		if _, err := s.seq.Decode(ctx, token); err != nil {
			return err
		}
		token = s.random()
	}
	return nil
}

func (s *engineSession) Keep(n int) { s.seq.Truncate(n) }

// Lanes compares the engine's record with that of the last call.
func (s *engineSession) Lanes() Lanes {
	now := s.engine.Record()
	before := s.before
	s.before = now
	var l Lanes
	var names []string
	for _, c := range now.Lanes {
		if strings.HasPrefix(c.Lane, "attention.") && c.Count > laneCount(before, c.Lane) {
			names = append(names, c.Lane)
			l.Splits = max(l.Splits, c.Splits, 1) // one pass over the keys is no split
		}
	}
	l.Lane = strings.Join(names, "+")
	l.Faults = now.Faulted - before.Faulted
	counts := s.engine.Kernels()
	l.Kernels, s.counts = kernelsSince(counts, s.counts), counts
	for _, d := range now.Declines {
		if d.Count > declineCount(before, d) {
			l.Declined = append(l.Declined, fmt.Sprintf("%s: %s", d.Lane, d.Reason))
		}
	}
	return l
}

// kernelsSince is what kernels did between two counts.
func kernelsSince(now, before []engine.KernelCount) []engine.KernelCount {
	var since []engine.KernelCount
	for _, k := range now {
		for _, b := range before {
			if b.Kernel == k.Kernel {
				k.Launches -= b.Launches
				k.Instructions -= b.Instructions
				k.LaneInstructions -= b.LaneInstructions
				k.Requested -= b.Requested
				k.Touched -= b.Touched
			}
		}
		if k.Launches > 0 {
			since = append(since, k)
		}
	}
	return since
}

func laneCount(r engine.Record, lane string) int {
	for _, c := range r.Lanes {
		if c.Lane == lane {
			return c.Count
		}
	}
	return 0
}

func declineCount(r engine.Record, d engine.DeclineCount) int {
	for _, c := range r.Declines {
		if c.Lane == d.Lane && c.Reason == d.Reason {
			return c.Count
		}
	}
	return 0
}

func (s *engineSession) Close() error {
	s.seq.Close()
	return s.engine.Close()
}
