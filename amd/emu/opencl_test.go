package emu_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// verdict is what became of one test in one variant.
type verdict struct {
	test   *clTest
	path   string
	class  string // "pass", or what went wrong, for counting
	detail string
}

// TestPiglit runs OpenCL programs that carry their own answers, which others
// wrote: HOLDFAST_PIGLIT names a file of them (see clTest) with the code
// objects in the folder obj beside it. HOLDFAST_PIGLIT_MATCH is a part of an
// object's name. What may fail is in testdata/opencl_known.txt, with a reason
// for each line; a line that nothing needs fails, too.
func TestPiglit(t *testing.T) {
	file := os.Getenv("HOLDFAST_PIGLIT")
	if file == "" {
		t.Skip("NO PROGRAM OF PIGLIT WAS RUN: HOLDFAST_PIGLIT names no file of tests")
	}
	tests, err := readTests(file)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readKnown(filepath.Join("testdata", "opencl_known.txt"))
	if err != nil {
		t.Fatal(err)
	}
	match := os.Getenv("HOLDFAST_PIGLIT_MATCH")
	work := make(chan *clTest)
	var mu sync.Mutex
	var verdicts []verdict
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for test := range work {
				vs := runTest(filepath.Join(filepath.Dir(file), "obj"), test)
				mu.Lock()
				verdicts = append(verdicts, vs...)
				mu.Unlock()
			}
		})
	}
	for _, test := range tests {
		if test.Suite == "piglit" && strings.Contains(test.Object, match) {
			work <- test
		}
	}
	close(work)
	wg.Wait()

	counts := map[string]int{}
	ran := map[*clTest]bool{}
	failed := map[*clTest]bool{}
	sort.Slice(verdicts, func(i, j int) bool {
		a, b := verdicts[i], verdicts[j]
		return a.path+a.test.Test < b.path+b.test.Test
	})
	shown := map[string]int{}
	for _, v := range verdicts {
		class := v.class
		if class != "pass" && class != beyond && class != "no object" {
			if reason := known.reason(v); reason != "" {
				class = "known: " + reason
			} else {
				failed[v.test] = true
				if shown[class]++; shown[class] <= setting(t, "HOLDFAST_PIGLIT_SHOW", 12) {
					t.Errorf("%s: %s, %q, kernel %s: %s", class, filepath.Base(v.path), v.test.Test, v.test.Kernel, v.detail)
				}
			}
		}
		if v.class != "no object" {
			ran[v.test] = true
		}
		counts[class]++
	}
	classes := make([]string, 0, len(counts))
	for c := range counts {
		classes = append(classes, c)
	}
	sort.Strings(classes)
	for _, c := range classes {
		t.Logf("%6d %s", counts[c], c)
	}
	t.Logf("%d tests with an object, %d of them with an unknown failure; %d runs", len(ran), len(failed), len(verdicts)-counts["no object"])
	if match == "" {
		for _, k := range known {
			if k.used == 0 {
				t.Errorf("testdata/opencl_known.txt: nothing needs %q", k.pattern)
			}
		}
	}
}

func readTests(path string) ([]*clTest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var tests []*clTest
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		test := &clTest{}
		if err := json.Unmarshal(s.Bytes(), test); err != nil {
			return nil, fmt.Errorf("%s, test %d: %w", path, len(tests), err)
		}
		tests = append(tests, test)
	}
	return tests, s.Err()
}

// knownFailure is a line of testdata/opencl_known.txt: the start of an object's
// name, or of it and the test's, and why such tests may fail.
type knownFailure struct {
	pattern, text, why string
	used               int
}

type knownFailures []*knownFailure

// readKnown reads lines of three fields, separated by bars: the start of
// "object test", a part of the failure's text, the reason.
func readKnown(path string) (knownFailures, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var known knownFailures
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: %d fields, want 3", path, i+1, len(fields))
		}
		known = append(known, &knownFailure{pattern: strings.TrimSpace(fields[0]), text: strings.TrimSpace(fields[1]), why: strings.TrimSpace(fields[2])})
	}
	return known, nil
}

func (ks knownFailures) reason(v verdict) string {
	name := strings.TrimPrefix(v.test.Object, "piglit--") + " " + v.test.Test
	for _, k := range ks {
		if strings.HasPrefix(name, k.pattern) && strings.Contains(v.class+": "+v.detail, k.text) {
			k.used++
			return k.why
		}
	}
	return ""
}

