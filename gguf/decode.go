package gguf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// A cursor reads what a survey has passed. It does not check: running off the
// end is a bug of the survey and panics.
type cursor struct {
	b   []byte
	pos int
}

func (c *cursor) next(n int) []byte {
	b := c.b[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b
}

func (c *cursor) uint32() uint32 { return binary.LittleEndian.Uint32(c.next(4)) }
func (c *cursor) uint64() uint64 { return binary.LittleEndian.Uint64(c.next(8)) }

// window is a string that shares the file's memory; see the package comment.
func (c *cursor) window() string {
	b := c.next(int(c.uint64()))
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// string is a copy.
func (c *cursor) string() string { return strings.Clone(c.window()) }

func (c *cursor) value(t valueType) any {
	switch t {
	case typeUint8:
		return c.next(1)[0]
	case typeInt8:
		return int8(c.next(1)[0])
	case typeUint16:
		return binary.LittleEndian.Uint16(c.next(2))
	case typeInt16:
		return int16(binary.LittleEndian.Uint16(c.next(2)))
	case typeUint32:
		return c.uint32()
	case typeInt32:
		return int32(c.uint32())
	case typeFloat32:
		return math.Float32frombits(c.uint32())
	case typeBool:
		return c.next(1)[0] != 0
	case typeString:
		return c.string()
	case typeUint64:
		return c.uint64()
	case typeInt64:
		return int64(c.uint64())
	case typeFloat64:
		return math.Float64frombits(c.uint64())
	case typeArray:
		elem := valueType(c.uint32())
		return c.array(elem, int(c.uint64()))
	}
	panic(fmt.Sprintf("gguf: value type %d after the survey", t))
}

func (c *cursor) array(t valueType, n int) any {
	switch t {
	case typeUint8:
		return slices.Clone(c.next(n))
	case typeInt8:
		return decodeArray(c, n, 1, func(b []byte) int8 { return int8(b[0]) })
	case typeUint16:
		return decodeArray(c, n, 2, binary.LittleEndian.Uint16)
	case typeInt16:
		return decodeArray(c, n, 2, func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b)) })
	case typeUint32:
		return decodeArray(c, n, 4, binary.LittleEndian.Uint32)
	case typeInt32:
		return decodeArray(c, n, 4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) })
	case typeFloat32:
		return decodeArray(c, n, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
	case typeBool:
		return decodeArray(c, n, 1, func(b []byte) bool { return b[0] != 0 })
	case typeUint64:
		return decodeArray(c, n, 8, binary.LittleEndian.Uint64)
	case typeInt64:
		return decodeArray(c, n, 8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })
	case typeFloat64:
		return decodeArray(c, n, 8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
	case typeString:
		return c.strings(n)
	}
	panic(fmt.Sprintf("gguf: array element type %d after the survey", t))
}

// strings is window n times, written out because a vocabulary has 150,000.
func (c *cursor) strings(n int) []string {
	v, b := make([]string, n), c.b[c.pos:]
	for i := range v {
		size := binary.LittleEndian.Uint64(b)
		b = b[8:]
		v[i] = unsafe.String(unsafe.SliceData(b), int(size))
		b = b[size:]
	}
	c.pos = len(c.b) - len(b)
	return v
}

func decodeArray[T any](c *cursor, n, size int, get func([]byte) T) []T {
	v, b := make([]T, n), c.next(n*size)
	for i := range v {
		v[i] = get(b[i*size : i*size+size])
	}
	return v
}

// decodeKVs reads the metadata and refuses duplicate keys.
func (f *File) decodeKVs(s *survey) error {
	c := cursor{f.raw, s.kvPos}
	f.KV = make([]KV, s.kvs)
	for i := range f.KV {
		key := c.string()
		f.KV[i] = KV{key, c.value(valueType(c.uint32()))}
	}
	f.byKey = make([]int32, len(f.KV))
	return index(f.byKey, "key", func(i int32) string { return f.KV[i].Key })
}

// setAlignment takes general.alignment.
func (f *File) setAlignment() error {
	f.Alignment = DefaultAlignment
	v, ok := f.Value(keyAlignment)
	if !ok {
		return nil
	}
	a, ok := f.Uint(keyAlignment)
	if !ok {
		return fmt.Errorf("key %q: %v (%T), want a positive integer", keyAlignment, v, v)
	}
	if err := checkAlignment(a); err != nil {
		return fmt.Errorf("key %q: %w", keyAlignment, err)
	}
	f.Alignment = int(a)
	return nil
}

