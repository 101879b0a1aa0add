package cpu

import (
	"unsafe"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// floats sees bytes of the arena as float32; they are 64-byte aligned.
func floats(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// ints sees bytes of the arena as int32.
func ints(b []byte) []int32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// alignedBytes is n bytes that start on a cache line.
func alignedBytes(n int) []byte {
	const line = 64
	b := make([]byte, n+line)
	off := int(-uintptr(unsafe.Pointer(&b[0])) & (line - 1))
	return b[off : off+n : off+n]
}

// launch is a device.Launch that uses the whole of the values it reads and
// writes, and whose Bind returns a kernel. A value may be among both.
func launch(c *device.Compile, name string, reads, writes []*op.Value, bind func(mem func(*op.Value) []byte) kernel) device.Launch {
	l := device.Launch{
		Kernel: name, Bindings: c.Bindings(reads, writes),
		Bind: func(mem func(*op.Value) []byte) any { return bind(mem) },
	}
	for i := range l.Bindings {
		l.Bindings[i].Align = alignment(l.Bindings[i].Value)
	}
	return l
}

// alignment is what kernels take for granted of a value's first byte: whole
// vectors in the arena and in caches, whole numbers in a model file, whose
// blocks they read byte by byte.
func alignment(v *op.Value) int {
	switch {
	case v.Role != op.Weight:
		return device.ArenaAlign
	case v.Type == quant.F32 || v.Type == quant.I32:
		return 4
	}
	return 1
}

// count is the task count of a kernel with one task a row.
func count(v *op.Value) func(b *batch) int {
	return func(b *batch) int { return v.Count(b.n, b.m) }
}

// pieces cuts rows of cols elements into tasks of at most size elements, so
// that one long row is shared among the workers.
type pieces struct{ cols, size, perRow int }

func cut(cols, size int) pieces { return pieces{cols, size, (cols + size - 1) / size} }

// at is the row and the element range of a task.
func (p pieces) at(task int) (row, lo, hi int) {
	row, k := task/p.perRow, task%p.perRow
	return row, k * p.size, min((k+1)*p.size, p.cols)
}

// halves sees a cache row as 16-bit floats.
func halves(b []byte) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(&b[0])), len(b)/2)
}
