package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device/all"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/sample"
)

// runFlags are the flags of run.
type runFlags struct {
	model, prompt, promptFile, system string
	device, prefillDevice             string
	tokens, context, batch, threads   int
	cacheK, cacheV                    string
	disable                           []string
	noMemoryCheck                     bool

	sample          sample.Params
	stop            repeated
	ignoreEnd       bool
	special, noEcho bool
	logprobs        int
	chat, verbose   bool
	noTimings       bool
	gfx11           gfx11Flags
	experiment      experimentFlags
	observer        emu.Observer // of the software device; nil: none

	set *cli.FlagSet
}

// repeated is a flag whose every use adds a string, commas and all.
type repeated []string

func (r *repeated) String() string     { return strings.Join(*r, " ") }
func (r *repeated) Set(s string) error { *r = append(*r, s); return nil }

func (r *runFlags) declare() *cli.FlagSet {
	f := &cli.FlagSet{
		Synopsis: "holdfast run [-m FILE] -p PROMPT [flags]",
		About:    "Continue a prompt, or chat. Without -m the embedded model is used. The text goes to\nstandard output, timings and lanes to standard error.",
		Examples: []string{
			`holdfast run -p "func (s *Server) "`,
			`holdfast run -m qwen3-0.6b-q4_k_m.gguf -p "The capital of France is" -n 32`,
			`holdfast run -m qwen3-0.6b-q4_k_m.gguf --chat -p "Why is the sky blue?" --temp 0.7`,
			`holdfast run -m qwen3-0.6b-q4_k_m.gguf --chat      # one line a turn, from standard input`,
			`holdfast run -f prompt.txt -c 4096 -ctk q8_0 -ctv q8_0 -v`,
		},
	}
	f.String(&r.model, "-m, --model FILE", "GGUF file; the embedded model if absent")
	f.Choice(&r.device, "--device NAME", "what runs the model: "+strings.Join(all.Names(), ", "), all.Names()...)
	f.Choice(&r.prefillDevice, "--prefill-device NAME", "what runs the steps of prompts, on the same cache; as --device if absent", all.Names()...)
	f.String(&r.prompt, "-p, --prompt TEXT", "text to continue, or the user's message with --chat")
	f.String(&r.promptFile, "-f, --file FILE", "read the prompt from a file; - is standard input")
	f.Int(&r.tokens, "-n, --n-predict N", "tokens to generate; 0 fills the context", 0, math.MaxInt32)
	f.Int(&r.context, "-c, --ctx-size N", fmt.Sprintf("positions of the context; 0 is the model's, at most %d", engine.DefaultContext), 0, 1<<28)
	f.Int(&r.threads, "-t, --threads N", "worker threads; 0 is all processors", 0, 1024)
	f.Int(&r.batch, "-b, --batch-size N", "prompt tokens processed at once", 1, 1<<14)
	f.String(&r.cacheK, "-ctk, --cache-type-k TYPE", "type of the cached keys: f16, q8_0, bf16, f32")
	f.String(&r.cacheV, "-ctv, --cache-type-v TYPE", "type of the cached values")
	f.Strings(&r.disable, "--disable PREFIX", "lanes not to be used, by name prefix (also HOLDFAST_DISABLE)")
	f.Bool(&r.noMemoryCheck, "--no-memory-check", "run even if the machine seems to lack the memory")

	f.Group("sampling")
	f.Float32(&r.sample.Temperature, "--temp, --temperature T", "0 always takes the likeliest token", 0, 1000)
	f.Int(&r.sample.TopK, "--top-k K", "keep the K likeliest tokens; 0 keeps all", 0, math.MaxInt32)
	f.Float32(&r.sample.TopP, "--top-p P", "keep the likeliest tokens that together reach P", 0, 1)
	f.Float32(&r.sample.MinP, "--min-p P", "keep tokens at least P times as likely as the likeliest", 0, 1)
	f.Float32(&r.sample.RepeatPenalty, "--repeat-penalty X", "penalise repeated tokens; 1 is off", 0, 1000)
	f.Int(&r.sample.RepeatLastN, "--repeat-last-n N", "tokens that the penalties look back; 0 is off", 0, 1<<20)
	f.Float32(&r.sample.PresencePenalty, "--presence-penalty X", "subtracted once from a token already there", -1000, 1000)
	f.Float32(&r.sample.FrequencyPenalty, "--frequency-penalty X", "subtracted for each time a token is there", -1000, 1000)
	f.Uint64(&r.sample.Seed, "-s, --seed N", "the same seed, file and flags give the same tokens")

	f.Group("text")
	f.Bool(&r.chat, "--chat", "put messages through the model's chat template; without -p, read one a line")
	f.String(&r.system, "-sys, --system-prompt TEXT", "system message for --chat")
	f.Var(&r.stop, "-r, --stop TEXT", "end before this text; may be repeated")
	f.Bool(&r.ignoreEnd, "--ignore-eos", "go on after the end-of-text token")
	f.Bool(&r.special, "--special", "print control tokens")
	f.Bool(&r.noEcho, "--no-display-prompt", "do not print the prompt before its continuation")
	f.Int(&r.logprobs, "--logprobs N", "print each token's log-probability and the N likeliest, one line a token", 0, 1000)
	f.Bool(&r.noTimings, "--no-timings", "do not print the timing line")
	f.Bool(&r.verbose, "-v, --verbose", "print the device, every lane taken and every decline")
	r.gfx11.declare(f)
	r.experiment.declare(f)
	return f
}

func runMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	r, err := parseRun(args)
	if err == nil {
		err = r.run(ctx, stdin, stdout, stderr)
	}
	return finish(r.set, "run", err, stdout, stderr)
}

// parseRun reads the command line of run. The flags are there even if there is
// an error.
func parseRun(args []string) (*runFlags, error) {
	r := &runFlags{device: "cpu", tokens: 128, batch: engine.DefaultBatch, cacheK: "f16", cacheV: "f16"}
	r.sample = sample.Params{RepeatPenalty: 1, RepeatLastN: 64, TopP: 1}
	r.set = r.declare()
	rest, err := r.set.Parse(args, os.LookupEnv)
	switch {
	case err != nil:
	case len(rest) > 0:
		err = cli.Usagef("unexpected argument %q: the prompt goes after -p, in quotes", rest[0])
	case r.set.Given("-p") && r.set.Given("-f"):
		err = cli.Usagef("both -p and -f: one prompt, please")
	}
	return r, err
}

// watch has an observer look on, for which the device must be the software one:
// it is, if the command line names none.
func (r *runFlags) watch(o emu.Observer) error {
	if !r.set.Given("--device") {
		r.device = "gfx11"
	}
	if r.device != "gfx11" {
		return cli.Usagef("only what runs on the software GPU can be checked: --device gfx11, not %s", r.device)
	}
	r.observer = o
	return nil
}

func (r *runFlags) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	prompt, err := r.readPrompt(stdin)
	if err != nil {
		return err
	}
	cfg := engine.Config{
		Device: r.device, PrefillDevice: r.prefillDevice, GFX11: r.gfx11.config(), Threads: r.threads, Context: r.context, Batch: r.batch, CacheK: r.cacheK, CacheV: r.cacheV,
		Disable: disabled(r.disable), NoMemoryCheck: r.noMemoryCheck,
	}
	cfg.GFX11.Emulator.Observer = r.observer
	if err := r.experiment.apply(&cfg, r.model); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.experiment.close()) }()
	e, closeModel, err := openEngine(r.model, cfg)
	if err != nil {
		return err
	}
	defer closeModel()
	s, err := e.NewSequence()
	if err != nil {
		return err
	}
	defer s.Close()
	if r.chat {
		return r.converse(ctx, e, s, prompt, stdin, stdout, stderr)
	}
	tok, err := e.Tokenizer()
	if err != nil {
		return err
	}
	ids := tok.Encode(prompt, true, true)
	if len(ids) == 0 {
		return cli.Usagef("the prompt is empty: give one with -p or -f")
	}
	if len(ids) > e.Context() {
		return fmt.Errorf("the prompt is %d tokens long, the context %d: choose a larger one with -c", len(ids), e.Context())
	}
	if !r.noEcho && r.logprobs == 0 {
		fmt.Fprint(stdout, prompt)
	}
	res, err := s.Generate(ctx, r.request(ids, stdout))
	if r.logprobs == 0 {
		fmt.Fprintln(stdout)
	}
	r.report(e, res, stderr)
	return err
}

