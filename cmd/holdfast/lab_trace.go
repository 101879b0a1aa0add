package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/amd/kfd"
	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/lab/trace"
)

func labTraceCommands() []command {
	return []command{
		{"record", "write down what the KFD tells of evictions, migrations and faults", labTraceRecordMain},
		{"read", "list the events and faults in recorded texts", labTraceReadMain},
		{"correlate", "ask whether bad requests and events come together", labTraceCorrelateMain},
	}
}

func labTraceMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	usage := func(w io.Writer) {
		fmt.Fprint(w, "Read what drivers and runtimes say of a GPU.\n\nusage: holdfast lab trace COMMAND [flags]\n\ncommands:\n")
		for _, c := range labTraceCommands() {
			fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
		}
	}
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	var names []string
	for _, c := range labTraceCommands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], stdin, stdout, stderr)
		}
		names = append(names, c.name)
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		usage(stdout)
		return 0
	}
	hint := ""
	if near := cli.Nearest(args[0], names); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	fmt.Fprintf(stderr, "holdfast lab trace: unknown command %q%s; holdfast lab trace help lists the commands\n", args[0], hint)
	return 2
}

func labTraceRecordMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var out string
	var all bool
	seconds := 0
	device, topology := kfd.Device, kfd.Topology
	f := &cli.FlagSet{
		Synopsis: "holdfast lab trace record [flags]",
		About: "Write down the events of every GPU that the KFD has, a line each as it gives them, until\n" +
			"interrupted. Times are CLOCK_BOOTTIME's, as lab probe's are. Needs Linux, AMD's driver\n" +
			"and the right to open /dev/kfd.",
		Examples: []string{"holdfast lab trace record -o events.smi", "sudo holdfast lab trace record --all -o events.smi --seconds 60"},
	}
	f.String(&out, "-o, --output FILE", "where to (default: standard output)")
	f.Bool(&all, "--all", "the events of all processes, which needs the superuser")
	f.Int(&seconds, "--seconds N", "stop after so many; 0 is never", 0, 1<<30)
	f.Group("another driver's paths")
	f.String(&device, "--device FILE", "the driver")
	f.String(&topology, "--topology DIR", "where its nodes are")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) > 0 {
		err = cli.Usagef("unexpected argument %q", rest[0])
	}
	if err == nil {
		if seconds > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
			defer cancel()
		}
		err = labTraceRecord(ctx, device, topology, out, all, stdout, stderr)
	}
	return finish(f, "lab trace record", err, stdout, stderr)
}

func labTraceRecord(ctx context.Context, device, topology, out string, all bool, stdout, stderr io.Writer) error {
	gpus, err := kfd.GPUs(topology)
	if err != nil {
		return err
	}
	mask := kfd.Events
	if all {
		mask |= kfd.Mask(kfd.AllProcesses)
	}
	var sources []io.ReadCloser
	closeAll := func() {
		for _, s := range sources {
			s.Close()
		}
	}
	for _, g := range gpus {
		s, err := kfd.Open(device, g, mask)
		if err != nil {
			closeAll()
			return err
		}
		sources = append(sources, s)
	}
	w := stdout
	if out != "" {
		file, err := os.OpenFile(out, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err != nil {
			closeAll()
			return err
		}
		defer file.Close()
		w = file
	}
	fmt.Fprintf(stderr, "recording %d GPUs; interrupt to stop\n", len(gpus))
	return kfd.Record(ctx, w, sources)
}

func labTraceReadMain(_ context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var asJSON, faults bool
	var kinds []string
	f := &cli.FlagSet{
		Synopsis: "holdfast lab trace read [flags] FILE|-",
		About: "List the events and faults in a file: the KFD's event lines, the kernel's log, messages of\n" +
			"ROCr and HRX, also mixed and among others; or rocprofv3's KFD records in CSV or JSON.",
		Examples: []string{"holdfast lab trace read events.smi", "dmesg | holdfast lab trace read - --faults", "holdfast lab trace read events.smi --json --kind eviction,restore"},
	}
	f.Choices(&kinds, "--kind KIND[,KIND...]", "only these: "+strings.Join(trace.KindNames(), ", "), trace.KindNames()...)
	f.Bool(&faults, "--faults", "only faults")
	f.Bool(&asJSON, "--json", "print JSON, a line for each")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) != 1 {
		err = cli.Usagef("want one file, got %d", len(rest))
	}
	var t *trace.Trace
	switch {
	case err != nil:
	case rest[0] == "-":
		t, err = trace.Read("standard input", stdin)
	default:
		t, err = readFile(rest[0], trace.Read)
	}
	if err == nil && len(t.Events) == 0 {
		err = fmt.Errorf("%s: no event or fault in %d lines", rest[0], t.Skipped)
	}
	if err == nil {
		only := kinds
		if faults {
			only = []string{trace.Fault.String(), trace.VMFault.String()}
		}
		err = labTraceList(t, only, asJSON, stdout, stderr)
	}
	return finish(f, "lab trace read", err, stdout, stderr)
}

