package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"holdfast": main,
		"mkmodel":  func() { os.Exit(mkmodel(os.Args[1:])) },
	})
}

// TestScript runs the command lines in testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			root, err := filepath.Abs("../..") // of the repository, for what docs show
			e.Setenv("ROOT", root)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": checkCode, "oneline": oneLine,
		},
	})
}

// mkmodel FILE [setting=value]... writes a small random model.
func mkmodel(args []string) int {
	c := synth.Config{Arch: "qwen3", Layers: 1, Hidden: 256, FFN: 256, Heads: 2, KVHeads: 1, Vocab: 320}
	for _, a := range args[1:] {
		key, value, _ := strings.Cut(a, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "arch":
			c.Arch = value
		case "type":
			t, err := quant.ParseType(value)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			c.Type = t
		case "ffn":
			c.FFN = n
		case "layers":
			c.Layers = n
		default:
			fmt.Fprintln(os.Stderr, "mkmodel: no setting", key)
			return 1
		}
	}
	b := synth.Model(c)
	if _, err := gguf.Parse(args[0], b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.WriteFile(args[0], b, 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// checkCode is the script command "code N COMMAND...": it runs COMMAND and
// wants the exit status N. testscript alone knows only success and failure.
func checkCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		e, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = e.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s: exit status %d, want %s", args[1], got, args[0])
	}
}

// oneLine is the script command "oneline": the last command printed one line
// on stderr and nothing on stdout.
func oneLine(ts *testscript.TestScript, _ bool, _ []string) {
	out, err := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if out != "" || strings.Count(err, "\n") != 1 {
		ts.Fatalf("want one line on stderr alone; stdout %q, stderr %q", out, err)
	}
}
