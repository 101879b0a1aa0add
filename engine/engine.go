package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/all"
	"github.com/holdfast-llm/holdfast/device/gfx11"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/model"
	"github.com/holdfast-llm/holdfast/op"
	"github.com/holdfast-llm/holdfast/text/token"
)

// Config says what to run and how. Only File is required.
type Config struct {
	File *gguf.File // must stay open until Engine.Close

	Device string // cpu (""), or another that package device/all has
	// PrefillDevice runs the steps in which a sequence gets more than one token;
	// "" means Device. Both work on the same cache.
	PrefillDevice string
	Threads       int    // workers; 0 means all processors
	Context       int    // positions of a sequence; 0 means the model's, at most DefaultContext
	Batch         int    // prompt tokens a step takes at once; 0 means DefaultBatch
	Sequences     int    // sequences at once; 0 means 1
	CacheK        string // type of the cached keys: f16 (""), q8_0, bf16, f32
	CacheV        string // type of the cached values

	Disable []string // name prefixes of registrations not to be used

	// GFX11 is how the software GPU runs; its workers are Threads if it says none.
	GFX11 gfx11.Config

	// Strict makes a fault of a running kernel an error. Otherwise the kernel's
	// registration is quarantined and the step runs again on the next.
	Strict bool
	// Residency is what may happen to the pages of arenas and caches.
	Residency device.Residency
	Experiment

	// NoMemoryCheck runs even if the machine does not seem to have the memory.
	NoMemoryCheck bool
}

// Defaults of Config.
const (
	DefaultContext = 4096
	DefaultBatch   = 512
)

// Limits of Config, against slips of the keyboard.
const (
	maxBatch     = 1 << 14
	maxSequences = 1 << 10
	maxContext   = 1 << 28
)

// Experiment changes how programs are run, to find out why one misbehaves. The
// zero value changes nothing.
type Experiment struct {
	Serial    bool         // every command waits for the one before it
	Arena     device.Arena // where transients are placed
	ArenaBase uintptr      // address of the first program's arena, the others follow it; 0 leaves it to the system
	Poison    bool         // fresh transients hold NaNs
	Dump      string       // directory that every compiled program is written to
	Inject    []device.Injection
	// Watch, if set, sees every command that has ended. Steps count from 0.
	Watch func(step int, p *device.Program, w *device.Watched)
}

// Engine decodes one model. Its methods and those of its sequences are safe
// for concurrent use; steps run one after another.
type Engine struct {
	cfg     Config
	model   *model.Model
	dev     device.Device
	prefill device.Device // nil: dev
	cache   *kv.Cache

	tokenizer    func() (*token.Tokenizer, error)
	stopPopulate func() // waits: nothing touches the file afterwards

	mu       sync.Mutex // guards what follows; held while a step runs
	closed   bool
	graph    *op.Graph
	programs map[class]*program
	past     tally      // of programs out of use
	retiring []*program // to be closed before the next step
	compiled int
	steps    int           // run so far
	faulted  int           // how often a running kernel faulted
	faults   []FaultRecord // the latest
	// quarantined is, by class, the registrations that faulted and when.
	quarantined map[class]map[string]string
	free        []int // slots nobody holds
	batch       device.Batch
	items       []Item   // the steps of one sequence go through here
	single      [1]int32 // and its single token through here
	load        time.Duration
}

// New binds the model to a device and allocates the cache. Errors: what the
// file lacks or has that is not supported, values out of range, a device that
// there is not or that does not run the model, memory that the machine or the
// device does not have.
func New(cfg Config) (*Engine, error) {
	start := time.Now()
	if cfg.File == nil {
		return nil, errors.New("engine: no model file")
	}
	m, err := model.Open(cfg.File)
	if err != nil {
		return nil, err
	}
	typeK, typeV, err := cfg.complete(m.Hyper)
	if err != nil {
		return nil, err
	}
	layers := m.CacheLayers(typeK, typeV)
	if !cfg.NoMemoryCheck {
		if err := checkMemory(cfg.File.Size(), kv.Bytes(layers, cfg.Sequences, cfg.Context), availableMemory()); err != nil {
			return nil, err
		}
	}
	e := &Engine{cfg: cfg, model: m, programs: map[class]*program{}, quarantined: map[class]map[string]string{}, past: newTally()}
	if err := e.openDevices(); err != nil {
		return nil, err
	}
	if err := e.open(layers); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.tokenizer = sync.OnceValues(func() (*token.Tokenizer, error) { return token.New(cfg.File) })
	if !cfg.NoMemoryCheck { // it fits
		e.populate()
	}
	e.load = time.Since(start)
	return e, nil
}

