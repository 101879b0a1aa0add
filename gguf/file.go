package gguf

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/holdfast-llm/holdfast/internal/mmap"
)

// File is an open GGUF file. It is safe for concurrent use until Close.
type File struct {
	Name      string   // as given to Open or Parse; used in errors
	Version   uint32   // 2 or 3
	Alignment int      // of tensor data, in bytes
	KV        []KV     // metadata in the file's order
	Tensors   []Tensor // in the file's order

	raw     []byte // the whole file
	dataPos int    // where tensor data starts in raw
	byKey   []int32
	byName  []int32
	mapping *mmap.Mapping // nil after Parse
}

// KV is one metadata entry. Value is one of uint8, int8, uint16, int16, uint32,
// int32, uint64, int64, float32, float64, bool, string, or a slice of one.
type KV struct {
	Key   string
	Value any
}

// Open maps the file at path and reads its metadata and tensor table; the
// tensors themselves are read when they are touched. Errors: those of opening
// a file, and one line that names the file and what is wrong in it.
func Open(path string) (*File, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	f, err := parse(path, m.Bytes())
	if err != nil {
		m.Close()
		return nil, err
	}
	f.mapping = m
	return f, nil
}

// Parse reads a file that is in memory, such as an embedded one. It keeps b,
// which must not change. If b does not start at an address aligned as the file
// wants, the tensors are copied once to one that does.
func Parse(name string, b []byte) (*File, error) {
	f, err := parse(name, b)
	if err != nil {
		return nil, err
	}
	f.alignData()
	return f, nil
}

func parse(name string, b []byte) (*File, error) {
	f := &File{Name: name, raw: b}
	s := survey{b: b}
	err := s.run()
	if err == nil {
		f.Version = s.version
		err = f.decodeKVs(&s)
	}
	if err == nil {
		err = f.setAlignment()
	}
	if err == nil {
		err = f.decodeTensors(&s)
	}
	if err != nil {
		return nil, fmt.Errorf("gguf: %s: %w", name, err)
	}
	return f, nil
}

// alignData moves the tensors' data to aligned memory if it is not in such.
func (f *File) alignData() {
	a := uintptr(f.Alignment)
	if len(f.Tensors) == 0 || (uintptr(unsafe.Pointer(unsafe.SliceData(f.raw)))+uintptr(f.dataPos))%a == 0 {
		return
	}
	n := len(f.raw) - f.dataPos
	buf := make([]byte, n+f.Alignment)
	if r := uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % a; r != 0 {
		buf = buf[a-r:]
	}
	copy(buf, f.raw[f.dataPos:])
	for i := range f.Tensors {
		t := &f.Tensors[i]
		if size := len(t.Data); size > 0 {
			at := int(t.Offset) - f.dataPos
			t.Data = buf[at : at+size : at+size]
		}
	}
}

// Size is the file's size in bytes.
func (f *File) Size() int64 { return int64(len(f.raw)) }

// DataOffset is where the tensors' data starts, in bytes from the file's start.
func (f *File) DataOffset() int64 { return int64(f.dataPos) }

// Populate reads in and maps every page of a mapped file, until ctx ends, so
// that the first use of each tensor is not slowed by page faults. It may run
// beside anything but Close. For a file in memory it does nothing.
func (f *File) Populate(ctx context.Context) error {
	if f.mapping == nil {
		return nil
	}
	return f.mapping.Populate(ctx)
}

// Lock keeps a mapped file's pages in physical memory until Close.
func (f *File) Lock() error {
	if f.mapping == nil {
		return nil
	}
	return f.mapping.Lock()
}

// Close unmaps the file. Tensor data and the elements of string arrays are
// invalid from then on; see the package comment. Closing twice is harmless.
func (f *File) Close() error {
	if f.mapping == nil {
		return nil
	}
	for i := range f.Tensors {
		f.Tensors[i].Data = nil
	}
	return f.mapping.Close()
}
