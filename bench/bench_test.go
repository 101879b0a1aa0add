package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

// fake is a Runner whose clock advances by what each call is said to cost.
type fake struct {
	now   time.Time
	calls []string
	fail  string // the call that fails
	n     int    // tokens in the context
	runs  int
}

var errFake = errors.New("fake failure")

func (f *fake) call(format string, args ...any) error {
	c := fmt.Sprintf(format, args...)
	f.calls = append(f.calls, c)
	if c == f.fail {
		return errFake
	}
	return nil
}

func (f *fake) Open(t Test) (Session, error) {
	f.n = 0
	return f, f.call("open %s", t.Name())
}

func (f *fake) Info() Info {
	return Info{
		ModelFile: "dir/it's a \"model\".gguf", ModelType: "qwen3 0.6B Q4_K - Medium", ModelBytes: 390 << 20, ModelParams: 596_049_920,
		CPU: "Fast CPU @ 2.00GHz", Backends: "CPU", DeviceKind: "cpu",
	}
}

func (f *fake) Prompt(_ context.Context, n int) error {
	f.now = f.now.Add(time.Duration(n) * time.Millisecond)
	f.n += n
	return f.call("prompt %d", n)
}

func (f *fake) Generate(_ context.Context, n int) error {
	f.runs++
	// Each repetition is 10 ms slower than the last.
	f.now = f.now.Add(time.Duration(n)*20*time.Millisecond + time.Duration(f.runs)*10*time.Millisecond)
	f.n += n
	return f.call("generate %d", n)
}

func (f *fake) Keep(n int) { f.n = min(f.n, n); _ = f.call("keep %d", n) }

func (f *fake) Lanes() Lanes {
	_ = f.call("lanes")
	return Lanes{Lane: "attention.serial", Splits: 1, Declined: []string{`attention.decode_split.direct: depth "0"`}}
}

func (f *fake) Close() error { return f.call("close") }

func (f *fake) loop() *Loop {
	f.now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return &Loop{Runner: f, Commit: "0123456789", Build: 7, Now: func() time.Time { return f.now }}
}

