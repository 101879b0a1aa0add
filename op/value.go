package op

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Role says where a value lives and for how long.
type Role uint8

const (
	Weight    Role = iota // mapped from the model file, read only
	Transient             // lives within one program run, placed in the arena
	Cache                 // keys or values of one layer, kept between steps
	Output                // read by the host after the run
)

func (r Role) String() string {
	return [...]string{"weight", "transient", "cache", "output"}[r]
}

// Rows says how many rows a value has in a batch of n tokens with m outputs.
type Rows uint8

const (
	PerToken  Rows = iota // n rows
	PerOutput             // m rows
	Once                  // one row whatever the batch
)

// Value is something commands read and write.
//
//	Weight:    Shape = [Experts or 1][Rows][Cols], Data is the file's bytes
//	Transient: [n or m][Cols] elements of Type
//	Cache:     [Slots][Heads][Context][HeadDim] elements of Type, positions
//	           contiguous for each head
type Value struct {
	Name string
	Role Role
	Type quant.Type
	Per  Rows // transients and outputs

	Cols    int // elements in a row
	Height  int // weights: rows of the matrix; 1 for a vector
	Experts int // weights: matrices in the stack; 1 if it is not a stack
	Data    []byte

	Cache CacheShape // caches only
}

// CacheShape is the geometry of a layer's keys or values:
// [Slots][Heads][Context][RowBytes].
type CacheShape struct {
	Slots, Heads, Context int
	HeadDim               int
}

// RowBytes is the size of one row of v in bytes.
func (v *Value) RowBytes() int { return v.Type.RowBytes(v.Cols) }

// Bytes is the size of v for a batch of n tokens and m outputs.
func (v *Value) Bytes(n, m int) int {
	switch v.Role {
	case Weight:
		return len(v.Data)
	case Cache:
		c := v.Cache
		return c.Slots * c.Heads * c.Context * v.Type.RowBytes(c.HeadDim)
	}
	return v.RowBytes() * v.Count(n, m)
}

// Count is the number of rows of a transient or output in a batch of n tokens
// with m outputs.
func (v *Value) Count(n, m int) int {
	switch v.Per {
	case PerToken:
		return n
	case PerOutput:
		return m
	}
	return 1
}

func (v *Value) String() string {
	return fmt.Sprintf("%s(%s %s %d)", v.Name, v.Role, v.Type, v.Cols)
}
