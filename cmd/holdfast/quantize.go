package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quantize"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// quantizeOptions is quantize's command line.
type quantizeOptions struct {
	in, out         string
	mix             quantize.Mix
	pure, requant   bool
	dryRun, verbose bool
	progress        bool
}

func quantizeMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var o quantizeOptions
	f := &cli.FlagSet{
		Synopsis: "holdfast quantize IN OUT TYPE [flags]",
		About: "Write the model IN to OUT with its tensors in TYPE, one of\n  " + typeNames() +
			"\nThe mixes (_S, _M, _L) choose types as llama-quantize does; Q4_K is Q4_K_M. Norms and\nvectors keep their type. OUT is replaced only when all of it is written.",
		Examples: []string{
			"holdfast quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M",
			"holdfast quantize model-f16.gguf - Q6_K --dry-run --verbose",
		},
	}
	f.Bool(&o.pure, "--pure", "one type for all tensors that are quantised")
	f.Bool(&o.requant, "--allow-requantize", "accept tensors that are quantised already")
	f.Bool(&o.dryRun, "--dry-run", "say what would be written, write nothing")
	f.Bool(&o.verbose, "-v, --verbose", "list every tensor")
	f.Bool(&o.progress, "--progress", "draw a progress bar even if stderr is no terminal")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil {
		err = o.arguments(rest)
	}
	if err == nil {
		err = o.run(ctx, stdout, stderr)
	}
	return finish(f, "quantize", err, stdout, stderr)
}

func typeNames() string {
	var names []string
	for _, m := range quantize.Mixes() {
		names = append(names, m.Name)
	}
	return strings.Join(names, " ")
}

func (o *quantizeOptions) arguments(rest []string) error {
	if len(rest) != 3 {
		return cli.Usagef("want IN, OUT and TYPE, got %d arguments", len(rest))
	}
	o.in, o.out = rest[0], rest[1]
	var ok bool
	if o.mix, ok = quantize.Lookup(rest[2]); !ok {
		hint := ""
		if near := cli.Nearest(rest[2], strings.Fields(typeNames())); near != "" {
			hint = " (did you mean " + near + "?)"
		}
		return cli.Usagef("unknown TYPE %q%s; the types are %s", rest[2], hint, typeNames())
	}
	return nil
}

func (o *quantizeOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if !o.dryRun {
		if err := cli.CheckOutput(o.out, o.in); err != nil {
			return err
		}
	}
	f, err := gguf.Open(o.in)
	if err != nil {
		return err
	}
	defer f.Close()
	plan, err := quantize.Plan(f, o.mix, o.pure)
	if err != nil {
		return err
	}
	if err := quantize.CheckSources(plan, o.requant); err != nil {
		if errors.Is(err, quantize.ErrRequantize) {
			return fmt.Errorf("%w; --allow-requantize does it all the same", err)
		}
		return err
	}
	var report bytes.Buffer
	o.describe(&report, plan)
	if _, err := stdout.Write(report.Bytes()); err != nil {
		return err
	}
	if o.dryRun {
		return nil
	}
	var bar *cli.Progress
	if o.progress || cli.IsTerminal(stderr) {
		bar = cli.NewProgress(stderr, sourceBytes(plan))
		defer bar.Clear()
	}
	return cli.WriteFile(o.out, func(w io.Writer) error {
		return quantize.Write(ctx, w, f, o.mix, plan, bar.Add)
	})
}

func sourceBytes(plan []quantize.Choice) (n int64) {
	for _, c := range plan {
		n += int64(len(c.Tensor.Data))
	}
	return n
}

// describe prints what a plan does: each stand-in type, each tensor if
// verbose, and the totals.
func (o *quantizeOptions) describe(w io.Writer, plan []quantize.Choice) {
	elements := 0
	for _, c := range plan {
		elements += c.Tensor.Elements()
		note := ""
		if c.Type != c.Wanted {
			note = fmt.Sprintf(" (%s wants rows of a multiple of %d, these have %d)", c.Wanted, c.Wanted.BlockElems(), c.Tensor.Dims[0])
		}
		if o.verbose || note != "" {
			fmt.Fprintf(w, "%-36s %v: %s -> %s%s\n", c.Tensor.Name, c.Tensor.Dims, c.Tensor.Type, c.Type, note)
		}
	}
	size := quantize.Bytes(plan)
	fmt.Fprintf(w, "%s: %d tensors, %.2f MiB -> %s: %.2f MiB, %s, %.2f bits per parameter\n", o.in, len(plan),
		float64(sourceBytes(plan))/(1<<20), o.out, float64(size)/(1<<20), o.mix.Name, 8*float64(size)/float64(max(elements, 1)))
}
