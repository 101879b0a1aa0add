package emu_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// clTest is an OpenCL kernel with inputs and expected outputs, one JSON line
// of the file that HOLDFAST_PIGLIT names:
//
//	{"suite":"piglit", "object":NAME, "test":WHAT, "kernel":KERNEL,
//	 "global":[x,y,z], "local":[x,y,z] or [] to leave it open,
//	 "in": [{"arg":0,"kind":"buffer","type":"int4","n":2,"values":["1",...]}],
//	 "out":[{"arg":1,"kind":"buffer","type":"float","n":4,"values":[...],"tolerance":"4 ulp"}]}
//
// The kind of an argument is buffer, value (passed by value) or null. Values
// are C literals, vectors component after component ("repeat":1 fills the
// buffer with them over and over); the one value NULL of a buffer makes it LDS
// of that size. A tolerance is in units of the last place or absolute; without
// one, values are equal or both NaN. Code objects are obj/NAME.VARIANT.co
// beside the file; each variant is run.
type clTest struct {
	Suite  string
	Object string
	Test   string
	Kernel string
	Global []uint32
	Local  []uint32
	In     []clArg
	Out    []clArg
	Sim    []string // oclgrind: one line for each argument
	Ref    []string // oclgrind: what its log says
}

type clArg struct {
	Arg       int
	Kind      string
	Type      string
	N         int
	Repeat    int
	Values    []string
	Tolerance string
}

// clType is a scalar or vector type of OpenCL.
type clType struct {
	scalar string
	width  int // components
	slots  int // components in memory
	size   int // bytes of a component
}

func parseType(s string) (clType, error) {
	scalar := strings.TrimRight(s, "0123456789")
	t := clType{scalar: scalar, width: 1}
	if len(scalar) < len(s) {
		t.width, _ = strconv.Atoi(s[len(scalar):])
	}
	t.slots = t.width
	if t.width == 3 {
		t.slots = 4
	}
	switch scalar {
	case "char", "uchar":
		t.size = 1
	case "short", "ushort", "half":
		t.size = 2
	case "int", "uint", "float":
		t.size = 4
	case "long", "ulong", "double":
		t.size = 8
	default:
		return t, fmt.Errorf("no type %q", s)
	}
	return t, nil
}

func (t clType) isFloat() bool {
	return t.scalar == "half" || t.scalar == "float" || t.scalar == "double"
}

// bits reads a C literal as a component, in the low bytes.
func (t clType) bits(s string) (uint64, error) {
	if !t.isFloat() {
		if f, err := strconv.ParseFloat(s, 64); err == nil && strings.ContainsAny(s, ".eE") && !strings.HasPrefix(strings.ToLower(s), "0x") {
			return uint64(int64(f)), nil
		}
		if v, err := strconv.ParseInt(s, 0, 64); err == nil {
			return uint64(v), nil
		}
		v, err := strconv.ParseUint(strings.TrimRight(s, "uUlL"), 0, 64)
		return v, err
	}
	lower := strings.ToLower(s)
	if strings.HasPrefix(lower, "0x") && !strings.Contains(lower, "p") {
		return strconv.ParseUint(s, 0, 64) // the bits themselves
	}
	if s == "-nan" {
		v, err := t.bits("nan")
		return v | 1<<(8*t.size-1), err
	}
	size := 64
	if t.size == 4 {
		size = 32
	}
	if !strings.HasSuffix(s, "inf") {
		s = strings.TrimSuffix(s, "f")
	}
	f, err := strconv.ParseFloat(s, size)
	if err != nil && !math.IsInf(f, 0) {
		return 0, err
	}
	switch t.scalar {
	case "half":
		return uint64(halfBits(f)), nil
	case "float":
		return uint64(math.Float32bits(float32(f))), nil
	}
	return math.Float64bits(f), nil
}

