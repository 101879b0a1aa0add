package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// Experiment is what is to be done, written down before the first trial:
//
//	name = "split attention under pressure"
//	trials = 60                          # of each arm at each point of the matrix
//	order = "random"                     # or "interleaved", which is the default
//	seed = 7                             # of the order
//	timeout = "60s"                      # of a trial
//	memory = "4GiB"                      # of a trial's processes together
//	confidence = 0.95
//	files = ["model.gguf"]               # hashed into the journal, as the programs are
//	stop_faults = 10                     # no more trials at a point with so many
//
//	[[axis]]                             # the matrix
//	name = "depth"
//	values = ["100", "2100"]
//
//	[[arm]]
//	name = "split"
//	command = ["holdfast", "run", "-f", "prompt-{depth}.txt"]
//	env = { HOLDFAST_DISABLE = "" }
//	pressure = "neighbours"
//
//	[[pressure]]                         # programs that run beside trials
//	name = "neighbours"
//	command = ["llama-server", "--port", "{n}"]
//	most = 4                             # started one by one
//	gauge = "file:/sys/class/drm/card0/device/mem_info_gtt_used"
//	low = 80e9                           # until the gauge is here
//	high = 92e9                          # and no further
//	settle = "20s"                       # how long each is given
//
//	[regime]                             # when a trial counts: at its start
//	gauge = "file:/sys/class/hwmon/hwmon0/temp1_input"
//	high = 80000
//
//	[[limit]]                            # what stops a trial, which is invalid then
//	gauge = "file:/sys/class/hwmon/hwmon0/temp1_input"
//	high = 95000
//
//	[reference]                          # what an answer is compared with
//	arm = "serial"                       # the modal answer of so many runs of it at
//	runs = 3                             # each point; or file = "answer.txt"
//
//	[[face]]                             # by which an outcome is known
//	name = "NaN"
//	kind = "match"                       # see Face
//	pattern = '(?i)\bnan\b'
//
//	[[claim]]
//	kind = "at most"                     # see Claim
//	arm = "split"
//	rate = 0.05
//
// {depth} and the other axes' names, {arm}, {trial} and in a pressure's command {n}
// are replaced in commands and environments.
type Experiment struct {
	Name       string     `toml:"name"`
	Trials     int        `toml:"trials"`
	Order      string     `toml:"order"`
	Seed       uint64     `toml:"seed"`
	Timeout    duration   `toml:"timeout"`
	Memory     size       `toml:"memory"`
	Confidence float64    `toml:"confidence"`
	Files      []string   `toml:"files"`
	StopFaults int        `toml:"stop_faults"`
	Axes       []axis     `toml:"axis"`
	Arms       []Arm      `toml:"arm"`
	Pressures  []Pressure `toml:"pressure"`
	Regime     *Band      `toml:"regime"`
	Limits     []Band     `toml:"limit"`
	Reference  *Reference `toml:"reference"`
	Faces      []Face     `toml:"face"`
	Claims     []claim    `toml:"claim"`

	text string
}

type axis struct {
	Name   string   `toml:"name"`
	Values []string `toml:"values"`
}

type claim struct {
	Kind       string  `toml:"kind"`
	Arm        string  `toml:"arm"`
	Against    string  `toml:"against"`
	Rate       float64 `toml:"rate"`
	Confidence float64 `toml:"confidence"`
	Trials     int     `toml:"trials"`
}

// Arm is something that is tried.
type Arm struct {
	Name     string            `toml:"name"`
	Command  []string          `toml:"command"`
	Env      map[string]string `toml:"env"`
	Dir      string            `toml:"dir"`
	Pressure string            `toml:"pressure"` // its name; empty for none
}

// Pressure is programs that run beside trials: as many as bring the gauge into
// its band, or Most if there is none.
type Pressure struct {
	Name    string   `toml:"name"`
	Command []string `toml:"command"`
	Most    int      `toml:"most"`
	Settle  duration `toml:"settle"`
	Band
}

// Band is what a gauge should show. A zero Low or High is no bound.
type Band struct {
	Gauge string  `toml:"gauge"`
	Low   float64 `toml:"low"`
	High  float64 `toml:"high"`
}

// Reference is what answers, on standard output, are compared with.
type Reference struct {
	File string `toml:"file"`
	Arm  string `toml:"arm"`
	Runs int    `toml:"runs"`
}

