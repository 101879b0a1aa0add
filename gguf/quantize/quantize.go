// Package quantize writes a model's tensors in other types: it chooses a type
// for each ([Plan]) and converts rows in parallel ([Write]). How a block is
// encoded is quant's matter.
package quantize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// quantizationVersion is general.quantization_version: the version of ggml's
// block formats.
const quantizationVersion = 2

// chunkElems is the number of elements that a worker converts at a time: small
// enough that the smallest matrices of a model occupy every processor, large
// enough (milliseconds) that handing them out costs nothing.
const chunkElems = 1 << 16

// copyBytes is the size of the pieces in which a tensor is copied.
const copyBytes = 1 << 20

// ErrRequantize is wrapped by CheckSources.
var ErrRequantize = errors.New("is quantised already, and quantising it again loses more than quantising the original")

// CheckSources refuses a plan that would quantise what is quantised already
// (ErrRequantize; nil if requantize allows it), and one with a source that
// cannot be read.
func CheckSources(plan []Choice, requantize bool) error {
	for _, c := range plan {
		if _, err := c.Tensor.Bytes(); err != nil {
			return err
		}
		if c.Type == c.Tensor.Type {
			continue
		}
		switch c.Tensor.Type {
		case quant.I32, quant.Q8_1, quant.Q8_K:
			return fmt.Errorf("quantize: tensor %q: %s does not convert to %s", c.Tensor.Name, c.Tensor.Type, c.Type)
		}
		if isQuantized(c.Tensor.Type) && !requantize {
			return fmt.Errorf("quantize: tensor %q of type %s %w", c.Tensor.Name, c.Tensor.Type, ErrRequantize)
		}
	}
	return nil
}

// Bytes is the size of the tensors of a plan when written.
func Bytes(plan []Choice) int64 {
	var n int64
	for _, c := range plan {
		n += int64(c.Tensor.Rows()) * int64(c.Type.RowBytes(c.Tensor.Dims[0]))
	}
	return n
}

// Write writes the file with the plan's types. Metadata is f's, except for the
// file type and what described a file split in several. done is called, from
// any goroutine, with the number of source bytes dealt with since the last
// call. Errors: those of w, of CheckSources with requantising allowed, ctx's,
// and a weight that is NaN or infinite, with its place.
func Write(ctx context.Context, w io.Writer, f *gguf.File, m Mix, plan []Choice, done func(bytes int64)) error {
	if err := CheckSources(plan, true); err != nil {
		return err
	}
	sources := make([]gguf.TensorSource, len(plan))
	for i, c := range plan {
		sources[i] = gguf.TensorSource{
			Name: c.Tensor.Name, Dims: c.Tensor.Dims, Type: c.Type,
			WriteData: func(w io.Writer) error { return convert(ctx, w, c, done) },
		}
	}
	return gguf.Write(w, metadata(f, m), sources)
}

// metadata is f's with the mix's file type, in llama.cpp's order: what
// quantising changes goes to the end. general.alignment is kept in the only
// type that a writer may use.
func metadata(f *gguf.File, m Mix) []gguf.KV {
	const version, fileType = "general.quantization_version", "general.file_type"
	var kvs []gguf.KV
	for _, kv := range f.KV {
		switch kv.Key {
		case "split.no", "split.count", "split.tensors.count", version, fileType:
			continue
		case "general.alignment":
			kv.Value = uint32(f.Alignment)
		}
		kvs = append(kvs, kv)
	}
	return append(kvs, gguf.KV{Key: version, Value: uint32(quantizationVersion)}, gguf.KV{Key: fileType, Value: m.FileType})
}

// convert writes one tensor. Chunks of rows are converted side by side and
// written in order.
func convert(ctx context.Context, w io.Writer, c Choice, done func(int64)) error {
	t := c.Tensor
	if c.Type == t.Type {
		return copyChunks(ctx, w, t.Data, done)
	}
	rowElems, rows := t.Dims[0], t.Rows()
	rowsPerChunk := max(1, chunkElems/rowElems)
	chunks := (rows + rowsPerChunk - 1) / rowsPerChunk
	workers := make([]worker, min(runtime.GOMAXPROCS(0), chunks))
	for first := 0; first < chunks; first += len(workers) {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := workers[:min(len(workers), chunks-first)]
		var wg sync.WaitGroup
		for i := range batch {
			row := (first + i) * rowsPerChunk
			n := min(rowsPerChunk, rows-row)
			wg.Go(func() {
				batch[i].convert(c, row, n)
				done(int64(n) * int64(t.Type.RowBytes(rowElems)))
			})
		}
		wg.Wait()
		for i := range batch {
			if err := batch[i].err; err != nil {
				return err
			}
			if _, err := w.Write(batch[i].out); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyChunks writes data in pieces, so that an interrupt is noticed.
func copyChunks(ctx context.Context, w io.Writer, data []byte, done func(int64)) error {
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(data), copyBytes)
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		done(int64(n))
		data = data[n:]
	}
	return nil
}

// A worker keeps its buffers from one chunk of a tensor to the next.
type worker struct {
	values []float32
	out    []byte
	err    error
}

// convert turns n rows of a tensor, from row on, into out.
func (k *worker) convert(c Choice, row, n int) {
	t := c.Tensor
	from, to := t.Type.RowBytes(t.Dims[0]), c.Type.RowBytes(t.Dims[0])
	k.values = slices.Grow(k.values[:0], n*t.Dims[0])[:n*t.Dims[0]]
	k.out = slices.Grow(k.out[:0], n*to)[:n*to]
	if k.err = quant.Dequantize(t.Type, k.values, t.Data[row*from:(row+n)*from]); k.err != nil {
		return
	}
	for i, v := range k.values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			k.err = fmt.Errorf("row %d, element %d is %g", row+i/t.Dims[0], i%t.Dims[0], v)
			return
		}
	}
	// Row by row: a block must not reach into the next row.
	for i := range n {
		k.err = quant.Quantize(c.Type, k.out[i*to:(i+1)*to], k.values[i*t.Dims[0]:(i+1)*t.Dims[0]])
		if k.err != nil {
			return
		}
	}
}
