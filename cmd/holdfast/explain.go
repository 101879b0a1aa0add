package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/all"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// explainOptions is explain's command line.
type explainOptions struct {
	model                 string
	device, prefillDevice string
	depth, tokens         int
	threads               int
	cacheK, cacheV        string
	disable               []string
	asJSON, all           bool
	reasons               bool
	gfx11                 gfx11Flags
	experiment            experimentFlags
}

func (o *explainOptions) declare() *cli.FlagSet {
	f := &cli.FlagSet{
		Synopsis: "holdfast explain [-m FILE] [-d DEPTH] [flags]",
		About: "Show how a step is run without running it: each operation, the registration that was\n" +
			"chosen, those that declined and why, splits, and every transient with its size.",
		Examples: []string{
			"holdfast explain -m model.gguf -d 2100",
			"holdfast explain -m model.gguf -d 2100 --disable attention.decode_split",
			"holdfast explain -m model.gguf -d 8192 --tokens 4 --json | jq .arena",
			"holdfast explain --reasons",
		},
	}
	f.String(&o.model, "-m, --model FILE", "GGUF file; the embedded model if absent")
	f.Choice(&o.device, "--device NAME", "what runs the model: "+strings.Join(all.Names(), ", "), all.Names()...)
	f.Choice(&o.prefillDevice, "--prefill-device NAME", "what runs the steps of prompts, on the same cache; as --device if absent", all.Names()...)
	f.Int(&o.depth, "-d, --n-depth N", "tokens in the sequence before the step", 0, 1<<27)
	f.Int(&o.tokens, "--tokens N", "tokens of the step", 1, 1<<14)
	f.Int(&o.threads, "-t, --threads N", "worker threads; 0 is all processors", 0, 1024)
	f.String(&o.cacheK, "-ctk, --cache-type-k TYPE", "type of the cached keys: f16, q8_0, bf16, f32")
	f.String(&o.cacheV, "-ctv, --cache-type-v TYPE", "type of the cached values")
	f.Strings(&o.disable, "--disable PREFIX", "lanes not to be used, by name prefix (also HOLDFAST_DISABLE)")
	f.Bool(&o.asJSON, "--json", "print the program as JSON")
	f.Bool(&o.all, "--all", "a line for every layer")
	f.Bool(&o.reasons, "--reasons", "list the reasons for declining and what they mean")
	o.gfx11.declare(f)
	o.experiment.declare(f)
	return f
}

func explainMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := explainOptions{device: "cpu", tokens: 1, cacheK: "f16", cacheV: "f16"}
	f := o.declare()
	rest, err := f.Parse(args, os.LookupEnv)
	switch {
	case err != nil:
	case len(rest) > 0:
		err = cli.Usagef("unexpected argument %q: the model goes after -m", rest[0])
	case o.reasons:
		err = printReasons(stdout, o.asJSON)
	default:
		err = o.run(stdout)
	}
	return finish(f, "explain", err, stdout, stderr)
}

func printReasons(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(device.Reasons())
	}
	for _, r := range device.Reasons() {
		if _, err := fmt.Fprintf(w, "%-12s %s\n", r.Reason, r.Meaning); err != nil {
			return err
		}
	}
	return nil
}

func (o *explainOptions) run(w io.Writer) error {
	if o.experiment.hash != "" {
		return cli.Usagef("--hash: nothing is run that could be recorded")
	}
	cfg := engine.Config{
		Device: o.device, PrefillDevice: o.prefillDevice, GFX11: o.gfx11.config(), Threads: o.threads, CacheK: o.cacheK, CacheV: o.cacheV, Disable: disabled(o.disable),
		Context: max(o.depth+o.tokens, engine.DefaultContext), Batch: max(o.tokens, engine.DefaultBatch),
		NoMemoryCheck: true, // nothing is run
	}
	if err := o.experiment.apply(&cfg, o.model); err != nil {
		return err
	}
	e, closeModel, err := openEngine(o.model, cfg)
	if err != nil {
		return err
	}
	defer closeModel()
	plan, err := e.Plan(o.tokens, o.depth)
	if err != nil {
		return err
	}
	p := plan.Program
	if o.asJSON {
		return dispatch.Dump(w, p, plan.Loaded)
	}
	keys := "any"
	if p.Limits.Keys > 0 {
		keys = fmt.Sprint("up to ", p.Limits.Keys)
	}
	fmt.Fprintf(w, "%s: %d tokens at depth %d run on the program for up to %d tokens, %s keys (%s)\n", e.File().Name, o.tokens, o.depth, p.Limits.Tokens, keys, e.Describe())
	waits := 0
	for _, l := range p.Launches {
		if l.Wait {
			waits++
		}
	}
	fmt.Fprintf(w, "%d operations in %d commands with %d waits; arena %d bytes; compiled in %s\n\n",
		len(p.Decisions), len(p.Launches), waits, p.ArenaBytes, plan.Compile.Round(10*time.Microsecond))
	return dispatch.Explain(w, p, o.all)
}
