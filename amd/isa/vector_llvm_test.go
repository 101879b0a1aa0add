package isa

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// These tests compare the vector encodings with llvm-mc-22, the second witness
// of every text: words go to both, and the texts must be the same. Words that
// LLVM refuses must be Unknown.

// refusals are the reasons for which this package refuses words that LLVM
// prints, each with why. Where LLVM prints a comment (an invalid register, a
// reserved dpp_ctrl) in place of an operand, it has no text to compare, and
// such words are not counted here.
var refusals = map[string]string{
	"a scalar destination past exec_hi":                   "LLVM prints src_lds_direct and other sources there",
	"a source of a kind that the operation does not take": "LLVM prints null where only a vector register can be",
	"vector registers past v255":                          "LLVM prints ranges such as v[255:256]",
	"reserved source operand":                             "LLVM knows codes 230 and 231 from gfx12.5: src_flat_scratch_base_lo and _hi",
}

// crashed stands for the text of words on which llvm-mc-22 crashes.
const crashed = "(LLVM crashes)"

// llvmWrong are texts of LLVM 22 that are not what the words say.
var llvmWrong = []struct{ why, text string }{
	{"a literal that both halves have is printed as an inline constant", `^v_dual_fma[am]k_.*:: v_dual_fma[am]k_f32 \S+ (-?\d+|-?\d\.\d+), `},
	{"a constant as src1 of v_fmac with DPP is printed as its code", `^v_fmac_f(16|32)_e64_dpp \S+ \S+ [^v]*0x[cdef89ab][0-9a-f]`},
}

var (
	warning  = regexp.MustCompile(`(?m)^<stdin>:(\d+):1: warning: `)
	encoding = regexp.MustCompile(`\s*; encoding: .*$`)
)

// llvmTexts disassembles each list of words on its own. Words that LLVM refuses
// give "".
func llvmTexts(t *testing.T, cpu string, wave Wave, lists [][]uint32) []string {
	t.Helper()
	path, err := exec.LookPath("llvm-mc-22")
	if err != nil {
		t.Skip("NOT COMPARED WITH LLVM: llvm-mc-22 is not installed (apt-get install llvm-22)")
	}
	var out []string
	const chunk = 1 << 15
	for len(lists) > chunk {
		out = append(out, llvmTexts(t, cpu, wave, lists[:chunk])...)
		lists = lists[chunk:]
	}
	// An s_nop with the number of the list goes after each, so that the lines
	// of the output can be told apart. Vector words never are an s_nop.
	var in bytes.Buffer
	for i, list := range lists {
		in.WriteByte('[')
		for _, w := range list {
			fmt.Fprintf(&in, " 0x%02x 0x%02x 0x%02x 0x%02x", w&255, w>>8&255, w>>16&255, w>>24)
		}
		fmt.Fprintf(&in, "]\n[0x%02x 0x%02x 0x80 0xbf]\n", i&255, i>>8)
	}
	args := []string{"--disassemble", "-triple=amdgcn-amd-amdhsa", "-mcpu=" + cpu}
	if wave == Wave64 {
		args = append(args, "-mattr=+wavefrontsize64,-wavefrontsize32")
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = &in
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) && exit.Exited() && exit.ExitCode() == 1 {
		// Some words are no instruction.
	} else if err != nil {
		if len(lists) == 1 {
			return []string{crashed}
		}
		// Words that lack a literal crash it: find them.
		half := len(lists) / 2
		return append(append(out, llvmTexts(t, cpu, wave, lists[:half])...), llvmTexts(t, cpu, wave, lists[half:])...)
	}
	refused := map[int]bool{}
	for _, m := range warning.FindAllStringSubmatch(stderr.String(), -1) {
		line, _ := strconv.Atoi(m[1])
		refused[(line-1)/2] = true
	}
	i, text := 0, ""
	for _, line := range strings.Split(stdout.String(), "\n") {
		line = strings.Join(strings.Fields(encoding.ReplaceAllString(line, "")), " ")
		switch {
		case line == "" || line[0] == '.':
		case strings.HasPrefix(line, "s_nop "):
			if refused[i] {
				text = ""
			}
			out = append(out, text)
			i, text = i+1, ""
		case text != "":
			text += " ;; " + line // more instructions than one
		default:
			text = line
		}
	}
	if i != len(lists) {
		t.Fatalf("llvm-mc-22 printed %d of %d instructions", i, len(lists))
	}
	return out
}

