package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/bench"
	"github.com/holdfast-llm/holdfast/device/all"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// benchOptions is bench's command line.
type benchOptions struct {
	bench.Params
	disable           []string
	output, outputErr string
	verbose, progress bool
	kernels           bool
	gfx11             gfx11Flags
	experiment        experimentFlags
	listDevices       bool
	ignored           struct {
		numa    string
		prio    int
		offline bool
	}
}

// cacheTypes are the types a cache can have.
var cacheTypes = []string{"f16", "q8_0", "bf16", "f32"}

func (o *benchOptions) declare() *cli.FlagSet {
	const anyInt = math.MaxInt32
	f := &cli.FlagSet{
		Synopsis: "holdfast bench [flags]",
		About: "Measure prompt processing (pp) and generation (tg) with llama-bench's flags and formats.\n" +
			"Values are lists (512,1024), repeated flags, or ranges: first-last, first-last+step,\nfirst-last*factor. Every combination is run. Without -m the embedded model is used.",
		Examples: []string{
			"holdfast bench",
			"holdfast bench -m model.gguf -p 512 -n 128 -t 1-4",
			"holdfast bench -m model.gguf -p 0 -n 32 -d 0,2048,8192 -r 10 -o json",
			"holdfast bench -m model.gguf -o benchstat > new.txt && benchstat old.txt new.txt",
		},
	}
	f.Int(&o.Repetitions, "-r, --repetitions N", "times that each test is run", 1, 1<<20)
	f.Int(&o.DelaySec, "--delay N", "seconds to wait before each test", 0, 86400)
	f.Choice(&o.output, "-o, --output FORMAT", "printed to stdout: "+strings.Join(bench.Formats(), " "), append(bench.Formats(), "none")...)
	f.Choice(&o.outputErr, "-oe, --output-err FORMAT", "printed to stderr", append(bench.Formats(), "none")...)
	f.Bool(&o.progress, "--progress", "say on stderr what is running")
	f.Bool(&o.NoWarmup, "--no-warmup", "do not run each test once before timing it")
	f.Strings(&o.disable, "--disable PREFIX", "lanes not to be used, by name prefix (also HOLDFAST_DISABLE)")
	f.Bool(&o.listDevices, "--list-devices", "list the devices and exit")
	f.Bool(&o.verbose, "-v, --verbose", "list each test's declines on stderr")

	f.Bool(&o.kernels, "--kernels", "list on stderr what each kernel of --device gfx11 did: instructions, bytes, and the fewest bytes possible")

	f.Group("test parameters")
	f.Strings(&o.Model, "-m, --model FILE", "models")
	f.Ints(&o.NPrompt, "-p, --n-prompt N", "prompt tokens; 0 for no such test", 0, anyInt)
	f.Ints(&o.NGen, "-n, --n-gen N", "generated tokens; 0 for no such test", 0, anyInt)
	f.Var(&pairs{&o.PromptGen}, "-pg PP,TG", "prompt and generated tokens in one test; may be repeated")
	f.Ints(&o.NDepth, "-d, --n-depth N", "tokens in the context before the test", 0, anyInt)
	f.Ints(&o.NBatch, "-b, --batch-size N", "tokens given to the engine at once", 1, 1<<20)
	f.Ints(&o.NUBatch, "-ub, --ubatch-size N", "tokens of a step", 1, 1<<14)
	f.Choices(&o.TypeK, "-ctk, --cache-type-k TYPE", "type of cached keys: "+strings.Join(cacheTypes, " "), cacheTypes...)
	f.Choices(&o.TypeV, "-ctv, --cache-type-v TYPE", "type of cached values", cacheTypes...)
	f.Strings(&o.Devices, "-dev, --device NAMES", "what runs the model: "+strings.Join(all.Names(), ", ")+"; auto and none are cpu")
	f.Ints(&o.Threads, "-t, --threads N", "threads", 1, 1024)
	f.Choices(&o.FlashAttn, "-fa, --flash-attn on|off|auto", "recorded; lanes are chosen by what matches", "on", "off", "auto", "1", "0")
	f.Choices(&o.LoadMode, "-lm, --load-mode MODE", "none mmap mlock mmap+mlock", "none", "mmap", "mlock", "mmap+mlock", "dio")
	f.Var(&loadModes{&o.LoadMode, [2]string{"none", "mmap"}, false}, "-mmp, --mmap 0|1", "deprecated: see --load-mode")
	f.Var(&loadModes{&o.LoadMode, [2]string{"none", "dio"}, false}, "-dio, --direct-io 0|1", "deprecated: see --load-mode")

	f.Group("parameters of other devices, recorded and without effect on a CPU")
	f.Ints(&o.NGPULayers, "-ngl, --n-gpu-layers N", "layers on the GPU", -1, anyInt)
	f.Ints(&o.NCPUMoE, "-ncmoe, --n-cpu-moe N", "layers whose experts stay on the CPU", 0, anyInt)
	f.Choices(&o.SplitMode, "-sm, --split-mode MODE", "none layer row tensor", "none", "layer", "row", "tensor")
	f.Ints(&o.MainGPU, "-mg, --main-gpu N", "GPU of a model that is not split", 0, anyInt)
	f.Bools(&o.NoKVOffload, "-nkvo, --no-kv-offload 0|1", "keep the cache in the host's memory")
	f.Strings(&o.TensorSplit, "-ts, --tensor-split S0/S1/...", "shares of the GPUs")
	f.Bools(&o.NoOpOffload, "-nopo, --no-op-offload 0|1", "leave the host's operations to it")
	f.Bools(&o.NoHost, "--no-host 0|1", "no host buffers")
	f.Ints(&o.FitTarget, "-fitt, --fit-target MIB", "memory to leave free", 0, anyInt)
	f.Ints(&o.FitCtx, "-fitc, --fit-ctx N", "least context when fitting", 0, anyInt)
	f.Bool(&o.ignored.offline, "--offline", "never use the network: always so")

	o.gfx11.declare(f)
	o.experiment.declare(f)

	f.Group("accepted with their default only")
	f.Strings(&o.CPUMask, "-C, --cpu-mask HEX", "CPUs to run on")
	f.Bools(&o.CPUStrict, "--cpu-strict 0|1", "a CPU for each thread")
	f.Ints(&o.Poll, "--poll N", "how long idle threads spin, 0 to 100", 0, 100)
	f.Strings(&o.Override, "-ot, --override-tensor X=BUFFER", "buffers of tensors: none")
	f.Bools(&o.Embeddings, "-embd, --embeddings 0|1", "compute embeddings")
	f.Int(&o.ignored.prio, "--prio N", "priority of the process", -1, 3)
	f.String(&o.ignored.numa, "--numa MODE", "NUMA placement")
	return f
}

func benchMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := benchOptions{Params: bench.Defaults(), output: "md", outputErr: "none"}
	f := o.declare()
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) > 0 {
		err = cli.Usagef("unexpected argument %q: models go after -m", rest[0])
	}
	if err == nil {
		err = o.check()
	}
	if err == nil {
		err = o.run(ctx, stdout, stderr)
	}
	return finish(f, "bench", err, stdout, stderr)
}

// check refuses, before anything is printed, what the engine cannot honour.
func (o *benchOptions) check() error {
	if o.ignored.prio != 0 {
		return cli.Usagef("--prio %d: the process's priority cannot be chosen (0 is accepted)", o.ignored.prio)
	}
	if o.ignored.numa != "" {
		return cli.Usagef("--numa %s: NUMA placement is not supported", o.ignored.numa)
	}
	for i, v := range o.FlashAttn {
		switch v {
		case "1":
			o.FlashAttn[i] = "on"
		case "0":
			o.FlashAttn[i] = "off"
		}
	}
	var err error
	for i, v := range o.TensorSplit {
		if o.TensorSplit[i], err = tensorSplit(v); err != nil {
			return err
		}
	}
	for _, t := range o.Tests() {
		if err := bench.CheckTest(t); err != nil {
			return cli.Usagef("%s", strings.TrimPrefix(err.Error(), "bench: "))
		}
	}
	return nil
}