func labTraceList(t *trace.Trace, only []string, asJSON bool, stdout, stderr io.Writer) error {
	count := map[string]int{}
	var order []string
	for i := range t.Events {
		e := &t.Events[i]
		if len(only) > 0 && !slices.Contains(only, e.Kind.String()) {
			continue
		}
		name := e.Kind.String()
		if e.Trigger != "" {
			name += " (" + e.Trigger + ")"
		}
		if e.Note == "rescheduled" {
			name += " (" + e.Note + ")"
		}
		if count[name]++; count[name] == 1 {
			order = append(order, name)
		}
		if asJSON {
			b, err := json.Marshal(e)
			if err == nil {
				_, err = fmt.Fprintf(stdout, "%s\n", b)
			}
			if err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(stdout, e); err != nil {
			return err
		}
	}
	slices.Sort(order)
	for _, name := range order {
		fmt.Fprintf(stderr, "%7d %s\n", count[name], name)
	}
	if t.Dropped > 0 {
		fmt.Fprintf(stderr, "%7d dropped: the trace is not whole\n", t.Dropped)
	}
	if t.Skipped > 0 {
		fmt.Fprintf(stderr, "%7d lines of something else\n", t.Skipped)
	}
	for _, s := range t.Odd {
		fmt.Fprintln(stderr, "odd:", s)
	}
	if t.Torn {
		fmt.Fprintln(stderr, "the last line has no end")
	}
	return nil
}

// labCorrelate is the command line of lab trace correlate.
type labCorrelate struct {
	events, requests string
	margins, kinds   []string
	shift            string
	pid, draws       int
	conf             probability
	seed             uint64
	json             bool
}

func labTraceCorrelateMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := labCorrelate{margins: []string{"0", "5ms", "20ms", "100ms"}, kinds: []string{"eviction", "restore"}, conf: 0.95, draws: 20000, seed: 1}
	f := &cli.FlagSet{
		Synopsis: "holdfast lab trace correlate --events FILE --requests FILE [flags]",
		About: "Ask whether requests that went wrong had an event in their time more often than others:\n" +
			"Fisher's exact test of with and without, at several margins, and a permutation test of how\n" +
			"many. Events and requests must be by one clock: the KFD's is CLOCK_BOOTTIME, which\n" +
			"lab probe writes too; --shift converts another.",
		Examples: []string{
			"holdfast lab trace correlate --events events.smi --requests probe.jsonl",
			"holdfast lab trace correlate --events rocprof.csv --requests t.csv --shift 12.5s --kind eviction",
		},
	}
	f.String(&o.events, "--events FILE", "what lab trace read reads")
	f.String(&o.requests, "--requests FILE", "what lab probe --requests writes, or CSV with start,end,bad in nanoseconds")
	f.Strings(&o.margins, "--margin D[,D...]", "how long before and after a request counts")
	f.Choices(&o.kinds, "--kind KIND[,KIND...]", "which events", trace.KindNames()...)
	f.Int(&o.pid, "--pid N", "events of this process only", 0, 1<<31-1)
	f.String(&o.shift, "--shift D", "added to the events' times: the requests' clock less the events', such as 1.5s or -20ms")
	f.Group("statistics")
	f.Var(&o.conf, "--conf C", "confidence")
	f.Int(&o.draws, "--draws N", "of the permutation test", 1, 10_000_000)
	f.Uint64(&o.seed, "--seed N", "of the permutation test")
	f.Group("output")
	f.Bool(&o.json, "--json", "print JSON")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) > 0 {
		err = cli.Usagef("unexpected argument %q", rest[0])
	}
	if err == nil {
		err = o.run(stdout)
	}
	return finish(f, "lab trace correlate", err, stdout, stderr)
}

func (o *labCorrelate) run(w io.Writer) error {
	if o.events == "" || o.requests == "" {
		return cli.Usagef("give --events FILE and --requests FILE")
	}
	c := trace.CorrelateOptions{PID: o.pid, Conf: float64(o.conf), Draws: o.draws, Seed: o.seed}
	for _, s := range o.margins {
		d, err := duration("--margin", s)
		if err != nil {
			return err
		}
		if d < 0 {
			return cli.Usagef("--margin %s is less than nothing", s)
		}
		c.Margins = append(c.Margins, d)
	}
	var err error
	if o.shift != "" {
		if c.Shift, err = duration("--shift", o.shift); err != nil {
			return err
		}
	}
	for _, s := range o.kinds {
		k, err := trace.ParseKind(s)
		if err != nil {
			return err
		}
		c.Kinds = append(c.Kinds, k)
	}
	t, err1 := readFile(o.events, trace.Read)
	rs, err2 := readFile(o.requests, trace.ReadRequests)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	x, err := trace.Correlate(t, rs, c)
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(x)
	}
	return x.Write(w)
}

// duration is nanoseconds from "20ms" or from a number of milliseconds.
func duration(flag, s string) (int64, error) {
	if ms, err := strconv.ParseFloat(s, 64); err == nil && ms > -1e12 && ms < 1e12 {
		return int64(ms * 1e6), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, cli.Usagef("%s %q: want a duration such as 20ms or 1.5s", flag, s)
	}
	return int64(d), nil
}
