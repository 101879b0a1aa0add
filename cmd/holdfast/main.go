// Holdfast decodes language models. This command is its front: one file for
// each subcommand, which turns flags into calls and nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/cli"
)

func main() { os.Exit(doMain(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// exitInterrupted is the exit status after Ctrl-C, as shells have it.
const exitInterrupted = 130

// command is one subcommand. run returns the exit status: 0, 1 for an error, 2
// for a mistake on the command line, 130 after an interrupt.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

func commands() []command {
	return []command{
		{"run", "continue a prompt, or chat", runMain},
		{"bench", "measure prompt processing and generation, with llama-bench's flags", benchMain},
		{"explain", "show how a step is run: what was chosen, what declined and why", explainMain},
		{"diff", "name the first command in which two recorded runs differ", diffMain},
		{"check", "name what is wrong with a GPU kernel, on the software gfx11 device", checkMain},
		{"replay", "run a recorded dispatch again on the software gfx11 device", replayMain},
		{"lab", "count faults: how many trials a claim takes, and what trials show", labMain},
		{"inspect", "show a GGUF file's metadata and tensors", inspectMain},
		{"quantize", "convert a GGUF file's tensors to another type", quantizeMain},
		{"version", "print the version", versionMain},
	}
}

// doMain is main with everything that a test wants to hold.
func doMain(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(rest) == 0 {
			usage(stdout)
			return 0
		}
		name, rest = rest[0], []string{"--help"}
	case "-version", "--version":
		name = "version"
	}
	names := []string{"help"}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, rest, stdin, stdout, stderr)
		}
		names = append(names, c.name)
	}
	hint := ""
	if near := cli.Nearest(name, names); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	fmt.Fprintf(stderr, "holdfast: unknown command %q%s; holdfast help lists the commands\n", name, hint)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Holdfast decodes language models from GGUF files.\n\nusage: holdfast COMMAND [flags]\n\ncommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `
"holdfast help COMMAND" shows a command's flags and examples.

examples:
  holdfast run -p "func (s *Server) "
  holdfast bench -m model.gguf -p 512 -n 128
  holdfast explain -m model.gguf -d 2100
  holdfast check kernel.toml
  holdfast inspect model.gguf --tensors
  holdfast quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M
`)
}

// finish prints what a command ended with and gives its exit status: help on
// stdout, an error as one line on stderr.
func finish(f *cli.FlagSet, name string, err error, stdout, stderr io.Writer) int {
	switch {
	case err == nil:
	case errors.Is(err, cli.ErrHelp):
		f.Help(stdout)
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "holdfast %s: interrupted\n", name)
		return exitInterrupted
	default:
		// A package of the command's name need not be named twice.
		fmt.Fprintf(stderr, "holdfast %s: %s\n", name, strings.TrimPrefix(err.Error(), name+": "))
		if cli.ExitCode(err) == 2 {
			fmt.Fprintf(stderr, "usage: %s\n", f.Synopsis)
		}
	}
	return cli.ExitCode(err)
}

func versionMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	f := &cli.FlagSet{Synopsis: "holdfast version", About: "Print the version, the commit it was built from, and the platform."}
	rest, err := f.Parse(args, nil)
	if err == nil && len(rest) > 0 {
		err = cli.Usagef("unexpected argument %q", rest[0])
	}
	if err == nil {
		version, commit := build()
		fmt.Fprintf(stdout, "holdfast %s (%s) %s %s/%s\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	return finish(f, "version", err, stdout, stderr)
}

// build is the module's version and the commit it was built from, shortened;
// "devel" and "unknown" where the Go tool did not record them.
func build() (version, commit string) {
	version, commit = "devel", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, commit
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 9:
			commit = s.Value[:9]
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "+changes"
		}
	}
	return version, commit
}