func TestTests(t *testing.T) {
	p := Defaults()
	p.Model = []string{"a", "b"}
	p.NPrompt, p.NGen, p.PromptGen = []int{512, 0}, []int{128}, [][2]int{{64, 16}, {0, 0}}
	p.Threads, p.NDepth = []int{1, 2}, []int{0, 4096}
	var got []string
	for _, x := range p.Tests() {
		got = append(got, fmt.Sprintf("%s t%d %s", x.Model, x.Threads, x.Name()))
	}
	var want []string
	for _, m := range []string{"a", "b"} {
		for _, threads := range []int{1, 2} {
			for _, depth := range []string{"", " @ d4096"} {
				for _, test := range []string{"pp512", "tg128", "pp64+tg16"} {
					want = append(want, fmt.Sprintf("%s t%d %s%s", m, threads, test, depth))
				}
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLoop(t *testing.T) {
	p := Defaults()
	p.NPrompt, p.NGen, p.NDepth, p.Repetitions = []int{8}, []int{4}, []int{32}, 2
	f := &fake{}
	var results []Result
	if err := f.loop().Run(t.Context(), p, func(r Result) error { results = append(results, r); return nil }); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"open pp8 @ d32", "prompt 8", "keep 0", // warm-up
		"prompt 32", "keep 32", "lanes", "prompt 8", "keep 32", "prompt 8", "lanes", "close",
		"open tg4 @ d32", "keep 0", "generate 1", "keep 0",
		"prompt 32", "keep 32", "lanes", "generate 4", "keep 32", "generate 4", "lanes", "close",
	}
	if !reflect.DeepEqual(f.calls, want) {
		t.Errorf("calls\n%q\nwant\n%q", f.calls, want)
	}
	ms := int64(time.Millisecond)
	if len(results) != 2 || !reflect.DeepEqual(results[0].SamplesNS, []int64{8 * ms, 8 * ms}) || !reflect.DeepEqual(results[1].SamplesNS, []int64{100 * ms, 110 * ms}) {
		t.Errorf("results %+v", results)
	}
}

func TestLoopEndsAtTheFirstError(t *testing.T) {
	p := Defaults()
	p.NPrompt, p.NGen, p.NDepth, p.Repetitions = []int{8}, []int{4}, []int{32}, 1
	for _, fail := range []string{"open pp8 @ d32", "prompt 8", "prompt 32", "generate 4", "close"} {
		f := &fake{fail: fail}
		err := f.loop().Run(t.Context(), p, func(Result) error { return nil })
		if !errors.Is(err, errFake) {
			t.Errorf("%s failed, the error is %v", fail, err)
		}
		if opened, closed := countCalls(f, "open"), countCalls(f, "close"); opened != closed && fail != "open pp8 @ d32" {
			t.Errorf("%s failed: opened %d, closed %d", fail, opened, closed)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&fake{}).loop().Run(ctx, p, func(Result) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func countCalls(f *fake, prefix string) (n int) {
	for _, c := range f.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

// render runs two tests and prints them.
func render(t *testing.T, format string, p Params) string {
	t.Helper()
	var b bytes.Buffer
	f := &fake{}
	l := f.loop()
	printer, err := NewPrinter(format, &b, Build{l.Commit, l.Build})
	if err != nil {
		t.Fatal(err)
	}
	if err := printer.Header(p); err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context(), p, printer.Result); err != nil {
		t.Fatal(err)
	}
	if err := printer.Footer(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// small has few tests and a fixed number of threads.
func small() Params {
	p := Defaults()
	p.NPrompt, p.NGen, p.Repetitions, p.Threads = []int{512}, []int{16}, 3, []int{2}
	return p
}

func TestPrinters(t *testing.T) {
	for _, format := range Formats() {
		got := render(t, format, small())
		if format == "benchstat" { // names the platform
			got = strings.Join(strings.Split(got, "\n")[2:], "\n")
		}
		golden.Check(t, format+".txt", got)
	}
	if got := render(t, "none", small()); got != "" {
		t.Errorf("none prints %q", got)
	}
	if _, err := NewPrinter("xml", nil, Build{}); err == nil || !strings.Contains(err.Error(), `"xml" is not one of csv json`) {
		t.Errorf("unknown format: %v", err)
	}
}

// TestMarkdownShowsWhatDiffers gives every parameter a value that is not the
// default: each must have its column.
func TestMarkdownShowsWhatDiffers(t *testing.T) {
	p := small()
	p.NDepth, p.NBatch, p.NUBatch, p.TypeK, p.TypeV = []int{4096}, []int{1024}, []int{256}, []string{"q8_0"}, []string{"bf16"}
	p.CPUMask, p.CPUStrict, p.Poll, p.NCPUMoE = []string{"0x3"}, []bool{true}, []int{0}, []int{2}
	p.SplitMode, p.LoadMode, p.MainGPU, p.NoKVOffload = []string{"row"}, []string{"mlock"}, []int{1}, []bool{true}
	p.FlashAttn, p.Devices, p.TensorSplit, p.Override = []string{"on"}, []string{"none"}, []string{"1.00/2.00"}, []string{"x=CPU"}
	p.Embeddings, p.NoOpOffload, p.NoHost, p.FitTarget, p.FitCtx = []bool{true}, []bool{true}, []bool{true}, []int{1}, []int{1}
	golden.Check(t, "md_all.txt", render(t, "md", p))
	p = small()
	p.FlashAttn = []string{"auto", "off"} // two values, the first being the default
	golden.Check(t, "md_two.txt", render(t, "md", p))
}

// TestFormatsParse reads the formats back with other people's parsers.
func TestFormatsParse(t *testing.T) {
	names := strings.Split(fieldNames(","), ",")
	rows, err := csv.NewReader(strings.NewReader(render(t, "csv", small()))).ReadAll()
	if err != nil || len(rows) != 3 || !reflect.DeepEqual(rows[0], names) {
		t.Errorf("csv: %v, %q", err, rows)
	}
	check := func(format string, objects []map[string]any) {
		if len(objects) != 2 {
			t.Fatalf("%s: %d objects", format, len(objects))
		}
		for i, o := range objects {
			for j, name := range names {
				if _, ok := o[name]; !ok {
					t.Errorf("%s: object %d lacks %s", format, i, name)
				}
				if s, ok := o[name].(string); ok && s != rows[i+1][j] {
					t.Errorf("%s: object %d: %s is %q, in csv %q", format, i, name, s, rows[i+1][j])
				}
			}
			if len(o) != len(names)+2 || len(o["samples_ns"].([]any)) != 3 || len(o["samples_ts"].([]any)) != 3 {
				t.Errorf("%s: object %d has %d members", format, i, len(o))
			}
		}
	}
	var objects []map[string]any
	if err := json.Unmarshal([]byte(render(t, "json", small())), &objects); err != nil {
		t.Fatal(err)
	}
	check("json", objects)
	objects = nil
	for line := range strings.Lines(render(t, "jsonl", small())) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	check("jsonl", objects)
}

func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		v            []float64
		mean, stddev float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 0},
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, 2.138089935299395}, // sqrt(32/7)
	} {
		if m, s := mean(c.v), stddev(c.v); m != c.mean || s != c.stddev {
			t.Errorf("%v: mean %g, deviation %g, want %g, %g", c.v, m, s, c.mean, c.stddev)
		}
	}
}
