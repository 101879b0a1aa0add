package emu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

func TestWavesStartWithWhatTheDescriptorAsksFor(t *testing.T) {
	t.Parallel()
	o := assemble(t, "s_endpgm",
		"user_sgpr_dispatch_ptr 1", "user_sgpr_queue_ptr 1", "user_sgpr_kernarg_segment_ptr 1",
		"user_sgpr_dispatch_id 1", "user_sgpr_private_segment_size 1", "enable_private_segment 1",
		"private_segment_fixed_size 20", "kernarg_size 16", "group_segment_fixed_size 256",
		"system_sgpr_workgroup_id_x 1", "system_sgpr_workgroup_id_y 1", "system_sgpr_workgroup_id_z 1",
		"system_vgpr_workitem_id 2", "float_round_mode_32 1", "float_denorm_mode_16_64 3",
		"float_denorm_mode_32 0", "ieee_mode 1", "dx10_clamp 0", "fp16_overflow 1")
	var seen int
	args := []byte("0123456789abcdef")
	watch := &watcher{}
	var launched Launched
	watch.dispatched = func(l *Launched) { launched = *l }
	watch.begin = func(w Wave) {
		seen++
		space := launched.Device.Space()
		pointer := func(n int) uint64 { return uint64(w.SGPR(n+1))<<32 | uint64(w.SGPR(n)) }
		if b := space.Find(pointer(0), 64); b == nil {
			t.Errorf("no packet at %#x", pointer(0))
		} else {
			le := binary.LittleEndian
			want := fmt.Sprint([]uint32{3, 33, 2, 1, 67, 3, 2, 20, 256 + 64})
			got := []uint32{uint32(le.Uint16(b.Data[2:]))}
			for i := range 3 {
				got = append(got, uint32(le.Uint16(b.Data[4+2*i:])))
			}
			for i := range 3 {
				got = append(got, le.Uint32(b.Data[12+4*i:]))
			}
			got = append(got, le.Uint32(b.Data[24:]), le.Uint32(b.Data[28:]))
			if fmt.Sprint(got) != want {
				t.Errorf("packet %v, want %v", got, want)
			}
			if at := le.Uint64(b.Data[40:]); at != pointer(4) {
				t.Errorf("the packet's arguments are at %#x, the register says %#x", at, pointer(4))
			}
			if at := le.Uint64(b.Data[32:]); at != launched.Kernel.Module.Base+launched.Kernel.Addr {
				t.Errorf("the packet's kernel object is %#x", at)
			}
		}
		if b := space.Find(pointer(2), 72); b == nil || binary.LittleEndian.Uint32(b.Data[0x40:]) != SharedBase>>32 {
			t.Errorf("no queue with the LDS aperture at %#x", pointer(2))
		}
		if b := space.Find(pointer(4), 16); b == nil || string(b.Data[:16]) != string(args) {
			t.Errorf("no arguments at %#x", pointer(4))
		}
		if pointer(6) != 0 || w.SGPR(8) != 20 {
			t.Errorf("dispatch id %d, private segment size %d", pointer(6), w.SGPR(8))
		}
		if got := [3]uint32{w.SGPR(9), w.SGPR(10), w.SGPR(11)}; got != w.Group() {
			t.Errorf("workgroup id %v in the registers of %v", got, w.Group())
		}
		if m := w.w.mode; m != 1|3<<6|modeIEEE|modeFP16Overflow {
			t.Errorf("MODE %#x", m)
		}
		if n := len(w.w.scratch); n != 20*w.Lanes() {
			t.Errorf("%d bytes of scratch", n)
		}
		if n := len(w.w.group.lds); n != 256+64 {
			t.Errorf("%d bytes of LDS", n)
		}
	}
	r, err := runOn(t, Config{Observer: watch}, o, Dispatch{Grid: [3]uint32{67, 3, 2}, Workgroup: [3]uint32{33, 2, 1}, Kernarg: args, DynamicLDS: 64})
	if err != nil {
		t.Fatal(err)
	}
	if r.Workgroups != 3*2*2 || r.Waves != uint64(seen) {
		t.Errorf("%d workgroups, %d waves, %d seen", r.Workgroups, r.Waves, seen)
	}
}

