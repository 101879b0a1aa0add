package bench

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// column is a column of the Markdown table. A negative width aligns left, as
// in printf.
type column struct {
	name  string
	width int
	value func(*Result) string
	// shown says whether the parameters make the column worth printing; nil is
	// always.
	shown func(p, defaults *Params) bool
}

// differs shows a column of a parameter with several values or one that is not
// the default.
func differs[T any](get func(*Params) []T) func(p, defaults *Params) bool {
	return func(p, defaults *Params) bool {
		return len(get(p)) > 1 || !reflect.DeepEqual(get(p), get(defaults))
	}
}

// valueOf is a column's value by its name in the other formats.
func valueOf(name string) func(*Result) string {
	for _, f := range fields {
		if f.name == name {
			return f.value
		}
	}
	panic("bench: no field " + name)
}

// columns is llama-bench's table for a CPU, then ours.
var columns = []column{
	{"model", -30, func(r *Result) string { return r.ModelType }, nil},
	{"size", 10, sizeText, nil},
	{"params", 10, paramsText, nil},
	{"backend", -10, func(r *Result) string { return r.Backends }, nil},
	{"n_cpu_moe", 10, valueOf("n_cpu_moe"), differs(func(p *Params) []int { return p.NCPUMoE })},
	{"threads", 7, valueOf("n_threads"), nil},
	{"cpu_mask", -10, valueOf("cpu_mask"), differs(func(p *Params) []string { return p.CPUMask })},
	{"cpu_strict", 10, valueOf("cpu_strict"), differs(func(p *Params) []bool { return p.CPUStrict })},
	{"poll", 10, valueOf("poll"), differs(func(p *Params) []int { return p.Poll })},
	{"n_batch", 7, valueOf("n_batch"), differs(func(p *Params) []int { return p.NBatch })},
	{"n_ubatch", 8, valueOf("n_ubatch"), differs(func(p *Params) []int { return p.NUBatch })},
	{"type_k", 6, valueOf("type_k"), differs(func(p *Params) []string { return p.TypeK })},
	{"type_v", 6, valueOf("type_v"), differs(func(p *Params) []string { return p.TypeV })},
	{"main_gpu", 10, valueOf("main_gpu"), differs(func(p *Params) []int { return p.MainGPU })},
	{"sm", 6, valueOf("split_mode"), differs(func(p *Params) []string { return p.SplitMode })},
	{"nkvo", 13, valueOf("no_kv_offload"), differs(func(p *Params) []bool { return p.NoKVOffload })},
	{"fa", 3, valueOf("flash_attn"), differs(func(p *Params) []string { return p.FlashAttn })},
	{"dev", -12, valueOf("devices"), differs(func(p *Params) []string { return p.Devices })},
	{"ts", -12, valueOf("tensor_split"), differs(func(p *Params) []string { return p.TensorSplit })},
	{"ot", -21, valueOf("tensor_buft_overrides"), differs(func(p *Params) []string { return p.Override })},
	{"lm", 10, valueOf("load_mode"), differs(func(p *Params) []string { return p.LoadMode })},
	{"embd", 10, valueOf("embeddings"), differs(func(p *Params) []bool { return p.Embeddings })},
	{"nopo", 4, valueOf("no_op_offload"), differs(func(p *Params) []bool { return p.NoOpOffload })},
	{"noh", 4, valueOf("no_host"), differs(func(p *Params) []bool { return p.NoHost })},
	{"fitt", 10, valueOf("fit_target"), differs(func(p *Params) []int { return p.FitTarget })},
	{"fitc", 11, valueOf("fit_min_ctx"), differs(func(p *Params) []int { return p.FitCtx })},
	{"test", 15, func(r *Result) string { return r.Name() }, nil},
	{"t/s", 20, speedText, nil},

	{"lane", -24, func(r *Result) string { return r.Lane }, nil},
	{"splits", 6, valueOf("splits"), nil},
	{"declined", 8, func(r *Result) string { return fmt.Sprint(len(r.Declined)) }, nil},
}

func sizeText(r *Result) string {
	if r.ModelBytes < 1<<30 {
		return fmt.Sprintf("%.2f MiB", float64(r.ModelBytes)/(1<<20))
	}
	return fmt.Sprintf("%.2f GiB", float64(r.ModelBytes)/(1<<30))
}

func paramsText(r *Result) string {
	if r.ModelParams < 1e9 {
		return fmt.Sprintf("%.2f M", float64(r.ModelParams)/1e6)
	}
	return fmt.Sprintf("%.2f B", float64(r.ModelParams)/1e9)
}

func speedText(r *Result) string {
	ts := r.TokensPerSec()
	return fmt.Sprintf("%.2f ± %.2f", mean(ts), stddev(ts))
}

type markdownPrinter struct {
	w       io.Writer
	build   Build
	columns []column
}

func (p *markdownPrinter) Header(params Params) error {
	defaults := Defaults()
	var names, rules strings.Builder
	for _, c := range columns {
		if c.shown != nil && !c.shown(&params, &defaults) {
			continue
		}
		p.columns = append(p.columns, c)
		fmt.Fprintf(&names, " %*s |", c.width, c.name)
		rule := strings.Repeat("-", max(c.width, -c.width)-1)
		if c.width > 0 {
			rule += ":"
		} else {
			rule += "-"
		}
		fmt.Fprintf(&rules, " %s |", rule)
	}
	_, err := fmt.Fprintf(p.w, "|%s\n|%s\n", names.String(), rules.String())
	return err
}

func (p *markdownPrinter) Result(r Result) error {
	var line strings.Builder
	for _, c := range p.columns {
		fmt.Fprintf(&line, " %*s |", c.width, c.value(&r))
	}
	_, err := fmt.Fprintf(p.w, "|%s\n", line.String())
	return err
}

func (p *markdownPrinter) Footer() error {
	_, err := fmt.Fprintf(p.w, "\nbuild: %s (%d)\n", p.build.Commit, p.build.Number)
	return err
}
