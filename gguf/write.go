package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// TensorSource is a tensor to be written.
type TensorSource struct {
	Name string
	Dims []int // in ggml's order: Dims[0] is the row length
	Type quant.Type
	// WriteData writes the tensor's blocks, exactly as many bytes as Dims and
	// Type need, in as many calls as it likes. It is called once, in the order
	// of the tensors, so that a whole model need never be in memory.
	WriteData func(w io.Writer) error
}

// FromBytes is a TensorSource whose blocks are in memory.
func FromBytes(name string, t quant.Type, data []byte, dims ...int) TensorSource {
	return TensorSource{Name: name, Dims: dims, Type: t, WriteData: func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

// Write writes a version 3 file. The alignment is that of general.alignment in
// kvs, else DefaultAlignment. What Open would refuse, Write refuses, before it
// writes anything: names that are too long or occur twice, shapes that overflow
// or do not fill whole blocks, values of types that the format lacks. A
// WriteData that writes too much or too little is an error with the tensor's
// name; by then w holds part of the file.
func Write(w io.Writer, kvs []KV, tensors []TensorSource) error {
	if err := write(w, kvs, tensors); err != nil {
		return fmt.Errorf("gguf: write: %w", err)
	}
	return nil
}

func write(w io.Writer, kvs []KV, tensors []TensorSource) error {
	alignment, err := checkKVs(kvs)
	if err != nil {
		return err
	}
	sizes, err := checkTensors(tensors)
	if err != nil {
		return err
	}
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.bytes([]byte(magic))
	e.uint32(3)
	e.uint64(uint64(len(tensors)))
	e.uint64(uint64(len(kvs)))
	for _, kv := range kvs {
		e.kv(kv)
	}
	offset := int64(0)
	for i, t := range tensors {
		e.tensor(t, offset)
		offset += alignUp(sizes[i], alignment)
	}
	e.pad(alignment)
	for i, t := range tensors {
		start := e.n
		if e.err == nil {
			if err := t.WriteData(e); err != nil {
				return fmt.Errorf("tensor %q: %w", t.Name, err)
			}
		}
		if got := e.n - start; e.err == nil && got != sizes[i] {
			return fmt.Errorf("tensor %q: its source wrote %d bytes, %s %v has %d", t.Name, got, t.Type, t.Dims, sizes[i])
		}
		e.pad(alignment)
	}
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

func alignUp(n, a int64) int64 { return (n + a - 1) &^ (a - 1) }

// checkKVs refuses metadata that Open would refuse, and finds the alignment.
func checkKVs(kvs []KV) (alignment int64, err error) {
	if len(kvs) > MaxKeys {
		return 0, fmt.Errorf("%d keys, more than the limit of %d", len(kvs), MaxKeys)
	}
	alignment = DefaultAlignment
	for _, kv := range kvs {
		if n := len(kv.Key); n < 1 || n > MaxKeyBytes {
			return 0, fmt.Errorf("key %q: name of %d bytes, want 1 to %d", clip([]byte(kv.Key)), n, MaxKeyBytes)
		}
		if _, _, ok := typeOf(kv.Value); !ok {
			return 0, fmt.Errorf("key %q: the format has no type for a %T", kv.Key, kv.Value)
		}
		if kv.Key == keyAlignment {
			a, ok := kv.Value.(uint32)
			if !ok {
				return 0, fmt.Errorf("key %q: a %T, want a uint32", kv.Key, kv.Value)
			}
			if err := checkAlignment(uint64(a)); err != nil {
				return 0, fmt.Errorf("key %q: %w", kv.Key, err)
			}
			alignment = int64(a)
		}
	}
	return alignment, index(make([]int32, len(kvs)), "key", func(i int32) string { return kvs[i].Key })
}

// checkTensors refuses tensors that Open would refuse, and gives their sizes.
func checkTensors(tensors []TensorSource) (sizes []int64, err error) {
	if len(tensors) > MaxTensors {
		return nil, fmt.Errorf("%d tensors, more than the limit of %d", len(tensors), MaxTensors)
	}
	sizes = make([]int64, len(tensors))
	total := int64(0)
	for i, t := range tensors {
		if n := len(t.Name); n < 1 || n > MaxNameBytes {
			return nil, fmt.Errorf("tensor %q: name of %d bytes, want 1 to %d", clip([]byte(t.Name)), n, MaxNameBytes)
		}
		if n := len(t.Dims); n < 1 || n > MaxDims {
			return nil, fmt.Errorf("tensor %q: %d dimensions, want 1 to %d", t.Name, n, MaxDims)
		}
		for j, d := range t.Dims {
			if d < 1 {
				return nil, fmt.Errorf("tensor %q: dimension %d is %d", t.Name, j, d)
			}
		}
		if !t.Type.Known() {
			return nil, fmt.Errorf("tensor %q: type %s is not supported (supported: %s)", t.Name, TypeName(t.Type), supportedTypes())
		}
		if sizes[i], err = tensorBytes(t.Type, t.Dims); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if total += sizes[i]; total < 0 || total > math.MaxInt64-int64(len(tensors)+1)*MaxAlignment {
			return nil, fmt.Errorf("tensor %q: the size of the file overflows", t.Name)
		}
	}
	return sizes, index(make([]int32, len(tensors)), "tensor", func(i int32) string { return tensors[i].Name })
}

// An encoder writes little-endian values, counts bytes, and keeps its first
// error, so that only the end need look.
type encoder struct {
	w       *bufio.Writer
	n       int64
	err     error
	scratch [8]byte
}

// Write implements io.Writer for WriteData.
func (e *encoder) Write(b []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.w.Write(b)
	e.n += int64(n)
	e.err = err
	return n, err
}

func (e *encoder) bytes(b []byte) { _, _ = e.Write(b) } // the error is kept

func (e *encoder) uint32(v uint32) {
	e.bytes(binary.LittleEndian.AppendUint32(e.scratch[:0], v))
}

func (e *encoder) uint64(v uint64) {
	e.bytes(binary.LittleEndian.AppendUint64(e.scratch[:0], v))
}

func (e *encoder) string(s string) {
	e.uint64(uint64(len(s)))
	if e.err == nil {
		var n int
		n, e.err = e.w.WriteString(s)
		e.n += int64(n)
	}
}

func (e *encoder) pad(alignment int64) {
	var zeros [256]byte
	for rest := alignUp(e.n, alignment) - e.n; rest > 0 && e.err == nil; {
		n := min(rest, int64(len(zeros)))
		e.bytes(zeros[:n])
		rest -= n
	}
}

func (e *encoder) tensor(t TensorSource, offset int64) {
	e.string(t.Name)
	e.uint32(uint32(len(t.Dims)))
	for _, d := range t.Dims {
		e.uint64(uint64(d))
	}
	e.uint32(uint32(t.Type))
	e.uint64(uint64(offset))
}

func (e *encoder) kv(kv KV) {
	t, elem, _ := typeOf(kv.Value)
	e.string(kv.Key)
	e.uint32(uint32(t))
	if t == typeArray {
		e.uint32(uint32(elem))
	}
	switch v := kv.Value.(type) {
	case string:
		e.string(v)
	case []string:
		e.uint64(uint64(len(v)))
		for _, s := range v {
			e.string(s)
		}
	default:
		if t == typeArray {
			e.uint64(uint64(binary.Size(v) / elem.size()))
		}
		// Numbers, bools and slices of them have a fixed size: this cannot fail
		// but for the writer, which keeps its error.
		_ = binary.Write(e, binary.LittleEndian, v)
	}
}
