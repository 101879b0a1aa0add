package isa

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The oracle is LLVM 22's disassembler, run when it is installed.
const (
	llvmMC      = "llvm-mc-22"
	llvmObjdump = "llvm-objdump-22"
	oracleCPU   = "gfx1151"
)

// answer is what the oracle says of an item: its text and its words, or no
// text if it refuses them.
type answer struct {
	text string
	size int // bytes
}

// slotBytes is the space of one item, which is padded with s_nop: no words of
// an item make the instruction after it look longer than that.
const slotBytes = 16

func slots(items [][]uint32) []byte {
	b := make([]byte, 0, slotBytes*len(items))
	for _, it := range items {
		for i := range slotBytes / 4 {
			w := uint32(0xbf800000)
			if i < len(it) {
				w = it[i]
			}
			b = binary.LittleEndian.AppendUint32(b, w)
		}
	}
	return b
}

var oracleLine = regexp.MustCompile(`^\s*(.*?)\s*// ([0-9A-F]{12}): ([0-9A-F ]+?)\s*(?:;|<|$)`)

// ask disassembles the items, or skips the test without LLVM.
func ask(t testing.TB, wave Wave, items [][]uint32) []answer {
	t.Helper()
	for _, tool := range []string{llvmMC, llvmObjdump} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT COMPARED WITH LLVM: %s is not installed (only the goldens were checked)", tool)
		}
	}
	dir := t.TempDir()
	bin, src, obj := filepath.Join(dir, "w.bin"), filepath.Join(dir, "w.s"), filepath.Join(dir, "w.o")
	if err := os.WriteFile(bin, slots(items), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(src, []byte(".text\n.incbin "+strconv.Quote(bin)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(llvmMC, "-triple=amdgcn-amd-amdhsa", "-mcpu="+oracleCPU, "-filetype=obj", "-o", obj, src).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", llvmMC, err, out)
	}
	args := []string{"-d", "--mcpu=" + oracleCPU}
	if wave == Wave64 {
		args = append(args, "--mattr=+wavefrontsize64,-wavefrontsize32")
	}
	out, err := exec.Command(llvmObjdump, append(args, obj)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", llvmObjdump, err)
	}
	answers := make([]answer, len(items))
	seen := 0
	for _, line := range strings.Split(string(out), "\n") {
		m := oracleLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil || at%slotBytes != 0 || at/slotBytes >= uint64(len(items)) {
			continue
		}
		seen++
		if !strings.HasPrefix(m[1], ".long") {
			answers[at/slotBytes] = answer{m[1], 4 * len(strings.Fields(m[3]))}
		}
	}
	if seen != len(items) {
		t.Fatalf("the oracle answered %d of %d items", seen, len(items))
	}
	return answers
}

// wider matches vector registers past v255, which LLVM prints for gfx11 too
// though no gfx11 wave has them.
var wider = regexp.MustCompile(`v\[\d+:(2[6-9]\d|25[6-9])\]`)

// later matches registers that LLVM prints for gfx11 too, though they came with
// gfx12.5.
var later = regexp.MustCompile(`src_flat_scratch_base_(lo|hi)`)

// tally counts the outcomes of a comparison.
type tally struct{ equal, refused, invalid, wider, later, noImage, wrong int }

func (c tally) String() string {
	return fmt.Sprintf("%d equal, %d refused by both, refused here only: %d that LLVM prints as invalid, %d past v255, %d with registers of gfx12.5, %d images of impossible sizes; %d differ",
		c.equal, c.refused, c.invalid, c.wider, c.later, c.noImage, c.wrong)
}

// judge compares one item with the oracle's answer; the result is "" or what
// is wrong.
func (c *tally) judge(wave Wave, words []uint32, want answer) string {
	code := slots([][]uint32{words})
	in, err := Decode(0, code, wave)
	var unknown *Unknown
	refused := errors.As(err, &unknown)
	if err != nil && !refused {
		c.wrong++
		return err.Error()
	}
	switch {
	case want.text == "" && refused:
		c.refused++
		return ""
	case refused && strings.Contains(want.text, "/*Invalid"):
		c.invalid++
		return ""
	case refused && wider.MatchString(want.text):
		c.wider++
		return ""
	case refused && later.MatchString(want.text):
		c.later++
		return ""
	case refused && unknown.Reason == noSuchImage && strings.HasPrefix(want.text, "image_"):
		c.noImage++
		return ""
	case refused:
		c.wrong++
		return "refused: " + unknown.Reason
	}
	if got := in.String(); got != want.text {
		c.wrong++
		return "got " + got
	}
	if in.Size != want.size {
		c.wrong++
		return fmt.Sprintf("size %d, want %d", in.Size, want.size)
	}
	c.equal++
	return ""
}

// compareWithOracle decodes the items and compares text and size.
func compareWithOracle(t *testing.T, wave Wave, items [][]uint32) {
	t.Helper()
	want := ask(t, wave, items)
	var c tally
	shown := 0
	for i, it := range items {
		if bad := c.judge(wave, it, want[i]); bad != "" {
			if shown++; shown <= 40 {
				t.Errorf("%08x wave%d: %s\n\twant %q", it, wave, bad, want[i].text)
			}
		}
	}
	t.Logf("wave%d, %d items: %v", wave, len(items), c)
}

// compareWaves compares the items in wave32 and, as no scalar or memory
// instruction has a lane mask for an operand, a quarter of them in wave64.
func compareWaves(t *testing.T, items [][]uint32) {
	t.Helper()
	compareWithOracle(t, Wave32, items)
	var some [][]uint32
	for i := 0; i < len(items); i += 4 {
		some = append(some, items[i])
	}
	compareWithOracle(t, Wave64, some)
}
