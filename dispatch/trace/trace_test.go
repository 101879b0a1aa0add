package trace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch/trace"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// record is a trace of two steps of a program of two commands; change may
// alter what command 1 of step 1 writes.
func record(t *testing.T, digests bool, kernel string, change func(norm []byte, pack []byte)) []byte {
	t.Helper()
	p := &device.Program{
		Launches:  []device.Launch{{Kernel: "embed", Op: 0}, {Kernel: kernel, Op: 1}},
		Decisions: []device.Decision{{Op: "embed", Chosen: "get_rows"}, {Op: "norm", Chosen: "rms_norm.next_q8"}},
	}
	x := &op.Value{Name: "embed", Type: quant.F32, Cols: 3}
	y := &op.Value{Name: "norm", Type: quant.F32, Cols: 3}
	q := &op.Value{Name: "norm.q8k"}
	floats := func(v ...float32) []byte {
		var b []byte
		for _, f := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b
	}
	var b bytes.Buffer
	w := trace.NewWriter(&b, [32]byte{1}, digests)
	for step := range 2 {
		w.Watch(step, p, &device.Watched{Launch: 0, Written: []device.Memory{{Value: x, Data: floats(1, 2, 3)}}})
		norm, pack := floats(4, 5, 6), []byte{1, 2, 3, 4}
		if step == 1 && change != nil {
			change(norm, pack)
		}
		w.Watch(step, p, &device.Watched{Launch: 1, Written: []device.Memory{{Value: y, Data: norm}, {Value: q, Data: pack}}})
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func diff(t *testing.T, a, b []byte) (*trace.Difference, int, error) {
	t.Helper()
	ra, err := trace.NewReader("a", bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	rb, err := trace.NewReader("b", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return trace.Diff(ra, rb)
}

func TestDiffNamesTheFirstCommandOutputAndElement(t *testing.T) {
	good := record(t, false, "norm.avx512", nil)
	for _, c := range []struct {
		name   string
		change func(norm, pack []byte)
		want   string
	}{
		{"nothing", nil, ""},
		{"a float", func(norm, _ []byte) { norm[4] ^= 1 }, "step 1, command 1: norm.avx512 (rms_norm.next_q8, for norm): output norm (f32): element 1 is 5 (0x40a00000) and 5.0000005 (0x40a00001); 1 of 3 differ"},
		{"the pack only", func(_, pack []byte) { pack[2], pack[3] = 9, 9 }, "step 1, command 1: norm.avx512 (rms_norm.next_q8, for norm): output norm.q8k (packed): element 2 is 0x03 and 0x09; 2 of 4 differ"},
	} {
		d, n, err := diff(t, good, record(t, false, "norm.avx512", c.change))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		switch {
		case c.want == "" && (d != nil || n != 6):
			t.Errorf("%s: %v after %d outputs, want none after 6", c.name, d, n)
		case c.want != "" && (d == nil || d.String() != c.want):
			t.Errorf("%s: %v\nwant %s", c.name, d, c.want)
		}
	}
}

func TestDigestsAloneNameTheOutput(t *testing.T) {
	change := func(norm, _ []byte) { norm[0]++ }
	for _, a := range []bool{false, true} {
		d, _, err := diff(t, record(t, a, "n", nil), record(t, true, "n", change))
		if err != nil || d == nil || d.Value != "norm" || d.Element != -1 {
			t.Errorf("%v, %v", d, err)
		}
	}
}

func TestTracesOfDifferentCommandsAreNotComparable(t *testing.T) {
	good := record(t, false, "norm.avx512", nil)
	other := record(t, false, "norm.avx2", nil)
	var no *trace.Incomparable
	if _, _, err := diff(t, good, other); !errors.As(err, &no) || !strings.Contains(err.Error(), "norm.avx512 by rms_norm") {
		t.Errorf("another kernel: %v", err)
	}
	var empty bytes.Buffer
	if err := trace.NewWriter(&empty, [32]byte{1}, false).End(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := diff(t, good, empty.Bytes()); !errors.As(err, &no) || !strings.Contains(err.Error(), "b ends after 0 equal outputs") {
		t.Errorf("a shorter one: %v", err)
	}
	// The model's digest follows the magic line and the record's head.
	model := bytes.Clone(good)
	model[len("holdfast trace 2\n")+2]++
	if _, _, err := diff(t, good, model); !errors.As(err, &no) || !strings.Contains(err.Error(), "a is of a model file with SHA-256 0100") {
		t.Errorf("another model: %v", err)
	}
}

func TestBrokenTracesAreErrors(t *testing.T) {
	good := record(t, false, "n", nil)
	if _, err := trace.NewReader("x", strings.NewReader("holdfast trace 9\n")); err == nil {
		t.Error("another version is read")
	}
	for n := range len(good) {
		if n < 17 {
			continue
		}
		if err := readAll(good[:n]); err == nil {
			t.Fatalf("cut at %d: read as a whole one", n)
		} else if !strings.Contains(err.Error(), "trace: x: record before byte") {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func readAll(b []byte) error {
	r, err := trace.NewReader("x", bytes.NewReader(b))
	if err != nil {
		return err
	}
	for {
		o, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_ = r.Commands(o.Program)[o.Command]
	}
}

func FuzzRead(f *testing.F) {
	var t testing.T
	f.Add(record(&t, false, "n", nil))
	f.Add(record(&t, true, "n", nil))
	f.Fuzz(func(_ *testing.T, b []byte) { _ = readAll(b) })
}
