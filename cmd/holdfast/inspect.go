package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/inspect"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

func inspectMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var asJSON, disasm bool
	var o inspect.Options
	f := &cli.FlagSet{
		Synopsis: "holdfast inspect FILE [flags]",
		About: "Show a GGUF file's metadata, its tokenizer, and how much of it is of which type;\n" +
			"or an AMDGPU code object's kernels with their resources and arguments.",
		Examples: []string{
			"holdfast inspect model.gguf",
			"holdfast inspect model.gguf --tensors",
			"holdfast inspect model.gguf --json --all | jq '.metadata[].key'",
			"holdfast inspect kernels.hsaco --disasm",
		},
	}
	f.Bool(&asJSON, "--json", "print JSON, tensors included")
	f.Bool(&o.Tensors, "--tensors", "list every tensor")
	f.Bool(&o.All, "--all", "print long strings and arrays in full")
	f.Bool(&disasm, "--disasm", "print the instructions of a code object")
	err := func() error {
		rest, err := f.Parse(args, os.LookupEnv)
		if err != nil {
			return err
		}
		if len(rest) != 1 {
			return cli.Usagef("want one FILE, got %d", len(rest))
		}
		if _, err := os.Stat(rest[0]); err != nil {
			return err // whatever kind of file it was to be
		}
		if isELF(rest[0]) {
			return inspectCodeObject(stdout, rest[0], asJSON, disasm, o.All)
		}
		file, err := gguf.Open(rest[0])
		if err != nil {
			return err
		}
		defer file.Close()
		if asJSON {
			return inspect.JSON(stdout, file, o)
		}
		if err := inspect.Text(stdout, file, o); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return nil
	}()
	return finish(f, "inspect", err, stdout, stderr)
}
