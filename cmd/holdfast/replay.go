package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

func replayMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	f := &cli.FlagSet{
		Synopsis: "holdfast replay [flags] FOLDER",
		About: "Run a recorded dispatch alone on the software gfx11 device, at its addresses, and compare what it writes\n" +
			"with what was recorded (see run --device gfx11 --dump).\n" +
			"The status is 0 if it is equal, 1 if it differs or faults, 2 if it cannot be run.",
		Examples: []string{
			"holdfast run --device gfx11 -p \"x := \" -n 1 --dump dump",
			"holdfast replay dump/program-000-tokens-1-keys-256/0012-rope_kv_store",
			"holdfast replay --mode relaxed --schedule random --device-seed 7 dump/program-000-tokens-1-keys-256/0012-rope_kv_store",
		},
	}
	var device softwareFlags
	f.Group("the software gfx11 device")
	device.declare(f)
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) != 1 {
		err = cli.Usagef("want a folder, got %d arguments", len(rest))
	}
	if err != nil {
		return finish(f, "replay", err, stdout, stderr)
	}
	equal, err := replay(ctx, stdout, rest[0], device.config())
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "holdfast replay: %v\n", err)
		return exitIncomparable
	case !equal:
		return exitDiffer
	}
	return 0
}

// replay runs the dispatch in dir and prints how it differs from its record.
func replay(ctx context.Context, w io.Writer, dir string, c emu.Config) (equal bool, err error) {
	d, err := recorded.Read(dir)
	if err != nil {
		return false, err
	}
	dev, err := emu.New(c)
	if err != nil {
		return false, err
	}
	l, err := d.Load(dev)
	if err != nil {
		return false, err
	}
	report, err := dev.Run(ctx, l.Dispatch)
	if report == nil || ctx.Err() != nil {
		return false, err
	}
	fmt.Fprintf(w, "%s: %d workgroups, %d waves, %d instructions, %d of lanes\n", d.Kernel, report.Workgroups, report.Waves, report.Instructions, report.LaneInstructions)
	for _, a := range report.Approximate() {
		fmt.Fprintf(w, "approximate: %s, %d times: %s\n", a.Op.Name, a.Count, a.Fidelity.Approximate)
	}
	if err != nil {
		fmt.Fprintf(w, "%v\n", err)
		return false, nil
	}
	diffs, known := d.Differences(l)
	for _, x := range diffs {
		fmt.Fprintln(w, x)
	}
	fmt.Fprintf(w, "%d of %d buffers as recorded, %d more read only or not known\n", known-len(diffs), known, len(d.Allocations)-known)
	return len(diffs) == 0, nil
}
