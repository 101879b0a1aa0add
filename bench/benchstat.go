package bench

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// benchstatPrinter writes Go's benchmark format, a line for each repetition, so
// that benchstat can compare two runs.
type benchstatPrinter struct {
	w     io.Writer
	build Build
	cpu   string // as last printed
	model string // as last printed
}

func (p *benchstatPrinter) Header(Params) error {
	_, err := fmt.Fprintf(p.w, "goos: %s\ngoarch: %s\ncommit: %s\nUnit tok/s better=higher\n", runtime.GOOS, runtime.GOARCH, p.build.Commit)
	return err
}

func (p *benchstatPrinter) Result(r Result) error {
	var b strings.Builder
	if r.CPU != p.cpu {
		p.cpu = r.CPU
		fmt.Fprintf(&b, "cpu: %s\n", r.CPU)
	}
	if r.ModelFile != p.model {
		p.model = r.ModelFile
		fmt.Fprintf(&b, "model: %s\n", r.ModelFile)
	}
	name := fmt.Sprintf("BenchmarkEngine/%s/%s", word(r.ModelType), word(r.Name()))
	if r.TypeK != "f16" || r.TypeV != "f16" {
		name += fmt.Sprintf("/kv=%s,%s", r.TypeK, r.TypeV)
	}
	ts := r.TokensPerSec()
	for i, ns := range r.SamplesNS {
		fmt.Fprintf(&b, "%s-%d 1 %d ns/op %.4g tok/s\n", name, r.Threads, ns, ts[i])
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}

func (p *benchstatPrinter) Footer() error { return nil }

// word makes one word of a text: "qwen3 0.6B Q4_K - Medium" becomes
// "qwen3_0.6B_Q4_K_Medium", "tg8 @ d64" becomes "tg8@d64".
func word(s string) string {
	s = strings.NewReplacer(" - ", "_", " @ ", "@", "/", "_").Replace(s)
	return strings.Join(strings.Fields(s), "_")
}
