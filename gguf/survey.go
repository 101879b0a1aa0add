package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A survey walks a file from the magic to the end of the tensor table and
// allocates nothing. When it has passed, every count and length in that part is
// known to be backed by bytes, so that decode can allocate exactly and need not
// check again.
type survey struct {
	b    []byte
	pos  int
	what string // the part being read, for errors
	name []byte // the key or tensor being read, if its name is known
	nth  uint64 // its index, if not

	version  uint32
	kvs      int
	tensors  int
	kvPos    int // offset of the first key
	tablePos int // offset of the first tensor's entry
	dims     int // dimensions of all tensors together
}

// errorf says what is wrong and where: the key or tensor and the offset.
func (s *survey) errorf(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	switch {
	case s.name != nil:
		return fmt.Errorf("%s %q: %s (at byte %d)", s.what, clip(s.name), msg, s.pos)
	case s.what == "header":
		return fmt.Errorf("header: %s (at byte %d)", msg, s.pos)
	default:
		return fmt.Errorf("%s %d: %s (at byte %d)", s.what, s.nth, msg, s.pos)
	}
}

// clip shortens a name for an error line.
func clip(b []byte) []byte {
	const limit = 80
	if len(b) > limit {
		return append(b[:limit:limit], "..."...)
	}
	return b
}

func (s *survey) remaining() int { return len(s.b) - s.pos }

// skip steps over n bytes of the thing described.
func (s *survey) skip(n int, thing string) error {
	if n > s.remaining() {
		return s.errorf("truncated: %s needs %d bytes, %d remain", thing, n, s.remaining())
	}
	s.pos += n
	return nil
}

func (s *survey) uint32(thing string) (uint32, error) {
	if err := s.skip(4, thing); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(s.b[s.pos-4:]), nil
}

func (s *survey) uint64(thing string) (uint64, error) {
	if err := s.skip(8, thing); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(s.b[s.pos-8:]), nil
}

// string steps over a length and as many bytes, and gives the bytes.
func (s *survey) string(thing string) ([]byte, error) {
	n, err := s.uint64("the length of " + thing)
	if err != nil {
		return nil, err
	}
	if n > uint64(s.remaining()) {
		return nil, s.errorf("%s is %d bytes long, %d remain in the file", thing, n, s.remaining())
	}
	s.pos += int(n)
	return s.b[s.pos-int(n) : s.pos], nil
}

