// Package kv is the key-value cache: for every layer the keys and values of
// each sequence, positions contiguous for each KV head so that decode reads
// them as one stream. Sequences live in slots of Context positions each.
//
// Memory comes from the operating system as zero pages: a slot costs physical
// memory only as far as it has been written.
package kv

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/memory"
	"github.com/holdfast-llm/holdfast/op"
)

// Layer is the geometry of one layer's cache.
type Layer struct {
	Heads      int // KV heads
	KeyDim     int // elements of a key head
	ValueDim   int // elements of a value head
	TypeK      quant.Type
	TypeV      quant.Type
	NamePrefix string // "blk.3"
}

// Cache holds the keys and values of all layers. Writing to different slots
// from different goroutines is safe; the slot table is the caller's.
type Cache struct {
	Slots   int // sequences at once
	Context int // positions of a slot
	K, V    []*op.Value
	mem     *memory.Buffer
}

// dataAlign is what the first byte of every cache is aligned to: a cache line,
// and the width of the widest vector.
const dataAlign = 64

// Supported says whether t can hold keys and values.
func Supported(t quant.Type) bool {
	return t == quant.F32 || t == quant.F16 || t == quant.BF16 || t == quant.Q8_0
}

// Bytes is the size of a cache of slots sequences of context positions, at
// most math.MaxInt64. A few bytes of alignment come on top.
func Bytes(layers []Layer, slots, context int) int64 {
	var n int64
	for _, l := range layers {
		n += rowBytes(l.TypeK, l.KeyDim)*int64(l.Heads) + rowBytes(l.TypeV, l.ValueDim)*int64(l.Heads)
	}
	positions := int64(slots) * int64(context)
	if positions > 0 && n > math.MaxInt64/positions {
		return math.MaxInt64
	}
	return n * positions
}

func rowBytes(t quant.Type, n int) int64 { return int64(t.RowBytes(n)) }

// New allocates a cache. Errors: a type that cannot hold keys or values, a
// head size that is not a whole number of blocks, no memory.
func New(layers []Layer, slots, context int) (*Cache, error) {
	for _, l := range layers {
		for _, h := range []struct {
			what string
			t    quant.Type
			dim  int
		}{{"keys", l.TypeK, l.KeyDim}, {"values", l.TypeV, l.ValueDim}} {
			if !Supported(h.t) {
				return nil, fmt.Errorf("kv: %s %s as %s: supported are F16, BF16, F32 and Q8_0", l.NamePrefix, h.what, h.t)
			}
			if h.dim%h.t.BlockElems() != 0 {
				return nil, fmt.Errorf("kv: %s %s: head size %d is no multiple of %s's block of %d", l.NamePrefix, h.what, h.dim, h.t, h.t.BlockElems())
			}
		}
	}
	total := Bytes(layers, slots, context)
	if total <= 0 || total > math.MaxInt/2 {
		return nil, fmt.Errorf("kv: %d layers, %d slots of %d positions: %d bytes", len(layers), slots, context, total)
	}
	total += int64(len(layers)) * 2 * (dataAlign - 1)
	mem, err := memory.Alloc(memory.Params{Usage: "key-value cache", Align: dataAlign}, int(total), 0)
	if err != nil {
		return nil, fmt.Errorf("kv: %w", err)
	}
	c := &Cache{Slots: slots, Context: context, mem: mem}
	rest := mem.Bytes()
	take := func(name string, t quant.Type, heads, dim int) *op.Value {
		n := slots * heads * context * t.RowBytes(dim)
		v := &op.Value{
			Name: name, Role: op.Cache, Type: t, Data: rest[:n:n],
			Cache: op.CacheShape{Slots: slots, Heads: heads, Context: context, HeadDim: dim},
		}
		rest = rest[min(len(rest), (n+dataAlign-1)&^(dataAlign-1)):]
		return v
	}
	for _, l := range layers {
		c.K = append(c.K, take(l.NamePrefix+".cache_k", l.TypeK, l.Heads, l.KeyDim))
		c.V = append(c.V, take(l.NamePrefix+".cache_v", l.TypeV, l.Heads, l.ValueDim))
	}
	return c, nil
}

// Copy makes slot dst hold the first n positions of slot src.
func (c *Cache) Copy(dst, src, n int) {
	for _, vs := range [][]*op.Value{c.K, c.V} {
		for _, v := range vs {
			for h := range v.Cache.Heads {
				copy(Rows(v, dst, h)[:n*v.Type.RowBytes(v.Cache.HeadDim)], Rows(v, src, h))
			}
		}
	}
}

// Buffer is how the cache's memory was allocated.
func (c *Cache) Buffer() memory.Params { return c.mem.Params() }

// Lock keeps the cache's pages in physical memory: its residency is pinned from
// then on. It needs the operating system's leave, for all of them.
func (c *Cache) Lock() error {
	if err := c.mem.Pin(); err != nil {
		return fmt.Errorf("kv: pinned cache: %w", err)
	}
	return nil
}

// Close returns the memory. Nobody may use the cache's values afterwards.
func (c *Cache) Close() error { return c.mem.Close() }

// Rows is one head's rows in one slot: [Context][RowBytes].
func Rows(v *op.Value, slot, head int) []byte {
	n := v.Cache.Context * v.Type.RowBytes(v.Cache.HeadDim)
	at := (slot*v.Cache.Heads + head) * n
	return v.Data[at : at+n : at+n]
}
