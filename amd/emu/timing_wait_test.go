package emu

import (
	"math"
	"strings"
	"testing"
)

// newLateBench is newRelaxedBench with late loads.
func newLateBench(t *testing.T) *bench {
	t.Helper()
	b := newRelaxedBench(t)
	b.w.d.dev.config.Timing = Timing{LateLoads: true}
	b.w.memoryReset()
	return b
}

// A wait for all but the last n instructions fills the registers of every load
// before them, whatever those n are; and no register sooner.
func TestAWaitForAllButSomeFillsTheRegistersOfTheLoadsBeforeThem(t *testing.T) {
	t.Parallel()
	cases := []struct {
		load, then string
		local      bool // counted by lgkmcnt
		counted    bool // the second instruction is, by the same counter
	}{
		{load: "global_load_b32 v8, v[0:1], off", then: "global_load_b32 v9, v[0:1], off offset:32", counted: true},
		{load: "global_load_b32 v8, v[0:1], off", then: "flat_load_b32 v9, v[0:1] offset:32", counted: true},
		{load: "global_load_b32 v8, v[0:1], off", then: "scratch_load_b32 v9, v2, off", counted: true},
		{load: "global_load_b32 v8, v[0:1], off", then: "global_atomic_add_u32 v9, v[0:1], v5, off offset:32 glc", counted: true},
		{load: "global_load_b32 v8, v[0:1], off", then: "buffer_load_b32 v9, v2, s[8:11], 0 offen", counted: true}, // all out of range
		{load: "global_load_b32 v8, v[0:1], off", then: "global_store_b32 v[0:1], v5, off offset:32"},
		{load: "global_load_b32 v8, v[0:1], off", then: "ds_load_b32 v9, v2"},
		{load: "flat_load_b32 v8, v[0:1]", then: "global_load_b32 v9, v[0:1], off", counted: true},
		{load: "scratch_load_b32 v8, v2, off", then: "global_load_b32 v9, v[0:1], off", counted: true},
		{load: "buffer_load_b32 v8, v2, s[4:7], 0 offen", then: "global_load_b32 v9, v[0:1], off", counted: true},
		{load: "global_atomic_or_b32 v8, v[0:1], v5, off glc", then: "global_load_b32 v9, v[0:1], off", counted: true},
		{load: "ds_load_b32 v8, v2", then: "ds_load_b32 v9, v2", local: true, counted: true},
		{load: "ds_load_b32 v8, v2", then: "ds_load_2addr_b32 v[9:10], v2 offset1:1", local: true, counted: true},
		{load: "ds_load_b32 v8, v2", then: "ds_store_b32 v2, v5 offset:32", local: true, counted: true},
		{load: "ds_load_b32 v8, v2", then: "global_load_b32 v9, v[0:1], off", local: true},
		{load: "ds_or_rtn_b32 v8, v2, v5", then: "ds_load_b32 v9, v2", local: true, counted: true},
		{load: "ds_bpermute_b32 v8, v2, v4", then: "ds_load_b32 v9, v2", local: true, counted: true},
		{load: "ds_permute_b32 v8, v2, v4", then: "ds_swizzle_b32 v9, v4 offset:swizzle(SWAP,16)", local: true, counted: true},
		{load: "ds_swizzle_b32 v8, v4 offset:swizzle(SWAP,16)", then: "ds_bpermute_b32 v9, v2, v4", local: true, counted: true},
		{load: "ds_append v8", then: "ds_load_b32 v9, v2", local: true, counted: true},
	}
	lists := make([][]string, len(cases))
	for i, c := range cases {
		lists[i] = []string{c.load, c.then}
	}
	assembled := programLists(t, lists)
	for i, c := range cases {
		code := assembled[i]
		now := newRelaxedBench(t) // what comes at once
		code[0].run(now.w, &code[0])
		want := now.w.vgpr[8]

		b := newLateBench(t)
		before := b.w.vgpr[8]
		wait := func(n int) { b.w.waitcnt(n, noWait, noWait) }
		if c.local {
			wait = func(n int) { b.w.waitcnt(noWait, noWait, n) }
		}
		code[0].run(b.w, &code[0])
		code[1].run(b.w, &code[1])
		if b.w.vgpr[8] != before {
			t.Errorf("%s; %s: the register is filled before any wait", c.load, c.then)
		}
		if wait(2); b.w.vgpr[8] != before {
			t.Errorf("%s; %s: filled after a wait for all but two of two", c.load, c.then)
		}
		if wait(1); (b.w.vgpr[8] == want) != c.counted {
			t.Errorf("%s; %s: after a wait for all but one, filled: %v, want %v", c.load, c.then, !c.counted, c.counted)
		}
		if wait(0); b.w.vgpr[8] != want {
			t.Errorf("%s; %s: not filled after a wait for all", c.load, c.then)
		}
	}
}

func TestLateScalarLoadsComeBackInAnyOrder(t *testing.T) {
	t.Parallel()
	code := programs(t, []string{"s_load_b32 s12, s[2:3], 0x0", "s_load_b32 s13, s[2:3], 0x4"})
	first := map[bool]int{}
	for seed := range uint64(20) {
		b := newLateBench(t)
		b.w.rng = random(seed)
		for i := range code {
			code[i].run(b.w, &code[i])
		}
		if b.w.sgpr[12] != 0 || b.w.sgpr[13] != 0 {
			t.Fatal("a register is filled before any wait")
		}
		b.w.waitcnt(noWait, noWait, 1)
		if filled := b.w.sgpr[12] != 0; filled == (b.w.sgpr[13] != 0) {
			t.Fatalf("after a wait for all but one: s12 %#x, s13 %#x", b.w.sgpr[12], b.w.sgpr[13])
		} else {
			first[filled]++
		}
		if b.w.waitcnt(noWait, noWait, 0); b.w.sgpr[12] == 0 || b.w.sgpr[13] == 0 {
			t.Fatal("a register is not filled after a wait for all")
		}
	}
	if first[true] == 0 || first[false] == 0 {
		t.Errorf("the first load was first %d times of 20", first[true])
	}
}