func (s *survey) run() error {
	if err := s.header(); err != nil {
		return err
	}
	s.kvPos = s.pos
	s.what = "key"
	for i := range s.kvs {
		s.name, s.nth = nil, uint64(i)
		if err := s.kv(); err != nil {
			return err
		}
	}
	s.tablePos = s.pos
	s.what = "tensor"
	for i := range s.tensors {
		s.name, s.nth = nil, uint64(i)
		if err := s.tensor(); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) header() error {
	s.what = "header"
	if err := s.magic(); err != nil {
		return err
	}
	s.pos = len(magic)
	v, err := s.uint32("the version")
	if err != nil {
		return err
	}
	switch swapped := bits.ReverseBytes32(v); {
	case v == 2 || v == 3:
		s.version = v
	case v == 1:
		return fmt.Errorf("version 1 is not supported (2 and 3 are): convert the file anew")
	case swapped >= 1 && swapped <= 0xffff:
		return fmt.Errorf("big-endian file (version %d with its bytes swapped); only little-endian files are supported", swapped)
	default:
		return fmt.Errorf("version %d is not supported (2 and 3 are)", v)
	}
	tensors, err := s.uint64("the tensor count")
	if err != nil {
		return err
	}
	kvs, err := s.uint64("the key count")
	if err != nil {
		return err
	}
	if err := s.count(kvs, "keys", MaxKeys, minKeyBytes); err != nil {
		return err
	}
	if err := s.count(tensors, "tensors", MaxTensors, minTensorBytes); err != nil {
		return err
	}
	s.kvs, s.tensors = int(kvs), int(tensors)
	return nil
}

// magic tells GGUF from what people mistake for it.
func (s *survey) magic() error {
	b := s.b[:min(len(s.b), 16)]
	switch {
	case len(b) == 0:
		return fmt.Errorf("empty file")
	case bytes.HasPrefix(b, []byte(magic)):
		return nil
	case bytes.HasPrefix([]byte(magic), b):
		return fmt.Errorf("truncated: %d bytes of the magic %q", len(b), magic)
	case bytes.HasPrefix(b, []byte("FUGG")):
		return fmt.Errorf("big-endian file (magic %q); only little-endian files are supported", b[:4])
	case bytes.HasPrefix(b, []byte("version https://")):
		return fmt.Errorf("not a GGUF file but a git-lfs pointer to one: fetch the file itself")
	case bytes.HasPrefix(b, []byte("lmgg")), bytes.HasPrefix(b, []byte("fmgg")), bytes.HasPrefix(b, []byte("tjgg")):
		return fmt.Errorf("not a GGUF file but an older ggml one (magic %q): convert it anew", b[:4])
	}
	return fmt.Errorf("not a GGUF file: it starts with %q, not %q", b[:min(len(b), 4)], magic)
}

// count refuses n things that no file, or not this file, can hold.
func (s *survey) count(n uint64, things string, limit, minBytes int) error {
	if n > uint64(s.remaining()/minBytes) {
		return s.errorf("%d %s cannot be in the %d bytes that remain", n, things, s.remaining())
	}
	if n > uint64(limit) {
		return s.errorf("%d %s, more than the limit of %d", n, things, limit)
	}
	return nil
}

func (s *survey) kv() error {
	key, err := s.string("the key")
	if err != nil {
		return err
	}
	switch {
	case len(key) == 0:
		return s.errorf("empty name")
	case len(key) > MaxKeyBytes:
		return s.errorf("name of %d bytes, more than the limit of %d", len(key), MaxKeyBytes)
	}
	s.name = key
	t, err := s.uint32("the value's type")
	if err != nil {
		return err
	}
	if vt := valueType(t); vt != typeArray {
		return s.value(vt)
	}
	e, err := s.uint32("the array's element type")
	if err != nil {
		return err
	}
	n, err := s.uint64("the array's length")
	if err != nil {
		return err
	}
	return s.array(valueType(e), n)
}

func (s *survey) value(t valueType) error {
	switch {
	case !t.known():
		return s.errorf("unknown value type %d", uint32(t))
	case t == typeString:
		_, err := s.string("the string")
		return err
	case t == typeBool:
		return s.bools(1)
	}
	return s.skip(t.size(), t.String())
}

func (s *survey) array(t valueType, n uint64) error {
	switch {
	case !t.known():
		return s.errorf("unknown array element type %d", uint32(t))
	case t == typeArray:
		return s.errorf("an array of arrays is not supported")
	}
	size := t.size()
	if t == typeString {
		size = 8 // the length alone
	}
	if n > uint64(s.remaining()/size) {
		return s.errorf("%d elements of %s cannot be in the %d bytes that remain", n, t, s.remaining())
	}
	switch t {
	case typeString:
		return s.strings(int(n))
	case typeBool:
		return s.bools(int(n))
	}
	s.pos += int(n) * size
	return nil
}

// strings steps over n strings. It is the loop that decides how fast a
// vocabulary opens, so it is written out.
func (s *survey) strings(n int) error {
	b, pos := s.b, s.pos
	for i := range n {
		if len(b)-pos < 8 {
			s.pos = pos
			return s.errorf("truncated: string %d of %d has no length", i, n)
		}
		size := binary.LittleEndian.Uint64(b[pos:])
		pos += 8
		if size > uint64(len(b)-pos) {
			s.pos = pos
			return s.errorf("string %d of %d is %d bytes long, %d remain in the file", i, n, size, len(b)-pos)
		}
		pos += int(size)
	}
	s.pos = pos
	return nil
}

func (s *survey) bools(n int) error {
	if err := s.skip(n, "a bool"); err != nil {
		return err
	}
	for i, v := range s.b[s.pos-n : s.pos] {
		if v > 1 {
			return s.errorf("bool %d of %d is the byte %d, neither 0 nor 1", i, n, v)
		}
	}
	return nil
}

func (s *survey) tensor() error {
	name, err := s.string("the name")
	if err != nil {
		return err
	}
	switch {
	case len(name) == 0:
		return s.errorf("empty name")
	case len(name) > MaxNameBytes:
		s.name = name
		return s.errorf("name of %d bytes, more than the limit of %d", len(name), MaxNameBytes)
	}
	s.name = name
	n, err := s.uint32("the number of dimensions")
	if err != nil {
		return err
	}
	if n < 1 || n > MaxDims {
		return s.errorf("%d dimensions, want 1 to %d", n, MaxDims)
	}
	s.dims += int(n)
	return s.skip(8*int(n)+4+8, "dimensions, type and offset")
}