// TestWorkItemsAreNumberedOnce collects the ids of all work-items.
func TestWorkItemsAreNumberedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size       string
		grid, wg   [3]uint32
		dimensions int
		waves      int
	}{
		{"1", [3]uint32{100, 1, 1}, [3]uint32{64, 1, 1}, 0, 4},
		{"0", [3]uint32{100, 1, 1}, [3]uint32{64, 1, 1}, 0, 2},
		{"1", [3]uint32{5, 7, 3}, [3]uint32{4, 4, 2}, 2, 8},
		{"1", [3]uint32{1024, 1, 1}, [3]uint32{1024, 1, 1}, 0, 32},
	} {
		t.Run(fmt.Sprint(c.grid, c.wg, "wave32 ", c.size), func(t *testing.T) {
			o := assemble(t, "s_endpgm", "wavefront_size32 "+c.size, fmt.Sprint("system_vgpr_workitem_id ", c.dimensions))
			seen := map[[3]uint32]int{}
			waves := 0
			watch := &watcher{begin: func(w Wave) {
				waves++
				for l := range w.Lanes() {
					if w.Exec()>>l&1 == 0 {
						continue
					}
					v := w.VGPR(0, l)
					id := [3]uint32{v & 0x3ff, v >> 10 & 0x3ff, v >> 20}
					for i, g := range w.Group() {
						id[i] += g * c.wg[i]
					}
					seen[id]++
				}
			}}
			if _, err := runOn(t, Config{Observer: watch}, o, Dispatch{Grid: c.grid, Workgroup: c.wg}); err != nil {
				t.Fatal(err)
			}
			for x := range c.grid[0] {
				for y := range c.grid[1] {
					for z := range c.grid[2] {
						if n := seen[[3]uint32{x, y, z}]; n != 1 {
							t.Fatalf("work-item %d,%d,%d runs %d times", x, y, z, n)
						}
					}
				}
			}
			if n := int(c.grid[0] * c.grid[1] * c.grid[2]); len(seen) != n || waves != c.waves {
				t.Errorf("%d work-items in %d waves, want %d in %d", len(seen), waves, n, c.waves)
			}
		})
	}
}

func TestPoisonIsNotZeroAndFollowsTheSeed(t *testing.T) {
	t.Parallel()
	o := assemble(t, "s_endpgm", "group_segment_fixed_size 64")
	state := func(seed uint64, poison bool) (s []uint32) {
		watch := &watcher{begin: func(w Wave) { s = append(s, w.SGPR(20), w.VGPR(3, 7), uint32(w.w.group.lds[5])) }}
		if _, err := runOn(t, Config{Observer: watch, Seed: seed, Poison: poison}, o, Dispatch{Grid: [3]uint32{64, 1, 1}, Workgroup: [3]uint32{32, 1, 1}}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := state(1, false); !slices.Equal(s, make([]uint32, 6)) {
		t.Errorf("without poison %v", s)
	}
	a, b, c := state(1, true), state(1, true), state(2, true)
	if !slices.Equal(a, b) || slices.Equal(a, c) || a[0] == a[3] || a[1] == a[4] {
		t.Errorf("poison %v, again %v, of another seed %v", a, b, c)
	}
}

func TestLaunchesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	o := assemble(t, "s_endpgm", "kernarg_size 16", "group_segment_fixed_size 60000")
	for _, c := range []struct {
		fact   string
		l      Dispatch
		reason hsaco.Reason
	}{
		{"a workgroup is too large", Dispatch{Workgroup: [3]uint32{1025, 1, 1}}, hsaco.OverLimit},
		{"a workgroup is too large in all", Dispatch{Workgroup: [3]uint32{64, 64, 1}}, hsaco.OverLimit},
		{"arguments are missing", Dispatch{Kernarg: make([]byte, 15)}, hsaco.BadSize},
		{"too much LDS", Dispatch{DynamicLDS: 6000}, hsaco.OverLimit},
	} {
		t.Run(c.fact, func(t *testing.T) {
			_, err := runOn(t, Config{}, o, c.l)
			var e *LaunchError
			if !errors.As(err, &e) || e.Reason != c.reason {
				t.Errorf("%v, want a launch error for %v", err, c.reason)
			}
		})
	}
	d, _ := kernelOn(t, Config{}, o)
	_, other := kernelOn(t, Config{}, o)
	if _, err := d.Run(t.Context(), Dispatch{Kernel: other, Kernarg: make([]byte, 16)}); err == nil || !strings.Contains(err.Error(), "another device") {
		t.Errorf("a kernel of another device: %v", err)
	}
}

func TestConfigurationsThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []Config{
		{ComputeUnits: 3},
		{Workers: -1},
		{Mode: 2},
		{Schedule: Schedule{Waves: 4}},
		{Schedule: Schedule{Groups: 3}},
		{Schedule: Schedule{Quantum: -1}},
		{Schedule: Schedule{Resident: -1}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
