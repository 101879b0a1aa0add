package emu

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// newRelaxedBench is newBench with relaxed memory and other bytes in scratch.
func newRelaxedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.w.d.caches = newRelaxed(b.w.d.dev.space, 2)
	b.w.memoryReset()
	return b
}

// A wait for all but the last n instructions completes every store before
// them, whatever those n are; and no store sooner.
func TestAWaitForAllButSomeCompletesTheStoresBeforeThem(t *testing.T) {
	t.Parallel()
	const global, local = "global_store_b32 v[0:1], v4, off", "ds_store_b32 v2, v4"
	cases := []struct {
		store, then string
		inactive    bool // no lane runs the second instruction
		counted     bool // by the counter of the store
	}{
		{store: global, then: "global_store_b32 v[0:1], v5, off offset:32", counted: true},
		{store: global, then: "global_store_b32 v[0:1], v5, off offset:32", inactive: true, counted: true},
		{store: global, then: "global_atomic_add_u32 v[0:1], v5, off offset:32", counted: true},
		{store: global, then: "buffer_store_b32 v5, v2, s[8:11], 0 offen", counted: true}, // all out of range
		{store: global, then: "scratch_store_b32 v2, v5, off", counted: true},
		{store: global, then: "flat_store_b32 v[0:1], v5 offset:32", counted: true},
		{store: global, then: "global_load_b32 v8, v[0:1], off offset:32"},
		{store: global, then: "global_atomic_add_u32 v8, v[0:1], v5, off offset:32 glc"},
		{store: global, then: "ds_store_b32 v2, v5"},
		{store: local, then: "ds_store_b32 v2, v5 offset:32", counted: true},
		{store: local, then: "ds_store_b32 v2, v5 offset:32", inactive: true, counted: true},
		{store: local, then: "ds_bpermute_b32 v8, v2, v4", counted: true},
		{store: local, then: "ds_permute_b32 v8, v2, v4", counted: true},
		{store: local, then: "ds_swizzle_b32 v8, v4 offset:swizzle(SWAP,16)", counted: true},
		{store: local, then: "flat_store_b32 v[0:1], v5", counted: true},
		{store: local, then: "global_store_b32 v[0:1], v5, off"},
		{store: local, then: "s_load_b32 s12, s[2:3], 0x0"}, // may come back first
	}
	lists := make([][]string, len(cases))
	for i, c := range cases {
		lists[i] = []string{c.store, c.then}
	}
	assembled := programLists(t, lists)
	for i, c := range cases {
		code := assembled[i]
		b := newRelaxedBench(t)
		mem := b.buffer.Data
		wait := b.w.waitVscnt
		if c.store == local {
			mem = b.w.group.lds
			wait = func(n int) { b.w.waitcnt(noWait, noWait, n) }
		}
		arrived := func() bool { return binary.LittleEndian.Uint32(mem[at(3):]) == b.w.vgpr[4][3] }
		code[0].run(b.w, &code[0])
		if c.inactive {
			b.w.setExec(0)
		}
		code[1].run(b.w, &code[1])
		if arrived() {
			t.Errorf("%s; %s: the store arrived before any wait", c.store, c.then)
		}
		if wait(2); arrived() {
			t.Errorf("%s; %s: a wait for all but two completed one of two", c.store, c.then)
		}
		if wait(1); arrived() != c.counted {
			t.Errorf("%s; %s: after a wait for all but one, arrived: %v, want %v", c.store, c.then, arrived(), c.counted)
		}
		if wait(0); !arrived() {
			t.Errorf("%s; %s: the store has not arrived after a wait for all", c.store, c.then)
		}
	}
}

// A wave sees its own stores in program order, with no wait.
func TestAWaveSeesItsOwnStores(t *testing.T) {
	t.Parallel()
	lists := [][]string{
		{"global_store_b32 v[0:1], v4, off", "global_load_b32 v8, v[0:1], off"},
		{"global_load_b32 v8, v[0:1], off", "global_store_b32 v[0:1], v4, off", "global_load_b32 v8, v[0:1], off"},
		{"global_store_b32 v[0:1], v4, off", "global_load_b32 v8, v[0:1], off glc"},
		{"global_store_b32 v[0:1], v5, off", "global_store_b32 v[0:1], v4, off", "global_load_b32 v8, v[0:1], off"},
		{"global_store_b64 v[0:1], v[4:5], off", "flat_load_b32 v8, v[0:1]"},
		{"global_store_b32 v[0:1], v4, off", "global_atomic_or_b32 v8, v[0:1], v10, off glc"},
		{"global_store_b32 v[0:1], v4, off", "buffer_load_b32 v8, v2, s[4:7], 0 offen"},
		{"ds_store_b32 v2, v4", "ds_load_b32 v8, v2"},
		{"ds_store_b64 v2, v[4:5]", "ds_or_rtn_b32 v8, v2, v10"},
		{"scratch_store_b32 v2, v4, off", "scratch_load_b32 v8, v2, off"},
	}
	assembled := programLists(t, lists)
	for i, lines := range lists {
		code := assembled[i]
		b := newRelaxedBench(t)
		for i := range code {
			code[i].run(b.w, &code[i])
		}
		if b.w.vgpr[8] != b.w.vgpr[4] {
			t.Errorf("%s: %#x, want %#x", strings.Join(lines, "; "), b.w.vgpr[8][:4], b.w.vgpr[4][:4])
		}
	}
}

func TestFreedMemoryIsNamedInFaults(t *testing.T) {
	t.Parallel()
	code := programs(t, []string{"global_load_b32 v8, v[0:1], off"})
	b := newBench(t)
	d := b.w.d.dev
	if err := d.Free(b.buffer); err != nil {
		t.Fatal(err)
	}
	b.w.memoryReset()
	fault := func() (f *Fault) {
		defer func() { f, _ = recover().(*Fault) }()
		code[0].run(b.w, &code[0])
		return nil
	}
	const want = `byte 0 of "data" (4096 bytes at 0x123400000000), which was freed`
	if f := fault(); f == nil || !strings.Contains(f.Detail, want) {
		t.Errorf("fault %+v, want %q", f, want)
	}
	if _, err := d.Alloc("next", benchBytes, Placement{Addr: b.buffer.Addr}); err != nil {
		t.Fatal(err)
	}
	if f := fault(); f != nil {
		t.Errorf("a new buffer at the same address: %v", f)
	}
}

func TestTheGlobalDataShareIsDeclined(t *testing.T) {
	t.Parallel()
	const gds = 1 << 17
	for _, line := range []string{"ds_load_b32 v8, v2", "ds_store_2addr_b32 v2, v4, v5 offset0:2 offset1:5", "ds_add_u32 v2, v4", "ds_append v8"} {
		code := assemble(t, line, "next_free_vgpr 32").Kernels[0].Code[:8]
		code = append([]byte(nil), code...)
		binary.LittleEndian.PutUint32(code, binary.LittleEndian.Uint32(code)|gds)
		in, err := isa.Decode(0, code, isa.Wave32)
		if err != nil {
			t.Fatalf("%s gds: %v", line, err)
		}
		if _, ok := prepare(&inst{Inst: in}).(*Unsupported); !ok {
			t.Errorf("%s is accepted", in.String())
		}
	}
}
