package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/lab/probe"
)

// labProbe is the command line of lab probe.
type labProbe struct {
	probe.Options
	api, timeout, requestsTo string
	command, json, quiet     bool
	conf                     probability
}

func labProbeMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := labProbe{api: "auto", timeout: "60s", conf: 0.95}
	o.Prompt, o.Tokens, o.Probs = "The capital of France is", 16, 5
	o.Options.Requests, o.Concurrency, o.Digits, o.GiveUp, o.Seed = 30, 1, 6, 3, 1
	f := &cli.FlagSet{
		Synopsis: "holdfast lab probe [flags] URL | holdfast lab probe [flags] --command -- COMMAND [ARG...]",
		About: "Ask the same thing many times, greedily, and count how many different answers come: of a\n" +
			"llama-server (/completion, which a URL without a path means), an endpoint of OpenAI's kind\n" +
			"(/v1/completions, /v1/chat/completions), or a command, whose output is the answer. Texts and\n" +
			"log-probabilities are compared. What is no answer, a timeout too, is counted by its face.\n" +
			"The status is 1 unless all requests have the same answer.",
		Examples: []string{
			"holdfast lab probe http://127.0.0.1:8080 -n 300 --tokens 1",
			"holdfast lab probe http://127.0.0.1:8080/v1/chat/completions --distractors 1 --concurrency 4",
			"holdfast lab probe -n 20 --requests probe.jsonl --command -- holdfast run -p 'x' -n 8",
		},
	}
	f.Int(&o.Options.Requests, "-n, --count N", "requests", 1, 1_000_000)
	f.String(&o.Prompt, "-p, --prompt TEXT", "what is asked")
	f.Int(&o.Tokens, "--tokens N", "tokens of an answer", 1, 1<<20)
	f.Int(&o.Probs, "--probs N", "log-probabilities of so many tokens at each place; 0 compares texts only", 0, 100)
	f.Int(&o.Digits, "--digits N", "decimals of log-probabilities that must agree", 0, 15)
	f.Int(&o.Distractors, "--distractors N", "other requests before each", 0, 1000)
	f.Int(&o.Concurrency, "--concurrency N", "requests at a time", 1, 1024)
	f.Uint64(&o.Seed, "--seed N", "of the distractors")
	f.String(&o.timeout, "--timeout D", "for each request")
	f.Int(&o.GiveUp, "--give-up N", "stop after so many failures if nothing was answered; 0 is never", 0, 1_000_000)
	f.Group("whom")
	f.Bool(&o.command, "--command", "what follows -- is a command")
	f.Choice(&o.api, "--api API", "how the endpoint is spoken to; auto goes by the path", "auto", "completion", "completions", "chat")
	f.String(&o.Model, "--model NAME", "for servers that have several")
	f.String(&o.Key, "--api-key KEY", "sent as a bearer token")
	f.Group("output")
	f.String(&o.requestsTo, "--requests FILE", "write each request with its times by both clocks, for lab trace correlate")
	f.Bool(&o.json, "--json", "print JSON")
	f.Bool(&o.quiet, "-q, --quiet", "no progress")
	f.Var(&o.conf, "--conf C", "confidence of the intervals")
	rest, err := f.Parse(args, os.LookupEnv)
	var r *probe.Result
	if err == nil {
		r, err = o.run(ctx, rest, stdout, stderr)
	}
	if err != nil || r.Clean() {
		return finish(f, "lab probe", err, stdout, stderr)
	}
	return 1
}

func (o *labProbe) run(ctx context.Context, rest []string, stdout, stderr io.Writer) (*probe.Result, error) {
	switch {
	case o.command && len(rest) == 0:
		return nil, cli.Usagef("give the command after --")
	case o.command:
		o.Command = rest
	case len(rest) != 1:
		return nil, cli.Usagef("want one URL, got %d", len(rest))
	default:
		o.URL = rest[0]
	}
	d, err := duration("--timeout", o.timeout)
	if err != nil {
		return nil, err
	}
	if d <= 0 {
		return nil, cli.Usagef("--timeout %s leaves no time", o.timeout)
	}
	o.Timeout = time.Duration(d)
	if o.api != "auto" {
		o.API = probe.API(o.api)
	}
	done := 0
	progress := !o.quiet && cli.IsTerminal(stderr)
	r, err := probe.Run(ctx, o.Options, func(a *probe.Answer) {
		if done++; progress {
			fmt.Fprintf(stderr, "\r%d of %d", done, o.Options.Requests*(1+o.Distractors))
		}
	})
	if progress {
		fmt.Fprintln(stderr)
	}
	if err != nil {
		return nil, err
	}
	if o.requestsTo != "" {
		if err := cli.WriteFile(o.requestsTo, r.WriteRequests); err != nil {
			return nil, err
		}
	}
	write := r.Write
	if o.json {
		write = r.WriteJSON
	}
	return r, errors.Join(write(stdout, float64(o.conf)), ctx.Err())
}
