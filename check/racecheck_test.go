package check

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// racePrelude is what the kernels of racecheck's tests have besides the others'.
const racePrelude = `
#define FENCE(order, scope) __builtin_amdgcn_fence(order, scope)
`

// raceCase is a kernel (u32 *x, u32 *y, u32 *n) of 2 workgroups of 4 waves, and
// what racecheck says of it in WGP mode, and in CU mode if that differs.
type raceCase struct {
	name   string
	source string
	want   []Kind
	cu     []Kind // nil: as in WGP mode
	says   string // in the first finding or what it lacks, in WGP mode
}

var none = []Kind{}

var raceCases = []raceCase{
	// LDS
	{
		name:   "LDS read without a barrier",
		source: `SHARED u32 s[128]; s[item()] = x[item()]; y[item() + 128 * group()] = s[item() ^ 32];`,
		want:   []Kind{Unordered}, says: `"LDS"`,
	},
	{
		name:   "LDS reused without a barrier",
		source: `SHARED u32 s[128]; s[item()] = x[item()]; barrier(); u32 v = s[item() ^ 32]; s[item()] = v + 1; y[item() + 128 * group()] = v;`,
		want:   []Kind{Unordered},
	},
	{
		name:   "LDS written behind a bare barrier",
		source: `SHARED u32 s[128]; s[item()] = x[item()]; bare_barrier(); y[item() + 128 * group()] = s[item() ^ 32];`,
		want:   []Kind{ReleaseMissing}, says: "s_waitcnt lgkmcnt(0) before the s_barrier",
	},
	{
		name:   "LDS handed over at a barrier",
		source: `SHARED u32 s[128]; s[item()] = x[item()]; barrier(); y[item() + 128 * group()] = s[item() ^ 32];`,
	},
	{
		name:   "LDS handed over with a fence for LDS only",
		source: `SHARED u32 s[128]; s[item()] = x[item()]; barrier_lds(); y[item() + 128 * group()] = s[item() ^ 32];`,
	},
	{
		name:   "LDS within a wave needs no barrier",
		source: `SHARED u32 s[128]; s[item()] = x[item()]; FENCE(__ATOMIC_ACQ_REL, "wavefront"); y[item() + 128 * group()] = s[item() ^ 1];`,
	},
	{
		name:   "bytes of one dword by different waves",
		source: `SHARED u8 s[512]; s[item() % 32 * 4 + item() / 32] = x[item()]; barrier(); y[item() + 128 * group()] = s[item() % 32 * 4 + item() / 32];`,
	},
	{
		name:   "a byte of another wave's dword",
		source: `SHARED u8 s[512]; s[item() % 32 * 4 + item() / 32] = x[item()]; y[item() + 128 * group()] = s[item() % 32 * 4 + (item() / 32 ^ 1)];`,
		want:   []Kind{Unordered}, says: "1 bytes",
	},
	{
		name:   "all read what one wrote",
		source: `SHARED u32 s; if (item() == 0) s = x[0]; barrier(); y[item() + 128 * group()] = s;`,
	},
	{
		name:   "LDS atomics of all waves",
		source: `SHARED u32 s; if (item() == 0) s = 0; barrier(); __scoped_atomic_fetch_add(&s, item(), 0, __MEMORY_SCOPE_WRKGRP); barrier(); y[item() + 128 * group()] = s;`,
	},
	{
		name:   "an LDS counter that is set while others add to it",
		source: `SHARED u32 s; if (item() < 32) s = 0; else __scoped_atomic_fetch_add(&s, item(), 0, __MEMORY_SCOPE_WRKGRP); barrier(); y[item() + 128 * group()] = s;`,
		want:   []Kind{Unordered},
	},
	// Global memory within a workgroup
	{
		name:   "global memory without a barrier",
		source: `u32 i = item() + 128 * group(); x[i] = i; y[i] = x[i ^ 32];`,
		want:   []Kind{Unordered}, says: `"a" + `,
	},
	{
		name:   "global memory handed over at a barrier",
		source: `u32 i = item() + 128 * group(); x[i] = i; barrier(); y[i] = x[i ^ 32];`,
	},
	{
		name:   "global memory with a fence for LDS only",
		source: `u32 i = item() + 128 * group(); x[i] = i; barrier_lds(); y[i] = x[i ^ 32];`,
		want:   []Kind{ReleaseMissing, AcquireMissing}, cu: []Kind{ReleaseMissing}, says: "s_waitcnt_vscnt null, 0x0 before the s_barrier",
	},
	{
		name:   "global memory released and not acquired",
		source: `u32 i = item() + 128 * group(); x[i] = i; FENCE(__ATOMIC_RELEASE, "workgroup"); bare_barrier(); y[i] = x[i ^ 32];`,
		want:   []Kind{AcquireMissing}, cu: none, says: "buffer_gl0_inv after the s_barrier",
	},
	{
		name:   "global memory acquired and not released",
		source: `u32 i = item() + 128 * group(); x[i] = i; bare_barrier(); FENCE(__ATOMIC_ACQUIRE, "workgroup"); y[i] = x[i ^ 32];`,
		want:   []Kind{ReleaseMissing},
	},
	{
		name:   "global memory released, and loads past the caches",
		source: `u32 i = item() + 128 * group(); x[i] = i; FENCE(__ATOMIC_RELEASE, "workgroup"); bare_barrier(); y[i] = __scoped_atomic_load_n(x + (i ^ 32), 0, __MEMORY_SCOPE_DEVICE);`,
	},
	{
		name:   "global memory handed over twice",
		source: `u32 i = item() + 128 * group(); x[i] = i; barrier(); y[i] = x[i ^ 32]; barrier(); x[i ^ 32] = y[i ^ 64]; barrier(); y[i] = x[i ^ 96];`,
	},
	{
		name:   "global memory overwritten after others read it",
		source: `u32 i = item() + 128 * group(); y[i] = x[i ^ 32]; x[i] = i;`,
		want:   []Kind{Unordered},
	},
	{
		name:   "global memory overwritten behind a barrier",
		source: `u32 i = item() + 128 * group(); y[i] = x[i ^ 32]; barrier(); x[i] = i;`,
	},
	{
		name:   "a wave reads what it wrote",
		source: `u32 i = item() + 128 * group(); x[i] = i; FENCE(__ATOMIC_ACQ_REL, "wavefront"); y[i] = x[i ^ 3];`,
	},
	{
		name:   "masked lanes touch nothing",
		source: `u32 i = item() + 128 * group(); if (item() < 32) x[i] = i; if (item() >= 32) y[i] = x[i]; `,
	},
	{
		name:   "everybody reads the same",
		source: `y[item() + 128 * group()] = x[0] + x[item()];`,
	},
	// Between workgroups
	{
		name:   "a workgroup reads another's",
		source: `u32 i = item() + 128 * group(); x[i] = i; barrier(); y[i] = x[i ^ 128];`,
		want:   []Kind{Unordered}, says: "of workgroup (",
	},
	{
		name:   "two workgroups write the same",
		source: `x[item()] = group();`,
		want:   []Kind{Unordered},
	},
	{
		name: "the last workgroup reads all, behind a counter",
		source: `u32 i = item() + 128 * group(); SHARED u32 last; x[i] = i;
		FENCE(__ATOMIC_RELEASE, "agent"); bare_barrier();
		if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
		barrier(); if (last != 1) return; FENCE(__ATOMIC_ACQUIRE, "agent");
		y[item()] = x[item()] + x[item() + 128];`,
	},
	{
		name: "the last workgroup reads all, and did not acquire",
		source: `u32 i = item() + 128 * group(); SHARED u32 last; x[i] = i;
		FENCE(__ATOMIC_RELEASE, "agent"); bare_barrier();
		if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
		barrier_lds(); if (last != 1) return;
		y[item()] = x[item()] + x[item() + 128];`,
		want: []Kind{AcquireMissing},
		says: "buffer_gl1_inv and buffer_gl0_inv after the",
	},
	{
		name: "the last workgroup acquires for a workgroup only",
		source: `u32 i = item() + 128 * group(); SHARED u32 last; x[i] = i;
		FENCE(__ATOMIC_RELEASE, "agent"); bare_barrier();
		if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
		barrier(); if (last != 1) return;
		y[item()] = x[item()] + x[item() + 128];`,
		want: []Kind{ScopeTooNarrow}, cu: []Kind{AcquireMissing},
		says: "buffer_gl1_inv after the",
	},
	{
		name: "the last workgroup reads all, and nobody released",
		source: `u32 i = item() + 128 * group(); SHARED u32 last; x[i] = i;
		bare_barrier();
		if (item() == 0) last = __scoped_atomic_fetch_add(n, 1u, 0, __MEMORY_SCOPE_DEVICE);
		barrier_lds(); if (last != 1) return; FENCE(__ATOMIC_ACQUIRE, "agent");
		y[item()] = x[item()] + x[item() + 128];`,
		want: []Kind{ReleaseMissing},
		says: "s_waitcnt_vscnt null, 0x0 before the",
	},
	{
		name: "a flag that is polled",
		source: `if (group() == 1) { x[item()] = item(); FENCE(__ATOMIC_RELEASE, "agent"); bare_barrier(); if (item() == 0) __scoped_atomic_store_n(n, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); return; }
		while (__scoped_atomic_load_n(n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
		FENCE(__ATOMIC_ACQUIRE, "agent"); y[item()] = x[item()];`,
	},
	{
		name: "a flag that is polled, and nothing acquired",
		source: `if (group() == 1) { x[item()] = item(); FENCE(__ATOMIC_RELEASE, "agent"); bare_barrier(); if (item() == 0) __scoped_atomic_store_n(n, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); return; }
		while (__scoped_atomic_load_n(n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
		y[item()] = x[item()];`,
		want: []Kind{AcquireMissing},
	},
	{
		name: "a flag that is set before what it stands for",
		source: `if (group() == 1) { if (item() == 0) __scoped_atomic_store_n(n, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); bare_barrier(); x[item()] = item(); return; }
		while (__scoped_atomic_load_n(n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
		FENCE(__ATOMIC_ACQUIRE, "agent"); y[item()] = x[item()];`,
		want: []Kind{Unordered},
	},
	{
		name: "a lock",
		source: `if (item() != 0) return; u32 free = 0;
		while (!__scoped_atomic_compare_exchange_n(n, &free, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) free = 0;
		FENCE(__ATOMIC_ACQUIRE, "agent"); x[0] += 1;
		__scoped_atomic_store_n(n, 0u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);`,
	},
	{
		name:   "workgroups add to a histogram",
		source: `__scoped_atomic_fetch_add(x + item() % 7, 1u, 0, __MEMORY_SCOPE_DEVICE);`,
	},
	{
		name:   "one workgroup stores where others add",
		source: `if (group() == 0 && item() >= 7) x[item() % 7] = 1; else __scoped_atomic_fetch_add(x + item() % 7, 1u, 0, __MEMORY_SCOPE_DEVICE);`,
		want:   []Kind{Unordered},
	},
	// Lanes of one store
	{
		name:   "lanes write different values to one place",
		source: `if (item() < 32) x[group()] = item();`,
		want:   []Kind{LaneConflict}, says: "different values",
	},
	{
		name:   "lanes write the same value to one place",
		source: `if (item() < 32) x[group()] = 7;`,
	},
	{
		name:   "lanes write in any order to places of their own",
		source: `x[(item() * 37 & 127) + 128 * group()] = item();`,
	},
}

