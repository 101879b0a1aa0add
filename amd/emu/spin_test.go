package emu

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// spinning is a kernel whose first workgroup waits until the last has stored to
// the word that its argument points to.
func spinning(t *testing.T) *hsaco.Object {
	return assemble(t, `
	s_load_b64 s[4:5], s[0:1], 0
	v_mov_b32 v1, 0
	s_cmp_eq_u32 s2, 0
	s_waitcnt lgkmcnt(0)
	s_cbranch_scc0 W
L:	global_load_b32 v2, v1, s[4:5] glc
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32 vcc_lo, 0, v2
	s_cbranch_vccnz L
	s_endpgm
W:	s_cmp_eq_u32 s2, 3
	s_cbranch_scc0 E
	v_mov_b32 v2, 1
	global_store_b32 v1, v2, s[4:5]
E:	s_endpgm`, "user_sgpr_kernarg_segment_ptr 1", "kernarg_size 8", "system_sgpr_workgroup_id_x 1")
}

func runSpinning(t *testing.T, c Config, groups uint32) (*Kernel, *Report, error) {
	t.Helper()
	d, k := kernelOn(t, c, spinning(t))
	word, err := d.Alloc("word", 64, Placement{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Run(context.Background(), Dispatch{
		Kernel: k, Grid: [3]uint32{32 * groups, 1, 1}, Workgroup: [3]uint32{32, 1, 1},
		Kernarg: binary.LittleEndian.AppendUint64(nil, word.Addr),
	})
	return k, r, err
}

func TestAWorkgroupMayWaitForALaterOne(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{},
		{Mode: Relaxed},
		{Schedule: Schedule{Waves: RoundRobin}},
		{Schedule: Schedule{Waves: Random, Groups: Shuffled}, Seed: 5},
		{Schedule: Schedule{Groups: Backward}},
	} {
		c.Budget = 1 << 24
		if _, r, err := runSpinning(t, c, 4); err != nil || r.Workgroups != 4 {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestASpinIsStoppedWithTheAddressItReads(t *testing.T) {
	t.Parallel()
	k, r, err := runSpinning(t, Config{Budget: 1 << 16}, 3)
	var f *Fault
	if !errors.As(err, &f) || f.Kind != BudgetFault || !f.HasAddr {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(f.Detail, "keeps reading") || !strings.Contains(f.Detail, "(word + 0)") {
		t.Errorf("%q does not say what is polled", f.Detail)
	}
	// The load is the sixth instruction, after one of 8 bytes.
	first := k.EntryPC() + 6*4
	if w := f.Waves[0]; !w.Looped || w.Loop != [2]uint64{first, first + 16} || !slices.Equal(w.Polls, []uint64{f.Addr}) {
		t.Errorf("%+v, want a loop from %#x", w, first)
	}
	if r.Instructions != 1<<16 {
		t.Errorf("%d instructions ran", r.Instructions)
	}
}

// TestObserversChangeNothing runs attention with and without one, in every
// schedule, and compares memory and counts.
func TestObserversChangeNothing(t *testing.T) {
	t.Parallel()
	const heads, blocks, tokens, dims, items = 4, 36, 64, 64, 128
	o := sample(t, "attention.cpp")
	for _, s := range []Schedule{{}, {Waves: ReverseAfterBarriers}, {Waves: RoundRobin}, {Waves: Random, Groups: Shuffled}} {
		run := func(obs Observer) ([]byte, *Report) {
			d, err := New(Config{Schedule: s, Seed: 11, Observer: obs})
			if err != nil {
				t.Fatal(err)
			}
			m, err := d.Load(o)
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Kernel("attention")
			if err != nil {
				t.Fatal(err)
			}
			args := []any{
				randomFloats(heads * dims), randomHalves(heads * dims * blocks * tokens), randomHalves(heads * dims * blocks * tokens),
				make([]byte, 4*heads*blocks*dims), make([]byte, 4*heads*blocks), make([]byte, 4*heads*blocks),
				make([]byte, 4*heads), make([]byte, 4*heads*dims), uint32(blocks*tokens - 5),
			}
			out := args[7].([]byte)
			for i, a := range args {
				if data, ok := a.([]byte); ok {
					if args[i], err = d.Map("buffer", data, Placement{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			grid, workgroup := [3]uint32{blocks * items, heads, 1}, [3]uint32{items, 1, 1}
			p, err := k.Pack(grid, workgroup, args...)
			if err != nil {
				t.Fatal(err)
			}
			r, err := d.Run(context.Background(), Dispatch{Kernel: k, Grid: grid, Workgroup: workgroup, Kernarg: p.Kernarg})
			if err != nil {
				t.Fatal(err)
			}
			return out, r
		}
		plain, a := run(nil)
		seen, b := run(NopObserver{})
		if !slices.Equal(plain, seen) || slices.Max(plain) == 0 {
			t.Errorf("%+v: an observer changes the result", s)
		}
		if a.Instructions != b.Instructions || a.LaneInstructions != b.LaneInstructions || a.Barriers != b.Barriers {
			t.Errorf("%+v: %+v observed, %+v not", s, b, a)
		}
	}
}
