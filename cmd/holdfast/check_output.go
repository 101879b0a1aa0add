package main

import (
	"io"
	"os"

	"github.com/holdfast-llm/holdfast/check"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// checkOutput is where the report of check goes.
type checkOutput struct {
	json, sarif, junit, disasm, suppress string
	github                               bool
}

func (o *checkOutput) declare(f *cli.FlagSet) {
	o.github = os.Getenv("GITHUB_ACTIONS") == "true"
	f.String(&o.json, "--json FILE", "the report as JSON; - is standard output, in the place of the text")
	f.String(&o.sarif, "--sarif FILE", "the same as SARIF 2.1.0, for code scanning")
	f.String(&o.junit, "--junit FILE", "the same as JUnit's XML")
	f.Bool(&o.github, "--github", "print annotations for GitHub too; on in its workflows")
	f.String(&o.disasm, "--disasm FILE", "write the disassembly of what was found faulty, for reports to point at")
	f.String(&o.suppress, "--suppress FILE", "findings that are known: patterns with reasons, in TOML")
}

// write marks what is suppressed, and writes the reports.
func (o *checkOutput) write(d *check.Document, stdout io.Writer) error {
	if o.suppress != "" {
		s, err := check.ReadSuppressions(o.suppress)
		if err != nil {
			return err
		}
		for _, r := range d.Results {
			s.Apply(r)
		}
		d.Unused = s.Unused()
	}
	if o.disasm != "" {
		l, err := check.NewListing(o.disasm, d.Results)
		if err != nil {
			return err
		}
		d.Listing = l
		if err := os.WriteFile(o.disasm, l.Bytes(), 0o666); err != nil {
			return err
		}
	}
	text := true
	for _, x := range []struct {
		path  string
		write func(io.Writer) error
	}{{o.json, d.JSON}, {o.sarif, d.SARIF}, {o.junit, d.JUnit}} {
		switch x.path {
		case "":
		case "-":
			text = false
			if err := x.write(stdout); err != nil {
				return err
			}
		default:
			if err := cli.WriteFile(x.path, x.write); err != nil {
				return err
			}
		}
	}
	if text {
		if err := d.Text(stdout); err != nil {
			return err
		}
	}
	if o.github {
		return d.GitHub(stdout)
	}
	return nil
}
