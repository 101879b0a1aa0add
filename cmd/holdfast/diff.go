package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/holdfast-llm/holdfast/dispatch/trace"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// Exit statuses of diff, as diff and cmp have them.
const (
	exitDiffer       = 1
	exitIncomparable = 2
)

func diffMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	f := &cli.FlagSet{
		Synopsis: "holdfast diff A B",
		About: "Name the first command, output and element in which two recorded runs differ (see run --hash).\n" +
			"The status is 0 if they are equal, 1 if they differ, 2 if they cannot be compared.",
		Examples: []string{
			"holdfast run -m model.gguf -p Hello -n 16 --serial --hash good.trace",
			"holdfast run -m model.gguf -p Hello -n 16 --serial --hash bad.trace --arena-align 256 --arena-prefix 2560",
			"holdfast diff good.trace bad.trace",
		},
	}
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) != 2 {
		err = cli.Usagef("want two traces, got %d", len(rest))
	}
	if err != nil {
		return finish(f, "diff", err, stdout, stderr)
	}
	d, n, err := diffFiles(rest[0], rest[1])
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "holdfast diff: %v\n", err)
		return exitIncomparable
	case d != nil:
		fmt.Fprintf(stdout, "%v\n%d outputs before it are equal\n", d, d.Outputs)
		return exitDiffer
	}
	fmt.Fprintf(stdout, "equal: %d outputs\n", n)
	return 0
}

func diffFiles(a, b string) (d *trace.Difference, n int, err error) {
	var readers [2]*trace.Reader
	for i, name := range []string{a, b} {
		f, err := os.Open(name)
		if err != nil {
			return nil, 0, err
		}
		defer f.Close()
		if readers[i], err = trace.NewReader(name, f); err != nil {
			return nil, 0, err
		}
	}
	return trace.Diff(readers[0], readers[1])
}
