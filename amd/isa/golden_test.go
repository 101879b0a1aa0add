package isa

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata, from LLVM where it is installed")

// TestGoldenText compares with testdata/gfx11.txt, which needs no LLVM: lines of
// wave size, words and text, one for every mnemonic.
func TestGoldenText(t *testing.T) {
	const golden = "testdata/gfx11.txt"
	if *update {
		writeGolden(t, golden)
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	formats := map[Format]int{}
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		line := s.Text()
		words, want, ok := strings.Cut(line, " | ")
		f := strings.Fields(words)
		if !ok || len(f) < 2 {
			t.Fatalf("bad line %q", line)
		}
		var ws []uint32
		for _, h := range f[1:] {
			w, err := strconv.ParseUint(h, 16, 32)
			if err != nil {
				t.Fatalf("bad line %q: %v", line, err)
			}
			ws = append(ws, uint32(w))
		}
		wave := Wave32
		if f[0] == "64" {
			wave = Wave64
		}
		in, err := Decode(0, slots([][]uint32{ws})[:4*len(ws)], wave)
		if want == "unknown" {
			if _, ok := err.(*Unknown); !ok {
				t.Errorf("%s: got %q, %v, want *Unknown", words, in.String(), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v, want %s", words, err, want)
			continue
		}
		formats[in.Op.Format]++
		if got := in.String(); got != want || in.Size != 4*len(ws) {
			t.Errorf("%s: got %s, %d bytes, want %s", words, got, in.Size, want)
		}
	}
	for f := range numFormats {
		if formats[f] == 0 {
			t.Errorf("the golden file has no %v", f)
		}
	}
}

// writeGolden samples the items of all encodings, of which the oracle says the
// texts.
func writeGolden(t *testing.T, name string) {
	var b bytes.Buffer
	for _, wave := range []Wave{Wave32, Wave64} {
		items := slices.Concat(scalarItems(), memoryItems(), imageItems(), graphicsItems(), vectorItems())
		want := ask(t, wave, items)
		seen := map[string]int{} // lines of a mnemonic
		for i, it := range items {
			mnemonic, _, _ := strings.Cut(want[i].text, " ")
			limit := 1
			if want[i].text == "" || strings.Contains(want[i].text, "/*Invalid") || wider.MatchString(want[i].text) {
				want[i] = answer{"unknown", 4 * len(it)}
				mnemonic, limit = "unknown", 20
			}
			// Wave64 only where masks differ.
			if wave == Wave64 && !strings.Contains(want[i].text, "vcc") {
				continue
			}
			if seen[mnemonic]++; seen[mnemonic] > limit {
				continue
			}
			fmt.Fprintf(&b, "%d", wave)
			for _, w := range slotWords(it, want[i].size) {
				fmt.Fprintf(&b, " %08x", w)
			}
			fmt.Fprintf(&b, " | %s\n", want[i].text)
		}
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// slotWords is the first words of an item's slot.
func slotWords(item []uint32, size int) []uint32 {
	ws := append([]uint32(nil), item...)
	for len(ws) < size/4 {
		ws = append(ws, 0xbf800000)
	}
	return ws[:size/4]
}

// vectorItems is a small walk of the vector encodings; vector_llvm_test.go has
// the large one.
func vectorItems() [][]uint32 {
	var items [][]uint32
	add := func(w ...uint32) { items = append(items, w) }
	const dpp16, dpp8 = 0xff08e403, 0xfac68803
	for op := range uint32(128) {
		for _, s := range []uint32{0x104, 8, 0xf0} {
			add(0x7e000000|2<<17|op<<9|s, 0x3e345678)
			if op < 62 {
				add(op<<25|2<<17|6<<9|s, 0x3e345678)
			}
		}
		add(0x7e000000|2<<17|op<<9|0xfa, dpp16)
		add(0x7e000000|2<<17|op<<9|0xe9, dpp8)
		for _, regs := range []uint32{0x104 | 0x106<<9 | 0x108<<18, 0x104 | 0x106<<9, 0x104 | 0x10c<<9 | 0x114<<18} {
			add(0xcc004000|op<<16|0x20, 0x18000000|regs)
		}
	}
	for op := range uint32(256) {
		add(0x7c000000 | op<<17 | 6<<9 | 0x104)
		add(0x7c000000|op<<17|6<<9|0xfa, dpp16)
	}
	for op := range uint32(1024) {
		for _, regs := range []uint32{0x104 | 0x106<<9 | 0x108<<18, 0x104 | 0x106<<9 | 8<<18, 0x104 | 8<<9, 0x104 | 0x106<<9, 8} {
			for _, d := range []uint32{2, 0x6a02} {
				add(0xd4000000|op<<16|d, regs)
			}
		}
	}
	for x := range uint32(16) {
		for y := range uint32(32) {
			add(0xc8000000|x<<22|y<<17|5<<9|0x104, 2<<24|1<<17|7<<9|0x107, 0x3f800000)
		}
	}
	for _, lead := range []uint32{0xc0, 0xd0} { // no encoding
		add(lead<<24, 0x04030201)
	}
	return items
}