// comparison counts what came of a set of words.
type comparison struct {
	same, bothRefuse, listed int
	bad                      map[string][]string // by mnemonic or reason
}

func (c *comparison) fail(key, msg string) {
	c.bad[key] = append(c.bad[key], msg)
}

// compareWithLLVM decodes each list of words here and there.
func compareWithLLVM(t *testing.T, cpu string, wave Wave, lists [][]uint32) {
	t.Helper()
	c := comparison{bad: map[string][]string{}}
	texts := make([]string, 0, len(lists))
	reasons := make([]string, 0, len(lists))
	sent := make([][]uint32, 0, len(lists))
	for _, words := range lists {
		in, err := Decode(0, wordBytes(words), wave)
		var e *Unknown
		switch {
		case err == nil:
			words = words[:in.Size/4]
			texts, reasons = append(texts, in.String()), append(reasons, "")
		case errors.As(err, &e):
			texts, reasons = append(texts, ""), append(reasons, e.Reason)
		default:
			t.Fatalf("words %08x: %v", words, err)
		}
		sent = append(sent, words)
	}
	for i, want := range llvmTexts(t, cpu, wave, sent) {
		got, reason := texts[i], reasons[i]
		switch {
		case got == want && got != "":
			c.same++
		case got == "" && (want == "" || strings.Contains(want, "/*")):
			c.bothRefuse++
		case isLLVMWrong(want):
			c.listed++
		case got == "" && refusals[reason] != "":
			c.listed++
		case got == "":
			c.fail("refused: "+reason, fmt.Sprintf("%08x: LLVM has %q", sent[i], want))
		default:
			name, _, _ := strings.Cut(got, " ")
			c.fail(name, fmt.Sprintf("%08x:\n   got %q\n  LLVM %q", sent[i], got, want))
		}
	}
	keys := make([]string, 0, len(c.bad))
	n := 0
	for k, v := range c.bad {
		keys = append(keys, k)
		n += len(v)
	}
	sort.Strings(keys)
	for i, k := range keys {
		if i == 12 {
			t.Errorf("and %d more", len(keys)-i)
			break
		}
		t.Errorf("%s: %d different, first %s", k, len(c.bad[k]), c.bad[k][0])
	}
	t.Logf("%s wave%d: %d words: %d texts equal, %d refused by both, %d refused as listed, %d different",
		cpu, wave, len(lists), c.same, c.bothRefuse, c.listed, n)
	if c.same == 0 && lists[0][0]>>26 != 0x32 { // wave64 has no VOPD
		t.Error("no text was compared")
	}
}

func isLLVMWrong(text string) bool {
	for _, w := range llvmWrong {
		if regexp.MustCompile(w.text).MatchString(text) {
			return true
		}
	}
	return false
}