func TestRacecheckTellsWhatIsMissing(t *testing.T) {
	for _, c := range raceCases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			for _, mode := range []string{"-mno-cumode", "-mcumode"} {
				o := compiled(t, racePrelude+"KERNEL(128) k(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *n) {"+c.source+"}", mode)
				want := c.want
				if mode == "-mcumode" && c.cu != nil {
					want = c.cu
				}
				for _, config := range raceConfigs {
					r, err := run{object: o, kernel: "k", groups: 2, items: 128, args: []any{4096, 4096, 4096}, config: config}.check(t, Racecheck)
					if err != nil {
						t.Fatal(err)
					}
					if err := kindsAre(r, want); err != nil {
						t.Errorf("%s, %v memory, %v waves: %v", mode, config.Mode, config.Schedule.Waves, err)
					}
					if len(want) > 0 && mode == "-mno-cumode" && !says(r, c.says) {
						t.Errorf("nothing says %q: %v", c.says, r.Findings)
					}
				}
			}
		})
	}
}

// raceConfigs are schedules that all have to show the same.
var raceConfigs = []emu.Config{
	{},
	{Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers}},
	{Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 3}},
	{Mode: emu.Relaxed, Seed: 5, Schedule: emu.Schedule{Waves: emu.Random}},
}

// says looks for text in the findings.
func says(r Report, text string) bool {
	for _, f := range r.Findings {
		if strings.Contains(f.Message, text) || strings.Contains(f.Missing, text) {
			return true
		}
	}
	return false
}
