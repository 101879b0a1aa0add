package dispatch_test

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
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
	for _, a := range []device.Arena{{Align: 3}, {Align: 32}, {Align: -64}, {Align: 1 << 40}, {Prefix: -1}, {Guard: -1}, {Guard: 1 << 40}} {
		_, err := dispatch.Compile(everything(), chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{Arena: a})
		if err == nil || !strings.Contains(err.Error(), "arena") {
			t.Errorf("%+v: error %v", a, err)
		}
	}
}
