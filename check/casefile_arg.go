package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// elem is a type of numbers in memory.
type elem struct {
	name  string
	bytes int
	put   func(b []byte, x float64)
	get   func(b []byte) float64
	float bool
}

func integer[T uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64](name string, bytes int) elem {
	return elem{
		name: name, bytes: bytes,
		put: func(b []byte, x float64) {
			var v T
			if neg := T(0) - 1; neg < 0 || x < 0 {
				v = T(int64(x))
			} else {
				v = T(uint64(x))
			}
			for i := range bytes {
				b[i] = byte(uint64(v) >> (8 * i))
			}
		},
		get: func(b []byte) float64 {
			var u uint64
			for i := range bytes {
				u |= uint64(b[i]) << (8 * i)
			}
			return float64(T(u))
		},
	}
}

var elems = []elem{
	integer[uint8]("u8", 1),
	integer[int8]("i8", 1),
	integer[uint16]("u16", 2),
	integer[int16]("i16", 2),
	integer[uint32]("u32", 4),
	integer[int32]("i32", 4),
	integer[uint64]("u64", 8),
	integer[int64]("i64", 8),
	{
		"f16", 2,
		func(b []byte, x float64) { binary.LittleEndian.PutUint16(b, quant.F32ToF16(float32(x))) },
		func(b []byte) float64 { return float64(quant.F16ToF32(binary.LittleEndian.Uint16(b))) },
		true,
	},
	{
		"f32", 4,
		func(b []byte, x float64) { binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x))) },
		func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
		true,
	},
	{
		"f64", 8,
		func(b []byte, x float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(x)) },
		func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) },
		true,
	},
}

func elemOf(name string) (elem, error) {
	var names []string
	for _, e := range elems {
		if e.name == name {
			return e, nil
		}
		names = append(names, e.name)
	}
	if name == "" {
		return elem{}, fmt.Errorf("no type; there are %s", strings.Join(names, ", "))
	}
	return elem{}, fmt.Errorf("no type %q, there are %s", name, strings.Join(names, ", "))
}

// ParseArg reads an argument as the command line has it: a buffer of 1024 floats
// "f32x1024", filled "f32x1024:random:7", a scalar "i32:-1", dynamic LDS
// "lds:4096", a null pointer "null"; each may have a name before it, "q=f32x64".
func ParseArg(s string) (Arg, error) {
	fail := func(err error) (Arg, error) { return Arg{}, fmt.Errorf("argument %q: %w", s, err) }
	a, rest := Arg{}, s
	if name, after, ok := strings.Cut(s, "="); ok && !strings.ContainsAny(name, ": ") {
		a.Name, rest = name, after
	}
	head, tail, has := strings.Cut(rest, ":")
	name, count, buffer := strings.Cut(head, "x")
	switch {
	case head == "null" && !has:
		a.Null = true
		return a, nil
	case head == "lds":
		n, err := strconv.ParseUint(tail, 0, 32)
		if err != nil || n == 0 {
			return fail(fmt.Errorf("%q is no number of bytes", tail))
		}
		a.LDS = uint32(n)
		return a, nil
	case buffer:
		n, err := strconv.ParseInt(count, 0, 64)
		if err != nil || n < 1 {
			return fail(fmt.Errorf("%q is no number of elements", count))
		}
		a.Type, a.Count, a.Fill = name, n, tail
	case !has:
		return fail(errors.New(`want TYPExCOUNT[:FILL], TYPE:VALUE, lds:BYTES or null, such as f32x1024:random, i32:7`))
	default:
		a.Type = head
		if n, err := strconv.ParseInt(tail, 0, 64); err == nil {
			a.Value = n
		} else if n, err := strconv.ParseUint(tail, 0, 64); err == nil {
			a.Value = n
		} else if x, err := strconv.ParseFloat(tail, 64); err == nil {
			a.Value = x
		} else {
			return fail(fmt.Errorf("%q is no number", tail))
		}
	}
	if err := a.check(); err != nil {
		return fail(err)
	}
	return a, nil
}

// bytes is the size of a buffer; 0 of what is none.
func (a *Arg) bytes() int64 {
	e, err := elemOf(a.Type)
	if err != nil {
		return 0
	}
	return a.Count * int64(e.bytes)
}

// check says what is wrong with an argument.
func (a *Arg) check() error {
	switch {
	case a.Null || a.LDS > 0:
		if a.Null && a.LDS > 0 || a.Type != "" || a.Count != 0 || a.Value != nil {
			return errors.New("null and lds stand alone")
		}
		return nil
	case a.Count < 0:
		return fmt.Errorf("count %d", a.Count)
	case a.Count > 0 && a.Value != nil:
		return errors.New("a count and a value: a buffer has a count and a fill, a scalar a value")
	case a.Count == 0 && a.Value == nil:
		return errors.New("neither count (a buffer) nor value (a scalar) nor lds nor null")
	}
	e, err := elemOf(a.Type)
	if err != nil {
		return err
	}
	if a.Count == 0 {
		if a.Fill != "" || a.Want != "" || a.ReadOnly || a.Align != 0 || a.Offset != 0 {
			return errors.New("fill, want, read_only, align and offset are for buffers, which have a count")
		}
		_, err := a.scalar(e)
		return err
	}
	if a.Count > bytesMax/int64(e.bytes) {
		return fmt.Errorf("%d elements of %d bytes, at most %d bytes", a.Count, e.bytes, int64(bytesMax))
	}
	if a.Tolerance < 0 || math.IsNaN(a.Tolerance) || a.Tolerance > 0 && a.Want == "" {
		return fmt.Errorf("tolerance %v of want %q", a.Tolerance, a.Want)
	}
	if a.Align&(a.Align-1) != 0 {
		return fmt.Errorf("align %d is no power of two", a.Align)
	}
	for _, f := range []string{a.Fill, a.Want} {
		if _, err := parseFill(f); err != nil {
			return err
		}
	}
	return nil
}

// scalar is the argument's value in memory.
func (a *Arg) scalar(e elem) ([]byte, error) {
	b := make([]byte, e.bytes)
	switch v := a.Value.(type) {
	case int64:
		if e.float {
			e.put(b, float64(v))
			return b, nil
		}
		bits := 8 * e.bytes
		unsigned := e.name[0] == 'u'
		if unsigned && (v < 0 || bits < 64 && v >= 1<<bits) || !unsigned && bits < 64 && (v < -1<<(bits-1) || v >= 1<<(bits-1)) {
			return nil, fmt.Errorf("%d does not fit %s", v, e.name)
		}
		for i := range b {
			b[i] = byte(uint64(v) >> (8 * i))
		}
		return b, nil
	case uint64: // beyond int64
		if e.name != "u64" {
			return nil, fmt.Errorf("%d does not fit %s", v, e.name)
		}
		binary.LittleEndian.PutUint64(b, v)
		return b, nil
	case float64:
		if !e.float {
			return nil, fmt.Errorf("%v is no %s", v, e.name)
		}
		e.put(b, v)
		return b, nil
	}
	return nil, fmt.Errorf("value %v is no number", a.Value)
}
