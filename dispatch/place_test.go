package dispatch

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// randomProgram has launches that write and read values at random, not placed
// yet.
func randomProgram(r *rand.Rand, arena device.Arena) (*device.Program, *device.Compile) {
	l := device.Limits{Tokens: 1 + r.IntN(3), Outputs: 1}
	p, c := &device.Program{Limits: l, Arena: arena}, device.NewCompile(l)
	var values []*op.Value
	for i := range 2 + r.IntN(40) {
		for range r.IntN(3) {
			v := &op.Value{Name: "v", Role: op.Transient, Type: quant.F32, Cols: r.IntN(300)}
			if r.IntN(10) == 0 {
				v.Role = op.Output
			}
			values = append(values, v)
		}
		launch := device.Launch{Wait: i > 0 && r.IntN(3) > 0}
		for range min(len(values), r.IntN(4)) {
			launch.Bindings = append(launch.Bindings, c.Bind(values[max(0, len(values)-1-r.IntN(12))], device.ReadWrite))
		}
		p.Launches = append(p.Launches, launch)
	}
	return p, c
}

// TestPlacesAreApartByteByByte plays random programs stage by stage on a map of
// the arena's bytes: a second look at what verifyPlaces does by intervals.
func TestPlacesAreApartByteByByte(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	arenas := []device.Arena{{}, {Guard: 16}, {Align: 256, Prefix: 100}, {Guard: 3, Prefix: 64, Align: 128}, {NoReuse: true}, {NoReuse: true, Guard: 5}}
	for i := range 300 {
		arena := arenas[i%len(arenas)]
		p, c := randomProgram(r, arena)
		place(p, c)
		if err := verifyPlaces(p); err != nil {
			t.Fatal(err)
		}
		g := arena.Guard
		stages := 1
		for _, l := range p.Launches {
			if l.Wait {
				stages++
			}
		}
		owner := make([]int, p.ArenaBytes)
		for stage := range stages {
			if !arena.NoReuse {
				clear(owner)
			}
			for k, at := range p.Places {
				if stage < at.First || stage > at.Last {
					continue
				}
				if at.Offset%alignOf(arena) != 0 || at.Offset-g < arena.Prefix {
					t.Fatalf("program %d, %+v: place %d at %d", i, arena, k, at.Offset)
				}
				for b := at.Offset - g; b < at.Offset+at.Bytes+g; b++ {
					if owner[b] != 0 && owner[b] != k+1 {
						t.Fatalf("program %d, %+v, stage %d: byte %d is of places %d and %d", i, arena, stage, b, owner[b]-1, k)
					}
					owner[b] = k + 1
				}
			}
		}
		// Nothing lives in a stage without having a place then.
		stage := 0
		for _, l := range p.Launches {
			if l.Wait {
				stage++
			}
			for _, b := range l.Bindings {
				found := false
				for _, at := range p.Places {
					found = found || at.Value == b.Value && at.First <= stage && stage <= at.Last && at.Bytes >= b.Offset+b.Bytes
				}
				if !found {
					t.Fatalf("program %d: a binding in stage %d has no place", i, stage)
				}
			}
		}
	}
}

// Whatever is changed in a placement so that it is wrong, verifyPlaces sees it.
func TestAWrongPlacementIsSeen(t *testing.T) {
	value := func(name string) *op.Value {
		return &op.Value{Name: name, Role: op.Transient, Type: quant.F32, Cols: 16}
	}
	x, y, z := value("x"), value("y"), value("z")
	build := func(arena device.Arena) *device.Program {
		l := device.Limits{Tokens: 1, Outputs: 1}
		p, c := &device.Program{Limits: l, Arena: arena}, device.NewCompile(l)
		for i, vs := range [][]*op.Value{{x, y}, {y}, {y, z}} {
			launch := device.Launch{Kernel: "k", Wait: i > 0}
			for _, v := range vs {
				launch.Bindings = append(launch.Bindings, c.Bind(v, device.ReadWrite))
			}
			p.Launches = append(p.Launches, launch)
		}
		place(p, c)
		return p
	}
	for _, c := range []struct {
		name   string
		arena  device.Arena
		change func(p *device.Program)
		want   string // "": well
	}{
		{"as it is", device.Arena{}, func(*device.Program) {}, ""},
		{"two that live at once in one place", device.Arena{}, func(p *device.Program) { p.Places[1].Offset = p.Places[0].Offset }, "live at once and overlap"},
		{"two that do not, in one place", device.Arena{}, func(p *device.Program) { p.Places[2].Offset = p.Places[0].Offset }, ""},
		{"the same, with nothing to be used again", device.Arena{NoReuse: true}, func(p *device.Program) { p.Places[2].Offset = p.Places[0].Offset }, "overlap"},
		{"a canary in another's bytes", device.Arena{Guard: 64}, func(p *device.Program) { p.Places[1].Offset -= 64 }, "overlap"},
		{"past the end", device.Arena{}, func(p *device.Program) { p.ArenaBytes-- }, "outside the arena"},
		{"in the prefix", device.Arena{Prefix: 64}, func(p *device.Program) { p.Places[0].Offset = 0 }, "outside the arena"},
		{"not aligned", device.Arena{}, func(p *device.Program) { p.Places[2].Offset += 4; p.ArenaBytes += 64 }, "not at a multiple of 64"},
		{"too small", device.Arena{}, func(p *device.Program) { p.Places[2].Bytes -= 4 }, "no such place"},
		{"given up too early", device.Arena{}, func(p *device.Program) { p.Places[1].Last = 1 }, "k in stage 2 binds bytes 0 to 64 of y"},
		{"missing", device.Arena{}, func(p *device.Program) { p.Places = p.Places[:2] }, "of z, which has no such place"},
	} {
		p := build(c.arena)
		c.change(p)
		err := verifyPlaces(p)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
