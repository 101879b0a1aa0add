package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/internal/tomlfile"
	"github.com/holdfast-llm/holdfast/text/token"
)

// labSweep are the flags of lab sweep.
type labSweep struct {
	model                           string
	depths, aligns, prefixes, lanes []string
	trials                          int
	dir                             string
	device                          string
}

// sweepLanes are what an arm of a sweep disables to have one lane left.
var sweepLanes = map[string]string{
	"split":       "",
	"multipass":   "attention.decode_split.direct,attention.decode_split.cooperative",
	"cooperative": "attention.decode_split.direct,attention.decode_split.multipass",
	"direct":      "attention.decode_split.cooperative,attention.decode_split.multipass",
	"serial":      "attention.decode_split",
}

func labSweepMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := labSweep{
		depths: []string{"100"}, aligns: []string{"256"}, prefixes: []string{"0"}, lanes: []string{"split", "serial"},
		trials: 3, dir: "sweep", device: "gfx11",
	}
	f := &cli.FlagSet{
		Synopsis: "holdfast lab sweep [flags] [-- COMMAND ...]",
		About: "Write an experiment over depths, alignments, prefixes and lanes into a folder, and run it: each\n" +
			"trial is a process of its own. Without a command it decodes 8 tokens behind a prompt of so many\n" +
			"tokens, and an answer that is not the serial lane's is a fault; in a command {depth}, {align},\n" +
			"{prefix} and {arm} are replaced.",
		Examples: []string{
			"holdfast lab sweep --depths 64,257,2113 --aligns 256,4096 --prefixes 0,64",
			"holdfast lab sweep --depths 2100 --aligns 256,1024,4096 --trials 20 -- ./decode --kv {depth} --align {align}",
		},
	}
	f.Strings(&o.depths, "--depths LIST", "tokens of the prompt")
	f.Strings(&o.aligns, "--aligns LIST", "alignments of transients, as --arena-align")
	f.Strings(&o.prefixes, "--prefixes LIST", "bytes before each transient, as --arena-prefix")
	f.Strings(&o.lanes, "--lanes LIST", "arms: split, direct, cooperative, multipass, serial; any names with a command")
	f.Int(&o.trials, "--trials N", "of each arm at each point", 1, 1_000_000)
	f.String(&o.dir, "--dir DIR", "a new folder for the experiment, its prompts and its journal")
	f.String(&o.model, "-m, --model FILE", "a GGUF file; the embedded model, if absent")
	f.String(&o.device, "--device NAME", "what it decodes on; prompts run on the CPU")
	own, rest := args, []string(nil)
	for i, a := range args {
		if a == "--" {
			own, rest = args[:i], args[i+1:]
			break
		}
	}
	extra, err := f.Parse(own, os.LookupEnv)
	if err == nil && len(extra) > 0 {
		err = cli.Usagef("unexpected argument %q: a command comes behind --", extra[0])
	}
	var path string
	if err == nil {
		path, err = o.write(rest)
	}
	if err == nil {
		run := labRun{}
		err = run.run(ctx, path, stdout, stderr)
	}
	return finish(f, "lab sweep", err, stdout, stderr)
}

// write writes the experiment and says where it is.
func (o *labSweep) write(command []string) (string, error) {
	for _, list := range [][]string{o.depths, o.aligns, o.prefixes} {
		for _, s := range list {
			if n, err := strconv.Atoi(s); err != nil || n < 0 {
				return "", cli.Usagef("%q is no number of tokens or bytes", s)
			}
		}
	}
	if err := os.Mkdir(o.dir, 0o777); err != nil {
		return "", fmt.Errorf("a sweep needs a new folder: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name = \"a sweep\"\ntrials = %d\norder = \"random\"\nseed = 1\ntimeout = \"10m\"\n", o.trials)
	for _, a := range []struct {
		name   string
		values []string
	}{{"depth", o.depths}, {"align", o.aligns}, {"prefix", o.prefixes}} {
		fmt.Fprintf(&b, "\n[[axis]]\nname = %s\nvalues = [%s]\n", tomlfile.Quote(a.name), quotedList(a.values))
	}
	for _, lane := range o.lanes {
		words := command
		if len(command) == 0 {
			var err error
			if words, err = o.decode(lane); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(&b, "\n[[arm]]\nname = %s\ncommand = [%s]\n", tomlfile.Quote(lane), quotedList(words))
	}
	b.WriteString("\n[[face]]\nkind = \"nan\"\n\n[[face]]\nkind = \"utf8\"\n")
	if len(command) == 0 {
		if err := o.prompts(); err != nil {
			return "", err
		}
		last := o.lanes[len(o.lanes)-1]
		fmt.Fprintf(&b, "\n[reference]\narm = %s\n\n[[face]]\nname = \"another answer\"\nkind = \"differs\"\n", tomlfile.Quote(last))
	}
	path := filepath.Join(o.dir, "sweep.toml")
	return path, os.WriteFile(path, []byte(b.String()), 0o666)
}

// decode is the command of an arm: this program, with one lane left.
func (o *labSweep) decode(lane string) ([]string, error) {
	off, ok := sweepLanes[lane]
	if !ok {
		return nil, cli.Usagef("no lane %q: there are split, direct, cooperative, multipass, serial", lane)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	words := []string{
		self, "run", "--device", o.device, "--prefill-device", "cpu", "-n", "8", "-f", filepath.Join(o.dir, "prompt-{depth}.txt"),
		"--arena-align", "{align}", "--arena-prefix", "{prefix}",
	}
	if o.model != "" {
		words = append(words, "-m", o.model)
	}
	if off != "" {
		words = append(words, "--disable", off)
	}
	return words, nil
}

// prompts writes a prompt for each depth: the beginning of a text of pairs, as
// many tokens of it.
func (o *labSweep) prompts() error {
	f, err := openModel(o.model)
	if err != nil {
		return err
	}
	defer f.Close()
	tok, err := token.New(f)
	if err != nil {
		return err
	}
	for _, s := range o.depths {
		depth, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		var text strings.Builder
		for i := 0; text.Len() < 4*depth+64; i++ {
			fmt.Fprintf(&text, "key k%d = v%d\n", i, i*37%101)
		}
		ids := tok.Encode(text.String(), false, false)
		for len(ids) < depth {
			text.WriteString(text.String())
			ids = tok.Encode(text.String(), false, false)
		}
		var prompt []byte
		for _, id := range ids[:depth] {
			prompt = tok.Append(prompt, id, false)
		}
		if err := os.WriteFile(filepath.Join(o.dir, "prompt-"+s+".txt"), prompt, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func quotedList(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = tomlfile.Quote(w)
	}
	return strings.Join(q, ", ")
}
