package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// lastRegisters keeps v8 to v15 and s10 to s17 as the last wave has them at its
// end.
type lastRegisters struct {
	*Checker
	vectors [8][32]uint32
	scalars [8]uint32
}

// Instruction looks at the end.
func (e *lastRegisters) Instruction(w emu.Wave, in *isa.Inst) {
	e.Checker.Instruction(w, in)
	if in.Op.Name != "s_endpgm" {
		return
	}
	for n := range e.vectors {
		for lane := range 32 {
			e.vectors[n][lane] = w.VGPR(8+n, lane)
		}
		e.scalars[n] = w.SGPR(10 + n)
	}
}

// randomWaits is a sequence of loads, of uses of what they load, and of waits.
func randomWaits(r *rand.Rand) string {
	var b strings.Builder
	v, s := func() int { return 8 + r.IntN(8) }, func() int { return 10 + r.IntN(8) }
	pair := func(first int) int { return first + 2*r.IntN(4) }
	off := func() int { return 4 * r.IntN(64) }
	if r.IntN(4) == 0 {
		fmt.Fprintf(&b, "s_mov_b32 exec_lo, %#x;", r.Uint32())
	}
	for range 3 + r.IntN(10) {
		switch r.IntN(20) {
		case 0, 1:
			fmt.Fprintf(&b, "global_load_b32 v%d, v1, s[4:5] offset:%d;", v(), off())
		case 2:
			p := pair(8)
			fmt.Fprintf(&b, "global_load_b64 v[%d:%d], v1, s[4:5] offset:%d;", p, p+1, off())
		case 3:
			fmt.Fprintf(&b, "global_load_d16_%sb16 v%d, v1, s[4:5] offset:%d;", []string{"", "hi_"}[r.IntN(2)], v(), off())
		case 4, 5:
			fmt.Fprintf(&b, "ds_load_b32 v%d, v1 offset:%d;", v(), off())
		case 6:
			fmt.Fprintf(&b, "flat_load_b32 v%d, v[2:3];", v())
		case 7:
			fmt.Fprintf(&b, "s_load_b32 s%d, s[4:5], %#x;", s(), off())
		case 8:
			p := pair(10)
			fmt.Fprintf(&b, "s_load_b64 s[%d:%d], s[4:5], %#x;", p, p+1, off())
		case 9:
			fmt.Fprintf(&b, "v_add_nc_u32 v%d, v%d, v%d;", v(), v(), v())
		case 10:
			fmt.Fprintf(&b, "v_mov_b16 v%d.%s, v%d.%s;", v(), []string{"l", "h"}[r.IntN(2)], v(), []string{"l", "h"}[r.IntN(2)])
		case 11:
			fmt.Fprintf(&b, "v_mov_b32 v%d, s%d;", v(), s())
		case 12:
			fmt.Fprintf(&b, "s_add_u32 s%d, s%d, s%d;", s(), s(), s())
		default:
			fmt.Fprintf(&b, "s_waitcnt %s(%d);", []string{"vmcnt", "lgkmcnt"}[r.IntN(2)], r.IntN(3))
		}
	}
	return b.String() + "s_waitcnt vmcnt(0) lgkmcnt(0)"
}

// Random loads, uses and waits run with loads that return at once and with loads
// that return late. Where the two end with different registers, waitcheck has found
// why.
func TestRegistersThatDependOnWhenLoadsReturnAreFound(t *testing.T) {
	kernels := 200
	if os.Getenv("HOLDFAST_LONG") != "" {
		kernels = 3000
	}
	r := rand.New(rand.NewPCG(3, 4))
	var codes []string
	for range kernels {
		codes = append(codes, randomWaits(r))
	}
	before := "v_lshlrev_b32 v1, 2, v0;v_add_co_u32 v2, vcc_lo, s4, v1;v_add_co_ci_u32 v3, vcc_lo, s5, 0, vcc_lo;"
	for i := range 4 {
		before += fmt.Sprintf("v_mul_lo_u32 v%d, v0, %d;ds_store_b32 v1, v%d offset:%d;", 4+i, 11+i, 4+i, 128*i)
	}
	for i := range 8 {
		before += fmt.Sprintf("v_mov_b32 v%d, %d;s_mov_b32 s%d, %d;", 8+i, 70+i, 10+i, 90+i)
	}
	o := waveKernels(t, 32, before+"s_waitcnt lgkmcnt(0);", codes)
	data := make([]byte, 1024)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	found, differ := 0, 0
	for i, code := range codes {
		var first lastRegisters
		for seed, timing := range []emu.Timing{{}, {LateLoads: true}, {LateLoads: true, EarlyLoads: 0.1}, {LateLoads: true, EarlyLoads: 0.4}} {
			c, err := New(Options{Tools: []Tool{Waitcheck}})
			if err != nil {
				t.Fatal(err)
			}
			last := &lastRegisters{Checker: c}
			rig := newRig(t, o, fmt.Sprintf("k%d", i), emu.Config{Observer: last, Mode: emu.Relaxed, Timing: timing, Seed: uint64(seed)})
			a := rig.buffer("a", len(data))
			copy(a.Data, data)
			if err := rig.launch(1, 32, a, a); err != nil {
				t.Fatal(err)
			}
			clean := len(c.Report().Findings) == 0
			if seed == 0 {
				first = *last
				if !clean {
					found++
				}
				continue
			}
			if first.vectors == last.vectors && first.scalars == last.scalars {
				continue
			}
			differ++
			if clean {
				t.Errorf("kernel %d: its registers depend on when loads return, and nothing is found\n\t%s", i, strings.ReplaceAll(code, ";", "\n\t"))
			}
			break
		}
	}
	if differ == 0 || found == kernels {
		t.Errorf("of %d kernels %d depend on when loads return, %d have findings", kernels, differ, found)
	}
	t.Logf("of %d kernels %d depend on when loads return, %d have findings", kernels, differ, found)
}