// checkAlignment holds a to the specification: a multiple of 8. That it be a
// power of two is ggml's rule.
func checkAlignment(a uint64) error {
	if a < 8 || a > MaxAlignment || a&(a-1) != 0 {
		return fmt.Errorf("%d, want a power of two from 8 to %d", a, MaxAlignment)
	}
	return nil
}

// decodeTensors reads the tensor table. Every tensor of a type that quant knows
// gets its data; tensors may not overlap, and no two may start at one place.
func (f *File) decodeTensors(s *survey) error {
	c := cursor{f.raw, s.tablePos}
	f.dataPos = align(s.pos, f.Alignment)
	if s.tensors == 0 {
		return nil
	}
	// Each tensor starts at an aligned place of its own, so this many need that
	// much. It keeps the table's memory below the file's size.
	if need := (s.tensors-1)*f.Alignment + 1; need > len(f.raw)-f.dataPos {
		return fmt.Errorf("truncated: %d tensors need at least %d bytes of data from byte %d on, the file has %d bytes",
			s.tensors, need, f.dataPos, len(f.raw))
	}
	f.Tensors = make([]Tensor, s.tensors)
	dims := make([]int, 0, s.dims)
	for i := range f.Tensors {
		t := &f.Tensors[i]
		t.Name = c.string()
		n := int(c.uint32())
		for j := range n {
			d := c.uint64()
			if d < 1 || d > math.MaxInt {
				return fmt.Errorf("tensor %q: dimension %d is %d", t.Name, j, d)
			}
			dims = append(dims, int(d))
		}
		t.Dims = dims[len(dims)-n : len(dims) : len(dims)]
		t.Type = quant.Type(c.uint32())
		if err := f.place(t, c.uint64()); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
	}
	order := make([]int32, len(f.Tensors))
	if err := f.checkOverlap(order); err != nil {
		return err
	}
	f.byName = order // no longer needed for the overlaps
	return index(f.byName, "tensor", func(i int32) string { return f.Tensors[i].Name })
}

// place checks a tensor's shape and offset and gives it its bytes.
func (f *File) place(t *Tensor, offset uint64) error {
	if offset%uint64(f.Alignment) != 0 {
		return fmt.Errorf("offset %d is not a multiple of the alignment %d", offset, f.Alignment)
	}
	data := uint64(len(f.raw) - f.dataPos)
	if offset >= data {
		return fmt.Errorf("offset %d is past the %d bytes of tensor data", offset, data)
	}
	t.Offset = int64(f.dataPos) + int64(offset)
	if _, err := elements(t.Dims); err != nil {
		return err
	}
	if !t.Type.Known() {
		return nil
	}
	size, err := tensorBytes(t.Type, t.Dims)
	if err != nil {
		return err
	}
	if uint64(size) > data-offset {
		return fmt.Errorf("%s %v needs %d bytes at %d: end %d past file size %d",
			t.Type, t.Dims, size, t.Offset, uint64(t.Offset)+uint64(size), len(f.raw))
	}
	t.Data = f.raw[t.Offset : t.Offset+size : t.Offset+size]
	return nil
}

// checkOverlap sorts the tensors by place, using order as its memory, and
// compares neighbours. The extent of a tensor of an unknown type is not known;
// one byte is assumed.
func (f *File) checkOverlap(order []int32) error {
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Compare(f.Tensors[a].Offset, f.Tensors[b].Offset)
	})
	for i := 1; i < len(order); i++ {
		a, b := &f.Tensors[order[i-1]], &f.Tensors[order[i]]
		if end := a.Offset + int64(max(len(a.Data), 1)); end > b.Offset {
			return fmt.Errorf("tensor %q at %d to %d overlaps tensor %q at %d", a.Name, a.Offset, end, b.Name, b.Offset)
		}
	}
	return nil
}

// index fills order with 0.. sorted by name and refuses a name that occurs twice.
func index(order []int32, what string, name func(int32) string) error {
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; name(a) == name(b) {
			return fmt.Errorf("%s %q occurs twice, as number %d and %d", what, clip([]byte(name(a))), min(a, b), max(a, b))
		}
	}
	return nil
}

// search finds a name with the help of an index.
func search(order []int32, want string, name func(int32) string) (int, bool) {
	i, ok := slices.BinarySearchFunc(order, want, func(i int32, want string) int { return strings.Compare(name(i), want) })
	if !ok {
		return 0, false
	}
	return int(order[i]), true
}

// align rounds n up to a multiple of a, which is a power of two.
func align(n, a int) int { return (n + a - 1) &^ (a - 1) }
