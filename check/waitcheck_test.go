package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// waitCase is instructions of a wave, and what waitcheck says of them. s[4:5]
// and v[2:3] are the address of a buffer, v1 is an offset in LDS and in the
// buffer, v20 on are zeros.
type waitCase struct {
	name, code string
	want       []Kind
	missing    string // of the first finding
}

var waitCases = []waitCase{
	// Registers that are used too early.
	{name: "a vector load is used at once", code: `global_load_b32 v10, v1, s[4:5]; v_add_nc_u32 v11, v10, v10`, want: []Kind{UseBeforeWait}, missing: "s_waitcnt vmcnt(0) before the v_add_nc_u32 at 0x"},
	{name: "the second of two loads is used after a wait for the first", code: `global_load_b32 v10, v1, s[4:5]; global_load_b32 v11, v1, s[4:5]; s_waitcnt vmcnt(1); v_mov_b32 v12, v11`, want: []Kind{UseBeforeWait}, missing: "vmcnt(0)"},
	{name: "the first of two loads needs no wait for the second", code: `global_load_b32 v10, v1, s[4:5]; global_load_b32 v11, v1, s[4:5]; v_mov_b32 v12, v10`, want: []Kind{UseBeforeWait}, missing: "vmcnt(1)"},
	{name: "the wrong counter", code: `global_load_b32 v10, v1, s[4:5]; s_waitcnt lgkmcnt(0); v_mov_b32 v12, v10`, want: []Kind{UseBeforeWait}, missing: "vmcnt(0)"},
	{name: "a wait for stores is none for loads", code: `global_load_b32 v10, v1, s[4:5]; s_waitcnt_vscnt null, 0x0; v_mov_b32 v12, v10`, want: []Kind{UseBeforeWait}, missing: "vmcnt(0)"},
	{name: "depctr waits for no memory", code: `global_load_b32 v10, v1, s[4:5]; s_waitcnt_depctr 0; v_mov_b32 v12, v10`, want: []Kind{UseBeforeWait}},
	{name: "a barrier waits for nothing", code: `global_load_b32 v10, v1, s[4:5]; s_barrier; v_mov_b32 v12, v10`, want: []Kind{UseBeforeWait}},
	{name: "the last register of four", code: `global_load_b128 v[10:13], v1, s[4:5]; v_mov_b32 v14, v13`, want: []Kind{UseBeforeWait}},
	{name: "a store of what is being loaded", code: `global_load_b32 v10, v1, s[4:5]; global_store_b32 v1, v10, s[4:5]`, want: []Kind{UseBeforeWait}},
	{name: "an address that is being loaded", code: `global_load_b32 v10, v1, s[4:5]; ds_load_b32 v11, v10`, want: []Kind{UseBeforeWait}},
	{name: "a load of LDS", code: `ds_load_b32 v10, v1; v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "the first of two loads of LDS", code: `ds_load_b32 v10, v1; ds_load_b32 v11, v1; v_mov_b32 v12, v10`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(1)"},
	{name: "a permutation through LDS", code: `ds_bpermute_b32 v10, v1, v20; v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "a scalar load", code: `s_load_b32 s10, s[4:5], 0x0; s_add_u32 s11, s10, 1`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "scalar loads return in any order", code: `s_load_b32 s10, s[4:5], 0x0; s_load_b32 s11, s[4:5], 0x0; s_waitcnt lgkmcnt(1); s_add_u32 s12, s10, 1`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "a scalar load before one of LDS", code: `s_load_b32 s10, s[4:5], 0x0; ds_load_b32 v10, v1; s_waitcnt lgkmcnt(1); s_add_u32 s12, s10, 1`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "a scalar in a vector instruction", code: `s_load_b32 s10, s[4:5], 0x0; v_mov_b32 v10, s10`, want: []Kind{UseBeforeWait}},
	{name: "vcc that a branch reads", code: `s_load_b32 vcc_lo, s[4:5], 0x0; s_cbranch_vccz .Lnext@; .Lnext@:`, want: []Kind{UseBeforeWait}},
	{name: "an atomic that returns", code: `global_atomic_add_u32 v10, v1, v20, s[4:5] glc; v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "vmcnt(0)"},
	{name: "an atomic of LDS that returns", code: `ds_add_rtn_u32 v10, v1, v20; v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "a flat load of global memory", code: `flat_load_b32 v10, v[2:3]; s_waitcnt lgkmcnt(0); v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "vmcnt(0)"},
	{name: "a flat load of LDS", code: `s_mov_b64 s[6:7], src_shared_base; v_mov_b32 v4, v20; v_mov_b32 v5, s7; flat_load_b32 v10, v[4:5]; s_waitcnt vmcnt(0); v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "lgkmcnt(0)"},
	{name: "scratch", code: `scratch_load_b32 v10, off, off; v_mov_b32 v11, v10`, want: []Kind{UseBeforeWait}, missing: "vmcnt(0)"},
	{name: "lanes that are read across", code: `global_load_b32 v10, v1, s[4:5]; s_mov_b32 exec_lo, 1; v_readlane_b32 s10, v10, 3`, want: []Kind{UseBeforeWait}},
	{name: "the active lane that readfirstlane reads", code: `global_load_b32 v10, v1, s[4:5]; v_readfirstlane_b32 s10, v10`, want: []Kind{UseBeforeWait}},
	{name: "a half that is being loaded", code: `global_load_d16_b16 v10, v1, s[4:5]; v_add_f16 v11.l, v10.l, v10.l`, want: []Kind{UseBeforeWait}},
	{name: "a relative move from what is being loaded", code: `s_mov_b32 m0, 2; global_load_b32 v10, v1, s[4:5]; v_movrels_b32 v11, v8`, want: []Kind{UseBeforeWait}},
	{name: "two waits that lack", code: `global_load_b32 v10, v1, s[4:5]; v_mov_b32 v11, v10; ds_load_b32 v12, v1; v_mov_b32 v13, v12`, want: []Kind{UseBeforeWait}},

	// Registers that are written too early.
	{name: "a destination is written", code: `global_load_b32 v10, v1, s[4:5]; v_mov_b32 v10, 1`, want: []Kind{OverwriteBeforeWait}, missing: "s_waitcnt vmcnt(0) before the v_mov_b32 at 0x"},
	{name: "a destination is loaded from LDS", code: `global_load_b32 v10, v1, s[4:5]; ds_load_b32 v10, v1`, want: []Kind{OverwriteBeforeWait}, missing: "vmcnt(0)"},
	{name: "a scalar destination is written", code: `s_load_b32 s10, s[4:5], 0x0; s_mov_b32 s10, 1`, want: []Kind{OverwriteBeforeWait}},
	{name: "two scalar loads into one register", code: `s_load_b32 s10, s[4:5], 0x0; s_load_b32 s10, s[4:5], 0x0`, want: []Kind{OverwriteBeforeWait}},

	// Harmless.
	{name: "a vector load is waited for", code: `global_load_b32 v10, v1, s[4:5]; s_waitcnt vmcnt(0); v_add_nc_u32 v11, v10, v10`},
	{name: "the first of two vector loads is waited for", code: `global_load_b32 v10, v1, s[4:5]; global_load_b32 v11, v1, s[4:5]; s_waitcnt vmcnt(1); v_mov_b32 v12, v10`},
	{name: "a wait by the counter's own instruction", code: `global_load_b32 v10, v1, s[4:5]; s_waitcnt_vmcnt null, 0x0; v_mov_b32 v12, v10`},
	{name: "a wait until the wave is idle", code: `global_load_b32 v10, v1, s[4:5]; s_load_b32 s10, s[4:5], 0x0; s_wait_idle; v_mov_b32 v12, v10; v_mov_b32 v12, s10`},
	{name: "stores do not count among loads", code: `global_load_b32 v10, v1, s[4:5]; global_store_b32 v1, v20, s[4:5]; s_waitcnt vmcnt(0); v_mov_b32 v12, v10`},
	{name: "a load that nobody uses", code: `global_load_b32 v10, v1, s[4:5]; v_mov_b32 v11, v20`},
	{name: "a neighbour of what is loaded", code: `global_load_b64 v[10:11], v1, s[4:5]; v_mov_b32 v12, v9; v_mov_b32 v9, v12`},
	{name: "a store's data are overwritten", code: `global_store_b32 v1, v20, s[4:5]; v_mov_b32 v20, 1`},
	{name: "a store's data are overwritten in LDS", code: `ds_store_b32 v1, v20; v_mov_b32 v20, 1`},
	{name: "an address is overwritten", code: `global_load_b32 v10, v1, s[4:5]; v_mov_b32 v1, 1; s_mov_b32 s4, 0`},
	{name: "a load over its own address", code: `global_load_b32 v1, v1, s[4:5]; s_waitcnt vmcnt(0); v_mov_b32 v11, v1`},
	{name: "a load over an earlier one, which fills it before", code: `global_load_b32 v10, v1, s[4:5]; global_load_b32 v10, v1, s[4:5]; s_waitcnt vmcnt(0); v_mov_b32 v11, v10`},
	{name: "LDS over LDS", code: `ds_load_b32 v10, v1; ds_load_b32 v10, v1; s_waitcnt lgkmcnt(0); v_mov_b32 v11, v10`},
	{name: "LDS behind a scalar load and a wait for all but one", code: `ds_load_b32 v10, v1; ds_load_b32 v11, v1; s_load_b32 s10, s[4:5], 0x0; s_waitcnt lgkmcnt(1); v_mov_b32 v12, v10`},
	{name: "lanes that the load did not fill", code: `s_mov_b32 exec_lo, 0xff; global_load_b32 v10, v1, s[4:5]; s_mov_b32 exec_lo, 0xff00; v_mov_b32 v11, v10; v_mov_b32 v10, v20`},
	{name: "a load with no lane active", code: `s_mov_b32 exec_lo, 0; global_load_b32 v10, v1, s[4:5]; s_mov_b32 exec_lo, -1; v_mov_b32 v11, v10`},
	{name: "the other half of what is loaded", code: `global_load_d16_b16 v10, v1, s[4:5]; v_mov_b16 v10.h, v20.l; v_mov_b16 v11.l, v10.h`},
	{name: "two halves are loaded into one register", code: `global_load_d16_b16 v10, v1, s[4:5]; global_load_d16_hi_b16 v10, v1, s[4:5]; s_waitcnt vmcnt(0); v_mov_b32 v11, v10`},
	{name: "a byte is stored while the other half is loaded", code: `global_load_d16_hi_b16 v10, v1, s[4:5]; global_store_b8 v1, v10, s[4:5]`},
	{name: "a flat load of global memory needs no wait for LDS", code: `flat_load_b32 v10, v[2:3]; s_waitcnt vmcnt(0); v_mov_b32 v11, v10`},
	{name: "a flat load is waited for both ways", code: `flat_load_b32 v10, v[2:3]; s_waitcnt vmcnt(0) lgkmcnt(0); v_mov_b32 v11, v10`},
	{name: "an atomic that returns nothing", code: `global_atomic_add_u32 v1, v20, s[4:5]; v_mov_b32 v20, 3`},
	{name: "the end of the wave", code: `global_load_b32 v10, v1, s[4:5]; s_load_b32 s10, s[4:5], 0x0`},
	{name: "a destination of null", code: `s_load_b32 null, s[4:5], 0x0; s_mov_b32 null, s6; v_mov_b32 v10, null`},
	{name: "a relative move past what is being loaded", code: `s_mov_b32 m0, 2; global_load_b32 v10, v1, s[4:5]; v_movrels_b32 v11, v10`},
}

