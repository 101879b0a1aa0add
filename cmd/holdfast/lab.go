package main

import (
	"context"
	"fmt"
	"io"

	"github.com/holdfast-llm/holdfast/internal/cli"
)

func labCommands() []command {
	return []command{
		{"run", "make the trials of an experiment, resumable at any moment", labRunMain},
		{"sweep", "run an experiment over depths, alignments, prefixes and lanes", labSweepMain},
		{"report", "say what an experiment's trials show, with intervals and exact tests", labReportMain},
		{"power", "say how many trials a claim about a fault rate takes", labPowerMain},
		{"probe", "ask an endpoint or a command the same thing often, and count its different answers", labProbeMain},
		{"trace", "record, read and correlate what the driver says of evictions and faults", labTraceMain},
		{"explain", "explain a fault's address by a map of allocations", labExplainMain},
	}
}

func labMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		labUsage(stderr)
		return 2
	}
	var names []string
	for _, c := range labCommands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], stdin, stdout, stderr)
		}
		names = append(names, c.name)
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		labUsage(stdout)
		return 0
	}
	hint := ""
	if near := cli.Nearest(args[0], names); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	fmt.Fprintf(stderr, "holdfast lab: unknown command %q%s; holdfast lab help lists the commands\n", args[0], hint)
	return 2
}

func labUsage(w io.Writer) {
	fmt.Fprint(w, "Count faults, and say what the counts show.\n\nusage: holdfast lab COMMAND [flags]\n\ncommands:\n")
	for _, c := range labCommands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\n\"holdfast lab COMMAND --help\" shows a command's flags and examples.\n")
}