// A late load reads what the wave stored before it, and not what it stores
// after it, whenever these arrive.
func TestALateLoadIsOrderedWithTheWavesOwnStores(t *testing.T) {
	t.Parallel()
	lists := [][]string{
		{"global_store_b32 v[0:1], v4, off", "global_load_b32 v8, v[0:1], off", "global_store_b32 v[0:1], v5, off"},
		{"global_store_b32 v[0:1], v4, off", "flat_load_b32 v8, v[0:1]", "global_atomic_swap_b32 v[0:1], v5, off"},
		{"global_store_b64 v[0:1], v[4:5], off", "global_load_b32 v8, v[0:1], off glc", "global_store_b8 v[0:1], v5, off offset:1"},
		{"scratch_store_b32 v2, v4, off", "scratch_load_b32 v8, v2, off", "scratch_store_b32 v2, v5, off"},
		{"ds_store_b32 v2, v4", "ds_load_b32 v8, v2", "ds_store_b32 v2, v5"},
		{"ds_store_b32 v2, v4", "ds_load_b32 v8, v2", "ds_storexchg_rtn_b32 v9, v2, v5"},
		// The registers of loads are filled in order, too.
		{"ds_load_b32 v8, v2", "ds_bpermute_b32 v8, v11, v4", "ds_bpermute_b32 v9, v11, v4"},
		{"global_load_b32 v8, v[0:1], off", "global_load_b32 v8, v[0:1], off offset:8", "global_store_b32 v[0:1], v5, off offset:8"},
		{"global_store_b32 v[0:1], v4, off", "global_load_d16_b16 v8, v[0:1], off", "global_load_d16_hi_b16 v8, v[0:1], off offset:2"},
	}
	assembled := programLists(t, lists)
	for i, lines := range lists {
		code := assembled[i]
		for _, storesFirst := range []bool{false, true} {
			b := newLateBench(t)
			want := b.w.vgpr[4]
			for l := range 32 {
				b.w.vgpr[11][l] = uint32(4 * l)
				if strings.HasSuffix(lines[1], "offset:8") {
					want[l] = uint32(b.buffer.Data[at(l)+8]) | uint32(b.buffer.Data[at(l)+9])<<8 | uint32(b.buffer.Data[at(l)+10])<<16 | uint32(b.buffer.Data[at(l)+11])<<24
				}
			}
			for i := range code {
				code[i].run(b.w, &code[i])
			}
			if storesFirst {
				b.w.waitVscnt(0)
			}
			b.w.finish()
			if b.w.vgpr[8] != want {
				t.Errorf("%s, stores first %v: %#x, want %#x", strings.Join(lines, "; "), storesFirst, b.w.vgpr[8][:4], want[:4])
			}
		}
	}
}

// Stores that arrive by chance arrive in any order, but for those to the same
// line, whose bytes end as they would in order.
func TestEarlyStoresToTheSameLineKeepTheirOrder(t *testing.T) {
	t.Parallel()
	lines := []string{
		"global_store_b64 v[0:1], v[4:5], off", "global_store_b32 v[0:1], v6, off offset:2",
		"global_store_b16 v[0:1], v7, off offset:4", "global_store_b32 v[0:1], v5, off offset:32", "global_store_b32 v[0:1], v4, off offset:33",
	}
	code := programs(t, lines)
	ordered := newBench(t)
	for i := range code {
		code[i].run(ordered.w, &code[i])
	}
	crossed := 0
	for seed := range uint64(50) {
		b := newRelaxedBench(t)
		b.w.d.dev.config.Timing = Timing{EarlyStores: 1}
		b.w.memoryReset()
		b.w.rng = random(seed)
		for i := range code {
			code[i].run(b.w, &code[i])
		}
		for range 3 {
			b.w.passTime()
		}
		p := &b.w.pending
		if last := &p.global[len(p.global)-1]; p.global[0].number == 1 && len(last.lanes) < 32 {
			crossed++ // the first has not wholly arrived, and some of the last has
		}
		b.w.waitVscnt(0)
		if string(b.buffer.Data) != string(ordered.buffer.Data) {
			t.Fatalf("seed %d: memory differs from that of stores in order", seed)
		}
	}
	if crossed == 0 {
		t.Error("no store arrived before an older one to other lines")
	}
}

func TestTimingsThatAreNoneAreRefused(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{Timing: Timing{LateLoads: true}}, "timing of coherent memory"},
		{Config{Mode: Relaxed, Timing: Timing{EarlyStores: 1.5}}, "stores of 1.5"},
		{Config{Mode: Relaxed, Timing: Timing{LateLoads: true, EarlyLoads: math.NaN()}}, "rate of NaN"},
		{Config{Mode: Relaxed, Timing: Timing{EarlyLoads: 0.5}}, "none is late"},
	} {
		if _, err := New(c.c); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.c.Timing, err, c.want)
		}
	}
}

func TestAPairOfLocalAccessesIsOneInstruction(t *testing.T) {
	t.Parallel()
	code := programs(t, []string{"ds_store_2addr_b32 v2, v4, v5 offset1:4", "ds_load_2addr_b32 v[8:9], v2 offset1:4"})
	b := newRelaxedBench(t)
	for i := range code {
		code[i].run(b.w, &code[i])
	}
	if b.w.pending.locals != 2 {
		t.Errorf("lgkmcnt has counted %d instructions of 2", b.w.pending.locals)
	}
}