// waveKernels is an object with a kernel k0, k1, ... of waves of so many lanes around each of the
// instructions, and their two parameters in s[4:5] and s[6:7]. Each has 32 vector registers, 1024
// bytes of LDS and 16 of scratch.
func waveKernels(t testing.TB, lanes int, before string, codes []string) *hsaco.Object {
	var text, metadata strings.Builder
	for i, code := range codes {
		name := fmt.Sprintf("k%d", i)
		fmt.Fprintf(&text, `
.text
.globl %[1]s
.p2align 8
.type %[1]s,@function
%[1]s:
s_load_b128 s[4:7], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
%[2]s
s_endpgm
.L%[1]s:
.size %[1]s, .L%[1]s-%[1]s
.rodata
.p2align 6
.amdhsa_kernel %[1]s
.amdhsa_next_free_vgpr 32
.amdhsa_next_free_sgpr 32
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_kernarg_size 16
.amdhsa_group_segment_fixed_size 1024
.amdhsa_private_segment_fixed_size 16
.amdhsa_enable_private_segment 1
.amdhsa_wavefront_size32 %[3]d
.end_amdhsa_kernel
`, name, strings.NewReplacer(";", "\n", "@", fmt.Sprint(i)).Replace(before+code), 64/lanes-1)
		fmt.Fprintf(&metadata, `  - {.name: %[1]s, .symbol: %[1]s.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 16, .wavefront_size: %[2]d, .sgpr_count: 32, .vgpr_count: 32, .max_flat_workgroup_size: 1024, .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}, {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}]}
`, name, lanes)
	}
	return assembled(t, text.String()+".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n"+metadata.String()+".end_amdgpu_metadata\n",
		map[int]string{32: "-mno-wavefrontsize64", 64: "-mwavefrontsize64"}[lanes])
}

