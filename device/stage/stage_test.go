package stage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// chain is a program of three launches in two stages: a, then b and c, each of
// rows of two floats with 16 bytes of canary around.
func chain() (*device.Program, []byte) {
	p := &device.Program{Limits: device.Limits{Tokens: 3, Outputs: 1}, Arena: device.Arena{Guard: 16}}
	at := 16
	for i, name := range []string{"a", "b", "c"} {
		v := &op.Value{Name: name, Role: op.Transient, Type: quant.F32, Cols: 2}
		p.Launches = append(p.Launches, device.Launch{Kernel: "make." + name, Op: i, Wait: i == 1, Bindings: []device.Binding{{Value: v, Bytes: 24, Access: device.Write}}})
		p.Decisions = append(p.Decisions, device.Decision{Chosen: "lane." + name})
		p.Places = append(p.Places, device.Place{Value: v, Offset: at, Bytes: 24, RowBytes: 8, First: min(i, 1), Last: 1})
		at += 24 + 32
	}
	p.ArenaBytes = at - 16
	return p, make([]byte, p.ArenaBytes)
}

func hooks(t *testing.T, p *device.Program, arena []byte, o device.LoadOptions) *Hooks {
	t.Helper()
	h, err := NewHooks("fake", p, o, arena)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// run goes through a run, calling work in place of the launches of each stage.
func run(h *Hooks, n int, rows int, work func(stage int)) *device.Fault {
	b := &device.Batch{Tokens: make([]int32, rows), Pos: make([]int32, rows), Slot: make([]int32, rows)}
	h.Start(n)
	for s := range h.Stages() {
		h.Begin(s)
		work(s)
		if f := h.End(s, b); f != nil {
			return f
		}
	}
	return nil
}

func TestAStageOpensWhereALaunchWaits(t *testing.T) {
	p, arena := chain()
	h := hooks(t, p, arena, device.LoadOptions{})
	var got []string
	for i := range p.Launches {
		s, opens := h.Opens(i)
		got = append(got, fmt.Sprint(s, opens))
	}
	if s := strings.Join(got, ", "); s != "0 true, 1 true, 1 false" || h.Stages() != 2 {
		t.Errorf("%s of %d stages", s, h.Stages())
	}
}

func TestEveryByteOfACanaryIsWatched(t *testing.T) {
	p, arena := chain()
	h := hooks(t, p, arena, device.LoadOptions{})
	at := p.Places[1] // b, between a and c
	for _, x := range []struct {
		byte int
		want string
	}{
		{at.Offset - 16, "byte 16 before b"},
		{at.Offset - 1, "byte 1 before b"},
		{at.Offset + 24, "byte 1 after b"},
		{at.Offset + 39, "byte 16 after b"},
	} {
		f := run(h, 0, 3, func(s int) {
			if s == 1 {
				arena[x.byte] ^= 1
			}
		})
		if f == nil || f.Kind != device.FaultCanary || f.Op != 1 || f.Launch != "make.b" || f.Device != "fake" ||
			!strings.HasPrefix(f.Err.Error(), x.want) || !strings.HasSuffix(f.Err.Error(), "next to it: a before, c after") {
			t.Errorf("byte %d: %v, want %s", x.byte, f, x.want)
		}
	}
	if f := run(h, 0, 3, func(int) { copy(arena[at.Offset:], bytes.Repeat([]byte{7}, 24)) }); f != nil {
		t.Errorf("what is written in its place is a fault: %v", f)
	}
}

func TestPoisonIsThereWhenALifeBegins(t *testing.T) {
	p, arena := chain()
	h := hooks(t, p, arena, device.LoadOptions{Poison: true})
	seen := 0
	if f := run(h, 0, 3, func(s int) {
		for i, at := range p.Places {
			mem := arena[at.Offset : at.Offset+at.Bytes]
			if at.First == s {
				seen++
				for k := 0; k < len(mem); k += 4 {
					if x := math.Float32frombits(binary.LittleEndian.Uint32(mem[k:])); x == x {
						t.Errorf("stage %d: %s has %v at byte %d, want a NaN", s, at.Value.Name, x, k)
					}
				}
				clear(mem)
			} else if i == 0 && !bytes.Equal(mem, make([]byte, 24)) {
				t.Errorf("stage %d poisoned a again", s)
			}
		}
	}); f != nil || seen != 3 {
		t.Errorf("%d lives began, fault %v", seen, f)
	}
}

func TestTheWatcherSeesTheRowsOfTheBatchInOrder(t *testing.T) {
	p, arena := chain()
	var got []string
	h := hooks(t, p, arena, device.LoadOptions{Watch: func(w *device.Watched) {
		for _, m := range w.Written {
			got = append(got, fmt.Sprintf("%d %s %x", w.Launch, m.Value.Name, m.Data))
		}
	}})
	if f := run(h, 0, 2, func(s int) {
		if s == 0 {
			copy(arena[p.Places[0].Offset:], []byte{1, 2, 3})
		} else {
			copy(arena[p.Places[2].Offset:], []byte{9})
		}
	}); f != nil {
		t.Fatal(f)
	}
	want := "0 a 01020300000000000000000000000000, 1 b 00000000000000000000000000000000, 2 c 09000000000000000000000000000000"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("saw %s\nwant %s", s, want)
	}
}

func TestPlantedFaultsAreRaisedInTheirRunAlone(t *testing.T) {
	for _, kind := range []device.FaultKind{device.FaultMemory, device.FaultPanic, device.FaultNaN, device.FaultCanary} {
		p, arena := chain()
		h := hooks(t, p, arena, device.LoadOptions{Inject: []device.Injection{{Lane: "lane.b", Step: 1, Kind: kind}, {Lane: "elsewhere", Kind: kind}}})
		if !h.Injects() {
			t.Errorf("%s: not kept", kind)
		}
		for n := range 3 {
			raised := map[int]device.FaultKind{}
			f := run(h, n, 3, func(s int) {
				for i := range p.Launches {
					if k, ok := h.Raise(i); ok && h.stageOf[i] == s {
						raised[i] = k
					}
				}
			})
			first := math.Float32frombits(binary.LittleEndian.Uint32(arena[p.Places[1].Offset:]))
			switch {
			case n != 1:
				if f != nil || len(raised) > 0 {
					t.Errorf("%s in run %d: %v, raised %v", kind, n, f, raised)
				}
			case kind == device.FaultCanary:
				if f == nil || f.Kind != kind || f.Op != 1 {
					t.Errorf("canary: fault %v", f)
				}
			case kind == device.FaultNaN:
				if first == first || f != nil {
					t.Errorf("nan: b begins with %v, fault %v", first, f)
				}
			case len(raised) != 1 || raised[1] != kind:
				t.Errorf("%s: raised %v", kind, raised)
			}
		}
	}
}

func TestInjectionsThatCannotBeRaisedAreErrors(t *testing.T) {
	p, arena := chain()
	p.Arena.Guard = 0
	for want, kind := range map[string]device.FaultKind{
		"a canary cannot be broken without a guard":               device.FaultCanary,
		`injection of kind "odd", want oob, nan, panic or canary`: "odd",
	} {
		if _, err := NewHooks("fake", p, device.LoadOptions{Inject: []device.Injection{{Lane: "lane", Kind: kind}}}, arena); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
