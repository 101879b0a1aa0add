package emu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// barriers is a kernel with two barriers and something to do between them.
const barriers = `
	s_mov_b32 s2, 0
	s_barrier
	s_mov_b32 s2, 1
	s_barrier
	s_mov_b32 s2, 2
	s_endpgm`

// tracer notes which wave runs, once for each run of instructions.
type tracer struct {
	NopObserver
	runs []string
	last Wave
}

func (o *tracer) Instruction(w Wave, in *isa.Inst) {
	if w != o.last || in.Op.Name == "s_mov_b32" {
		o.runs = append(o.runs, fmt.Sprintf("%d.%d", w.GroupIndex(), w.Index()))
		o.last = w
	}
}

func trace(t *testing.T, c Config, code string, l Dispatch) ([]string, *Report) {
	t.Helper()
	o := &tracer{}
	c.Observer = o
	r, err := runOn(t, c, assemble(t, code), l)
	if err != nil {
		t.Fatal(err)
	}
	return o.runs, r
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	three := Dispatch{Grid: [3]uint32{96, 1, 1}, Workgroup: [3]uint32{96, 1, 1}}
	two := Dispatch{Grid: [3]uint32{128, 1, 1}, Workgroup: [3]uint32{64, 1, 1}}
	for _, c := range []struct {
		fact string
		s    Schedule
		l    Dispatch
		want string
	}{
		{"in order", Schedule{}, three, "0.0 0.1 0.2 0.0 0.1 0.2 0.0 0.1 0.2"},
		{"the last to arrive is the first to go on", Schedule{Waves: ReverseAfterBarriers}, three, "0.0 0.1 0.2 0.1 0.0 0.1 0.2"},
		{"workgroups one after another", Schedule{}, two, "0.0 0.1 0.0 0.1 0.0 0.1 1.0 1.1 1.0 1.1 1.0 1.1"},
		{"workgroups backward", Schedule{Groups: Backward}, two, "1.0 1.1 1.0 1.1 1.0 1.1 0.0 0.1 0.0 0.1 0.0 0.1"},
		{"resident workgroups are interleaved", Schedule{Resident: 2}, two, "0.0 0.1 1.0 1.1 0.0 0.1 1.0 1.1 0.0 0.1 1.0 1.1"},
	} {
		t.Run(c.fact, func(t *testing.T) {
			runs, r := trace(t, Config{Schedule: c.s}, barriers, c.l)
			if got := strings.Join(slices.Compact(runs), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if want := 2 * r.Workgroups; r.Barriers != want {
				t.Errorf("%d barriers, want %d", r.Barriers, want)
			}
		})
	}
}

func TestRoundRobinTakesTurnsByInstructions(t *testing.T) {
	t.Parallel()
	runs, _ := trace(t, Config{Schedule: Schedule{Waves: RoundRobin, Quantum: 2, Resident: 1}}, "s_mov_b32 s2, 0\ns_nop 0\ns_mov_b32 s2, 1\ns_endpgm",
		Dispatch{Grid: [3]uint32{64, 1, 1}, Workgroup: [3]uint32{64, 1, 1}})
	if got := strings.Join(runs, " "); got != "0.0 0.1 0.0 0.1" {
		t.Errorf("%s", got)
	}
}

func TestAPreemptedWaveIsTheLast(t *testing.T) {
	t.Parallel()
	l := Dispatch{Grid: [3]uint32{96, 1, 1}, Workgroup: [3]uint32{96, 1, 1}}
	for _, c := range []struct {
		fact string
		p    Preemption
		want string
	}{
		{"after so many instructions", Preemption{Wave: 1, After: 1}, "0.0 0.1 0.2 0.1 0.0 0.1 0.2 0.0 0.1 0.2"},
		{"before its first", Preemption{Wave: 0}, "0.1 0.2 0.0 0.1 0.2 0.0 0.1 0.2"},
		{"in another workgroup", Preemption{Wave: 0, Group: &[3]uint32{1, 0, 0}}, "0.0 0.1 0.2 0.0 0.1 0.2 0.0 0.1 0.2"},
	} {
		t.Run(c.fact, func(t *testing.T) {
			runs, _ := trace(t, Config{Schedule: Schedule{Preempt: []Preemption{c.p}}}, barriers, l)
			got := strings.Join(slices.Compact(runs), " ")
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAPreemptionPointAtAnAddressCountsArrivals(t *testing.T) {
	t.Parallel()
	o := assemble(t, "s_mov_b32 s3, 0\nL: s_add_i32 s3, s3, 1\ns_cmp_lt_i32 s3, 5\ns_cbranch_scc1 L\ns_mov_b32 s2, 0\ns_endpgm")
	log := &tracer{}
	d, k := kernelOn(t, Config{Observer: log}, o)
	d.config.Schedule.Preempt = []Preemption{{Wave: 0, PC: k.EntryPC() + 4, After: 2}}
	var at uint64
	watch := &watcher{}
	d.config.Observer = both{log, watch}
	watch.end = func(w Wave) {
		if w.Index() == 1 {
			at = uint64(w.w.group.waves[0].sgpr[3])
		}
	}
	if _, err := d.Run(context.Background(), Dispatch{Kernel: k, Grid: [3]uint32{64, 1, 1}, Workgroup: [3]uint32{64, 1, 1}}); err != nil {
		t.Fatal(err)
	}
	if at != 2 {
		t.Errorf("wave 0 had counted to %d when wave 1 ended, want 2", at)
	}
}

// both passes on to a tracer and a watcher.
type both struct {
	*tracer
	w *watcher
}

func (b both) WaveEnd(w Wave) { b.w.WaveEnd(w) }

func TestARunIsAFunctionOfItsSeed(t *testing.T) {
	t.Parallel()
	l := Dispatch{Grid: [3]uint32{512, 1, 1}, Workgroup: [3]uint32{64, 1, 1}}
	for _, s := range []Schedule{
		{Waves: Random, Groups: Shuffled, Quantum: 2}, {Groups: Shuffled}, {Waves: Random, Resident: 3, Quantum: 1},
	} {
		run := func(seed uint64) string {
			runs, _ := trace(t, Config{Schedule: s, Seed: seed}, barriers, l)
			return strings.Join(runs, " ")
		}
		first, again, other := run(1), run(1), run(2)
		if first != again {
			t.Errorf("%+v: two runs of a seed differ", s)
		}
		if first == other {
			t.Errorf("%+v: two seeds give the same run", s)
		}
	}
}

func TestWavesThatEndedDoNotHoldABarrier(t *testing.T) {
	t.Parallel()
	// Wave 0 of three ends at once.
	code := "v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccnz E\ns_barrier\nE: s_endpgm"
	r, err := runOn(t, Config{Observer: NopObserver{}}, assemble(t, code), Dispatch{Grid: [3]uint32{96, 1, 1}, Workgroup: [3]uint32{96, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Barriers != 1 || r.Waves != 3 {
		t.Errorf("%d barriers, %d waves", r.Barriers, r.Waves)
	}
}

func TestADispatchThatCannotGoOnSaysWhoWaits(t *testing.T) {
	t.Parallel()
	code := "v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccnz H\ns_barrier\ns_endpgm\nH: s_sethalt 1\ns_barrier\ns_endpgm"
	_, err := runOn(t, Config{}, assemble(t, code), Dispatch{Grid: [3]uint32{96, 1, 1}, Workgroup: [3]uint32{96, 1, 1}})
	var f *Fault
	if !errors.As(err, &f) || f.Kind != StuckFault || f.Wave != 0 {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"1 halted, 2 at a barrier", "wave 0 halted", "wave 2 at a barrier", "(s_barrier)", "(s_sethalt 1)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

func TestAnEndlessLoopIsStoppedAndPlaced(t *testing.T) {
	t.Parallel()
	code := "v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccnz L\ns_barrier\ns_endpgm\nL: s_nop 0\ns_sleep 1\ns_branch L"
	for _, order := range []WaveOrder{InOrder, RoundRobin, Random} {
		o := assemble(t, code)
		d, k := kernelOn(t, Config{Budget: 100000, Schedule: Schedule{Waves: order}}, o)
		r, err := d.Run(context.Background(), Dispatch{Kernel: k, Grid: [3]uint32{64, 1, 1}, Workgroup: [3]uint32{64, 1, 1}})
		var f *Fault
		if !errors.As(err, &f) || f.Kind != BudgetFault {
			t.Fatalf("%v", err)
		}
		loop := k.EntryPC() + 4*4
		if len(f.Waves) != 2 || f.Waves[0].Loop != [2]uint64{loop, loop + 8} || !f.Waves[0].Looped || f.Waves[1].State != "at a barrier" {
			t.Errorf("%+v, want a loop at %#x", f.Waves, loop)
		}
		if r.Instructions != 100000 {
			t.Errorf("%d instructions ran, of a budget of 100000", r.Instructions)
		}
	}
}

func TestMoreWorkgroupsStartWhereAllSpin(t *testing.T) {
	t.Parallel()
	// Every workgroup spins until the clock shows 2^20.
	code := "L: s_sendmsg_rtn_b32 s3, sendmsg(MSG_RTN_GET_REALTIME)\ns_lshr_b32 s3, s3, 20\ns_cmp_eq_u32 s3, 0\ns_cbranch_scc1 L\ns_endpgm"
	watch := &watcher{}
	var most int
	watch.begin = func(w Wave) { most = max(most, w.GroupIndex()) }
	first := -1
	watch.end = func(w Wave) {
		if first < 0 {
			first = most
		}
	}
	if _, err := runOn(t, Config{Observer: watch}, assemble(t, code), Dispatch{Grid: [3]uint32{128, 1, 1}, Workgroup: [3]uint32{32, 1, 1}}); err != nil {
		t.Fatal(err)
	}
	if first < 1 {
		t.Errorf("workgroup %d was the last to start when the first ended", first)
	}
}

func TestACancelledContextStopsARun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, k := kernelOn(t, Config{}, assemble(t, "L: s_branch L"))
	if _, err := d.Run(ctx, Dispatch{Kernel: k}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWorkersRunEveryWorkgroupOnce(t *testing.T) {
	t.Parallel()
	o := assemble(t, barriers)
	l := Dispatch{Grid: [3]uint32{64 * 300, 1, 1}, Workgroup: [3]uint32{64, 1, 1}}
	one, err := runOn(t, Config{}, o, l)
	if err != nil {
		t.Fatal(err)
	}
	four, err := runOn(t, Config{Workers: 4}, o, l)
	if err != nil {
		t.Fatal(err)
	}
	if four.Workers != 4 || four.Workgroups != 300 || four.Instructions != one.Instructions || four.Barriers != 600 || len(four.Ops) != len(one.Ops) {
		t.Errorf("four workers: %+v, one: %+v", four, one)
	}
	if _, err := runOn(t, Config{Workers: 4}, assemble(t, "s_trap 2"), l); err == nil {
		t.Error("no worker's fault is reported")
	}
}

func TestFaultsOfControlFlow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fact string
		code string
		kind FaultKind
		want string
	}{
		{"a branch out of the code", "s_branch 0x7000", CodeFault, "outside of the code"},
		{"a jump to nowhere", "s_mov_b64 s[2:3], 0x1234\ns_setpc_b64 s[2:3]", CodeFault, "a jump to 0x1234"},
		{"a jump into a word", "s_getpc_b64 s[2:3]\ns_add_u32 s2, s2, 2\ns_setpc_b64 s[2:3]", CodeFault, "a jump to"},
		{"a word that is no instruction", ".long 0xbf7f0000", CodeFault, ""},
		{"the end of the code", "s_nop 0\ns_code_end", CodeFault, "past the end"},
		{"a trap", "s_trap 2", TrapFault, "aborted"},
		{"a register that was not allocated", "v_mov_b32 v200, 0", LimitFault, "v200"},
		{"a message for graphics", "s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)", TrapFault, "message 9"},
	} {
		t.Run(c.fact, func(t *testing.T) {
			_, err := runOn(t, Config{}, assemble(t, c.code), Dispatch{})
			var f *Fault
			if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Detail, c.want) || f.PC == 0 || f.Kernel != "k" {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("what is not modelled", func(t *testing.T) {
		r, err := runOn(t, Config{}, assemble(t, "s_nop 0\ns_rfe_b64 s[2:3]"), Dispatch{})
		var u *Unsupported
		if !errors.As(err, &u) || u.Text != "s_rfe_b64 s[2:3]" || r.Unsupported != u {
			t.Errorf("%v, report %+v", err, r)
		}
	})
}

func TestCallsReturn(t *testing.T) {
	t.Parallel()
	code := `
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, F-.-4+4
	s_addc_u32 s3, s3, 0
	s_mov_b32 s8, 1
	s_swappc_b64 s[4:5], s[2:3]
	s_add_u32 s8, s8, 1
	s_call_b64 s[4:5], F
	s_endpgm
F:
	s_add_u32 s8, s8, 16
	s_setpc_b64 s[4:5]`
	code = strings.Replace(code, "F-.-4+4", "F-A", 1)
	code = strings.Replace(code, "s_getpc_b64 s[2:3]\n", "s_getpc_b64 s[2:3]\nA:\n", 1)
	var got uint32
	watch := &watcher{end: func(w Wave) { got = w.SGPR(8) }}
	if _, err := runOn(t, Config{Observer: watch}, assemble(t, code), Dispatch{}); err != nil {
		t.Fatal(err)
	}
	if got != 34 {
		t.Errorf("s8 = %d, want 34", got)
	}
}

func TestTheReportCountsLanes(t *testing.T) {
	t.Parallel()
	r, err := runOn(t, Config{}, assemble(t, "v_mov_b32 v1, v0\ns_mov_b32 exec_lo, 7\nv_mov_b32 v1, v0\ns_endpgm"), Dispatch{Grid: [3]uint32{40, 1, 1}, Workgroup: [3]uint32{40, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if r.LaneInstructions != 40+3+3 || r.Instructions != 8 {
		t.Errorf("%d lane instructions of %d", r.LaneInstructions, r.Instructions)
	}
	if len(r.Ops) != 3 || r.Ops[0].Op.Name != "v_mov_b32" || r.Ops[0].Count != 4 {
		t.Errorf("%+v", r.Ops)
	}
}