// readPrompt is the text of -p or -f. Only --chat can do without.
func (r *runFlags) readPrompt(stdin io.Reader) (string, error) {
	switch {
	case r.promptFile == "-":
		b, err := io.ReadAll(stdin)
		return string(b), err
	case r.promptFile != "":
		b, err := os.ReadFile(r.promptFile)
		return string(b), err
	case r.prompt == "" && !r.chat:
		return "", cli.Usagef("no prompt: give one with -p or -f")
	}
	return r.prompt, nil
}

// request is the generation that the flags describe.
func (r *runFlags) request(ids []int32, stdout io.Writer) engine.Request {
	return engine.Request{
		Prompt: ids, MaxTokens: r.tokens, Sample: r.sample, Stop: r.stop, IgnoreEnd: r.ignoreEnd,
		Special: r.special, Logprobs: r.logprobs,
		OnToken: func(t engine.Token) {
			if r.logprobs > 0 {
				printLogprobs(stdout, t)
				return
			}
			fmt.Fprint(stdout, t.Text)
		},
	}
}

func printLogprobs(w io.Writer, t engine.Token) {
	if t.ID < 0 {
		return
	}
	fmt.Fprintf(w, "%d\t%q\t%.5f", t.ID, t.Text, t.Logprob)
	for _, a := range t.Top {
		fmt.Fprintf(w, "\t%d:%.5f", a.ID, a.Logprob)
	}
	fmt.Fprintln(w)
}

// report prints the timing line and, with -v, every lane and decline.
func (r *runFlags) report(e *engine.Engine, res *engine.Result, w io.Writer) {
	if res == nil || r.noTimings {
		return
	}
	rec, t := e.Record(), res.Timings
	var attention []string
	declines := 0
	for _, l := range rec.Lanes {
		if strings.HasPrefix(l.Lane, "attention.") {
			attention = append(attention, l.Lane)
		}
	}
	for _, d := range rec.Declines {
		declines += d.Count
	}
	fmt.Fprintf(w, "prompt %d tokens, %.1f tok/s; decode %d tokens, %.1f tok/s; lanes %s; declines %d; faults %d\n",
		t.PromptTokens, t.PromptRate(), t.DecodeTokens, t.DecodeRate(), strings.Join(attention, ","), declines, rec.Faulted)
	reportFaults(w, rec.Faults)
	if res.Reason == engine.StopContext {
		fmt.Fprintf(w, "ended early: the context of %d is full (-c sets it)\n", e.Context())
	}
	if !r.verbose {
		return
	}
	fmt.Fprintf(w, "%s; loaded in %.0f ms; ended by %s\n", e.Describe(), e.LoadTime().Seconds()*1e3, res.Reason)
	for _, l := range rec.Lanes {
		fmt.Fprintf(w, "  lane    %-28s %8d\n", l.Lane, l.Count)
	}
	for _, d := range rec.Declines {
		fmt.Fprintf(w, "  decline %-28s %8d  %s: %s\n", d.Lane, d.Count, d.Reason, d.Detail)
	}
}
