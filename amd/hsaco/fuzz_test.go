package hsaco

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, c := range committed {
		f.Add(load(f, c.name))
	}
	f.Fuzz(func(_ *testing.T, b []byte) { exercise(b) })
}

func FuzzLines(f *testing.F) {
	b := load(f, "lines.hsaco")
	o, err := Parse("", b)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range o.Sections {
		if s.Name == ".debug_line" {
			f.Add(s.Data, uint64(0x1500))
		}
	}
	f.Fuzz(func(_ *testing.T, line []byte, pc uint64) {
		o := &Object{Sections: []Section{
			{Name: ".debug_line", Data: line, Size: uint64(len(line))},
			{Name: ".debug_line_str", Data: []byte("/src\x00lines.cpp\x00")},
		}}
		if o.LineError() == nil {
			o.Line(pc)
		}
	})
}

func FuzzMsgpack(f *testing.F) {
	for _, c := range committed {
		fl := &file{b: load(f, c.name)}
		if err := fl.readSections(); err != nil {
			f.Fatal(err)
		}
		desc, _, err := fl.metadataNote()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(desc)
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		if _, _, err := readMetadata(b, 0); err != nil && err.Detail == "" {
			panic("an error that says nothing")
		}
	})
}

func TestMsgpack(t *testing.T) {
	for _, c := range []struct {
		in   string
		want any
	}{
		{"\x00", int64(0)},
		{"\x7f", int64(127)},
		{"\xff", int64(-1)},
		{"\xe0", int64(-32)},
		{"\xcc\xff", int64(255)},
		{"\xcd\x01\x02", int64(0x102)},
		{"\xce\xff\xff\xff\xff", int64(math.MaxUint32)},
		{"\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", int64(math.MaxInt64)},
		{"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", uint64(math.MaxUint64)},
		{"\xd0\x80", int64(-128)},
		{"\xd1\x80\x00", int64(-32768)},
		{"\xd2\xff\xff\xff\xfe", int64(-2)},
		{"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", int64(math.MinInt64)},
		{"\xca\x3f\xc0\x00\x00", 1.5},
		{"\xcb\xbf\xf0\x00\x00\x00\x00\x00\x00", -1.0},
		{"\xc0", nil},
		{"\xc2", false},
		{"\xc3", true},
		{"\xa3abc", "abc"},
		{"\xd9\x01x", "x"},
		{"\xda\x00\x02xy", "xy"},
		{"\xdb\x00\x00\x00\x00", ""},
		{"\xc4\x02\x00\x01", []byte{0, 1}},
		{"\xc5\x00\x01\xff", []byte{0xff}},
		{"\xc6\x00\x00\x00\x00", []byte{}},
		{"\x92\x01\x90", []any{int64(1), []any{}}},
		{"\xdc\x00\x01\x05", []any{int64(5)}},
		{"\xdd\x00\x00\x00\x00", []any{}},
		{"\x82\xa1a\x01\xa1b\xc0", dict{"a": int64(1), "b": nil}},
		{"\xde\x00\x01\xa0\x80", dict{"": dict{}}},
		{"\xdf\x00\x00\x00\x00", dict{}},
	} {
		got, err := msgpack([]byte(c.in), 0)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %#v, %v; want %#v", c.in, got, err, c.want)
		}
	}
}

func TestBrokenMsgpack(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "offset 0x64: truncated: metadata wants 1 bytes, 0 are left"},
		{"a short number", "\xce\x00\x00", "offset 0x65: truncated: metadata wants 4 bytes, 2 are left"},
		{"a long string", "\xdb\xff\xff\xff\xff", "wants 4294967295 bytes, 0 are left"},
		{"a long list", "\xdd\xff\xff\xff\xff\x00", "list of 4294967295 elements, 1 bytes are left"},
		{"a long map", "\xdf\x00\x00\x00\x02\xa0\x00\xa0", "map of 2 elements, 3 bytes are left"},
		{"a key that is a number", "\x81\x01\x02", "offset 0x65: bad metadata: a key that is not a string"},
		{"a key twice", "\x82\xa1a\x01\xa1a\x02", `offset 0x68: bad metadata: key "a" twice`},
		{"an unused byte", "\x91\xc1", "offset 0x65: bad metadata: byte 0xc1 starts no value"},
		{"an extension", "\xd4\x01\x01", "byte 0xd4 starts no value"},
		{"more after the end", "\xc0\xc0", "1 bytes after the end"},
		{"a deep nest", strings.Repeat("\x91", 40), "nests more than 16 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := msgpack([]byte(c.in), 100)
			if err == nil {
				t.Fatalf("%#v", v)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not say %q", err, c.want)
			}
		})
	}
}

// TestClaimsAllocateNothing nests lists that each claim all that is left.
func TestClaimsAllocateNothing(t *testing.T) {
	b := []byte(strings.Repeat("\xdd\x00\x0f\xf0\x00", 16))
	b = append(b, make([]byte, 1<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := msgpack(b, 0)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 128<<20 {
		t.Errorf("%d bytes allocated for a note of %d: %v", got, len(b), err)
	}
}

func TestBrokenLineTables(t *testing.T) {
	o := mustParse(t, "lines.hsaco")
	var table, strs Section
	for _, s := range o.Sections {
		switch s.Name {
		case ".debug_line":
			table = s
		case ".debug_line_str":
			strs = s
		}
	}
	// Version 5: length 0..3, version 4..5, address size 6, header length 8..11,
	// operations 13, line range 16, opcode base 17, formats from 30.
	for _, c := range []struct {
		name string
		at   int
		v    byte
		want string
	}{
		{"a long unit", 3, 0x7f, "a line table of"},
		{"version 6", 4, 6, "version 6"},
		{"addresses of 4 bytes", 6, 4, "addresses of 4 bytes"},
		{"a long header", 11, 1, "header of"},
		{"a short header", 8, 1, "ends"},
		{"VLIW", 13, 2, "2 operations"},
		{"no line range", 16, 0, "line range 0"},
		{"no opcodes", 17, 0, "opcode base 0"},
		{"an unknown form", 32, 0x7e, "form 0x7e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := append([]byte(nil), table.Data...)
			b[c.at] = c.v
			bad := &Object{Name: "bad", Sections: []Section{{Name: ".debug_line", Data: b, Offset: 1000}, strs}}
			err := bad.LineError()
			var e *Error
			if !errors.As(err, &e) || e.Reason != BadDebug || e.Offset < 1000 || e.Name != "bad" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if _, _, _, ok := bad.Line(kernelOf(t, o, "hash").Entry); ok {
				t.Error("a line from a broken table")
			}
		})
	}
}
