package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/device"
)

// ParseInject reads faults to be raised, separated by commas:
//
//	attention.decode_split.multipass:step=7:kind=oob
//
// is a read of memory that is not there in the first command of that
// registration (a name prefix) in run 7 of any program, counted from 0 and with the runs that faults cause. Kinds are oob, nan, panic and canary.
func ParseInject(s string) ([]device.Injection, error) {
	var out []device.Injection
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		x, err := parseInjection(item)
		if err != nil {
			return nil, fmt.Errorf("engine: injection %q: %w", item, err)
		}
		out = append(out, x)
	}
	return out, nil
}

func parseInjection(s string) (device.Injection, error) {
	fields := strings.Split(s, ":")
	x := device.Injection{Lane: fields[0], Step: -1}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "step":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return x, fmt.Errorf("step %q is no number from 0", value)
			}
			x.Step = n
		case "kind":
			switch k := device.FaultKind(value); k {
			case device.FaultMemory, device.FaultNaN, device.FaultPanic, device.FaultCanary:
				x.Kind = k
			default:
				return x, fmt.Errorf("kind %q, want oob, nan, panic or canary", value)
			}
		default:
			return x, fmt.Errorf("%q, want step=N and kind=KIND", f)
		}
	}
	if x.Lane == "" || x.Step < 0 || x.Kind == "" {
		return x, fmt.Errorf("want LANE:step=N:kind=KIND")
	}
	return x, nil
}
