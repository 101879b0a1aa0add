package progen

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Miscompilation is a shape of program that clang 22 compiles wrongly for
// gfx1151, at -O2 and some of them at -O0. A program whose results differ has met it, and says nothing
// of the device, if it agrees with the host once the shape is broken up:
// compiled with Flag, the same source keeps the operations apart that the
// compiler combines, and is otherwise the same.
type Miscompilation struct {
	Name  string
	Macro string // of prelude.h
	Why   string
	LLVM  int // the pull request of llvm/llvm-project that mends it, or is to, if known
	// Kernel is a body of the shape: from in[] to out[], for work-item i.
	In, Out, Kernel string
	// What the assembly of Kernel has, or lacks, proves it.
	Has, Lacks string // regular expressions, or ""
}

// Flag has the compiler break up the shape.
func (m *Miscompilation) Flag() string { return "-D" + m.Macro + "=apart" }

// Miscompilations are those that are known.
var Miscompilations = []Miscompilation{
	{
		Name: "carry out of a sum of three", Macro: "CARRY", LLVM: 204362,
		Why: "(x + y) + 0 + carry becomes x + y + carry. The sum is the same, but its carry is not: where x + y wraps, which " +
			"counts for nothing in the source, the result saturates.",
		In: "u64", Out: "u64", Kernel: "out[i] = __builtin_elementwise_add_sat(in[i] * in[i], (u64)65);",
		Has: `v_add_co_u32 v\d+, vcc_lo, 0x41, v\d+\s+v_add_co_ci_u32_e32 (v\d+), vcc_lo, v\d+, v\d+, vcc_lo\s(.*\s)*v_cndmask_b32_e64 v\d+, v\d+, -1, vcc_lo`,
	},
	{
		Name: "complement of a zero-extended number", Macro: "COMPLEMENT",
		Why: "The high word of ~(u64)x | y, with x of 32 bits, is all ones. The compiler makes it that of y: a copy of the " +
			"register that y was loaded into.",
		In: "u64", Out: "u64", Kernel: "out[i] = ((u64)(u32)in[i] ^ -2ull) | in[i + 100];",
		Has: `v_xor_b32_e32 v\d+, -2, v\d+\s`, Lacks: `v_mov_b32_e32 v\d+, -1|v_or_b32_e32 v\d+, -1|v_bfi_b32|v_not_b32`,
	},
	{
		Name: "lanes exchanged in a branch", Macro: "LANES", LLVM: 183334,
		Why: "A mov with dpp8 reads other lanes, so that all must be at it. The compiler moves it into the branch where its " +
			"result is used, where those that do not branch are off.",
		In: "u32", Out: "u32", Kernel: "u32 x = __builtin_amdgcn_mov_dpp8(in[i + 100], 0x83c7f6); if (in[i] > 5) out[i] = x;",
		Has: `s_cbranch_execz(.*\s)*.*dpp8:`,
	},
	{
		Name: "uniform half beside another", Macro: "HALF", LLVM: 161290,
		Why: "A half that is the same for all work-items, and chosen by a comparison, becomes one of a vector of two. The " +
			"compiler takes it through a scalar register, and loses it: neither the comparison nor the choice is left.",
		In: "u64", Out: "u64", Kernel: "u16 b = (u16)in[1022]; f16 x = (b & 0x7fff) > 0x7c00 ? bits((u16)0x7e00) : bits(b); " +
			"h2 v = (h2){x, (f16)(i16)in[i] * (f16)0.015625} * (h2){0, 1}; f16 l = v.x, h = v.y; out[i] = (l != l ? 0x7e00 : bits(l)) | (u32)bits(h) << 16;",
		Has: `v_pk_mul_f16`, Lacks: `v_cndmask_b16|s_cselect|0x7fff`,
	},
	{
		Name: "product that becomes a half", Macro: "NARROW", LLVM: 214544,
		Why: "v_fma_mixlo_f16 stands for a product of floats rounded to half, with +0 to be added. The product's -0 becomes " +
			"+0; to add nothing it would have to be -0.",
		In: "f32", Out: "f16", Kernel: "out[i] = (f16)(in[i] * -in[i]);",
		Has: `v_fma_mixlo_f16 v\d+, v\d+, -v\d+, 0\s`,
	},
	{
		Name: "zero minus a number", Macro: "SUM",
		Why: "0 - x becomes the operand modifier -x, which is -0 for an x of 0 where the difference is +0.",
		In:  "f32", Out: "f32", Kernel: "out[i] = in[i] * (0.0f - in[i + 100]);",
		Has: `v_mul_f32_e64 v\d+, v\d+, -v\d+`, Lacks: `v_sub`,
	},
	{
		Name: "product with the least number", Macro: "FACTOR",
		Why: "Times -2^63 is a shift and a difference of four words. Of the difference only the high two are left, with the " +
			"borrow of the low two, which nothing computes: VCC is read before it is written.",
		In: "u64", Out: "u64", Kernel: "long long x = (long long)(in[i] >> 2 | 31); out[i] = (u64)((__int128)x * (long long)0x8000000000000000 >> 64);",
		Has: `v_sub_co_ci_u32_e32 v\d+, vcc_lo, 0, v\d+, vcc_lo`, Lacks: `v_(sub|add|subrev)_co_u32 |v_cmp`,
	},
}

var delays = regexp.MustCompile(`(?m)^\s*(s_delay_alu|[.;]).*\n`)

// Assembly compiles the kernels of the miscompilations and returns the
// instructions of each, but s_delay_alu.
func Assembly(dir string) ([]string, error) {
	const header = `
typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64; typedef short i16; typedef _Float16 f16; typedef float f32;
typedef f16 h2 __attribute__((ext_vector_type(2)));
static inline u16 bits(f16 x) { return __builtin_bit_cast(u16, x); }
static inline f16 bits(u16 x) { return __builtin_bit_cast(f16, x); }
#define GLOBAL __attribute__((address_space(1)))
`
	var b strings.Builder
	b.WriteString(header)
	for k, m := range Miscompilations {
		fmt.Fprintf(&b, "extern \"C\" __attribute__((amdgpu_kernel, visibility(\"protected\"))) void m%d(const GLOBAL %s *__restrict__ in, GLOBAL %s *__restrict__ out) {\n"+
			"\tu32 i = __builtin_amdgcn_workitem_id_x();\n\t%s\n}\n", k, m.In, m.Out, m.Kernel)
	}
	source := filepath.Join(dir, "miscompiled.cpp")
	if err := os.WriteFile(source, []byte(b.String()), 0o644); err != nil {
		return nil, err
	}
	v := Variants[0]
	if err := clang(append(v.flags(), "-S", source, "-o", source+".s")...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(source + ".s")
	if err != nil {
		return nil, err
	}
	var all []string
	for k := range Miscompilations {
		_, rest, _ := strings.Cut(string(text), fmt.Sprintf("\nm%d:", k))
		body, _, found := strings.Cut(rest, "s_endpgm")
		if !found {
			return nil, fmt.Errorf("progen: no kernel m%d in the assembly", k)
		}
		all = append(all, delays.ReplaceAllString(body, ""))
	}
	return all, nil
}
