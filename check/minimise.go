package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// Minimise makes the grid and the buffers of a case smaller, by halves and then by
// single elements, as long as what it finds stays the same: each finding of r,
// and no other. It returns the smallest case that it came to, without wanted
// values, which sizes may change.
func (c *Case) Minimise(ctx context.Context, s Settings, r *Result) *Case {
	goal := keysOfFindings(r)
	best := c.smaller(func(*Case) {})
	for better := true; better && ctx.Err() == nil; {
		better = false
		for _, step := range best.steps() {
			next := best.smaller(step)
			if next.Check() != nil {
				continue
			}
			if got := next.Run(ctx, s); got.Err == nil && slices.Equal(keysOfFindings(got), goal) {
				best, better = next, true
				break
			}
		}
	}
	return best
}

// keysOfFindings are what findings are, in order.
func keysOfFindings(r *Result) []string {
	var keys []string
	for i := range r.Findings {
		keys = append(keys, fmt.Sprint(sameFinding(r.Findings[i].Finding)))
	}
	slices.Sort(keys)
	return keys
}

// steps are the ways in which a case can be made smaller, large ones first.
func (c *Case) steps() []func(*Case) {
	var list []func(*Case)
	grid := func(c *Case) *extent {
		if c.Items != (extent{}) {
			return &c.Items
		}
		return &c.Grid
	}
	for _, shrink := range []func(n int64) int64{func(n int64) int64 { return n / 2 }, func(n int64) int64 { return n - 1 }} {
		for i := range 3 {
			if n := shrink(int64(grid(c)[i])); n >= 1 {
				list = append(list, func(c *Case) { grid(c)[i] = uint32(n) })
			}
		}
		for i := range c.Args {
			if n := shrink(c.Args[i].Count); n >= 1 {
				list = append(list, func(c *Case) { c.Args[i].Count = n })
			}
		}
	}
	return list
}

// smaller is a copy of the case, changed.
func (c *Case) smaller(change func(*Case)) *Case {
	next := *c
	next.Args = slices.Clone(c.Args)
	for i := range next.Args {
		next.Args[i].Want = ""
	}
	change(&next)
	return &next
}

// Text is the case as a file.
func (c *Case) Text() string {
	var b strings.Builder
	say := func(key string, v any, is bool) {
		if is {
			fmt.Fprintf(&b, "%s = %v\n", key, v)
		}
	}
	quoted := func(list []string) string {
		var q []string
		for _, s := range list {
			q = append(q, tomlfile.Quote(s))
		}
		return "[" + strings.Join(q, ", ") + "]"
	}
	three := func(e extent) string { return fmt.Sprintf("[%d, %d, %d]", e[0], e[1], e[2]) }
	say("about", tomlfile.Quote(c.About), c.About != "")
	say("object", tomlfile.Quote(c.Object), c.Object != "")
	say("source", tomlfile.Quote(c.Source), c.Source != "")
	say("flags", quoted(c.Flags), len(c.Flags) > 0)
	say("kernel", tomlfile.Quote(c.Kernel), true)
	say("grid", three(c.Grid), c.Grid != extent{})
	say("items", three(c.Items), c.Items != extent{})
	say("block", three(c.Block), true)
	say("tools", quoted(c.Tools), len(c.Tools) > 0)
	say("mode", quoted(c.Mode), len(c.Mode) > 0)
	say("schedule", quoted(c.Schedule), len(c.Schedule) > 0)
	say("seed", c.Seed, c.Seed != 0)
	say("seeds", c.Seeds, c.Seeds != 0)
	say("budget", c.Budget, c.Budget != 0)
	for i := range c.Args {
		a := &c.Args[i]
		b.WriteString("\n[[arg]]\n")
		say("name", tomlfile.Quote(a.Name), a.Name != "")
		say("type", tomlfile.Quote(a.Type), a.Type != "")
		say("count", a.Count, a.Count != 0)
		say("fill", tomlfile.Quote(a.Fill), a.Fill != "")
		say("read_only", a.ReadOnly, a.ReadOnly)
		say("write_only", a.WriteOnly, a.WriteOnly)
		say("align", a.Align, a.Align != 0)
		say("offset", a.Offset, a.Offset != 0)
		say("value", tomlValue(a.Value), a.Value != nil)
		say("lds", a.LDS, a.LDS != 0)
		say("non_coherent", a.NonCoherent, a.NonCoherent)
		say("null", a.Null, a.Null)
	}
	for i := range c.Host {
		h := &c.Host[i]
		b.WriteString("\n[[host]]\n")
		say("when", tomlfile.Quote(h.When), true)
		say("do", tomlfile.Quote(h.Do), true)
		say("arg", tomlfile.Quote(h.Arg), true)
		say("offset", h.Offset, h.Offset != 0)
		say("count", h.Count, h.Count != 0)
	}
	return b.String()
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlfile.Quote(v)
	case float64: // nan and inf are small in TOML
		return strings.ToLower(fmt.Sprint(v))
	}
	return fmt.Sprint(v)
}