// tensorSplit writes shares as llama-bench does.
func tensorSplit(s string) (string, error) {
	shares := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == ';' })
	for i, share := range shares {
		v, err := strconv.ParseFloat(share, 32)
		if err != nil || !(v >= 0 && v <= math.MaxFloat32) {
			return "", cli.Usagef("--tensor-split %q: %q is not a share", s, share)
		}
		shares[i] = fmt.Sprintf("%.2f", v)
	}
	if len(shares) == 0 {
		return "", cli.Usagef("--tensor-split %q: no shares", s)
	}
	return strings.Join(shares, "/"), nil
}

func (o *benchOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.listDevices {
		_, err := fmt.Fprintln(stdout, "Available devices:\n  "+strings.Join(all.Names(), "\n  "))
		return err
	}
	_, commit := build()
	b := bench.Build{Commit: commit}
	var printers []bench.Printer
	for _, to := range []struct {
		format string
		w      io.Writer
	}{{o.output, stdout}, {o.outputErr, stderr}} {
		p, err := bench.NewPrinter(to.format, to.w, b)
		if err != nil {
			return err
		}
		if err := p.Header(o.Params); err != nil {
			return err
		}
		printers = append(printers, p)
	}
	var changed engine.Config
	if err := o.experiment.apply(&changed, o.Model...); err != nil {
		return err
	}
	runner := &bench.Engine{OpenModel: openModel, Disable: disabled(o.disable), Configure: func(cfg *engine.Config) {
		cfg.Strict, cfg.Residency, cfg.Experiment = changed.Strict, changed.Residency, changed.Experiment
		cfg.GFX11 = o.gfx11.config()
		cfg.GFX11.Traffic = o.kernels
	}}
	loop := bench.Loop{Runner: runner, Commit: b.Commit, Build: b.Number}
	if o.progress {
		loop.Progress = func(format string, args ...any) { fmt.Fprintf(stderr, "holdfast bench: "+format+"\n", args...) }
	}
	err := loop.Run(ctx, o.Params, func(r bench.Result) error {
		if o.verbose {
			fmt.Fprintf(stderr, "holdfast bench: %s: lane %s; %s memory; %d faults; declined: %s\n", r.Name(), r.Lane, r.Residency, r.Faults, strings.Join(r.Declined, ", "))
		}
		for _, p := range printers {
			if err := p.Result(r); err != nil {
				return err
			}
		}
		if o.kernels {
			return bench.WriteKernels(stderr, r)
		}
		return nil
	})
	err = errors.Join(err, runner.Close(), o.experiment.close())
	// The footer closes what the header opened, even after an error.
	for _, p := range printers {
		err = errors.Join(err, p.Footer())
	}
	return err
}

// pairs is the flag -pg.
type pairs struct{ p *[][2]int }

func (p *pairs) String() string { return "" }

func (p *pairs) Set(s string) error {
	prompt, gen, ok := strings.Cut(s, ",")
	a, errA := strconv.Atoi(prompt)
	b, errB := strconv.Atoi(gen)
	if !ok || errA != nil || errB != nil || a < 0 || b < 0 || a > math.MaxInt32 || b > math.MaxInt32 {
		return errors.New("want two numbers, such as 512,128")
	}
	*p.p = append(*p.p, [2]int{a, b})
	return nil
}

// loadModes is an old flag with 0s and 1s that stand for load modes.
type loadModes struct {
	p     *[]string
	modes [2]string // of 0 and 1
	set   bool
}

func (l *loadModes) String() string { return "" }

func (l *loadModes) Set(s string) error {
	if !l.set {
		*l.p, l.set = nil, true
	}
	for item := range strings.SplitSeq(s, ",") {
		on, err := cli.ParseBool(item)
		if err != nil {
			return err
		}
		mode := l.modes[0]
		if on {
			mode = l.modes[1]
		}
		*l.p = append(*l.p, mode)
	}
	return nil
}
