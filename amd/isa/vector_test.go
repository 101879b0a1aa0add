package isa

import (
	"errors"
	"testing"
)

// TestVectorTextWithoutLLVM has what is particular about the vector encodings,
// so that a machine without LLVM checks it too. The texts are llvm-mc-22's; ""
// is an *Unknown.
func TestVectorTextWithoutLLVM(t *testing.T) {
	for _, c := range []struct {
		name  string
		wave  Wave
		words []uint32
		want  string
	}{
		{"a literal goes to a lane permutation", Wave32, []uint32{0xd65c0060, 0x03fc1d60, 0xfedcba98}, "v_permlanex16_b32 v96, v96, s14, 0xfedcba98"},
		{"a literal comes after the DPP word", Wave32, []uint32{0xd6130002, 0x03fe0cfa, 0xff00e403, 0xfedcba98}, "v_fma_f32_e64_dpp v2, v3, v6, 0xfedcba98 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"},
		{"a literal that could be inline is marked", Wave32, []uint32{0x7e0402ff, 0x00000005}, "v_mov_b32_e32 v2, lit(0x5)"},
		{"a double takes its high word from a literal", Wave32, []uint32{0xd7270002, 0x00020cff, 0x40590000}, "v_add_f64 v[2:3], 0x40590000, v[6:7]"},
		{"an integer half writes 1.0 as its bits", Wave32, []uint32{0xd7030002, 0x00020cf2}, "v_add_nc_u16 v2.l, 0x3c00, v6.l"},
		{"short encodings have the half in the register number", Wave32, []uint32{0x65050c84}, "v_add_f16_e32 v2.h, 4, v6.h"},
		{"op_sel chooses halves", Wave32, []uint32{0xd6485002, 0x04220d04}, "v_fma_f16 v2.h, v4.l, v6.h, v8.l op_sel:[0,1,0,1]"},
		{"op_sel of a compare shows the mask's bit", Wave32, []uint32{0xd4020802, 0x00020d04}, "v_cmp_eq_f16_e64 s2, v4.h, v6.l op_sel:[1,0,0]"},
		{"stray op_sel bits print no halves", Wave32, []uint32{0xd5322802, 0x00020d04}, "v_add_f16_e64 v2, v4, v6"},
		{"an unused third source is ignored", Wave32, []uint32{0xd7270002, 0x02020d04}, "v_add_f64 v[2:3], v[4:5], v[6:7]"},
		{"neg of a constant is a call", Wave32, []uint32{0xd5030002, 0x20020cf2}, "v_add_f32_e64 v2, neg(1.0), v6"},
		{"neg of an absolute constant is a sign", Wave32, []uint32{0xd5030102, 0x20020cf2}, "v_add_f32_e64 v2, -|1.0|, v6"},
		{"clamp comes before omod", Wave32, []uint32{0xd5038002, 0x18020d04}, "v_add_f32_e64 v2, v4, v6 clamp div:2"},
		{"a carry in and out of wave32 are single registers", Wave32, []uint32{0xd5200402, 0x001a0d04}, "v_add_co_ci_u32_e64 v2, s4, v4, v6, s6"},
		{"a carry in and out of wave64 are pairs", Wave64, []uint32{0xd5200402, 0x001a0d04}, "v_add_co_ci_u32_e64 v2, s[4:5], v4, v6, s[6:7]"},
		{"v_cmpx ignores its destination", Wave32, []uint32{0xd4920002, 0x00020d04}, "v_cmpx_eq_f32_e64 v4, v6"},
		{"DPP16 has modifiers of its own in VOP2", Wave32, []uint32{0x06040cfa, 0xac991103}, "v_add_f32_dpp v2, -v3, |v6| row_shr:1 row_mask:0xa bank_mask:0xc bound_ctrl:1"},
		{"DPP16 shares a row", Wave32, []uint32{0x7e0402fa, 0xff055f03}, "v_mov_b32_dpp v2, v3 row_share:15 row_mask:0xf bank_mask:0xf fi:1"},
		{"DPP8 fetches inactive lanes", Wave32, []uint32{0x7e0402ea, 0xfac68803}, "v_mov_b32_dpp v2, v3 dpp8:[0,1,2,3,4,5,6,7] fi:1"},
		{"a reserved dpp_ctrl is unknown", Wave32, []uint32{0x7e0402fa, 0xff017003}, ""},
		{"a compare with DPP has no suffix", Wave32, []uint32{0x7c240cfa, 0xff00e403}, "v_cmp_eq_f32 vcc_lo, v3, v6 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"},
		{"op_sel_hi is all ones when not shown", Wave32, []uint32{0xcc0f4002, 0x18020d04}, "v_pk_add_f16 v2, v4, v6"},
		{"mixed multiply-adds show op_sel_hi", Wave32, []uint32{0xcc204102, 0xbc220d04}, "v_fma_mix_f32 v2, -|v4|, v6, -v8 op_sel_hi:[1,1,1]"},
		{"WMMA has eight result registers in wave32", Wave32, []uint32{0xcc404020, 0x1c521904}, "v_wmma_f32_16x16x16_f16 v[32:39], v[4:11], v[12:19], v[20:27]"},
		{"WMMA has four result registers in wave64", Wave64, []uint32{0xcc404020, 0x1c521904}, "v_wmma_f32_16x16x16_f16 v[32:35], v[4:11], v[12:19], v[20:23]"},
		{"WMMA adds to a constant", Wave32, []uint32{0xcc404020, 0x1a021904}, "v_wmma_f32_16x16x16_f16 v[32:39], v[4:11], v[12:19], 0"},
		{"VOPD takes Y's parity from X's destination", Wave32, []uint32{0xc9200b05, 0x03021106}, "v_dual_add_f32 v3, v5, v5 :: v_dual_add_nc_u32 v2, v6, v8"},
		{"VOPD shares a literal", Wave32, []uint32{0xc8420aff, 0x02021106, 0x3f9d70a4}, "v_dual_fmaak_f32 v2, 0x3f9d70a4, v5, 0x3f9d70a4 :: v_dual_fmaak_f32 v3, v6, v8, 0x3f9d70a4"},
		{"wave64 has no VOPD", Wave64, []uint32{0xc9200b05, 0x03021106}, ""},
		{"readlane needs a vector register", Wave32, []uint32{0xd7600002, 0x00000c08}, ""},
		{"a 16-bit operation ignores neg of integers", Wave32, []uint32{0xd7030002, 0x20020d04}, "v_add_nc_u16 v2.l, v4.l, v6.l"},
		{"a 32-bit integer operation has no neg", Wave32, []uint32{0xd51b0002, 0x20020d04}, ""},
	} {
		in, err := Decode(0, wordBytes(c.words), c.wave)
		var unknown *Unknown
		switch {
		case c.want == "" && !errors.As(err, &unknown):
			t.Errorf("%s: got %q, %v, want an *Unknown", c.name, in.String(), err)
		case c.want == "":
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case in.String() != c.want || in.Size != 4*len(c.words):
			t.Errorf("%s: got %q of %d bytes, want %q of %d", c.name, in.String(), in.Size, c.want, 4*len(c.words))
		}
	}
}