// float is the value of a component's bits.
func (t clType) float(bits uint64) float64 {
	switch t.scalar {
	case "half":
		return halfValue(uint16(bits))
	case "float":
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// ordered maps float bits to integers in the order of their values, one ulp
// apart.
func (t clType) ordered(bits uint64) int64 {
	sign := uint64(1) << (8*t.size - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// components is the number of values that the argument has in the file.
func (a *clArg) components(t clType) int { return max(a.N, 1) * t.width }

// value is the text of component i, or why there is none.
func (a *clArg) value(i int) (string, error) {
	switch {
	case a.Repeat != 0 && len(a.Values) > 0:
		return a.Values[i%len(a.Values)], nil
	case i >= len(a.Values):
		return "", fmt.Errorf("argument %d has %d values, not more than %d", a.Arg, len(a.Values), i)
	}
	return a.Values[i], nil
}

// bytes are the argument's bytes in memory.
func (a *clArg) bytes() ([]byte, error) {
	t, err := parseType(a.Type)
	if err != nil {
		return nil, err
	}
	b := make([]byte, max(a.N, 1)*t.slots*t.size)
	for i := range a.components(t) {
		s, err := a.value(i)
		if err != nil {
			return nil, err
		}
		v, err := t.bits(s)
		if err != nil {
			return nil, err
		}
		at := (i/t.width*t.slots + i%t.width) * t.size
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v)
		copy(b[at:at+t.size], word[:])
	}
	return b, nil
}

// compare says how got differs from the expected values, or "".
func (a *clArg) compare(got []byte) (string, error) {
	t, err := parseType(a.Type)
	if err != nil {
		return "", err
	}
	tolerance, isUlp := strings.CutSuffix(a.Tolerance, "ulp")
	limit := 0.0
	if tolerance = strings.TrimSpace(tolerance); tolerance != "" {
		if limit, err = strconv.ParseFloat(tolerance, 64); err != nil {
			return "", err
		}
	}
	for i := range a.components(t) {
		s, err := a.value(i)
		if err != nil {
			return "", err
		}
		want, err := t.bits(s)
		if err != nil {
			return "", err
		}
		var word [8]byte
		at := (i/t.width*t.slots + i%t.width) * t.size
		copy(word[:], got[at:at+t.size])
		have := binary.LittleEndian.Uint64(word[:])
		want &= ^uint64(0) >> (64 - 8*t.size)
		if have == want {
			continue
		}
		if !t.isFloat() {
			shift := 64 - 8*t.size
			x, y := int64(have<<shift)>>shift, int64(want<<shift)>>shift
			if math.Abs(float64(x-y)) <= limit {
				continue
			}
			return fmt.Sprintf("argument %d, component %d: %d (%#x), want %d (%#x)", a.Arg, i, x, have, y, want), nil
		}
		x, y := t.float(have), t.float(want)
		switch {
		case x != x && y != y, x == y:
			continue
		case isUlp && x == x && y == y && math.Abs(float64(t.ordered(have)-t.ordered(want))) <= limit:
			continue
		case !isUlp && math.Abs(x-y) <= limit:
			continue
		}
		return fmt.Sprintf("argument %d, component %d: %v (%#x), want %v (%#x, tolerance %q)", a.Arg, i, x, have, y, want, a.Tolerance), nil
	}
	return "", nil
}

// halfValue is the value of a half's bits.
func halfValue(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&0x3ff)
	x := math.Ldexp(m+1024, e-25)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(m, -24)
	}
	return math.Copysign(x, float64(1-2*int(h>>15)))
}

// halfBits rounds to the nearest half, ties to even.
func halfBits(x float64) uint16 {
	sign := uint16(math.Float64bits(x) >> 63 << 15)
	x = math.Abs(x)
	switch {
	case x != x:
		return 0x7e00
	case x >= 65520:
		return sign | 0x7c00
	case x == 0:
		return sign
	}
	_, e := math.Frexp(x)
	e = max(e, -13)
	n := uint16(math.RoundToEven(math.Ldexp(x, 11-e))) // at most 2048
	return sign | uint16(e+13)<<10 + n                 // a carry goes into the exponent
}
