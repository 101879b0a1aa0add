package kfd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// topology is a directory as sysfs has it, with the gpu_id of each node.
func topology(t *testing.T, ids ...string) string {
	dir := t.TempDir()
	for i, id := range ids {
		d := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "gpu_id"), []byte(id), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGPUs(t *testing.T) {
	got, err := GPUs(topology(t, "0\n", "51234\n", "77\n"))
	if err != nil || !slices.Equal(got, []GPU{{1, 51234}, {2, 77}}) {
		t.Errorf("%v, %v", got, err)
	}
	for name, c := range map[string]struct {
		dir, want string
		none      bool
	}{
		"no directory":  {filepath.Join(t.TempDir(), "x"), "no KFD here: no ", true},
		"no GPU":        {topology(t, "0\n"), "none of 1 nodes", true},
		"no number":     {topology(t, "x"), `gpu_id "x" is no number`, false},
		"too large one": {topology(t, "4294967296"), "is no number", false},
	} {
		_, err := GPUs(c.dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNoDriver) != c.none {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestMask(t *testing.T) {
	if Mask(1, 9, 64) != 1|1<<8|1<<63 || Events != 0x7ff {
		t.Errorf("%#x, %#x", Mask(1, 9, 64), Events)
	}
}

func TestWhatIsNotTheDriverIsSaid(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "kfd"), GPU{1, 5}, Events); !errors.Is(err, ErrNoDriver) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, GPU{1, 5}, Events); err == nil || !strings.Contains(err.Error(), "node 1 does not give its events") {
		t.Error(err)
	}
}

func TestLinesOfTwoSourcesDoNotMix(t *testing.T) {
	var sources []io.ReadCloser
	for _, c := range []string{"a", "b"} {
		r, w := io.Pipe()
		sources = append(sources, r)
		go func() {
			for range 100 { // lines in two parts, and two lines at a time
				io.WriteString(w, c+c)
				io.WriteString(w, c+"\n"+c+c+c+"\n")
			}
			w.Close()
		}()
	}
	var b strings.Builder
	if err := Record(t.Context(), &b, sources); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(b.String()) {
		count[line]++
	}
	if count["aaa\n"] != 200 || count["bbb\n"] != 200 || len(count) != 2 {
		t.Error(count)
	}
}

func TestRecordingStops(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		io.WriteString(w, "9 1 -2 3 4\n")
		cancel()
	}()
	var b strings.Builder
	if err := Record(ctx, &b, []io.ReadCloser{r}); err != nil {
		t.Error(err)
	}
	if b.String() != "9 1 -2 3 4\n" {
		t.Errorf("%q", b.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestAFullDiskIsAnError(t *testing.T) {
	err := Record(t.Context(), full{}, []io.ReadCloser{io.NopCloser(strings.NewReader("9 1 -2 3 4\n"))})
	if err == nil || !strings.Contains(err.Error(), "recording: the disk is full") {
		t.Error(err)
	}
}