func TestWaitcheckJudgesRegistersThatLoadsFill(t *testing.T) {
	var codes []string
	for _, c := range waitCases {
		codes = append(codes, c.code)
	}
	o := waveKernels(t, 32, `v_lshlrev_b32 v1, 2, v0;v_add_co_u32 v2, vcc_lo, s4, v1;v_add_co_ci_u32 v3, vcc_lo, s5, 0, vcc_lo;v_mov_b32 v20, 0;v_mov_b32 v10, 0;`, codes)
	for i, c := range waitCases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var first []string
			for _, config := range []emu.Config{{}, {Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers}}, {Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 1}}, {Mode: emu.Relaxed, Timing: emu.Timing{LateLoads: true}}} {
				r, err := run{object: o, kernel: fmt.Sprintf("k%d", i), groups: 2, items: 64, config: config, args: []any{1024, 1024}}.check(t, Waitcheck)
				if err != nil {
					t.Fatal(err)
				}
				if err := kindsAre(r, c.want); err != nil {
					t.Fatal(err)
				}
				if len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Missing, c.missing) {
					t.Errorf("missing is %q, want %q", r.Findings[0].Missing, c.missing)
				}
				var sites []string
				for _, f := range r.Findings {
					sites = append(sites, fmt.Sprintf("%x %x %s", f.Sites[0].PC, f.Sites[1].PC, f.Message))
				}
				if first == nil {
					first = sites
				} else if !slices.Equal(first, sites) {
					t.Errorf("%v waves: found %v, in order %v", config.Schedule.Waves, sites, first)
				}
			}
		})
	}
}