// openDevices makes the devices.
func (e *Engine) openDevices() (err error) {
	options := all.Options{Threads: e.cfg.Threads, GFX11: e.cfg.GFX11}
	if e.dev, err = all.New(e.cfg.Device, options); err != nil {
		return err
	}
	if p := e.cfg.PrefillDevice; p != "" && p != e.dev.Name() {
		if e.prefill, err = all.New(p, options); err != nil {
			return errors.Join(err, e.dev.Close())
		}
	}
	return nil
}

// complete replaces zero values by defaults and checks ranges.
func (c *Config) complete(h *model.Hyper) (typeK, typeV quant.Type, err error) {
	setDefault := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	setDefault(&c.Context, min(h.Context, DefaultContext))
	setDefault(&c.Batch, DefaultBatch)
	setDefault(&c.Sequences, 1)
	for _, r := range []struct {
		name  string
		v     int
		limit int
	}{{"context", c.Context, maxContext}, {"batch", c.Batch, maxBatch}, {"sequences", c.Sequences, maxSequences}} {
		if r.v < 1 || r.v > r.limit {
			return 0, 0, fmt.Errorf("engine: %s %d, want 1 to %d", r.name, r.v, r.limit)
		}
	}
	if typeK, err = cacheType(c.CacheK); err == nil {
		typeV, err = cacheType(c.CacheV)
	}
	return typeK, typeV, err
}

func cacheType(name string) (quant.Type, error) {
	if name == "" {
		return quant.F16, nil
	}
	t, err := quant.ParseType(name)
	if err != nil || !kv.Supported(t) {
		return 0, fmt.Errorf("engine: cache type %q: supported are f16, q8_0, bf16 and f32", name)
	}
	return t, nil
}

// open allocates the cache and compiles the first programs: that of a single
// token at the start of a context, and that of prompts. Others follow as steps
// need them.
func (e *Engine) open(layers []kv.Layer) (err error) {
	if e.cache, err = kv.New(layers, e.cfg.Sequences, e.cfg.Context); err != nil {
		return err
	}
	if e.cfg.Residency == device.Pinned {
		if err := e.cache.Lock(); err != nil {
			return err
		}
	}
	e.graph = e.model.Graph(e.cache)
	for _, n := range []int{1, e.cfg.Batch} {
		if _, err := e.program(e.classOf(n, 1, 1, n > 1)); err != nil {
			return err
		}
	}
	for i := range e.cfg.Sequences {
		e.free = append(e.free, e.cfg.Sequences-1-i)
	}
	n := e.cfg.Batch
	e.batch = device.Batch{
		Tokens: make([]int32, 0, n), Pos: make([]int32, 0, n), Slot: make([]int32, 0, n), Output: make([]int32, 0, n),
	}
	e.items = make([]Item, 1)
	return nil
}

// populate maps the file's pages in the background. Without it every page's
// first use is a fault, and a mixture of experts goes on meeting new pages for
// many tokens. An error only means that the faults come after all.
func (e *Engine) populate() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = e.cfg.File.Populate(ctx)
	}()
	e.stopPopulate = func() { cancel(); <-done }
}

// Close ends the engine and its sequences. The file stays open.
func (e *Engine) Close() error {
	if e.stopPopulate != nil {
		e.stopPopulate()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var errs []error
	for _, p := range e.loaded() {
		errs = append(errs, p.exec.Close())
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close())
	}
	if e.prefill != nil {
		errs = append(errs, e.prefill.Close())
	}
	return errors.Join(append(errs, e.dev.Close())...)
}

// Tokenizer is the file's tokenizer, built on first use.
func (e *Engine) Tokenizer() (*token.Tokenizer, error) { return e.tokenizer() }

// File is the model's file.
func (e *Engine) File() *gguf.File { return e.cfg.File }

// Hyper is the model's hyperparameters.
func (e *Engine) Hyper() *model.Hyper { return e.model.Hyper }

// Context is the number of positions a sequence may have.
func (e *Engine) Context() int { return e.cfg.Context }

// Batch is the number of tokens a step takes at once.
func (e *Engine) Batch() int { return e.cfg.Batch }

// LoadTime is how long New took.
func (e *Engine) LoadTime() time.Duration { return e.load }

// watch is the watcher of the programs that steps run on.
func (e *Engine) watch() func(*program, *device.Watched) {
	if e.cfg.Watch == nil {
		return nil
	}
	return func(p *program, w *device.Watched) { e.cfg.Watch(e.steps, p.Program, w) }
}

// Device is the name of the device that runs; prompts may run on another.
func (e *Engine) Device() string { return e.dev.Name() }

// Describe says which devices run, for people.
func (e *Engine) Describe() string {
	if e.prefill != nil {
		return e.dev.Describe() + "; prompts on " + e.prefill.Describe()
	}
	return e.dev.Describe()
}