func wordBytes(words []uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

var exhaustive = flag.Bool("exhaustive", false, "compare all words of the vector walks with LLVM, not a sample (minutes)")

// everyWave runs a test for both wave sizes and two chips of gfx11. Without
// -exhaustive it takes every n-th list, so that about keep are left.
func everyWave(t *testing.T, keep int, lists [][]uint32) {
	if n := len(lists)/keep + 1; !*exhaustive && n > 1 {
		n |= 1 // odd, so that it does not go with the loops
		some := lists[:0]
		for i := 0; i < len(lists); i += n {
			some = append(some, lists[i])
		}
		lists = some
	}
	for _, cpu := range []string{"gfx1100", "gfx1151"} {
		for _, wave := range []Wave{Wave32, Wave64} {
			t.Run(fmt.Sprintf("%s/wave%d", cpu, wave), func(t *testing.T) {
				compareWithLLVM(t, cpu, wave, lists)
			})
		}
	}
}

// Words of the vector encodings, from their fields.

func vop1Words(op, dst, s0 uint32) uint32     { return 0x7e000000 | dst<<17 | op<<9 | s0 }
func vop2Words(op, dst, s0, s1 uint32) uint32 { return op<<25 | dst<<17 | s1<<9 | s0 }
func vopcWords(op, s0, s1 uint32) uint32      { return 0x7c000000 | op<<17 | s1<<9 | s0 }

// vop3Words has the modifier bits 8 to 15 in low and those of the second word's
// top five bits in high.
func vop3Words(op, dst, low, high, s0, s1, s2 uint32) []uint32 {
	return []uint32{0xd4000000 | op<<16 | low<<8 | dst, high<<27 | s2<<18 | s1<<9 | s0}
}

func vop3pWords(op, dst, low, high, s0, s1, s2 uint32) []uint32 {
	return []uint32{0xcc000000 | op<<16 | low<<8 | dst, high<<27 | s2<<18 | s1<<9 | s0}
}

const (
	dpp16Word = 0xff00e403 // v3, quad_perm:[0,1,2,3]
	dpp8Word  = 0xfac68803 // v3, lanes in order
	litWord   = 0x12345678
)

// sourceFills are sources of each kind: vector registers even, odd and high,
// scalar ones, special ones, constants and literals.
var sourceFills = []uint32{0x104, 0x105, 0x1f0, 8, 9, 104, RegVCCLo, RegNull, RegExecLo, 128, 193, 242, 248, literalCode}

func TestEveryVectorOpcodeMatchesLLVM(t *testing.T) {
	var lists [][]uint32
	add := func(w ...uint32) { lists = append(lists, append(w, litWord, litWord)) }
	for op := range uint32(256) {
		for _, s := range sourceFills {
			for _, dst := range []uint32{2, 3, 0x82, 0x6a, 0x7c} {
				add(vop1Words(op, dst, s))
			}
			add(vopcWords(op, s, 6))
			add(vopcWords(op, s, 0x86))
		}
		for _, dst := range []uint32{2, 0x82} {
			add(vop1Words(op, dst, codeDPP16), dpp16Word)
			add(vop1Words(op, dst, codeDPP8), dpp8Word|0x80)
			add(vop1Words(op, dst, codeDPP8FI), dpp8Word)
		}
		add(vopcWords(op, codeDPP16, 6), dpp16Word)
		add(vopcWords(op, codeDPP8, 0x86), dpp8Word)
		if op >= 62 {
			continue
		}
		for _, s := range sourceFills {
			add(vop2Words(op, 2, s, 6))
			add(vop2Words(op, 0x82, s, 0x86))
		}
		add(vop2Words(op, 2, codeDPP16, 6), dpp16Word|0x80)
		add(vop2Words(op, 0x82, codeDPP8, 0x86), dpp8Word)
		add(vop2Words(op, 2, codeDPP8FI, 6), dpp8Word)
	}
	for op := range uint32(1024) {
		for _, dst := range []uint32{2, 3, 0x6a, 0x7c, 0x7e, 0xfe} {
			for _, low := range []uint32{0, 4, 0x6a} {
				add(vop3Words(op, dst, low, 0, 0x104, 0x106, 0x108)...)
				add(vop3Words(op, dst, low, 0, 0x104, 0x106, 8)...)
				add(vop3Words(op, dst, low, 0, 0x104, 8, 128)...)
				add(vop3Words(op, dst, low, 0, 8, 6, 4)...)
			}
		}
		for i := range uint32(3) {
			for _, s := range sourceFills {
				src := [3]uint32{0x104, 0x106, 0x108}
				src[i] = s
				add(vop3Words(op, 2, 0, 0, src[0], src[1], src[2])...)
				add(vop3Words(op, 0x7e, 0, 0, src[0], src[1], src[2])...)
			}
		}
		for _, dst := range []uint32{2, 0x7e} {
			for _, s2 := range []uint32{0x108, 8, 0} {
				for _, s1 := range []uint32{0x106, 6, 242, literalCode} {
					add(append(vop3Words(op, dst, 0, 0, codeDPP16, s1, s2), dpp16Word)...)
					add(append(vop3Words(op, dst, 0, 0, codeDPP8, s1, s2), dpp8Word)...)
				}
			}
		}
	}
	for op := range uint32(256) {
		for _, low := range []uint32{0, 0x40} {
			for i := range uint32(3) {
				for _, s := range sourceFills {
					src := [3]uint32{0x104, 0x10c, 0x114}
					src[i] = s
					add(vop3pWords(op, 32, low, 3, src[0], src[1], src[2])...)
				}
			}
			add(append(vop3pWords(op, 2, low, 3, codeDPP16, 0x106, 0x108), dpp16Word)...)
			add(append(vop3pWords(op, 2, low, 3, codeDPP8, 0x106, 0x108), dpp8Word)...)
		}
	}
	everyWave(t, 5000, lists)
}

func TestEveryModifierBitMatchesLLVM(t *testing.T) {
	var lists [][]uint32
	add := func(w ...uint32) { lists = append(lists, append(w, litWord, litWord)) }
	for op := range uint32(1024) {
		for _, s2 := range []uint32{0x108, 8} {
			for bit := range 13 {
				low, high := uint32(0), uint32(0)
				if bit < 8 {
					low = 1 << bit
				} else {
					high = 1 << (bit - 8)
				}
				for _, dst := range []uint32{2, 0x7e} {
					add(vop3Words(op, dst, low, high, 0x104, 0x106, s2)...)
					add(append(vop3Words(op, dst, low, high, codeDPP16, 0x106, s2), dpp16Word)...)
				}
				add(vop3Words(op, 2, low, high, 8, 128, s2)...)
				add(vop3Words(op, 2, low, high, 8, 242, s2)...)
				if op < 128 {
					add(vop3pWords(op, 32, low|0x40, high^3, 0x104, 0x10c, 0x114)...)
					add(vop3pWords(op, 32, low|0x40, high^3, 242, 0x10c, 0x114)...)
					add(append(vop3pWords(op, 32, low|0x40, high^3, codeDPP16, 0x10c, 0x114), dpp16Word)...)
				}
			}
		}
	}
	// All combinations, for one operation of each kind.
	for _, op := range []uint32{
		0x002, 0x012, 0x022, 0x032, 0x07d, 0x092, 0x101, 0x103, 0x120, 0x132, 0x13b, 0x18a, 0x18b, 0x19c, 0x1d0, 0x1e2,
		0x213, 0x214, 0x216, 0x226, 0x241, 0x248, 0x259, 0x25b, 0x25d, 0x266, 0x267, 0x2fc, 0x2fe, 0x300, 0x303, 0x311, 0x31c, 0x32b,
	} {
		for bits := range uint32(1 << 13) {
			dst, s1, s2 := uint32(2), uint32(0x106), uint32(0x108)
			switch op {
			case 0x092:
				dst = RegExecLo
			case 0x101, 0x120, 0x25d:
				s2 = 8
			case 0x25b:
				s1, s2 = 6, 8
			}
			add(vop3Words(op, dst, bits&0xff, bits>>8, 0x104, s1, s2)...)
		}
	}
	for _, op := range []uint32{0x00, 0x02, 0x0e, 0x0f, 0x13, 0x16, 0x1a, 0x20, 0x21, 0x22, 0x40, 0x42, 0x44} {
		for bits := range uint32(1 << 13) {
			add(vop3pWords(op, 32, bits&0xff, bits>>8, 0x104, 0x10c, 0x114)...)
		}
	}
	everyWave(t, 5000, lists)
}

func TestEverySourceMatchesLLVM(t *testing.T) {
	literals := []uint32{
		0, 5, 64, 65, 0xffffffff, 0xfffffff0, 0xffffffef, 0x3f800000, 0x3c00, 0xffff, 0xfff0, 0x00010005, 0x3c003c00, 0x00050005,
		0x3e22f983, 0x3118, 0x3fc45f30, 0x3ff00000, 0xbfe00000, 0x40100000, 0x3f80, 0x3e22, litWord, 0xffff0005, 0x80000000,
	}
	var lists [][]uint32
	add := func(w ...uint32) { lists = append(lists, append(w, litWord)) }
	for s := range uint32(512) {
		values := []uint32{litWord}
		switch s {
		case literalCode:
			values = literals
		case codeDPP16:
			values = []uint32{dpp16Word}
		}
		for _, k := range values {
			for _, op := range []uint32{0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x0a, 0x0b, 0x18, 0x42, 0x43, 0x50, 0x5e, 0x62, 0x65, 0x66, 0x67, 0x6a} {
				add(vop1Words(op, 2, s), k)
			}
			for _, op := range []uint32{1, 2, 3, 0x18, 0x1b, 0x20, 0x2b, 0x2c, 0x2d, 0x2f, 0x32, 0x37, 0x38, 0x3b, 0x3c} {
				add(vop2Words(op, 2, s, 6), k)
			}
			for _, op := range []uint32{0x02, 0x12, 0x22, 0x32, 0x42, 0x52, 0x5a, 0x7d, 0x7e, 0x7f, 0x92} {
				add(vopcWords(op, s, 6), k)
			}
			for _, op := range []uint32{
				0x002, 0x012, 0x022, 0x032, 0x042, 0x052, 0x07d, 0x07f, 0x101, 0x103, 0x11b, 0x120, 0x132, 0x13b, 0x184, 0x18b,
				0x213, 0x214, 0x216, 0x23a, 0x23d, 0x241, 0x248, 0x259, 0x25b, 0x25d, 0x266, 0x267, 0x2fc, 0x2fd, 0x2fe, 0x2ff,
				0x300, 0x303, 0x311, 0x31c, 0x327, 0x32b, 0x33c, 0x360, 0x361,
			} {
				for i := range 3 {
					src := [3]uint32{0x104, 0x106, 0x108}
					if op == 0x25b || op == 0x361 || op == 0x360 {
						src = [3]uint32{0x104, 6, 4}
					}
					if op == 0x361 {
						src[0] = 8
					}
					if op == 0x101 || op == 0x120 || op == 0x25d {
						src[2] = 4
					}
					src[i] = s
					add(append(vop3Words(op, 2, 0, 0, src[0], src[1], src[2]), k)...)
				}
			}
			for _, op := range []uint32{0x00, 0x02, 0x0f, 0x13, 0x16, 0x1a, 0x20, 0x40, 0x42, 0x44, 0x45} {
				for i := range 3 {
					src := [3]uint32{0x104, 0x10c, 0x114}
					src[i] = s
					add(append(vop3pWords(op, 32, 0x40, 3, src[0], src[1], src[2]), k)...)
				}
			}
		}
	}
	// Vector and scalar destinations.
	for dst := range uint32(256) {
		for _, op := range []uint32{0x00, 0x01, 0x02, 0x04, 0x0a, 0x65} {
			add(vop1Words(op, dst, 0x104))
		}
		for _, op := range []uint32{0x012, 0x092, 0x103, 0x132, 0x214, 0x23d, 0x180, 0x300, 0x360, 0x361} {
			add(vop3Words(op, dst, dst>>1, 0, 0x104, 6, 0x108)...)
		}
		add(vop3pWords(0x40, dst, 0x40, 3, 0x104, 0x10c, 0x114)...)
	}
	everyWave(t, 5000, lists)
}

func TestEveryDPPWordMatchesLLVM(t *testing.T) {
	var lists [][]uint32
	add := func(w ...uint32) { lists = append(lists, append(w, litWord)) }
	words := make([]uint32, 0, 2048)
	for ctrl := range uint32(512) {
		words = append(words, 0x03|ctrl<<8|0xff<<24)
	}
	for bit := 17; bit < 32; bit++ {
		words = append(words, dpp16Word^1<<bit, 0x85|0x1b<<8|1<<bit)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		words = append(words, rng.Uint32())
	}
	for _, w := range words {
		for _, op := range []uint32{0x01, 0x05, 0x0a, 0x0b, 0x21, 0x42, 0x50, 0x5b, 0x62, 0x6a} {
			add(vop1Words(op, 2, codeDPP16), w)
			add(vop1Words(op, 2, codeDPP8), w)
			add(vop1Words(op, 2, codeDPP8FI), w)
		}
		for _, op := range []uint32{1, 2, 3, 0x1b, 0x20, 0x25, 0x2f, 0x32, 0x3b} {
			add(vop2Words(op, 2, codeDPP16, 6), w)
			add(vop2Words(op, 2, codeDPP8, 6), w)
		}
		for _, op := range []uint32{0x02, 0x12, 0x32, 0x42, 0x7d, 0x7e, 0x82, 0xb2, 0xc2} {
			add(vopcWords(op, codeDPP16, 6), w)
			add(vopcWords(op, codeDPP8, 6), w)
		}
		for _, op := range []uint32{0x012, 0x103, 0x132, 0x213, 0x241, 0x255, 0x300} {
			add(append(vop3Words(op, 2, 0, 0, codeDPP16, 0x106, 0x108), w)...)
			add(append(vop3Words(op, 2, 0, 0, codeDPP8FI, 0x106, 0x108), w)...)
		}
		add(append(vop3pWords(0x20, 2, 0, 0, codeDPP16, 0x106, 0x108), w)...)
		add(append(vop3pWords(0x13, 2, 0x40, 3, codeDPP8, 0x106, 0x108), w)...)
	}
	everyWave(t, 5000, lists)
}

func TestEveryVOPDPairMatchesLLVM(t *testing.T) {
	var lists [][]uint32
	for x := range uint32(16) {
		for y := range uint32(32) {
			add := func(sx, vx, sy, vy, dx, dy, k uint32) {
				lists = append(lists, []uint32{
					0xc8000000 | x<<22 | y<<17 | vx<<9 | sx, dx<<24 | dy<<17 | vy<<9 | sy, k, litWord,
				})
			}
			for _, s := range sourceFills {
				add(s, 5, 0x106, 8, 2, 1, litWord)
				add(0x105, 5, s, 8, 3, 1, 0x3f800000)
				add(s, 255, s, 254, 255, 127, 5)
			}
		}
	}
	for s := range uint32(512) {
		for _, xy := range []uint32{0<<5 | 0x10, 1<<5 | 0x12, 3<<5 | 1, 8<<5 | 8, 9<<5 | 9, 12<<5 | 13} {
			lists = append(
				lists,
				[]uint32{0xc8000000 | xy<<17 | 5<<9 | s, 2<<24 | 1<<17 | 7<<9 | 0x106, litWord, litWord},
				[]uint32{0xc8000000 | xy<<17 | 5<<9 | 0x106, 3<<24 | 1<<17 | 7<<9 | s, litWord, litWord},
			)
		}
	}
	everyWave(t, 5000, lists)
}

func TestRandomVectorWordsMatchLLVM(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var lists [][]uint32
	for range 20000 {
		var w uint32
		switch r := rng.Uint32(); rng.IntN(6) {
		case 0:
			w = r &^ (1 << 31) // VOP2, and some VOP1 and VOPC
		case 1:
			w = 0x7e000000 | r&0x1ffffff
		case 2:
			w = 0x7c000000 | r&0x1ffffff
		case 3:
			w = 0xd4000000 | r&0x3ffffff
		case 4:
			w = 0xcc000000 | r&0x7fffff
		case 5:
			w = 0xc8000000 | r&0x3ffffff
		}
		lists = append(lists, []uint32{w, rng.Uint32(), rng.Uint32(), rng.Uint32()})
	}
	everyWave(t, 5000, lists)
}
