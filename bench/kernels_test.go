package bench

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
)

func TestKernelsAreListedByLaunchWithTheirFloor(t *testing.T) {
	r := Result{Test: Test{Devices: "gfx11", NGen: 2}, SamplesNS: []int64{1, 1}}
	var b strings.Builder
	if err := WriteKernels(&b, r); err != nil || b.Len() > 0 {
		t.Errorf("a device that does not count: %q, %v", b.String(), err)
	}
	r.Kernels = kernelsSince(
		[]engine.KernelCount{
			{Kernel: "add", Launches: 9, Instructions: 900, LaneInstructions: 9000, Requested: 4500, Touched: 1800},
			{Kernel: "idle", Launches: 1, Instructions: 1, LaneInstructions: 1, Requested: 1, Touched: 1},
			{Kernel: "rope", Launches: 4, Instructions: 400, LaneInstructions: 800, Requested: 0, Touched: 0},
		},
		[]engine.KernelCount{
			{Kernel: "add", Launches: 5, Instructions: 500, LaneInstructions: 5000, Requested: 2500, Touched: 1000},
			{Kernel: "idle", Launches: 1, Instructions: 1, LaneInstructions: 1, Requested: 1, Touched: 1},
		},
	)
	if err := WriteKernels(&b, r); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[2:] {
		got = append(got, strings.Fields(line))
	}
	want := [][]string{
		{"add", "4", "100", "1000", "500", "200", "2.50"},
		{"rope", "4", "100", "200", "0", "0", "-"},
		{"a", "token", "200", "1200"},
	}
	if len(got) != len(want) {
		t.Fatalf("%q", b.String())
	}
	for i := range want {
		if strings.Join(got[i], " ") != strings.Join(want[i], " ") {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}