// Face is how an outcome is known. Its kinds:
//
//	exit      the status is one of codes, or none of 0 if there are none
//	signal    a signal ended the program
//	match     the output has the pattern, at least count times if that is given
//	missing   the output has the pattern fewer than count times
//	nan       the output has a NaN or an Inf that stands alone
//	utf8      standard output is not valid UTF-8
//	timeout   the trial took longer than its time
//	memory    its processes took more than their memory
//	differs   standard output is not the reference
//	unusual   standard output is not the modal one of its arm and point, a fault;
//	          told when the journal is read, as long as trials are made of those so far
type Face struct {
	Name    string `toml:"name"`
	Kind    string `toml:"kind"`
	Codes   []int  `toml:"codes"`
	Pattern string `toml:"pattern"`
	Count   int    `toml:"count"`
	// Outcome is fault, incomplete or invalid: incomplete for missing, fault for
	// the others if it is empty.
	Outcome Outcome `toml:"outcome"`

	pattern *regexp.Regexp
}

var faceKinds = []string{"exit", "signal", "match", "missing", "nan", "utf8", "timeout", "memory", "differs", "unusual"}

// ReadExperiment reads an experiment's file. Errors name the file, and the line of
// what is no TOML or no key.
func ReadExperiment(path string) (*Experiment, error) {
	const most = 1 << 20
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s: %d bytes, at most %d", path, info.Size(), most)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseExperiment(path, string(b))
}

