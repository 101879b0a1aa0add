package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/lab"
	"github.com/holdfast-llm/holdfast/lab/report"
)

// labReportOutput is where lab report writes.
type labReportOutput struct {
	format                  string
	md, json, junit, htmlTo string
}

func labReportMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := labReportOutput{format: "text"}
	f := &cli.FlagSet{
		Synopsis: "holdfast lab report [flags] JOURNAL",
		About: "Say what an experiment's trials show: rates with intervals, differences between arms with\n" +
			"exact tests, what so many trials cannot exclude. The journal may be of a run under way.\n" +
			"The status is 1 if the experiment's file made a claim that is not shown.",
		Examples: []string{
			"holdfast lab report split.jsonl",
			"holdfast lab report split.jsonl --html split.html --junit split.xml",
			"holdfast lab report split.jsonl -o md",
		},
	}
	f.Choice(&o.format, "-o, --output FORMAT", "what is printed", append([]string{"none"}, report.Formats...)...)
	f.Group("files written too")
	f.String(&o.htmlTo, "--html FILE", "one page with plots, which needs nothing else")
	f.String(&o.md, "--md FILE", "Markdown")
	f.String(&o.json, "--json FILE", "JSON")
	f.String(&o.junit, "--junit FILE", "JUnit's XML: claims as tests")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) != 1 {
		err = cli.Usagef("want one journal, got %d", len(rest))
	}
	var rep *report.Report
	if err == nil {
		rep, err = o.run(rest[0], stdout)
	}
	if err != nil || rep.Shown() {
		return finish(f, "lab report", err, stdout, stderr)
	}
	return 1
}

func (o *labReportOutput) run(path string, stdout io.Writer) (*report.Report, error) {
	files := []struct{ path, format string }{{o.htmlTo, "html"}, {o.md, "md"}, {o.json, "json"}, {o.junit, "junit"}}
	for _, x := range files {
		if x.path == "" {
			continue
		}
		if err := cli.CheckOutput(x.path, path); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j, err := lab.ReadJournal(path, f)
	if err != nil {
		return nil, err
	}
	rep := report.New(j)
	for _, x := range files {
		if x.path == "" {
			continue
		}
		err := cli.WriteFile(x.path, func(w io.Writer) error { return rep.Write(w, x.format) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.path, err)
		}
	}
	if o.format == "none" {
		return rep, nil
	}
	return rep, rep.Write(stdout, o.format)
}
