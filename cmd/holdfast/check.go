package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/check"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// checkFlags are the flags of check.
type checkFlags struct {
	tools            []string
	uniformWrites    bool
	dispatch         []string
	kernel           string
	grid, block      string
	args             repeated
	modes, schedules []string
	seed, budget     uint64
	seeds            int
	preempt          int
	layout           string
	padding          uint64
	minimise         bool
	exit             int
	output           checkOutput

	set *cli.FlagSet
}

func (c *checkFlags) declare() *cli.FlagSet {
	var tools []string
	for _, t := range check.Tools() {
		tools = append(tools, string(t))
	}
	f := &cli.FlagSet{
		Synopsis: "holdfast check [flags] CASE.toml | FOLDER/... | FILE.hsaco --kernel NAME ... | --dispatch DIR | -- run ...",
		About: "Name what is wrong with a GPU kernel, from its binary, on the software gfx11 device.\n" +
			"The status is 0 if it is clean, 1 if something was found, 2 if it could not be checked.",
		Examples: []string{
			"holdfast check k.hsaco --kernel scale --grid 4 --block 256 --arg x=f32x1024:random --arg out=f32x1024:poison --arg n=u32:1024",
			"holdfast check check/testdata/cases/...",
			"holdfast check --dispatch dump/program-000-tokens-1-keys-256/0012-rope_kv_store",
			"holdfast check --mode all --schedule all --seeds 5 case.toml",
			`holdfast check --sarif check.sarif --disasm check.s -- run --prefill-device cpu -p "func main" -n 2`,
		},
	}
	f.Choices(&c.tools, "--tool LIST", "what is looked for: "+strings.Join(tools, ", ")+"; all if absent", tools...)
	f.Bool(&c.uniformWrites, "--uniform-writes", "report lanes of one store that write the same value to the same place")
	f.Strings(&c.dispatch, "--dispatch DIR", "a recorded dispatch, as run --dump writes them")
	f.Group("a kernel of a code object")
	f.String(&c.kernel, "--kernel NAME", "its name")
	f.String(&c.grid, "--grid X,Y,Z", "workgroups")
	f.String(&c.block, "--block X,Y,Z", "work-items of a workgroup")
	f.Var(&c.args, "--arg ARG", "the next argument, [NAME=]TYPExCOUNT[:FILL], TYPE:VALUE, lds:BYTES or null; FILL is zero, byte:N, poison, random:SEED, iota, file:PATH or expr:E")
	f.Group("how it is run (the values of a case file, if absent)")
	f.Choices(&c.modes, "--mode LIST", "memory: coherent, relaxed or all", append([]string{"all"}, check.ModeNames()...)...)
	f.Choices(&c.schedules, "--schedule LIST", "whose turn it is: in-order, reverse (after barriers), round-robin, random or all", append([]string{"all"}, check.ScheduleNames()...)...)
	f.Uint64(&c.seed, "--seed N", "the first seed of everything that the device chooses")
	f.Int(&c.seeds, "--seeds N", "how many seeds, from the first on; 0 is 1", 0, 1<<20)
	f.Int(&c.preempt, "--preempt N", "set waves aside at N points that the seed chooses", 0, 1<<16)
	f.String(&c.layout, "--layout L", "where a case's buffers lie: all (alignments from 256 to 4096, prefixes, low and high addresses) or BASE,ALIGN,PREFIX")
	f.Uint64(&c.padding, "--padding N", "bytes on both sides of each buffer that are nobody's; 0 is 4096")
	f.Bool(&c.minimise, "--minimise", "make the grid and the buffers of a case smaller as long as it finds the same, and print it")
	f.Uint64(&c.budget, "--budget N", "instructions of waves that a dispatch may run; 0 is the device's limit")
	f.Group("what is printed")
	c.output.declare(f)
	f.Int(&c.exit, "--error-exitcode N", "status if something was found", 0, 255)
	return f
}

func checkMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	own, run := args, []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		own, run = args[:i], args[i+1:]
	}
	c := &checkFlags{exit: int(check.Faulty)}
	c.set = c.declare()
	rest, err := c.set.Parse(own, os.LookupEnv)
	if err != nil {
		return finish(c.set, "check", err, stdout, stderr)
	}
	d := &check.Document{}
	d.Version, _ = build()
	if run != nil {
		err = c.wholeRun(ctx, d, rest, run, stdin, stdout, stderr)
	} else {
		err = c.inputs(ctx, d, rest, stderr)
	}
	if err == nil {
		err = c.output.write(d, stdout)
	}
	if err != nil {
		if code := finish(c.set, "check", err, stdout, stderr); code == 0 || code == exitInterrupted {
			return code
		}
		return int(check.NotChecked)
	}
	status := check.StatusOf(d.Results)
	if status == check.Faulty {
		return c.exit
	}
	return int(status)
}

// options say what is looked for.
func (c *checkFlags) options() check.Options {
	o := check.Options{UniformWrites: c.uniformWrites}
	for _, t := range c.tools {
		o.Tools = append(o.Tools, check.Tool(t))
	}
	return o
}

