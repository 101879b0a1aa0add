package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// kind is a column's type in JSON and SQL.
type kind int

const (
	kindString  kind = iota
	kindBool         // printed as 0 or 1 but in JSON
	kindInt          //
	kindFloat        //
	kindStrings      // a JSON array, as text in CSV and SQL
)

// field is a column of the machine-readable formats.
type field struct {
	name  string
	kind  kind
	value func(*Result) string
}

func text(f func(*Result) string) func(*Result) string { return f }

func number(f func(*Result) int) func(*Result) string {
	return func(r *Result) string { return strconv.Itoa(f(r)) }
}

func flag(f func(*Result) bool) func(*Result) string {
	return func(r *Result) string {
		if f(r) {
			return "1"
		}
		return "0"
	}
}

// fields is every column in llama-bench's order, then ours.
var fields = []field{
	{"build_commit", kindString, text(func(r *Result) string { return r.Commit })},
	{"build_number", kindInt, number(func(r *Result) int { return r.Build })},
	{"cpu_info", kindString, text(func(r *Result) string { return r.CPU })},
	{"gpu_info", kindString, text(func(r *Result) string { return r.GPU })},
	{"backends", kindString, text(func(r *Result) string { return r.Backends })},
	{"model_filename", kindString, text(func(r *Result) string { return r.ModelFile })},
	{"model_type", kindString, text(func(r *Result) string { return r.ModelType })},
	{"model_size", kindInt, text(func(r *Result) string { return strconv.FormatInt(r.ModelBytes, 10) })},
	{"model_n_params", kindInt, text(func(r *Result) string { return strconv.FormatInt(r.ModelParams, 10) })},
	{"n_batch", kindInt, number(func(r *Result) int { return r.NBatch })},
	{"n_ubatch", kindInt, number(func(r *Result) int { return r.NUBatch })},
	{"n_threads", kindInt, number(func(r *Result) int { return r.Threads })},
	{"cpu_mask", kindString, text(func(r *Result) string { return r.CPUMask })},
	{"cpu_strict", kindBool, flag(func(r *Result) bool { return r.CPUStrict })},
	{"poll", kindInt, number(func(r *Result) int { return r.Poll })},
	{"type_k", kindString, text(func(r *Result) string { return r.TypeK })},
	{"type_v", kindString, text(func(r *Result) string { return r.TypeV })},
	{"n_gpu_layers", kindInt, number(func(r *Result) int { return r.NGPULayers })},
	{"n_cpu_moe", kindInt, number(func(r *Result) int { return r.NCPUMoE })},
	{"split_mode", kindString, text(func(r *Result) string { return r.SplitMode })},
	{"main_gpu", kindInt, number(func(r *Result) int { return r.MainGPU })},
	{"no_kv_offload", kindBool, flag(func(r *Result) bool { return r.NoKVOffload })},
	{"flash_attn", kindInt, number(func(r *Result) int { return flashAttn[r.FlashAttn] })},
	{"devices", kindString, text(func(r *Result) string { return r.Devices })},
	{"tensor_split", kindString, text(func(r *Result) string { return r.TensorSplit })},
	{"tensor_buft_overrides", kindString, text(func(r *Result) string { return r.Override })},
	{"load_mode", kindString, text(func(r *Result) string { return r.LoadMode })},
	{"embeddings", kindBool, flag(func(r *Result) bool { return r.Embeddings })},
	{"no_op_offload", kindInt, flag(func(r *Result) bool { return r.NoOpOffload })},
	{"no_host", kindBool, flag(func(r *Result) bool { return r.NoHost })},
	{"fit_target", kindInt, number(func(r *Result) int { return r.FitTarget })},
	{"fit_min_ctx", kindInt, number(func(r *Result) int { return r.FitCtx })},
	{"n_prompt", kindInt, number(func(r *Result) int { return r.NPrompt })},
	{"n_gen", kindInt, number(func(r *Result) int { return r.NGen })},
	{"n_depth", kindInt, number(func(r *Result) int { return r.NDepth })},
	{"test_time", kindString, text(func(r *Result) string { return r.Time.UTC().Format(time.RFC3339) })},
	{"avg_ns", kindInt, text(func(r *Result) string { return strconv.FormatUint(uint64(mean(r.ns())), 10) })},
	{"stddev_ns", kindInt, text(func(r *Result) string { return strconv.FormatUint(uint64(stddev(r.ns())), 10) })},
	{"avg_ts", kindFloat, text(func(r *Result) string { return fmt.Sprintf("%.6f", mean(r.TokensPerSec())) })},
	{"stddev_ts", kindFloat, text(func(r *Result) string { return fmt.Sprintf("%.6f", stddev(r.TokensPerSec())) })},

	{"lane", kindString, text(func(r *Result) string { return r.Lane })},
	{"splits", kindInt, number(func(r *Result) int { return r.Splits })},
	{"declined", kindStrings, text(func(r *Result) string { return jsonStrings(r.Declined) })},
	{"device_kind", kindString, text(func(r *Result) string { return r.DeviceKind })},
	{"residency", kindString, text(func(r *Result) string { return r.Residency })},
	{"faults", kindInt, number(func(r *Result) int { return r.Faults })},
}

// flashAttn numbers the settings as enum llama_flash_attn_type.
var flashAttn = map[string]int{"auto": -1, "off": 0, "on": 1}

func jsonStrings(s []string) string {
	if s == nil {
		s = []string{}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("bench: strings do not marshal: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func fieldNames(separator string) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return strings.Join(names, separator)
}

func (r *Result) ns() []float64 {
	out := make([]float64, len(r.SamplesNS))
	for i, v := range r.SamplesNS {
		out[i] = float64(v)
	}
	return out
}

// TokensPerSec is each repetition's speed.
func (r *Result) TokensPerSec() []float64 {
	out := r.ns()
	for i, v := range out {
		out[i] = 1e9 * float64(r.NPrompt+r.NGen) / v
	}
	return out
}

// Name is the test as llama-bench writes it: "pp512", "tg128 @ d4096".
func (t *Test) Name() string {
	var name string
	switch {
	case t.NGen == 0:
		name = fmt.Sprintf("pp%d", t.NPrompt)
	case t.NPrompt == 0:
		name = fmt.Sprintf("tg%d", t.NGen)
	default:
		name = fmt.Sprintf("pp%d+tg%d", t.NPrompt, t.NGen)
	}
	if t.NDepth > 0 {
		name += fmt.Sprintf(" @ d%d", t.NDepth)
	}
	return name
}

func mean(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// stddev is the sample standard deviation; 0 for fewer than two samples.
func stddev(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m, sum := mean(v), 0.0
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(v)-1))
}
