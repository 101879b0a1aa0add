package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch/trace"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// experimentFlags are the flags that change how programs are run.
type experimentFlags struct {
	engine.Experiment
	strict      bool
	base, reuse string
	residency   string
	hash        string
	digests     bool

	file  io.Closer // of hash
	trace *trace.Writer
}

func (x *experimentFlags) declare(f *cli.FlagSet) {
	x.reuse, x.residency = "on", "pageable"
	f.Group("experiments: find out why a lane misbehaves")
	f.Bool(&x.strict, "--strict", "a fault of a running kernel is an error, not a reason to run another")
	f.Bool(&x.Serial, "--serial", "every command waits for the one before it")
	f.Choice(&x.residency, "--residency R", "pages of arenas and caches: pageable or pinned", "pageable", "pinned", "non-migratable")
	f.Int(&x.Arena.Align, "--arena-align N", "alignment of transients in bytes, a power of two; 0 is 64", 0, 1<<30)
	f.Int(&x.Arena.Prefix, "--arena-prefix N", "unused bytes before the first transient", 0, 1<<30)
	f.String(&x.base, "--arena-base ADDR", "address of the arena, such as 0x7f0000000000")
	f.Choice(&x.reuse, "--arena-reuse on|off", "off gives every transient bytes of its own", "on", "off")
	f.Int(&x.Arena.Guard, "--guard N", "bytes of canary around every transient, checked after each stage (each command with --serial)", 0, 1<<30)
	f.Bool(&x.Poison, "--poison", "fresh transients hold NaNs")
	f.String(&x.Dump, "--dump DIR", "write every compiled program as JSON")
	f.String(&x.hash, "--hash FILE", "record what every command wrote, for holdfast diff; needs --serial")
	f.Bool(&x.digests, "--hash-digests", "record digests only: small, but a difference has no element")
}

// apply completes the configuration of engines for models from the flags and
// the environment (HOLDFAST_INJECT).
func (x *experimentFlags) apply(cfg *engine.Config, models ...string) error {
	var err error
	if x.base != "" {
		base, err := strconv.ParseUint(x.base, 0, 64)
		if err != nil {
			return cli.Usagef("--arena-base %q is no address", x.base)
		}
		x.ArenaBase = uintptr(base)
	}
	x.Arena.NoReuse = x.reuse == "off"
	if x.hash != "" && !x.Serial {
		return cli.Usagef("--hash needs --serial: commands that run at the same time have no order")
	}
	if x.hash != "" && len(models) != 1 {
		return cli.Usagef("--hash records one model, not %d", len(models))
	}
	if x.digests && x.hash == "" {
		return cli.Usagef("--hash-digests needs --hash")
	}
	if x.Inject, err = engine.ParseInject(os.Getenv("HOLDFAST_INJECT")); err != nil {
		return fmt.Errorf("HOLDFAST_INJECT: %w", err)
	}
	cfg.Strict = x.strict
	cfg.Residency = map[string]device.Residency{"pageable": device.Pageable, "pinned": device.Pinned, "non-migratable": device.NonMigratable}[x.residency]
	if x.hash != "" {
		model, err := modelDigest(models[0])
		if err != nil {
			return err
		}
		f, err := os.Create(x.hash)
		if err != nil {
			return err
		}
		x.file, x.trace = f, trace.NewWriter(f, model, x.digests)
		x.Watch = x.trace.Watch
	}
	cfg.Experiment = x.Experiment
	return nil
}

// close ends the trace.
func (x *experimentFlags) close() error {
	if x.trace == nil {
		return nil
	}
	return errors.Join(x.trace.End(), x.file.Close())
}

// reportFaults prints what the engine survived.
func reportFaults(w io.Writer, faults []engine.FaultRecord) {
	for _, f := range faults {
		lane := f.Lane
		if lane == "" {
			lane = "no lane to blame"
		}
		fmt.Fprintf(w, "fault: step %d, %s, %s in %s: %s: %s\n", f.Step, f.Kind, f.Op, lane, f.Then, f.Text)
	}
}
