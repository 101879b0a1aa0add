package hsaco

import "math"

// depthMax is how deep metadata may nest; what LLVM writes nests 5 deep.
const depthMax = 16

// A dict is a decoded map.
type dict = map[string]any

// msgpack decodes the one value in b: nil, bool, int64, uint64 (only above the
// largest int64), float64, string, []byte, []any or dict. Positions in errors
// count from base. Nothing is allocated for elements that are not there.
func msgpack(b []byte, base uint64) (any, *Error) {
	d := unpacker{b: b, base: base}
	v := d.value(0)
	if d.err == nil && d.pos != len(b) {
		d.fail(BadMetadata, "%d bytes after the end of the metadata", len(b)-d.pos)
	}
	if d.err != nil {
		return nil, d.err
	}
	return v, nil
}

type unpacker struct {
	b    []byte
	pos  int
	base uint64
	err  *Error // the first
}

func (d *unpacker) fail(r Reason, format string, args ...any) {
	if d.err == nil {
		d.err = refuse(r, d.base+uint64(d.pos), format, args...)
	}
}

// take returns the next n bytes, or nil after an error.
func (d *unpacker) take(n uint64) []byte {
	if left := uint64(len(d.b) - d.pos); n > left {
		d.fail(Truncated, "metadata wants %d bytes, %d are left", n, left)
	}
	if d.err != nil {
		return nil
	}
	b := d.b[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return b
}

// uint reads a big-endian number of n bytes.
func (d *unpacker) uint(n uint64) uint64 {
	var v uint64
	for _, c := range d.take(n) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (d *unpacker) value(depth int) any {
	if depth > depthMax {
		d.fail(BadMetadata, "metadata nests more than %d deep", depthMax)
		return nil
	}
	switch c := d.uint(1); {
	case d.err != nil:
		return nil
	case c <= 0x7f:
		return int64(c)
	case c <= 0x8f:
		return d.dict(c&0xf, depth)
	case c <= 0x9f:
		return d.list(c&0xf, depth)
	case c <= 0xbf:
		return string(d.take(c & 0x1f))
	case c == 0xc0:
		return nil
	case c == 0xc2, c == 0xc3:
		return c == 0xc3
	case c >= 0xc4 && c <= 0xc6:
		return d.take(d.uint(1 << (c - 0xc4)))
	case c == 0xca:
		return float64(math.Float32frombits(uint32(d.uint(4))))
	case c == 0xcb:
		return math.Float64frombits(d.uint(8))
	case c >= 0xcc && c <= 0xcf:
		v := d.uint(1 << (c - 0xcc))
		if v > math.MaxInt64 {
			return v
		}
		return int64(v)
	case c >= 0xd0 && c <= 0xd3:
		n := uint64(1) << (c - 0xd0)
		shift := 64 - 8*n
		return int64(d.uint(n)<<shift) >> shift
	case c >= 0xd9 && c <= 0xdb:
		return string(d.take(d.uint(1 << (c - 0xd9))))
	case c == 0xdc, c == 0xdd:
		return d.list(d.uint(2<<(c-0xdc)), depth)
	case c == 0xde, c == 0xdf:
		return d.dict(d.uint(2<<(c-0xde)), depth)
	case c >= 0xe0:
		return int64(int8(c))
	default: // 0xc1 is unused; extension types have no place in metadata
		d.pos--
		d.fail(BadMetadata, "byte %#02x starts no value", c)
		return nil
	}
}

// room reports whether count elements of at least each bytes can follow.
func (d *unpacker) room(what string, count, each uint64) bool {
	if left := uint64(len(d.b) - d.pos); d.err == nil && count > left/each {
		d.fail(Truncated, "%s of %d elements, %d bytes are left", what, count, left)
	}
	return d.err == nil
}

func (d *unpacker) list(count uint64, depth int) any {
	if !d.room("list", count, 1) {
		return nil
	}
	list := make([]any, 0, min(count, 64)) // claims of nested lists would add up
	for range count {
		list = append(list, d.value(depth+1))
		if d.err != nil {
			return nil
		}
	}
	return list
}

func (d *unpacker) dict(count uint64, depth int) any {
	if !d.room("map", count, 2) {
		return nil
	}
	m := make(dict)
	for range count {
		at := d.pos
		key, ok := d.value(depth + 1).(string)
		_, twice := m[key]
		if d.err == nil && (!ok || twice) {
			d.pos = at
			if !ok {
				d.fail(BadMetadata, "a key that is not a string")
			} else {
				d.fail(BadMetadata, "key %.64q twice", key)
			}
		}
		if d.err != nil {
			return nil
		}
		m[key] = d.value(depth + 1)
	}
	return m
}
