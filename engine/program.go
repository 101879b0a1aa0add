package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/op"
)

// class is a shape of step: everything that a program is compiled for. Steps
// of a class share a program.
type class struct {
	tokens, outputs, keys int
	prompt                bool // on the device for prompts, if that is another
}

// The largest batches of the programs between that of a single token and that
// of prompts: two rows still run on the kernels of one, and the split lanes
// take up to 16.
var smallBatches = [...]int{1, 2, 16}

// keyClasses are the depths at which split attention changes its reducer;
// beyond, classes are powers of two.
var keyClasses = [...]int{256, 2048}

// classOf is the class of a batch of n tokens and m outputs whose rows attend
// up to keys positions; prompt says that one sequence has several of them.
// Prompts share one class for all depths: no lane of
// theirs depends on it.
func (e *Engine) classOf(n, m, keys int, prompt bool) class {
	c := class{tokens: e.cfg.Batch, prompt: prompt && e.prefill != nil}
	for _, small := range smallBatches {
		if n <= small && small < c.tokens {
			c.tokens = small
			break
		}
	}
	c.outputs = min(c.tokens, e.cfg.Sequences)
	if c.tokens <= smallBatches[len(smallBatches)-1] {
		c.keys = min(keyClass(keys), e.cfg.Context)
	}
	return c
}

func keyClass(keys int) int {
	for _, k := range keyClasses {
		if keys <= k {
			return k
		}
	}
	return 1 << bits.Len(uint(keys-1))
}

// program is a compiled class and how often it ran.
type program struct {
	*device.Program
	class   class
	exec    device.Executable
	runs    int
	serial  int // number in the order of compilation, for dumps
	compile time.Duration
}

// deviceOf is the device that runs a class.
func (e *Engine) deviceOf(c class) device.Device {
	if c.prompt {
		return e.prefill
	}
	return e.dev
}

// program is the one of a class, compiled when it is first needed.
func (e *Engine) program(c class) (*program, error) {
	if p, ok := e.programs[c]; ok {
		return p, nil
	}
	p, err := e.compile(c, e.cfg.Serial, e.watch())
	if err != nil {
		return nil, err
	}
	e.programs[c] = p
	return p, nil
}

// compile builds and loads a program. watch may be nil.
func (e *Engine) compile(c class, serial bool, watch func(*program, *device.Watched)) (*program, error) {
	start := time.Now()
	p, err := dispatch.Compile(e.deviceOf(c), e.graph, device.Limits{Tokens: c.tokens, Outputs: c.outputs, Keys: c.keys}, dispatch.Options{
		Disable: e.cfg.Disable, Quarantined: e.quarantined[c], Serial: serial, Arena: e.cfg.Arena,
	})
	if err != nil {
		return nil, err
	}
	q := &program{Program: p, class: c, serial: e.compiled}
	load := device.LoadOptions{Residency: e.cfg.Residency, Base: e.cfg.ArenaBase, Poison: e.cfg.Poison, Inject: e.cfg.Inject}
	if watch != nil {
		load.Watch = func(w *device.Watched) { watch(q, w) }
	}
	if q.exec, err = e.deviceOf(c).Load(p, load); err != nil {
		return nil, err
	}
	if e.cfg.ArenaBase != 0 {
		const page = 64 << 10 // or a multiple of it
		e.cfg.ArenaBase += uintptr(p.ArenaBytes+page) &^ (page - 1)
	}
	q.compile = time.Since(start)
	e.compiled++
	if err := e.dump(q); err != nil {
		return nil, errors.Join(err, q.exec.Close())
	}
	return q, nil
}

// retire takes a program out of use. What it ran stays on record.
func (e *Engine) retire(p *program) error {
	if e.programs[p.class] == p {
		delete(e.programs, p.class)
	}
	e.past.add(p)
	return p.exec.Close()
}

// loaded is the programs that have not been closed.
func (e *Engine) loaded() []*program {
	return append(slices.Collect(maps.Values(e.programs)), e.retiring...)
}

// dump writes a program to Config.Dump. Where the device can, the program's
// first run is written beside it, launch by launch.
func (e *Engine) dump(p *program) error {
	if e.cfg.Dump == "" {
		return nil
	}
	if err := os.MkdirAll(e.cfg.Dump, 0o777); err != nil {
		return err
	}
	name := fmt.Sprintf("program-%03d-tokens-%d-keys-%d.json", p.serial, p.class.tokens, p.class.keys)
	f, err := os.Create(filepath.Join(e.cfg.Dump, name))
	if err != nil {
		return err
	}
	err = errors.Join(dispatch.Dump(f, p.Program, p.loaded()), f.Close())
	if r, ok := p.exec.(interface{ Record(dir string) }); ok && err == nil {
		r.Record(strings.TrimSuffix(f.Name(), ".json"))
	}
	return err
}

// loaded is what the device says of where a program is.
func (p *program) loaded() dispatch.Loaded {
	var l dispatch.Loaded
	if t, ok := p.exec.(interface{ Tasks() []int }); ok {
		l.Tasks = t.Tasks()
	}
	if a, ok := p.exec.(interface {
		Address(v *op.Value) (uint64, bool)
	}); ok {
		l.Address = a.Address
	}
	return l
}

// Plan is the program of a step without running it.
type Plan struct {
	Program *device.Program
	Loaded  dispatch.Loaded
	Compile time.Duration // to choose, place and load
}

// Plan compiles the program that a step of so many tokens runs at a depth: a
// sequence that has that many tokens already. Errors: out of range, or nothing
// takes an operation.
func (e *Engine) Plan(tokens, depth int) (*Plan, error) {
	if tokens < 1 || depth < 0 || tokens > e.cfg.Batch || depth > e.cfg.Context-tokens {
		return nil, fmt.Errorf("engine: a step of %d tokens at depth %d: batches have up to %d, the context %d", tokens, depth, e.cfg.Batch, e.cfg.Context)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	p, err := e.program(e.classOf(tokens, 1, depth+tokens, tokens > 1))
	if err != nil {
		return nil, err
	}
	return &Plan{Program: p.Program, Loaded: p.loaded(), Compile: p.compile}, nil
}