// ParseExperiment reads an experiment's text. name is for errors.
func ParseExperiment(name, text string) (*Experiment, error) {
	e := &Experiment{text: text}
	if err := tomlfile.Decode(name, text, e); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// Hash is the SHA-256 of the experiment's text.
func (e *Experiment) Hash() string {
	h := sha256.Sum256([]byte(e.text))
	return hex.EncodeToString(h[:])
}

// check fills in what is left out and says what is wrong.
func (e *Experiment) check() error {
	if e.Confidence == 0 {
		e.Confidence = 0.95
	}
	if e.Order == "" {
		e.Order = "interleaved"
	}
	if e.Timeout == 0 {
		e.Timeout = duration(time.Minute)
	}
	switch {
	case e.Name == "":
		return fmt.Errorf("no name")
	case e.Trials < 1 || e.Trials > maxTrials:
		return fmt.Errorf("trials = %d, want 1 to %d", e.Trials, maxTrials)
	case e.Order != "interleaved" && e.Order != "random":
		return fmt.Errorf("order = %q, want interleaved or random", e.Order)
	case e.StopFaults < 0:
		return fmt.Errorf("stop_faults = %d", e.StopFaults)
	}
	for i := range e.Arms {
		a := &e.Arms[i]
		switch {
		case a.Name == "" || len(a.Command) == 0 || a.Command[0] == "":
			return fmt.Errorf("arm %d: want a name and a command", i+1)
		case slices.ContainsFunc(e.Arms[:i], func(b Arm) bool { return b.Name == a.Name }):
			return fmt.Errorf("two arms are named %q", a.Name)
		case a.Pressure != "" && e.pressure(a.Pressure) == nil:
			return fmt.Errorf("arm %q: no pressure %q", a.Name, a.Pressure)
		}
	}
	for i := range e.Pressures {
		if err := e.Pressures[i].check(); err != nil {
			return fmt.Errorf("pressure %d, %q: %w", i+1, e.Pressures[i].Name, err)
		}
	}
	bands := slices.Clone(e.Limits)
	if e.Regime != nil {
		bands = append(bands, *e.Regime)
	}
	for _, b := range bands {
		if err := b.check(); err != nil {
			return err
		}
	}
	for i := range e.Faces {
		if err := e.Faces[i].check(e); err != nil {
			return fmt.Errorf("face %d, %q: %w", i+1, e.Faces[i].Name, err)
		}
	}
	if r := e.Reference; r != nil {
		switch {
		case (r.File == "") == (r.Arm == ""):
			return fmt.Errorf("reference: want either a file or an arm")
		case r.Arm != "" && e.arm(r.Arm) == nil:
			return fmt.Errorf("reference: no arm %q", r.Arm)
		case r.Runs < 0 || r.Runs > 1000:
			return fmt.Errorf("reference: runs = %d", r.Runs)
		}
	}
	h := e.header()
	return h.check()
}

// maxTrials bounds the trials of an arm at a point.
const maxTrials = 1_000_000

func (e *Experiment) arm(name string) *Arm {
	i := slices.IndexFunc(e.Arms, func(a Arm) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Arms[i]
}

func (e *Experiment) pressure(name string) *Pressure {
	i := slices.IndexFunc(e.Pressures, func(p Pressure) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Pressures[i]
}

func (p *Pressure) check() error {
	if p.Most == 0 {
		p.Most = 1
	}
	switch {
	case p.Name == "" || len(p.Command) == 0:
		return fmt.Errorf("want a name and a command")
	case p.Most < 1 || p.Most > 1000:
		return fmt.Errorf("most = %d, want 1 to 1000", p.Most)
	case p.Gauge == "":
		return nil
	}
	return p.Band.check()
}

func (b *Band) check() error {
	if b.High != 0 && b.High < b.Low {
		return fmt.Errorf("gauge %q: high %g is under low %g", b.Gauge, b.High, b.Low)
	}
	_, err := parseGauge(b.Gauge)
	return err
}

func (f *Face) check(e *Experiment) (err error) {
	if f.Outcome == "" {
		f.Outcome = Fault
		if f.Kind == "missing" {
			f.Outcome = Incomplete
		}
	}
	if f.Name == "" {
		f.Name = f.Kind
	}
	needs := f.Kind == "match" || f.Kind == "missing"
	switch {
	case !slices.Contains(faceKinds, f.Kind):
		return fmt.Errorf("kind %q%s", f.Kind, tomlfile.Meant(f.Kind, faceKinds))
	case !slices.Contains([]Outcome{Fault, Incomplete, Invalid}, f.Outcome):
		return fmt.Errorf("outcome %q, want fault, incomplete or invalid", f.Outcome)
	case needs != (f.Pattern != ""):
		return fmt.Errorf("a pattern is for match and missing, which need one")
	case f.Kind == "missing" && f.Count < 1:
		return fmt.Errorf("missing needs a count")
	case f.Kind == "unusual" && f.Outcome != Fault:
		return fmt.Errorf("unusual is a fault, not %q", f.Outcome)
	case f.Kind == "differs" && e.Reference == nil:
		return fmt.Errorf("differs needs a [reference]")
	}
	if needs {
		f.pattern, err = regexp.Compile(f.Pattern)
	}
	return err
}

// header is the journal's, but for the environment.
func (e *Experiment) header() *Header {
	h := &Header{Format: JournalFormat, Name: e.Name, Hash: e.Hash(), Text: e.text, Conf: e.Confidence, Planned: e.Trials}
	for _, a := range e.Arms {
		h.Arms = append(h.Arms, a.Name)
	}
	for _, a := range e.Axes {
		h.Axes = append(h.Axes, Axis(a))
	}
	for _, f := range e.Faces {
		if f.Kind == "unusual" {
			h.Unusual = f.Name
		}
	}
	for _, c := range e.Claims {
		conf := c.Confidence
		if conf == 0 {
			conf = e.Confidence
		}
		h.Claims = append(h.Claims, Claim{ClaimKind(c.Kind), c.Arm, c.Against, c.Rate, conf, c.Trials})
	}
	return h
}

// fill replaces {name} by its value.
func fill(text string, values map[string]string) string {
	for name, v := range values {
		text = strings.ReplaceAll(text, "{"+name+"}", v)
	}
	return text
}

// duration is a time in TOML: "90s".
type duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v <= 0 {
		err = fmt.Errorf("%q is not a time that passes", b)
	}
	*d = duration(v)
	return err
}

// size is a number of bytes in TOML: "4GiB".
type size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *size) UnmarshalText(b []byte) error {
	var v float64
	var unit string
	if _, err := fmt.Sscanf(string(b), "%f%s", &v, &unit); err != nil || v <= 0 {
		return fmt.Errorf("%q is no size, such as 4GiB", b)
	}
	units := map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
	scale, ok := units[unit]
	if !ok {
		return fmt.Errorf("%q is no size: want B, KiB, MiB, GiB or TiB", b)
	}
	*n = size(v * scale)
	return nil
}
