package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteKernels prints what kernels did in a result's repetitions, a launch on
// average: instructions of waves and of their active lanes, and the bytes that
// lanes read and write beside those that are different ones, the fewest that
// can be moved. The numbers are exact and repeatable. It prints nothing for
// devices that do not count.
func WriteKernels(w io.Writer, r Result) error {
	if len(r.Kernels) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s, %s\t\tof a launch\t\t\t\t\t\n", r.Name(), r.Devices)
	fmt.Fprintf(t, "kernel\tlaunches\tinstructions\tof lanes\tbytes\tfloor\tbytes/floor\t\n")
	var all struct{ instructions, lanes uint64 }
	for _, k := range r.Kernels {
		n := uint64(k.Launches)
		ratio := "-"
		if k.Touched > 0 {
			ratio = fmt.Sprintf("%.2f", float64(k.Requested)/float64(k.Touched))
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t\n", k.Kernel, n, k.Instructions/n, k.LaneInstructions/n, k.Requested/n, k.Touched/n, ratio)
		all.instructions += k.Instructions
		all.lanes += k.LaneInstructions
	}
	tokens := uint64(len(r.SamplesNS) * (r.NPrompt + r.NGen))
	fmt.Fprintf(t, "a token\t\t%d\t%d\t\t\t\t\n", all.instructions/tokens, all.lanes/tokens)
	return t.Flush()
}
