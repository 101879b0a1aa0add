package kv

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

func TestBytesAreTheRowsOfEveryPosition(t *testing.T) {
	layer := func(k, v quant.Type) Layer {
		return Layer{Heads: 4, KeyDim: 128, ValueDim: 64, TypeK: k, TypeV: v}
	}
	for _, c := range []struct {
		name           string
		layers         []Layer
		slots, context int
		want           int64
	}{
		{"f16", []Layer{layer(quant.F16, quant.F16)}, 1, 1, 4 * (256 + 128)},
		{"bf16", []Layer{layer(quant.BF16, quant.BF16)}, 1, 1, 4 * (256 + 128)},
		{"f32", []Layer{layer(quant.F32, quant.F32)}, 1, 1, 4 * (512 + 256)},
		{"q8_0: 34 bytes for 32 elements", []Layer{layer(quant.Q8_0, quant.Q8_0)}, 1, 1, 4 * (136 + 68)},
		{"keys and values of different types", []Layer{layer(quant.Q8_0, quant.F32)}, 1, 1, 4 * (136 + 256)},
		{"slots and positions multiply", []Layer{layer(quant.F16, quant.F16)}, 3, 100, 300 * 4 * 384},
		{"layers add", []Layer{layer(quant.F16, quant.F16), layer(quant.F32, quant.F32)}, 1, 10, 10 * 4 * (384 + 768)},
		// Qwen3-0.6B: 28 layers, 8 heads of 128, 40,960 positions.
		{"more than 32 bits", repeat(28, Layer{Heads: 8, KeyDim: 128, ValueDim: 128, TypeK: quant.F16, TypeV: quant.F16}), 2, 40960, 9395240960},
		{"more than 63 bits", repeat(1<<12, Layer{Heads: 1 << 12, KeyDim: 1 << 12, ValueDim: 1 << 12, TypeK: quant.F32, TypeV: quant.F32}), 1 << 10, 1 << 28, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Bytes(c.layers, c.slots, c.context); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func repeat(n int, l Layer) []Layer {
	ls := make([]Layer, n)
	for i := range ls {
		ls[i] = l
	}
	return ls
}

func TestOnlyFourTypesCanHoldKeysAndValues(t *testing.T) {
	var can []quant.Type
	for _, typ := range append(quant.Supported(), quant.I32) {
		if Supported(typ) {
			can = append(can, typ)
		}
	}
	if got := fmt.Sprint(can); got != "[F32 F16 Q8_0 BF16]" {
		t.Errorf("supported: %s", got)
	}
}

func TestWhatCannotBeACacheIsRefused(t *testing.T) {
	ok := Layer{Heads: 2, KeyDim: 64, ValueDim: 64, TypeK: quant.F16, TypeV: quant.F16, NamePrefix: "blk.7"}
	with := func(change func(*Layer)) []Layer {
		l := ok
		change(&l)
		return []Layer{ok, l}
	}
	for _, c := range []struct {
		name           string
		layers         []Layer
		slots, context int
		want           string
	}{
		{"keys of 4 bits", with(func(l *Layer) { l.TypeK = quant.Q4_0 }), 1, 16, "kv: blk.7 keys as Q4_0: supported are F16, BF16, F32 and Q8_0"},
		{"values of 6 bits", with(func(l *Layer) { l.TypeV = quant.Q6_K }), 1, 16, "kv: blk.7 values as Q6_K: supported are"},
		{"key heads that are no whole blocks", with(func(l *Layer) { l.TypeK, l.KeyDim = quant.Q8_0, 80 }), 1, 16, "kv: blk.7 keys: head size 80 is no multiple of Q8_0's block of 32"},
		{"value heads that are no whole blocks", with(func(l *Layer) { l.TypeV, l.ValueDim = quant.Q8_0, 16 }), 1, 16, "kv: blk.7 values: head size 16 is no multiple"},
		{"no layers", nil, 1, 16, "0 layers, 1 slots of 16 positions: 0 bytes"},
		{"no slots", []Layer{ok}, 0, 16, "0 slots"},
		{"no positions", []Layer{ok}, 1, 0, "of 0 positions"},
		{"more than a machine can address", repeat(1<<12, Layer{Heads: 1 << 12, KeyDim: 1 << 12, ValueDim: 1 << 12, TypeK: quant.F32, TypeV: quant.F32}), 1 << 10, 1 << 28, "9223372036854775807 bytes"},
		{"a negative number of positions", []Layer{ok}, 1, -4, "of -4 positions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache, err := New(c.layers, c.slots, c.context)
			if err == nil {
				cache.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func open(t *testing.T, slots, context int) *Cache {
	t.Helper()
	c, err := New([]Layer{
		{Heads: 3, KeyDim: 64, ValueDim: 32, TypeK: quant.Q8_0, TypeV: quant.F16, NamePrefix: "blk.0"},
		{Heads: 1, KeyDim: 8, ValueDim: 80, TypeK: quant.F32, TypeV: quant.BF16, NamePrefix: "blk.1"},
	}, slots, context)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestRowsAreApartAndFillTheCache writes a number of its own into every head of
// every slot and finds each again: no two share a byte, and none is left over.
func TestRowsAreApartAndFillTheCache(t *testing.T) {
	const slots, context = 3, 5
	c := open(t, slots, context)
	if len(c.K) != 2 || len(c.V) != 2 || c.K[1].Name != "blk.1.cache_k" || c.V[0].Name != "blk.0.cache_v" {
		t.Fatalf("caches %v %v", c.K, c.V)
	}
	total, n := 0, byte(0)
	for _, pass := range []string{"write", "read"} {
		n = 0
		for _, v := range append(c.K[:2:2], c.V...) {
			for slot := range slots {
				for h := range v.Cache.Heads {
					n++
					rows := Rows(v, slot, h)
					if want := context * v.Type.RowBytes(v.Cache.HeadDim); len(rows) != want || cap(rows) != want {
						t.Fatalf("%s: %d bytes (capacity %d), want %d", v.Name, len(rows), cap(rows), want)
					}
					for i := range rows {
						if pass == "write" {
							if rows[i] != 0 {
								t.Fatalf("%s: byte %d of slot %d, head %d is not zero, or is shared", v.Name, i, slot, h)
							}
							rows[i] = n
							total++
						} else if rows[i] != n {
							t.Fatalf("%s: byte %d of slot %d, head %d is %d, want %d", v.Name, i, slot, h, rows[i], n)
						}
					}
				}
			}
		}
	}
	if pad := len(c.mem.Bytes()) - total; pad != len(c.K)*2*(dataAlign-1) {
		t.Errorf("the heads have %d bytes, the memory %d more", total, pad)
	}
	for _, v := range append(c.K[:2:2], c.V...) {
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(v.Data))); at%dataAlign != 0 {
			t.Errorf("%s starts at %#x", v.Name, at)
		}
	}
}

func TestCopyTakesTheFirstPositionsAndNoOthers(t *testing.T) {
	const context = 6
	for _, n := range []int{0, 1, 4, context} {
		c := open(t, 3, context)
		for _, v := range append(c.K[:2:2], c.V...) {
			for slot := range 3 {
				for h := range v.Cache.Heads {
					rows := Rows(v, slot, h)
					for i := range rows {
						rows[i] = byte(10*slot + h + 1)
					}
				}
			}
		}
		c.Copy(2, 0, n)
		for _, v := range append(c.K[:2:2], c.V...) {
			size := v.Type.RowBytes(v.Cache.HeadDim)
			for slot := range 3 {
				for h := range v.Cache.Heads {
					for i, b := range Rows(v, slot, h) {
						want := byte(10*slot + h + 1)
						if slot == 2 && i < n*size {
							want = byte(h + 1)
						}
						if b != want {
							t.Fatalf("copy of %d: %s slot %d, head %d, position %d is %d, want %d", n, v.Name, slot, h, i/size, b, want)
						}
					}
				}
			}
		}
	}
}
