package gguf

import (
	"bytes"
	"reflect"
	"testing"
)

// checkInvariants holds for every file that Parse accepts.
func checkInvariants(t *testing.T, f *File) {
	t.Helper()
	for i := range f.Tensors {
		w := &f.Tensors[i]
		if w.Offset < f.DataOffset() || w.Offset+int64(len(w.Data)) > f.Size() || w.Offset%int64(f.Alignment) != 0 {
			t.Fatalf("tensor %q at %d with %d bytes; data from %d, file size %d", w.Name, w.Offset, len(w.Data), f.DataOffset(), f.Size())
		}
		if got, ok := f.Tensor(w.Name); !ok || got != w {
			t.Fatalf("tensor %q is not found by its name", w.Name)
		}
		if b, err := w.Bytes(); (err == nil) != w.Type.Known() || len(b) != len(w.Data) {
			t.Fatalf("tensor %q of type %s: %d bytes, %v", w.Name, w.Type, len(b), err)
		}
		if w.Type.Known() && len(w.Data) != w.Rows()*w.Type.RowBytes(w.Dims[0]) {
			t.Fatalf("tensor %q: %d bytes, %d rows of %d", w.Name, len(w.Data), w.Rows(), w.Dims[0])
		}
	}
	for i := range f.KV {
		if v, ok := f.Value(f.KV[i].Key); !ok || reflect.TypeOf(v) != reflect.TypeOf(f.KV[i].Value) {
			t.Fatalf("key %q is not found", f.KV[i].Key)
		}
	}
}

// FuzzParse feeds bytes to Parse. What it accepts must keep the invariants,
// and what Write makes of it must parse to the same again.
func FuzzParse(f *testing.F) {
	f.Add(encode(f, sampleKVs(), sampleTensors()))
	f.Add(encode(f, nil, nil))
	for _, c := range broken {
		if len(c.file) < 1<<12 {
			f.Add(c.file)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse("fuzz", b)
		if err != nil {
			return
		}
		checkInvariants(t, file)
		var sources []TensorSource
		for i := range file.Tensors {
			w := &file.Tensors[i]
			if !w.Type.Known() {
				return
			}
			sources = append(sources, FromBytes(w.Name, w.Type, w.Data, w.Dims...))
		}
		if v, ok := file.Value(keyAlignment); ok {
			if _, ok := v.(uint32); !ok {
				return // read in any width, written only as specified
			}
		}
		var out bytes.Buffer
		if err := Write(&out, file.KV, sources); err != nil {
			t.Fatalf("accepted, but not written: %v", err)
		}
		again, err := Parse("again", out.Bytes())
		if err != nil {
			t.Fatalf("written, but not accepted: %v", err)
		}
		var out2 bytes.Buffer
		if err := Write(&out2, again.KV, sources); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), out2.Bytes()) {
			t.Fatal("the second writing differs from the first")
		}
	})
}
