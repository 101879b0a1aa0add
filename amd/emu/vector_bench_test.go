package emu

import (
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// BenchmarkVector measures single instructions, in lanes.
func BenchmarkVector(b *testing.B) {
	cases := []struct {
		name string
		src  []uint32
		exec uint64
	}{
		{"v_mov_b32", []uint32{v(0)}, ^uint64(0)},
		{"v_add_nc_u32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_add_nc_u32", []uint32{5, v(1)}, ^uint64(0)},
		{"v_add_nc_u32", []uint32{v(0), v(1)}, 0x5555555555555555},
		{"v_add_f32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_mul_f32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_fma_f32", []uint32{v(0), v(1), v(2)}, ^uint64(0)},
		{"v_fmac_f32", []uint32{5, v(1)}, ^uint64(0)},
		{"v_max_f32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_lshlrev_b32", []uint32{130, v(1)}, ^uint64(0)},
		{"v_lshl_add_u32", []uint32{v(0), 130, v(1)}, ^uint64(0)},
		{"v_and_b32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_cvt_f32_i32", []uint32{v(0)}, ^uint64(0)},
		{"v_cvt_i32_f32", []uint32{v(0)}, ^uint64(0)},
		{"v_cvt_f16_f32", []uint32{v(0)}, ^uint64(0)},
		{"v_cvt_f32_f16", []uint32{v(0)}, ^uint64(0)},
		{"v_exp_f32", []uint32{v(0)}, ^uint64(0)},
		{"v_rcp_f32", []uint32{v(0)}, ^uint64(0)},
		{"v_cmp_lt_u32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_cmp_lt_f32", []uint32{v(0), v(1)}, ^uint64(0)},
		{"v_cndmask_b32", []uint32{v(0), v(1), 106}, ^uint64(0)},
		{"v_mad_u64_u32", []uint32{v(0), v(1), v(2)}, ^uint64(0)},
		{"v_lshlrev_b64", []uint32{v(0), v(2)}, ^uint64(0)},
		{"v_fma_f64", []uint32{v(0), v(2), v(4)}, ^uint64(0)},
		{"v_add_co_ci_u32", []uint32{v(0), v(2), 106}, ^uint64(0)},
		{"v_mul_lo_u32", []uint32{v(0), v(2)}, ^uint64(0)},
		{"v_add_f16", []uint32{v(0), v(2)}, ^uint64(0)},
	}
	for _, c := range cases {
		name := c.name
		if c.src[0] < 128 {
			name += "/sgpr"
		}
		if c.exec != ^uint64(0) {
			name += "/masked"
		}
		b.Run(name, func(b *testing.B) {
			w := newTestWave(32)
			for r := range 8 {
				for i := range w.vgpr[r] {
					w.vgpr[r][i] = uint32(0x3f800000 + 1000*i + r)
				}
			}
			w.setExec(c.exec & w.all())
			words := encode(b, isa.VOP3, c.name, 10, c.src...)
			if c.name == "v_fmac_f32" {
				words[0] = words[0]&^0xff | 10
			}
			if c.name == "v_cmp_lt_u32" || c.name == "v_cmp_lt_f32" {
				words[0] = words[0]&^0xff | 20
			}
			in := decodeTest(b, 32, words...)
			b.ResetTimer()
			for range b.N {
				in.run(w, in)
			}
			b.ReportMetric(float64(b.N)*32/b.Elapsed().Seconds(), "lanes/s")
		})
	}
	b.Run("v_pk_fma_f16", func(b *testing.B) { benchPacked(b, "v_pk_fma_f16") })
	b.Run("v_dot4_i32_iu8", func(b *testing.B) { benchPacked(b, "v_dot4_i32_iu8") })
	b.Run("v_wmma_f32_16x16x16_f16", func(b *testing.B) { benchPacked(b, "v_wmma_f32_16x16x16_f16") })
}

func benchPacked(b *testing.B, name string) {
	w := newTestWave(32)
	in := decodeTest(b, 32, encode(b, isa.VOP3P, name, 10, v(20), v(30), v(40))...)
	for range b.N {
		in.run(w, in)
	}
	b.ReportMetric(float64(b.N)*32/b.Elapsed().Seconds(), "lanes/s")
}
