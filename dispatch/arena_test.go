package dispatch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/op"
)

func compile(t *testing.T, opt dispatch.Options) *device.Program {
	t.Helper()
	p, err := dispatch.Compile(everything(), chain(), device.Limits{Tokens: 7, Outputs: 3}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWithoutReuseNoTwoTransientsShareAByte(t *testing.T) {
	p := compile(t, dispatch.Options{Arena: device.Arena{NoReuse: true}})
	used := make([]string, p.ArenaBytes)
	for _, at := range p.Places {
		for i := at.Offset; i < at.Offset+at.Bytes; i++ {
			if used[i] != "" {
				t.Fatalf("byte %d belongs to %s and to %s", i, used[i], at.Value.Name)
			}
			used[i] = at.Value.Name
		}
	}
	if with := compile(t, dispatch.Options{}); with.ArenaBytes >= p.ArenaBytes {
		t.Errorf("arena of %d bytes without reuse, %d with it", p.ArenaBytes, with.ArenaBytes)
	}
}

func TestArenaOptionsMoveEveryTransient(t *testing.T) {
	for _, a := range []device.Arena{
		{Align: 4096}, {Prefix: 2560}, {Guard: 64}, {Guard: 1}, {Align: 256, Prefix: 100, Guard: 48, NoReuse: true},
	} {
		p := compile(t, dispatch.Options{Arena: a})
		for _, at := range p.Places {
			if a.Align != 0 && at.Offset%a.Align != 0 {
				t.Errorf("%+v: %s at %d", a, at.Value.Name, at.Offset)
			}
			if at.Offset < a.Prefix+a.Guard {
				t.Errorf("%+v: %s at %d", a, at.Value.Name, at.Offset)
			}
		}
	}
}

func TestSeriallyEveryLaunchWaitsAndLifetimesCountCommands(t *testing.T) {
	p := compile(t, dispatch.Options{Serial: true})
	for i, l := range p.Launches {
		if l.Wait != (i > 0) {
			t.Errorf("launch %d waits: %v", i, l.Wait)
		}
	}
	for _, at := range p.Places {
		if at.Value.Name == "gate" && (at.First != 2 || at.Last != 4) {
			t.Errorf("gate lives from command %d to %d, want 2 to 4", at.First, at.Last)
		}
	}
}

func TestArenaOptionsOutOfRangeAreErrors(t *testing.T) {
	for _, a := range []device.Arena{{Align: 3}, {Align: 32}, {Align: -64}, {Align: 1 << 40}, {Prefix: -1}, {Guard: -1}, {Guard: 1 << 40}, {Limit: -1}} {
		_, err := dispatch.Compile(everything(), chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{Arena: a})
		if err == nil || !strings.Contains(err.Error(), "arena") {
			t.Errorf("%+v: error %v", a, err)
		}
	}
}

// wide is everything, with workspaces for swiglu and add.
func wide(swiglu, add int) fake {
	dev := everything()
	with := func(name string, bytes int) device.Registration {
		return device.Registration{Name: name, Priority: 1, Match: func(s *device.Site) (*device.Match, *device.Decline) {
			m, _ := take(s)
			m.Launches[0].Bindings = append(m.Launches[0].Bindings, s.Bind(s.Temp("wide", bytes), device.ReadWrite))
			return m, nil
		}}
	}
	dev.regs[op.SwiGLU] = append(dev.regs[op.SwiGLU], with("swiglu.wide", swiglu))
	dev.regs[op.Add] = []device.Registration{with("add.wide", add)}
	return dev
}

// A workspace that makes the arena too large is declined with the numbers, and
// what needs less runs; if nothing needs less, that is the error.
func TestAnArenaPastItsLimitIsMadeSmaller(t *testing.T) {
	for _, c := range []struct {
		name        string
		swiglu, add int // workspaces; nothing but add.wide runs add
		limit       int
		want        string // what runs swiglu, or the error
	}{
		{"no limit", 1 << 20, 1 << 10, 0, "swiglu.wide"},
		{"within the limit", 1 << 20, 1 << 10, 2 << 20, "swiglu.wide"},
		{"past it", 1 << 20, 1 << 10, 1 << 20, "swiglu.plain"},
		{"past it, but what is largest cannot be left out", 1 << 19, 1 << 20, 1<<20 + 1<<18, "swiglu.plain"},
		{"nothing is small enough", 1 << 19, 1 << 20, 1 << 19, "allowed are 524288: no registration runs in less"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := dispatch.Compile(wide(c.swiglu, c.add), chain(), device.Limits{Tokens: 7, Outputs: 3},
				dispatch.Options{Arena: device.Arena{Limit: c.limit, NoReuse: true}})
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				return
			}
			d := p.Decisions[4]
			if d.Chosen != c.want || c.limit > 0 && p.ArenaBytes > c.limit {
				t.Errorf("chose %s with an arena of %d bytes, want %s", d.Chosen, p.ArenaBytes, c.want)
			}
			if d.Chosen == "swiglu.plain" {
				detail := fmt.Sprintf("with a workspace of %d for swiglu, allowed are %d", c.swiglu, c.limit)
				if len(d.Declined) != 1 || d.Declined[0].Reason != device.ReasonMemory || !strings.Contains(d.Declined[0].Detail, detail) {
					t.Errorf("declined %v, want %q", d.Declined, detail)
				}
			}
		})
	}
}
