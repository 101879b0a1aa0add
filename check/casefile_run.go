package check

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// Settings say how cases and dispatches are checked. What they leave out is as
// the case says.
type Settings struct {
	Options
	Sweep            // what it says takes the place of what the case says
	Builder *Builder // nil: sources are not built
}

// tools are those of a case: of the settings, of the case, or all there are.
func (s *Settings) tools(c *Case) []Tool {
	if s.Tools != nil {
		return s.Tools
	}
	var tools []Tool
	for _, t := range c.Tools {
		tools = append(tools, Tool(t))
	}
	return tools
}

// Run checks a case in each way of its sweep. What is wrong with the case itself
// is the result's Err.
func (c *Case) Run(ctx context.Context, s Settings) *Result {
	r := &Result{Name: c.Name}
	s.Tools = s.tools(c)
	sweep, err := c.sweep()
	sweep = s.over(sweep)
	var o *hsaco.Object
	if err == nil {
		if s.Builder == nil && c.Source != "" {
			err = errors.New("its source is not built here")
		} else if s.Builder == nil {
			o, err = hsaco.Open(c.path(c.Object))
		} else {
			o, err = s.Builder.object(c)
		}
	}
	if err != nil {
		r.Err = err
		return r
	}
	runAll(ctx, r, sweep, s.Options, func(run one) (digest, []string, error) {
		return c.once(ctx, o, run, s.Padding)
	})
	c.judge(r)
	return r
}

// digest is of what a run leaves in memory.
type digest [sha256.Size]byte

// runAll does each run of a sweep and adds it to r. once runs the kernel in one
// way and says what is wrong with the values.
func runAll(ctx context.Context, r *Result, sweep Sweep, o Options, once func(one) (digest, []string, error)) {
	var first digest
	runs := sweep.all()
	for i, run := range runs {
		session, err := NewSession(o)
		if err != nil {
			r.Err = err
			return
		}
		run.config.Observer = session
		left, wrong, err := once(run)
		result := session.Result(r.Name)
		if result.Err == nil && len(result.Faults) == 0 {
			result.Err = err
		}
		if ctx.Err() != nil {
			result.Err = ctx.Err()
		}
		flags := run.flags
		if len(runs) == 1 {
			flags = ""
		}
		r.add(result, flags)
		if r.Err != nil {
			return
		}
		if len(r.Wrong) == 0 && len(wrong) > 0 {
			r.Wrong = wrong
			if flags != "" {
				for j := range wrong {
					wrong[j] += " (with " + flags + ")"
				}
			}
		}
		if i == 0 {
			first = left
		} else if left != first && r.Changed == "" {
			r.Changed = fmt.Sprintf("what it writes with %s is not what it writes with %s", run.flags, runs[0].flags)
		}
	}
}

// once runs the case on a new device.
func (c *Case) once(ctx context.Context, o *hsaco.Object, run one, padding uint64) (left digest, wrong []string, err error) {
	dev, err := emu.New(run.config)
	if err != nil {
		return left, nil, err
	}
	m, err := dev.Load(o)
	if err != nil {
		return left, nil, err
	}
	k, err := m.Kernel(c.Kernel)
	if err != nil {
		return left, nil, fmt.Errorf("%w%s", err, tomlfile.Meant(c.Kernel, m.Kernels()))
	}
	c.nameArgs(k)
	buffers, args, env, err := c.memory(dev, &placer{layout: run.layout, guard: padding})
	if err != nil {
		return left, nil, err
	}
	grid, err := c.grid()
	if err != nil {
		return left, nil, err
	}
	packed, err := k.Pack(grid, c.Block, args...)
	if err != nil {
		return left, nil, err
	}
	if err := c.host("before", buffers); err != nil {
		return left, nil, err
	}
	dev.Submit(emu.Dispatch{Kernel: k, Grid: grid, Workgroup: c.Block, Kernarg: packed.Kernarg, DynamicLDS: packed.DynamicLDS})
	if err := c.host("queued", buffers); err != nil {
		return left, nil, err
	}
	if _, err := dev.Finish(ctx); err != nil {
		return left, nil, err
	}
	if err := c.host("after", buffers); err != nil {
		return left, nil, err
	}
	h := sha256.New()
	for _, b := range buffers {
		if b != nil {
			h.Write(b.Data)
		}
	}
	h.Sum(left[:0])
	wrong, err = c.differences(buffers, env)
	return left, wrong, err
}

// nameArgs gives arguments without a name that of the kernel's parameter, or
// their number.
func (c *Case) nameArgs(k *emu.Kernel) {
	for i := range c.Args {
		a := &c.Args[i]
		if a.Name == "" && k.Meta != nil && i < len(k.Meta.Args) {
			a.Name = k.Meta.Args[i].Name
		}
		if a.Name == "" {
			a.Name = fmt.Sprintf("argument %d", i)
		}
	}
}

// memory puts the buffers on the device, nil for arguments that are none, and
// makes the arguments.
func (c *Case) memory(dev *emu.Device, p *placer) (buffers []*emu.Buffer, args []any, env *environment, err error) {
	buffers = make([]*emu.Buffer, len(c.Args))
	env = &environment{scalars: map[string]float64{}, buffers: map[string]values{}}
	fail := func(i int, err error) ([]*emu.Buffer, []any, *environment, error) {
		return nil, nil, nil, fmt.Errorf("argument %d, %q: %w", i, c.Args[i].Name, err)
	}
	for i := range c.Args {
		a := &c.Args[i]
		if a.Null {
			args = append(args, nil)
			continue
		}
		if a.LDS > 0 {
			args = append(args, emu.LDSBytes(a.LDS))
			continue
		}
		e, err := elemOf(a.Type)
		if err != nil {
			return fail(i, err)
		}
		if a.Count == 0 {
			b, err := a.scalar(e)
			if err != nil {
				return fail(i, err)
			}
			env.scalars[a.Name] = e.get(b)
			args = append(args, b)
			continue
		}
		f, err := parseFill(a.Fill)
		if err != nil {
			return fail(i, err)
		}
		data, err := f.bytes(e, int(a.Count), env, c.Dir)
		if err != nil {
			return fail(i, err)
		}
		env.buffers[a.Name] = values{e, append([]byte(nil), data...)}
		where := p.place(a, uint64(len(data)))
		where.Uninitialised, where.NonCoherent = f.kind == "poison", a.NonCoherent
		b, err := dev.Map(a.Name, data, where)
		if err != nil {
			return fail(i, err)
		}
		b.ReadOnly, b.WriteOnly = a.ReadOnly, a.WriteOnly
		buffers[i] = b
		args = append(args, b)
	}
	return buffers, args, env, nil
}