// inputs checks what the arguments name and adds the results to d.
func (c *checkFlags) inputs(ctx context.Context, d *check.Document, rest []string, stderr io.Writer) error {
	sweep, err := check.NewSweep(c.modes, c.schedules, c.seed, c.seeds)
	if err != nil {
		return err
	}
	sweep.Budget, sweep.Preempt, sweep.Padding = c.budget, c.preempt, c.padding
	if c.layout != "" {
		if sweep.Layouts, err = check.ParseLayouts(c.layout); err != nil {
			return cli.Usagef("--%v", err)
		}
	}
	builder := &check.Builder{}
	s := check.Settings{Options: c.options(), Sweep: sweep, Builder: builder}
	jobs, err := c.jobs(d, rest, s)
	if err != nil {
		return err
	}
	d.Results = doJobs(ctx, jobs, stderr)
	return errors.Join(ctx.Err(), builder.Close())
}

// job is something to check.
type job struct {
	name string
	do   func(ctx context.Context) *check.Result
}

// jobs are what the arguments name.
func (c *checkFlags) jobs(d *check.Document, rest []string, s check.Settings) ([]job, error) {
	var jobs []job
	if len(c.args) > 0 && c.kernel == "" {
		return nil, cli.Usagef("--arg needs --kernel")
	}
	for _, dir := range c.dispatch {
		jobs = append(jobs, job{dir, func(ctx context.Context) *check.Result { return check.RunRecorded(ctx, dir, s) }})
	}
	for _, path := range rest {
		if c.kernel != "" || isELF(path) {
			x, err := c.quick(path)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, job{path, func(ctx context.Context) *check.Result { return c.runCase(ctx, x, s) }})
			continue
		}
		paths, err := check.FindCases(path)
		if err != nil {
			return nil, err
		}
		d.Cases = true
		for _, path := range paths {
			jobs = append(jobs, job{path, func(ctx context.Context) *check.Result {
				x, err := check.ReadCase(path)
				if err != nil {
					return &check.Result{Name: path, Err: err}
				}
				r := c.runCase(ctx, x, s)
				r.Name = path
				return r
			}})
		}
	}
	if len(jobs) == 0 {
		return nil, cli.Usagef("nothing to check: want a case file, a folder/..., a code object with --kernel, --dispatch or -- run")
	}
	return jobs, nil
}

// runCase checks a case, and makes it smaller if that is asked for.
func (c *checkFlags) runCase(ctx context.Context, x *check.Case, s check.Settings) *check.Result {
	r := x.Run(ctx, s)
	if c.minimise && len(r.Findings) > 0 {
		r.Minimal = x.Minimise(ctx, s, r).Text()
	}
	return r
}

// quick is the case that the flags describe.
func (c *checkFlags) quick(path string) (*check.Case, error) {
	x := &check.Case{Name: c.kernel, Object: path, Kernel: c.kernel}
	if c.kernel == "" {
		return nil, cli.Usagef("%s is a code object: which --kernel? (holdfast inspect lists them)", path)
	}
	var err error
	if x.Grid, err = extent("--grid", c.grid); err != nil {
		return nil, err
	}
	if x.Block, err = extent("--block", c.block); err != nil {
		return nil, err
	}
	for _, s := range c.args {
		a, err := check.ParseArg(s)
		if err != nil {
			return nil, cli.Usagef("--arg: %v", err)
		}
		x.Args = append(x.Args, a)
	}
	if err := x.Check(); err != nil {
		return nil, cli.Usagef("%v", err)
	}
	return x, nil
}

// extent reads up to three numbers with commas between them; the others are 1.
func extent(flag, s string) ([3]uint32, error) {
	e := [3]uint32{1, 1, 1}
	parts := strings.Split(s, ",")
	if len(parts) > len(e) {
		return e, cli.Usagef("%s %q: %d numbers, at most 3", flag, s, len(parts))
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil || n < 1 {
			return e, cli.Usagef("%s %q: want one to three numbers from 1 to %d, such as 4,1,1", flag, s, uint32(math.MaxUint32))
		}
		e[i] = uint32(n)
	}
	return e, nil
}

// wholeRun checks a command of this program, run, and adds the result to d.
func (c *checkFlags) wholeRun(ctx context.Context, d *check.Document, rest, run []string, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case len(rest) > 0:
		return cli.Usagef("unexpected argument %q before -- run", rest[0])
	case c.kernel != "" || len(c.dispatch) > 0:
		return cli.Usagef("--kernel and --dispatch are for one kernel, -- run is for a whole run")
	case len(run) == 0 || run[0] != "run":
		return cli.Usagef("after -- comes run and its flags")
	}
	for _, name := range []string{"--mode", "--schedule", "--seed", "--seeds", "--budget", "--preempt", "--layout", "--padding", "--minimise"} {
		if c.set.Given(name) {
			return cli.Usagef("%s: a whole run takes its own flags, after -- run: --mode, --schedule, --device-seed", name)
		}
	}
	session, err := check.NewSession(c.options())
	if err != nil {
		return err
	}
	r, err := parseRun(run[1:])
	if err == nil {
		err = r.watch(session)
	}
	if err == nil {
		err = r.run(ctx, stdin, stdout, stderr)
	}
	result := session.Result("run")
	if r.prefillDevice != "" && r.prefillDevice != "gfx11" {
		result.Summary.NotChecked = append(result.Summary.NotChecked, check.Gap{What: "the prompts, which ran on " + r.prefillDevice, Count: 1})
	}
	if err != nil && result.Summary.Dispatches == 0 {
		return fmt.Errorf("run: %w", err)
	}
	if err != nil && result.Err == nil && len(result.Faults) == 0 {
		result.Err = err
	}
	d.Results = []*check.Result{result}
	return ctx.Err()
}
