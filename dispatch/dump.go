package dispatch

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// dump is a program as JSON.
type dump struct {
	Limits     dumpLimits     `json:"limits"`
	Arena      dumpArena      `json:"arena"`
	Decisions  []dumpDecision `json:"decisions"`
	Commands   []dumpCommand  `json:"commands"`
	Transients []dumpPlace    `json:"transients"`
}

type dumpLimits struct {
	Tokens  int `json:"tokens"`
	Outputs int `json:"outputs"`
	Keys    int `json:"keys"`
}

type dumpArena struct {
	Bytes  int  `json:"bytes"`
	Align  int  `json:"align"`
	Prefix int  `json:"prefix"`
	Reuse  bool `json:"reuse"`
	Guard  int  `json:"guard"`
}

type dumpDecision struct {
	Op       string        `json:"op"`
	Kind     string        `json:"kind"`
	Covers   int           `json:"covers"`
	Chosen   string        `json:"chosen"`
	Splits   int           `json:"splits,omitempty"`
	Declined []dumpDecline `json:"declined,omitempty"`
}

type dumpDecline struct {
	Lane   string        `json:"lane"`
	Reason device.Reason `json:"reason"`
	Detail string        `json:"detail"`
}

type dumpCommand struct {
	Index    int           `json:"index"`
	Kernel   string        `json:"kernel"`
	Decision int           `json:"decision"`
	Stage    int           `json:"stage"`
	Tasks    int           `json:"tasks,omitempty"` // the grid for the largest batch, where the device says it
	Bindings []dumpBinding `json:"bindings"`
}

type dumpBinding struct {
	Value  string `json:"value"`
	Buffer string `json:"buffer"` // arena, weight or cache
	Offset int    `json:"offset"` // in the arena, or in the weight or cache
	Bytes  int    `json:"bytes"`
	Align  int    `json:"align,omitempty"` // what the kernel needs of the first byte's address
	Access string `json:"access"`
	// Address is the device's, of the first byte; absent where it does not say.
	Address string `json:"address,omitempty"`
}

type dumpPlace struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"`
	Bytes  int    `json:"bytes"`
	Row    int    `json:"row_bytes,omitempty"` // absent: the layout is a kernel's own
	First  int    `json:"first_stage"`
	Last   int    `json:"last_stage"`
}

// Loaded is what a device says of a program that it has loaded.
type Loaded struct {
	Tasks   []int                          // of each command for the largest batch, its grid; nil if it does not say
	Address func(*op.Value) (uint64, bool) // where a value is; nil if it does not say
}

// Dump writes a program as indented JSON: its decisions, its commands with
// every binding's buffer, offset, length and access, and every transient by
// name with its place and life; where it is loaded, grids and addresses too.
func Dump(w io.Writer, p *device.Program, at Loaded) error {
	d := dump{
		Limits: dumpLimits{p.Limits.Tokens, p.Limits.Outputs, p.Limits.Keys},
		Arena:  dumpArena{p.ArenaBytes, alignOf(p.Arena), p.Arena.Prefix, !p.Arena.NoReuse, p.Arena.Guard},
	}
	offsets := map[*op.Value]int{}
	for _, x := range p.Places {
		offsets[x.Value] = x.Offset
		d.Transients = append(d.Transients, dumpPlace{x.Value.Name, x.Offset, x.Bytes, x.RowBytes, x.First, x.Last})
	}
	for _, x := range p.Decisions {
		y := dumpDecision{Op: x.Op, Kind: x.Kind.String(), Covers: x.Covers, Chosen: x.Chosen, Splits: x.Splits}
		for _, no := range x.Declined {
			y.Declined = append(y.Declined, dumpDecline(no))
		}
		d.Decisions = append(d.Decisions, y)
	}
	stage := 0
	for i, l := range p.Launches {
		if l.Wait {
			stage++
		}
		c := dumpCommand{Index: i, Kernel: l.Kernel, Decision: l.Op, Stage: stage}
		if at.Tasks != nil {
			c.Tasks = at.Tasks[i]
		}
		for _, b := range l.Bindings {
			y := dumpBinding{Value: b.Value.Name, Buffer: b.Value.Role.String(), Offset: b.Offset, Bytes: b.Bytes, Align: b.Align, Access: b.Access.String()}
			if placed(b.Value) {
				y.Buffer = "arena"
				y.Offset += offsets[b.Value]
			}
			if at.Address != nil {
				if a, ok := at.Address(b.Value); ok {
					y.Address = fmt.Sprintf("%#x", a+uint64(b.Offset))
				}
			}
			c.Bindings = append(c.Bindings, y)
		}
		d.Commands = append(d.Commands, c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
