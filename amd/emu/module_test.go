package emu

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// committed reads one of the objects that package hsaco's tests made.
func committed(t testing.TB, name string) *hsaco.Object {
	t.Helper()
	o, err := hsaco.Open("../hsaco/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func loaded(t testing.TB, o *hsaco.Object) *Module {
	t.Helper()
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPointersInALoadedObjectPointIntoIt(t *testing.T) {
	m := loaded(t, committed(t, "relocs.hsaco"))
	word := func(addr uint64) uint64 { return binary.LittleEndian.Uint64(m.bytes(addr, 8)) }
	table, _, ok := m.Symbol("table")
	pointers, _, ok2 := m.Symbol("pointers")
	relative, _, ok3 := m.Symbol("relative")
	if !ok || !ok2 || !ok3 {
		t.Fatal("a symbol is missing")
	}
	if a, b := word(pointers), word(pointers+8); a != table+4 || b != table+12 {
		t.Errorf("pointers to %#x and %#x, the table is at %#x", a, b, table)
	}
	if hidden := m.bytes(word(relative), 4); hidden == nil || binary.LittleEndian.Uint32(hidden) != 6 {
		t.Errorf("the relative pointer %#x does not point to 6", word(relative))
	}
}

func TestASegmentIsWritableOnlyIfItSaysSo(t *testing.T) {
	m := loaded(t, committed(t, "relocs.hsaco"))
	var writable, code int
	for _, b := range m.Buffers {
		if !b.ReadOnly {
			writable++
		}
		if strings.HasSuffix(b.Name, ": code") && b.ReadOnly {
			code++
		}
		if m.dev.space.Find(b.Addr, uint64(len(b.Data))) != b {
			t.Errorf("%s at %#x is not in the address space", b.Name, b.Addr)
		}
	}
	if writable == 0 || code != 1 {
		t.Errorf("%d writable segments, %d of code", writable, code)
	}
	if err := m.Unload(); err != nil {
		t.Error(err)
	}
	if len(m.dev.space.buffers) != 0 {
		t.Errorf("%d buffers are left", len(m.dev.space.buffers))
	}
}

func TestObjectsThatCannotBeLoadedAreRefused(t *testing.T) {
	for _, c := range []struct {
		fact   string
		change func(o *hsaco.Object)
		reason hsaco.Reason
	}{
		{"for another chip", func(o *hsaco.Object) { o.Target.Processor, o.Target.Mach = "gfx90a", 0x3f }, hsaco.OtherChip},
		{"not linked", func(o *hsaco.Object) { o.Relocatable = true }, hsaco.NotApplied},
		{"empty", func(o *hsaco.Object) { o.Segments = nil }, hsaco.BadSize},
		{"huge", func(o *hsaco.Object) { o.Segments[0].MemBytes = 1 << 40 }, hsaco.BadSize},
		{"of an impossible alignment", func(o *hsaco.Object) { o.Segments[0].Align = 12288 }, hsaco.BadSize},
		{"a symbol of another object", func(o *hsaco.Object) {
			o.Relocs = []hsaco.Reloc{{Offset: o.Segments[0].Vaddr, Type: hsaco.RelocAbs64, Symbol: "elsewhere"}}
		}, hsaco.NotApplied},
		{"a relocation of a compiler", func(o *hsaco.Object) {
			o.Relocs = []hsaco.Reloc{{Offset: o.Segments[0].Vaddr, Type: hsaco.RelocRel32Lo, Symbol: "table"}}
		}, hsaco.NotApplied},
		{"a relocation of nothing", func(o *hsaco.Object) {
			o.Relocs = []hsaco.Reloc{{Offset: 1 << 40, Type: hsaco.RelocRelative64}}
		}, hsaco.BadSize},
	} {
		t.Run(c.fact, func(t *testing.T) {
			o := committed(t, "relocs.hsaco")
			o.Segments = slices.Clone(o.Segments)
			c.change(o)
			d, err := New(Config{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Load(o)
			var e *LoadError
			if !errors.As(err, &e) || e.Reason != c.reason {
				t.Errorf("%v, want %v", err, c.reason)
			}
			if n := len(d.space.buffers); n != 0 {
				t.Errorf("%d buffers stay mapped", n)
			}
		})
	}
}

func TestChosenAddressesGoAroundBuffersThatHaveTheirOwn(t *testing.T) {
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := d.Alloc("first", 1, Placement{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := d.Alloc("own", 5000, Placement{Addr: first.Addr + 5*4096})
	if err != nil {
		t.Fatal(err)
	}
	before, err := d.Alloc("before", 100, Placement{})
	if err != nil || before.Addr > own.Addr {
		t.Fatalf("before at %#x, own at %#x: %v", before.Addr, own.Addr, err)
	}
	behind, err := d.Alloc("behind", 16384, Placement{})
	if err != nil || behind.Addr < own.Addr+5000+4096 {
		t.Fatalf("behind at %#x, own at %#x: %v", behind.Addr, own.Addr, err)
	}
}

func TestBuffersArePlacedApart(t *testing.T) {
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Alloc("a", 100, Placement{Align: 1 << 16, Offset: 24})
	if err != nil || a.Addr%(1<<16) != 24 {
		t.Fatalf("%+v, %v", a, err)
	}
	b, err := d.Alloc("b", 1, Placement{Guard: 1 << 20})
	if err != nil || b.Addr < a.Addr+100+1<<20 || b.Addr%256 != 0 {
		t.Fatalf("b at %#x after a at %#x, %v", b.Addr, a.Addr, err)
	}
	if d.space.Find(a.Addr+99, 1) != a || d.space.Find(a.Addr+99, 2) != nil || d.space.Find(a.Addr-1, 1) != nil {
		t.Error("the bytes around a are not apart from it")
	}
	for fact, p := range map[string]Placement{
		"over a":                    {Addr: a.Addr + 50},
		"around a":                  {Addr: a.Addr - 1},
		"past the end":              {Addr: 1 << 47},
		"an alignment of 3":         {Align: 3},
		"more than the whole space": {Guard: 1 << 60},
	} {
		if _, err := d.Alloc("c", 60, p); err == nil {
			t.Errorf("%s: allocated", fact)
		}
	}
	if _, err := d.Alloc("c", -1, Placement{}); err == nil {
		t.Error("a buffer of -1 bytes")
	}
	if err := d.Free(a); err != nil {
		t.Error(err)
	}
	if err := d.Free(a); err == nil {
		t.Error("a is freed twice")
	}
}
