package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/golden"
)

// The instructions that products take are kept in a file, so that a change shows
// what it costs. Next to them is a floor: for each weight byte its share of a
// load of 16, for each weight its share of a dot product of four, or a product
// of its own where weights are floats; nothing for unpacking and scales.
func TestInstructionsOfMatVec(t *testing.T) {
	dev, err := emu.New(emu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{dev: dev, kernels: map[string]*emu.Kernel{}, wave: 32}
	var b strings.Builder
	fmt.Fprintln(&b, "Instructions of waves, one row of activations, on the software device.")
	fmt.Fprintf(&b, "%-5s %6s %5s %8s %9s %8s %8s %6s\n", "type", "height", "cols", "bytes", "instr", "instr/B", "floor/B", "ratio")
	for _, c := range []struct {
		t            quant.Type
		height, cols int
	}{
		{quant.F32, 128, 256},
		{quant.F32, 128, 2048},
		{quant.F16, 128, 256},
		{quant.F16, 128, 2048},
		{quant.Q8_0, 128, 32},
		{quant.Q8_0, 512, 256},
		{quant.Q8_0, 256, 576},
		{quant.Q8_0, 128, 2048},
		{quant.Q8_0, 32, 9728},
		{quant.Q4_K, 256, 256},
		{quant.Q4_K, 128, 2048},
		{quant.Q4_K, 32, 9728},
		{quant.Q6_K, 256, 256},
		{quant.Q6_K, 128, 2048},
		{quant.Q6_K, 32, 9728},
	} {
		p := newProduct(t, c.t, c.cols, c.height, 1, 1)
		report := r.launch(t, c.t, 1, MatVec{
			W: r.bytes(t, "w", p.w).ptr(), X: r.bytes(t, "x", p.packed).ptr(), Out: r.garbage(t, "out", 4*c.height).ptr(),
			Cols: uint32(c.cols), Height: uint32(c.height),
		})
		bytes, each := float64(len(p.w)), 4.0
		if matVecFormats[c.t].activations == quant.F32 {
			each = 1
		}
		floor := (bytes/16 + float64(c.cols*c.height)/each) / 32 / bytes
		got := float64(report.Instructions) / bytes
		fmt.Fprintf(&b, "%-5v %6d %5d %8.0f %9d %8.4f %8.4f %6.2f\n", c.t, c.height, c.cols, bytes, report.Instructions, got, floor, got/floor)
	}
	golden.Check(t, "matvec_cost.txt", b.String())
}