// runTest runs a test on each code object that there is of it.
func runTest(dir string, test *clTest) []verdict {
	paths, _ := filepath.Glob(filepath.Join(dir, strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`).Replace(test.Object)+".w*.co"))
	if len(paths) == 0 {
		return []verdict{{test: test, path: test.Object, class: "no object"}}
	}
	var vs []verdict
	for _, path := range paths {
		class, detail := runObject(path, test, 0)
		if class == "fault" && (strings.Contains(detail, "past the end of \"argument") || strings.Contains(detail, "bytes before \"argument")) {
			// The device is right to stop a program that leaves its buffers. What it
			// computes counts, too.
			if class, detail = runObject(path, test, 256); class == "pass" {
				class = beyond
			}
		}
		vs = append(vs, verdict{test, path, class, detail})
	}
	return vs
}

// beyond is the class of a test that passes once its buffers are larger than
// the test says: its kernel reads or writes past their end.
const beyond = "pass, but leaves its buffers"

// runObject runs a test with slack bytes after each buffer.
func runObject(path string, test *clTest, slack int) (class, detail string) {
	defer func() {
		if p := recover(); p != nil {
			class, detail = "panic", fmt.Sprint(p)
		}
	}()
	o, err := hsaco.Open(path)
	if err != nil {
		return "object", err.Error()
	}
	dev, err := emu.New(emu.Config{Budget: 1 << 29, Poison: true})
	if err != nil {
		return "device", err.Error()
	}
	m, err := dev.Load(o)
	if err != nil {
		return "load", err.Error()
	}
	k, err := m.Kernel(test.Kernel)
	if err != nil {
		return "kernel", err.Error()
	}
	l := emu.Dispatch{Kernel: k}
	copy(l.Grid[:], test.Global)
	l.Workgroup = workgroup(test, k.Meta)
	args, err := arguments(dev, k, test, &l, slack)
	if err != nil {
		return "arguments", err.Error()
	}
	if _, err = dev.Run(ctx, l); err != nil {
		var u *emu.Unsupported
		var f *emu.Fault
		switch {
		case errors.As(err, &u):
			return "unsupported " + strings.Fields(u.Text)[0], err.Error()
		case errors.As(err, &f):
			return "fault", err.Error()
		}
		return "run", err.Error()
	}
	for i := range test.Out {
		out := &test.Out[i]
		b := args[out.Arg]
		if b == nil {
			return "arguments", fmt.Sprintf("argument %d is an output and no buffer", out.Arg)
		}
		diff, err := out.compare(b.Data)
		if err != nil {
			return "arguments", err.Error()
		}
		if diff != "" {
			return "wrong", diff
		}
	}
	return "pass", ""
}

// workgroup is the test's, the kernel's, or one that divides the grid.
func workgroup(test *clTest, meta *hsaco.KernelMeta) [3]uint32 {
	w := [3]uint32{1, 1, 1}
	if len(test.Local) > 0 {
		copy(w[:], test.Local)
		return w
	}
	if meta.ReqdWorkgroupSize != [3]uint32{} {
		return meta.ReqdWorkgroupSize
	}
	limit := uint32(256)
	for i, n := range test.Global {
		for d := min(n, limit); d > 0; d-- {
			if n%d == 0 {
				w[i] = d
				limit /= d
				break
			}
		}
	}
	return w
}

// arguments makes the test's buffers and the kernel's arguments. What is only
// an output starts as bytes that nobody would write.
func arguments(dev *emu.Device, k *emu.Kernel, test *clTest, l *emu.Dispatch, slack int) (map[int]*emu.Buffer, error) {
	buffers := map[int]*emu.Buffer{}
	values := map[int]any{}
	for i := range test.Out {
		a := &test.Out[i]
		data, err := a.bytes()
		if err != nil {
			return nil, err
		}
		for j := range data {
			data[j] = 0xa5
		}
		if buffers[a.Arg], err = dev.Map(fmt.Sprintf("argument %d", a.Arg), append(data, make([]byte, slack)...), emu.Placement{}); err != nil {
			return nil, err
		}
		values[a.Arg] = buffers[a.Arg]
	}
	for i := range test.In {
		a := &test.In[i]
		if a.Kind == "null" {
			values[a.Arg] = (*emu.Buffer)(nil) // a null pointer
			continue
		}
		if len(a.Values) == 1 && a.Values[0] == "NULL" {
			t, err := parseType(a.Type)
			if err != nil {
				return nil, err
			}
			values[a.Arg] = localBytes(max(a.N, 1) * t.slots * t.size)
			continue
		}
		data, err := a.bytes()
		if err != nil {
			return nil, err
		}
		switch {
		case a.Kind == "value":
			values[a.Arg] = data
		case buffers[a.Arg] != nil:
			copy(buffers[a.Arg].Data, data)
		default:
			b, err := dev.Map(fmt.Sprintf("argument %d", a.Arg), append(data, make([]byte, slack)...), emu.Placement{})
			if err != nil {
				return nil, err
			}
			values[a.Arg] = b
		}
	}
	return buffers, pack(k, values, l, !strings.HasSuffix(k.Module.Object.Name, ".dl.co"))
}
