package check

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// syncCase is a kernel of 4 waves a workgroup, (u32 *x), and what synccheck
// says of it.
type syncCase struct {
	name   string
	source string
	flags  []string
	budget uint64
	want   []Kind
	says   string // in the first finding
}

var syncCases = []syncCase{
	{
		name:   "a barrier in a branch that some lanes take",
		source: `if (item() % 32 < 5) { x[item()] = 1; bare_barrier(); x[item()] = 2; } x[item()] = 3;`,
		want:   []Kind{BarrierDivergent},
		says:   "27 of 32 lanes were masked off",
	},
	{
		name:   "a barrier in a loop that lanes leave at different times",
		source: `for (u32 i = 0; i <= item() % 3; i++) { x[item()] += i; bare_barrier(); } x[item()] = 3;`,
		want:   []Kind{BarrierDivergent},
	},
	{
		name:   "two barriers, one in each arm of a branch of lanes",
		source: `if (item() % 2) { x[item()] = 1; bare_barrier(); } else { x[item()] = 2; bare_barrier(); }`,
		want:   []Kind{BarrierDivergent},
	},
	{
		name:   "at -O0 too",
		source: `if (item() % 32 < 5) { x[item()] = 1; bare_barrier(); } x[item()] = 3;`,
		flags:  []string{"-O0"},
		want:   []Kind{BarrierDivergent},
	},
	{
		name:   "waves meet at different barriers",
		source: `u32 w = __builtin_amdgcn_readfirstlane(item() / 32); if (w & 1) { x[item()] = 1; bare_barrier(); x[item()] = 4; } else { x[item()] = 2; bare_barrier(); }`,
		want:   []Kind{BarrierMismatch},
		says:   "for wave 0 and at",
	},
	{
		name:   "a wave returns before a barrier",
		source: `if (__builtin_amdgcn_readfirstlane(item() / 32) == 3) return; x[item()] = 1; bare_barrier(); x[item()] = 2;`,
		want:   []Kind{BarrierMissed},
		says:   "1 of 4 waves ended",
	},
	{
		name:   "a wave spins on what another would write behind a barrier",
		source: `u32 w = __builtin_amdgcn_readfirstlane(item() / 32); if (w == 0) { while (__atomic_load_n(x, 0) == 0); } bare_barrier(); if (w == 1) __atomic_store_n(x, 1u, 0);`,
		budget: 1_000_000,
		want:   []Kind{Deadlock},
		says:   "waves wait at a barrier",
	},
	{
		name:   "a barrier that all lanes reach",
		source: `x[item()] = 1; barrier(); x[item() ^ 32] += 2;`,
	},
	{
		name:   "work in a branch between barriers",
		source: `if (item() % 2) x[item()] = 1; barrier(); if (item() % 3) x[item()] += 2; barrier(); x[item()] += 3;`,
	},
	{
		name:   "work in a branch between barriers at -O0",
		source: `if (item() % 2) x[item()] = 1; barrier(); if (item() % 3) x[item()] += 2; barrier(); x[item()] += 3;`,
		flags:  []string{"-O0"},
	},
	{
		name:   "lanes that returned before a barrier stay away",
		source: `if (item() % 32 > 20) return; x[item()] = 1; barrier(); x[item()] += 3;`,
	},
	{
		name:   "a barrier in a loop of as many turns for all",
		source: `for (u32 i = 0; i < 5; i++) { x[item()] += i; barrier(); }`,
	},
	{
		name:   "a barrier in a branch that the whole workgroup takes",
		source: `if (group() == 0) { x[item()] = 1; barrier(); x[item()] = 2; }`,
	},
	{
		name:   "a barrier in a loop whose turns depend on the workgroup",
		source: `for (u32 i = 0; i <= group(); i++) { x[item()] += i; barrier(); }`,
	},
	{
		name:   "one wave writes what all wait for",
		source: `SHARED u32 s; if (item() == 0) s = 7; barrier(); x[item()] = s;`,
	},
	{
		name:   "waves that take different ways and meet at one barrier",
		source: `u32 w = __builtin_amdgcn_readfirstlane(item() / 32); if (w & 1) x[item()] = 1; else if (w) x[item()] = 3; barrier(); x[item()] += 2;`,
	},
	{
		name:   "waves that return after the last barrier",
		source: `x[item()] = 1; barrier(); if (item() / 32 == 2) return; x[item()] = 2;`,
	},
	{
		name:   "one wave is done and the others spin on its flag",
		source: `u32 w = __builtin_amdgcn_readfirstlane(item() / 32); if (w == 3) { __atomic_store_n(x, 1u, 3); return; } while (__atomic_load_n(x, 2) == 0); x[item()] = 2;`,
		budget: 1_000_000,
	},
}

func TestSynccheckJudgesBarriers(t *testing.T) {
	for _, c := range syncCases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			o := compiled(t, "KERNEL(128) k(GLOBAL u32 *x) {"+c.source+"}", c.flags...)
			for _, s := range []emu.Schedule{{}, {Waves: emu.ReverseAfterBarriers}, {Waves: emu.RoundRobin, Quantum: 3}} {
				r, err := run{object: o, kernel: "k", groups: 2, items: 128, args: []any{1024}, config: emu.Config{Schedule: s, Budget: c.budget}}.check(t, Synccheck)
				if err != nil && (len(c.want) == 0 || c.want[0] != Deadlock) {
					t.Fatal(err)
				}
				if err := kindsAre(r, c.want); err != nil {
					t.Errorf("%v waves: %v", s.Waves, err)
				}
				if len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Message, c.says) {
					t.Errorf("%q does not say %q", r.Findings[0].Message, c.says)
				}
			}
		})
	}
}
