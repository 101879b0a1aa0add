package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

type options struct {
	model   string
	prompts []int
	layers  []int
	types   []string
	flash   []bool
	temp    float32
	seed    uint64
	threads int
	verbose bool
	output  string
}

func newFlags() (*FlagSet, *options) {
	o := &options{prompts: []int{512}, layers: []int{-1}, types: []string{"f16"}, temp: 0.8, threads: 2, output: "md"}
	f := &FlagSet{
		Synopsis: "holdfast try [flags] FILE",
		About:    "Try does nothing, for a test.",
		Examples: []string{"holdfast try -p 512,1024 model.gguf"},
	}
	f.String(&o.model, "-m, --model FILE", "model to load")
	f.Bool(&o.verbose, "-v, --verbose", "say more")
	f.Choice(&o.output, "-o, --output FORMAT", "output format", "md", "csv", "json")
	f.Group("values")
	f.Ints(&o.prompts, "-p, --n-prompt N", "prompt tokens", 0, 1<<20)
	f.Ints(&o.layers, "-ngl, --n-gpu-layers N", "layers on the GPU", -1, 1<<20)
	f.Choices(&o.types, "-ctk, --cache-type-k TYPE", "type of keys", "f16", "q8_0")
	f.Bools(&o.flash, "-fa, --flash-attn 0|1", "flash attention")
	f.Float32(&o.temp, "--temp T", "temperature", 0, 100)
	f.Uint64(&o.seed, "-s, --seed N", "seed")
	f.Int(&o.threads, "-t, --threads-with-a-long-name N", "threads", 1, 512)
	return f, o
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		args string
		env  map[string]string
		get  func(*options) any
		want any
	}{
		{"the default stays", "", nil, func(o *options) any { return o.prompts }, []int{512}},
		{"one dash", "-m a.gguf", nil, func(o *options) any { return o.model }, "a.gguf"},
		{"two dashes and a short name", "--m a.gguf", nil, func(o *options) any { return o.model }, "a.gguf"},
		{"one dash and a long name", "-model a.gguf", nil, func(o *options) any { return o.model }, "a.gguf"},
		{"an equals sign", "--model=a=b", nil, func(o *options) any { return o.model }, "a=b"},
		{"underscores for dashes", "--n_prompt 7", nil, func(o *options) any { return o.prompts }, []int{7}},
		{"a single-dash name of three letters", "-ngl 99", nil, func(o *options) any { return o.layers }, []int{99}},
		{"a negative value", "-ngl -1,0", nil, func(o *options) any { return o.layers }, []int{-1, 0}},
		{"a repeated flag adds", "-p 512,1024 -p 64", nil, func(o *options) any { return o.prompts }, []int{512, 1024, 64}},
		{"a range", "-p 1-4", nil, func(o *options) any { return o.prompts }, []int{1, 2, 3, 4}},
		{"a range with a step that misses the last", "-p 1-8+3", nil, func(o *options) any { return o.prompts }, []int{1, 4, 7}},
		{"a range with a factor", "-p 64-512*2,3", nil, func(o *options) any { return o.prompts }, []int{64, 128, 256, 512, 3}},
		{"a range from a negative value", "-ngl -1-1", nil, func(o *options) any { return o.layers }, []int{-1, 0, 1}},
		{"zeros and ones", "-fa 0,1,on", nil, func(o *options) any { return o.flash }, []bool{false, true, true}},
		{"words", "-ctk q8_0,f16", nil, func(o *options) any { return o.types }, []string{"q8_0", "f16"}},
		{"a switch takes no argument", "-v x", nil, func(o *options) any { return o.verbose }, true},
		{"a switch set to false", "-v=false", nil, func(o *options) any { return o.verbose }, false},
		{"a number", "--temp 0.25", nil, func(o *options) any { return o.temp }, float32(0.25)},
		{"a seed in hexadecimal", "-s 0xffffffffffffffff", nil, func(o *options) any { return o.seed }, uint64(1<<64 - 1)},
		{"the environment", "", map[string]string{"HOLDFAST_ARG_N_PROMPT": "3,4"}, func(o *options) any { return o.prompts }, []int{3, 4}},
		{"the environment for a switch", "", map[string]string{"HOLDFAST_ARG_VERBOSE": "1"}, func(o *options) any { return o.verbose }, true},
		{"the flag wins over the environment", "-p 9", map[string]string{"HOLDFAST_ARG_N_PROMPT": "3"}, func(o *options) any { return o.prompts }, []int{9}},
		{"llama.cpp's usual line", "-m a.gguf -ngl 99 -fa 1 -ctk q8_0 -p 512,1024 -p 64", nil, func(o *options) any { return *o }, options{
			model: "a.gguf", layers: []int{99}, flash: []bool{true}, types: []string{"q8_0"}, prompts: []int{512, 1024, 64}, temp: 0.8, threads: 2, output: "md",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, o := newFlags()
			_, err := f.Parse(strings.Fields(c.args), func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
			if err != nil {
				t.Fatal(err)
			}
			if got := c.get(o); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPositionalArguments(t *testing.T) {
	f, o := newFlags()
	rest, err := f.Parse([]string{"in", "-v", "out", "-", "-p", "3", "--", "-m", "--"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"in", "out", "-", "-m", "--"}; !reflect.DeepEqual(rest, want) {
		t.Errorf("rest is %q, want %q", rest, want)
	}
	if !o.verbose || !f.Given("-p") || f.Given("--model") {
		t.Errorf("verbose %v, -p given %v, --model given %v", o.verbose, f.Given("-p"), f.Given("--model"))
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       string
	}{
		{"an unknown flag near a known one", "--n-promt 3", "unknown flag --n-promt (did you mean --n-prompt?)"},
		{"an unknown short flag", "-mm a", "unknown flag -mm (did you mean -m?)"},
		{"two letters swapped", "-nlg 3", "unknown flag -nlg (did you mean -ngl?)"},
		{"an unknown flag near none", "--xyzzy", "unknown flag --xyzzy"},
		{"a missing value", "-m", "flag -m needs a value: -m FILE"},
		{"a word for a number", "-p many", `flag -p "many": "many" is not an integer`},
		{"a value out of range", "-t 0", `flag -t "0": 0 is not from 1 to 512`},
		{"a number that is not finite", "--temp nan", "not a number from 0 to 100"},
		{"an integer that overflows", "-p 99999999999999999999", "is not an integer"},
		{"an unknown word", "-o cvs", "want one of md csv json (did you mean csv?)"},
		{"an empty item", "-p 1,,2", `"" is not an integer`},
		{"a range backwards", "-p 9-1", "the first value is above the last"},
		{"a range that stands still", "-p 1-9+0", "0 is not from 1"},
		{"a factor of one", "-p 2-9*1", `range "2-9*1" does not advance from 2`},
		{"a factor from zero", "-p 0-9*2", "does not advance from 0"},
		{"a range without an end", "-p 1-", `range "1-": "" is not an integer`},
		{"a huge range", "-p 0-1048576", "more than 10000 values"},
		{"neither zero nor one", "-fa 2", "want 0 or 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := newFlags()
			_, err := f.Parse(strings.Fields(c.args), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if ExitCode(err) != 2 {
				t.Errorf("exit code %d", ExitCode(err))
			}
		})
	}
	f, _ := newFlags()
	_, err := f.Parse(nil, func(k string) (string, bool) { return "x", k == "HOLDFAST_ARG_SEED" })
	if err == nil || !strings.Contains(err.Error(), `environment variable HOLDFAST_ARG_SEED="x"`) {
		t.Errorf("bad environment: %v", err)
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{{nil, 0}, {ErrHelp, 0}, {Usagef("x"), 2}, {errors.Join(errors.New("while"), Usagef("x")), 2}, {io.EOF, 1}} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
	f, _ := newFlags()
	if _, err := f.Parse([]string{"-v", "--help", "--nonsense"}, nil); !errors.Is(err, ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}

func TestHelp(t *testing.T) {
	f, _ := newFlags()
	var b bytes.Buffer
	f.Help(&b)
	golden.Check(t, "help.txt", b.String())
}

func TestNearest(t *testing.T) {
	words := []string{"run", "bench", "inspect", "quantize", "version"}
	for s, want := range map[string]string{
		"benhc": "bench", "insepct": "inspect", "quantise": "quantize", "RUN": "run", "rum": "run", "serve": "", "x": "", "": "",
	} {
		if got := Nearest(s, words); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, 200)
	p.Label("first")
	p.drawn = time.Time{} // as if the interval had passed
	p.Add(100)
	p.Add(1) // too soon to be drawn
	p.Clear()
	want := clearLineANSI + "[                              ]   0% first" +
		clearLineANSI + "[===============               ]  50% first" + clearLineANSI
	if b.String() != want {
		t.Errorf("drew\n%q, want\n%q", b.String(), want)
	}
	var none *Progress
	none.Add(1)
	none.Label("x")
	none.Clear()
}

func TestIsTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if IsTerminal(null) || IsTerminal(&bytes.Buffer{}) {
		t.Error("the null device or a buffer passes for a terminal")
	}
}
