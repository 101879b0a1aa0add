package hsaco

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func mustParse(t testing.TB, name string) *Object {
	t.Helper()
	o, err := Parse(name, load(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func kernelOf(t testing.TB, o *Object, name string) *Kernel {
	t.Helper()
	k, ok := o.Kernel(name)
	if !ok {
		t.Fatalf("%s has no kernel %s", o.Name, name)
	}
	return k
}

// TestCommittedObjects states facts that their sources say.
func TestCommittedObjects(t *testing.T) {
	o := mustParse(t, "args.hsaco")
	if o.Version != 6 || o.Target.String() != "gfx1151" || !o.Target.GFX11() || o.Relocatable || len(o.Kernels) != 4 || len(o.Warnings) != 0 {
		t.Errorf("version %d for %v, relocatable %v, %d kernels, warnings %v", o.Version, o.Target, o.Relocatable, len(o.Kernels), o.Warnings)
	}
	k := kernelOf(t, o, "many")
	d, m := &k.Descriptor, k.Meta
	if d.LDSBytes != 128*4 || m.ReqdWorkgroupSize != [3]uint32{64, 2, 1} || d.WavefrontSize() != 32 || !d.WGPMode() || d.WorkitemIDs() != 2 {
		t.Errorf("LDS %d, workgroup %v, wave%d, WGP %v, work-item ids %d", d.LDSBytes, m.ReqdWorkgroupSize, d.WavefrontSize(), d.WGPMode(), d.WorkitemIDs())
	}
	if got, want := m.Args[10], (Arg{TypeName: "pair", Offset: 80, Bytes: 24, ValueKind: "by_value"}); got != want {
		t.Errorf("argument 10: %+v, want %+v", got, want)
	}
	if text := o.Sections[k.Section]; text.Name != ".text" || !bytes.Equal(k.Code, text.Data[k.Entry-text.Addr:][:len(k.Code)]) || !bytes.HasSuffix(k.Code, sEndpgm) {
		t.Errorf("%d bytes of code in %s", len(k.Code), text.Name)
	}
	loaded, ok := o.At(k.Entry, uint64(len(k.Code)))
	if !ok || !bytes.Equal(loaded, k.Code) {
		t.Error("the segments do not load the code")
	}
	if _, ok := o.At(k.Entry, 1<<20); ok {
		t.Error("a segment has a megabyte of code")
	}
	if _, ok := o.Kernel("many.kd"); ok {
		t.Error("a kernel by its descriptor's name")
	}

	o = mustParse(t, "lines.hsaco")
	k = kernelOf(t, o, "hash")
	if k.Descriptor.WavefrontSize() != 64 || k.Descriptor.WGPMode() {
		t.Errorf("wave%d, WGP %v", k.Descriptor.WavefrontSize(), k.Descriptor.WGPMode())
	}
	var lines []int
	for at := range len(k.Code) / 4 {
		file, line, _, ok := o.Line(k.Entry + 4*uint64(at))
		if ok && file != "/src/lines.cpp" {
			t.Fatalf("a line of %s", file)
		}
		if ok && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if want := []int{13, 15, 7, 16, 17, 18}; !slices.Equal(lines, want) { // 7 is in the inlined function
		t.Errorf("lines %v, want %v", lines, want)
	}
	for _, pc := range []uint64{0, k.Entry - 1, k.Entry + uint64(len(k.Code)), ^uint64(0)} {
		if file, line, _, ok := o.Line(pc); ok {
			t.Errorf("%#x is %s:%d", pc, file, line)
		}
	}

	o = mustParse(t, "relocs.hsaco")
	if len(o.Relocs) != 3 || o.Relocs[0].Type != RelocRelative64 || len(o.Warnings) != 1 || o.Warnings[0].Reason != NotApplied {
		t.Errorf("relocations %v, warnings %v", o.Relocs, o.Warnings)
	}
	o = mustParse(t, "relocs.o")
	if !o.Relocatable || len(o.Segments) != 0 || len(o.Warnings) != 1 || len(kernelOf(t, o, "follow").Code) == 0 {
		t.Errorf("relocatable %v, segments %v, warnings %v", o.Relocatable, o.Segments, o.Warnings)
	}

	o = mustParse(t, "descriptor.hsaco")
	if bare := kernelOf(t, o, "bare"); bare.Meta != nil || len(o.Warnings) != 1 || o.Warnings[0].Reason != NoMetadata {
		t.Errorf("metadata %v, warnings %v", bare.Meta, o.Warnings)
	}
	want := []UserSGPR{
		{"dispatch_ptr", 0, 2}, {"queue_ptr", 2, 2}, {"kernarg_segment_ptr", 4, 2}, {"dispatch_id", 6, 2}, {"private_segment_size", 8, 1},
	}
	odd := kernelOf(t, o, "odd").Descriptor
	if got := odd.UserSGPRs(); !reflect.DeepEqual(got, want) {
		t.Errorf("user SGPRs %v, want %v", got, want)
	}
	// denormals: f32 keep results only, f64 keep inputs only; f32 rounds up, f64 down
	if odd.FloatMode() != 0b01_10_10_01 {
		t.Errorf("float mode %08b", odd.FloatMode())
	}
}

// sEndpgm is the instruction that ends a kernel.
var sEndpgm = []byte{0x00, 0x00, 0xb0, 0xbf}

// Version 3 is no longer written by LLVM 22: these are the facts of its header.
func TestVersion3(t *testing.T) {
	b := load(t, "relocs.hsaco")
	b[elf.EI_ABIVERSION] = 1
	o, err := Parse("v3", b)
	if err != nil || o.Version != 3 {
		t.Fatalf("version %d, %v", o.Version, err)
	}
	at := kernelOf(t, o, "follow").at
	binary.LittleEndian.PutUint32(b[at+8:], 0) // before LLVM 12 the size of the arguments was not written
	if _, err := Parse("v3", b); err != nil {
		t.Errorf("no size of the arguments: %v", err)
	}
	if got := parseTarget(0x3f|0x100|0x200, 3).String(); got != "gfx90a:sramecc+:xnack+" {
		t.Errorf("target %s", got)
	}
}

func TestStrippedObjectIsKnownByItsDescriptors(t *testing.T) {
	b := load(t, "args.hsaco")
	note := sectionOf(t, b, ".note")
	binary.LittleEndian.PutUint32(b[note.headerAt+4:], uint32(elf.SHT_PROGBITS))
	o, err := Parse("stripped", b)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Kernels) != 4 || o.Metadata != nil || len(o.Warnings) != 1 || o.Warnings[0].Reason != NoMetadata {
		t.Errorf("%d kernels, metadata %v, warnings %v", len(o.Kernels), o.Metadata, o.Warnings)
	}
}

func sectionOf(t testing.TB, b []byte, name string) Section {
	t.Helper()
	f := &file{b: b}
	if err := f.readSections(); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.sections {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no section %s", name)
	return Section{}
}

// symbolAt returns where the dynamic symbol's entry is in the file.
func symbolAt(t testing.TB, b []byte, name string) uint64 {
	t.Helper()
	o, err := Parse("", b)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range o.Dynamic {
		if s.Name == name {
			return s.at
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// A patch overwrites bytes at a place that it looks for.
type patch func(t *testing.T, b []byte) []byte

func put(size int, where func(*testing.T, []byte) uint64, v uint64) patch {
	return func(t *testing.T, b []byte) []byte {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], v)
		copy(b[where(t, b):], n[:size])
		return b
	}
}

func at(offset uint64) func(*testing.T, []byte) uint64 {
	return func(*testing.T, []byte) uint64 { return offset }
}

func header(section string, field uint64) func(*testing.T, []byte) uint64 {
	return func(t *testing.T, b []byte) uint64 { return sectionOf(t, b, section).headerAt + field }
}

func inside(section string, offset uint64) func(*testing.T, []byte) uint64 {
	return func(t *testing.T, b []byte) uint64 { return sectionOf(t, b, section).Offset + offset }
}

func symbol(name string, field uint64) func(*testing.T, []byte) uint64 {
	return func(t *testing.T, b []byte) uint64 { return symbolAt(t, b, name) + field }
}

func descriptor(kernel string, field uint64) func(*testing.T, []byte) uint64 {
	return func(t *testing.T, b []byte) uint64 {
		o, err := Parse("", b)
		if err != nil {
			t.Fatal(err)
		}
		return kernelOf(t, o, kernel).at + field
	}
}

// segment finds a field of the i-th program header.
func segment(i, field uint64) func(*testing.T, []byte) uint64 { return at(64 + 56*i + field) }

// replace swaps a text in the metadata for one of the same length.
func replace(old, replacement string) patch {
	return func(t *testing.T, b []byte) []byte {
		i := bytes.Index(b, []byte(old))
		if i < 0 || len(old) != len(replacement) {
			t.Fatalf("%q is not there, or %q is not as long", old, replacement)
		}
		copy(b[i:], replacement)
		return b
	}
}

// broken objects, what is wrong with each, and the numbers that the error must
// say. The segments of args.hsaco are program headers 1 to 3.
var broken = []struct {
	name   string
	file   string
	patch  patch
	reason Reason
	want   []string
}{
	{"no bytes", "args.hsaco", func(*testing.T, []byte) []byte { return nil }, NotELF, []string{`it starts with ""`}},
	{"part of the magic", "args.hsaco", func(_ *testing.T, b []byte) []byte { return b[:3] }, Truncated, []string{"3 bytes of the magic"}},
	{"a zip file", "args.hsaco", put(4, at(0), 0x04034b50), NotELF, []string{`it starts with "PK\x03\x04`}},
	{"an offload bundle", "args.hsaco", func(*testing.T, []byte) []byte { return []byte("__CLANG_OFFLOAD_BUNDLE__\x02") }, NotELF, []string{"offload bundle"}},
	{"half a header", "args.hsaco", func(_ *testing.T, b []byte) []byte { return b[:40] }, Truncated, []string{"40 bytes", "64"}},
	{"32 bits", "args.hsaco", put(1, at(4), 1), NotAMDGPU, []string{"ELFCLASS32"}},
	{"big-endian", "args.hsaco", put(1, at(5), 2), NotAMDGPU, []string{"ELFDATA2MSB"}},
	{"for x86-64", "args.hsaco", put(2, at(18), 62), NotAMDGPU, []string{"EM_X86_64", "EM_AMDGPU"}},
	{"for Mesa", "args.hsaco", put(1, at(7), 66), NotAMDGPU, []string{"66", "64"}},
	{"a core file", "args.hsaco", put(2, at(16), 4), NotAMDGPU, []string{"ET_CORE"}},
	{"code object version 2", "args.hsaco", put(1, at(8), 0), BadVersion, []string{"version 2", "3 to 6"}},
	{"code object version 7", "args.hsaco", put(1, at(8), 5), BadVersion, []string{"version 7"}},
	{"for an MI200", "args.hsaco", put(4, at(48), 0x53f), OtherChip, []string{"gfx90a"}},
	{"for a later chip", "args.hsaco", put(4, at(48), 0x4e), OtherChip, []string{"gfx1201"}},
	{"for an unknown chip", "args.hsaco", put(4, at(48), 0xff), OtherChip, []string{"machine 0xff"}},
	{"the metadata is for another gfx11", "args.hsaco", put(4, at(48), 0x41), Mismatch, []string{`"amdgcn-amd-amdhsa--gfx1151"`, `"amdgcn-amd-amdhsa--gfx1100"`}},

	{"section headers past the end", "args.hsaco", put(8, at(40), 1<<40), Truncated, []string{"0x10000000000", "10912"}},
	{"section headers at the end of numbers", "args.hsaco", put(8, at(40), 1<<64-1), Truncated, []string{"0xffffffffffffffff"}},
	{"too many section headers", "args.hsaco", put(2, at(60), 0xfeff), Truncated, []string{"65279"}},
	{"a number of sections in a section", "args.hsaco", put(2, at(60), 0), 0, nil}, // 0 sections: no kernels
	{"small section headers", "args.hsaco", put(2, at(58), 63), BadSize, []string{"63", "64"}},
	{"names in no section", "args.hsaco", put(2, at(62), 99), BadSize, []string{"section 99 of 15"}},
	{"a section without a name", "args.hsaco", put(4, header(".text", 0), 1<<31), BadSize, []string{"no name at 2147483648"}},
	{"a section past the end", "args.hsaco", put(8, header(".text", 32), 1<<20), Truncated, []string{"1048576 bytes from 0x1300"}},
	{"a section that wraps", "args.hsaco", put(8, header(".text", 24), 1<<64-16), Truncated, []string{"0xfffffffffffffff0"}},
	{"a section at the end of memory", "args.hsaco", put(8, header(".text", 16), 1<<63), BadSize, []string{"0x8000000000000000"}},
	{"a section of zeros larger than memory", "args.hsaco", put(8, header(".relro_padding", 32), 1<<62), BadSize, []string{"4611686018427387904"}},

	{"program headers past the end", "args.hsaco", put(8, at(32), 10900), Truncated, []string{"8 program header", "10912"}},
	{"a segment past the end", "args.hsaco", put(8, segment(1, 32), 1<<30), Truncated, []string{"segment 1", "1073741824"}},
	{"less memory than file", "args.hsaco", put(8, segment(2, 40), 5), BadSize, []string{"5 bytes in memory, 3328"}},
	{"segments that overlap", "args.hsaco", put(8, segment(2, 16), 0x1000), BadSize, []string{"0x1000", "0x12a0"}},
	{"memory without end", "args.hsaco", put(8, segment(3, 40), 1<<50), BadSize, []string{"1125899906842624"}},
	{"an odd alignment", "args.hsaco", put(8, segment(3, 48), 48), BadSize, []string{"alignment 48"}},

	{"symbols of 25 bytes", "args.hsaco", put(8, header(".dynsym", 56), 25), BadSize, []string{"25, want 24"}},
	{"half a symbol", "args.hsaco", put(8, header(".dynsym", 32), 100), BadSize, []string{"100 bytes of symbols"}},
	{"symbol names nowhere", "args.hsaco", put(4, header(".dynsym", 40), 1000), BadSize, []string{"section 1000 of 15"}},
	{"a symbol without a name", "args.hsaco", put(4, symbol("many", 0), 0xffffff), BadSize, []string{"no name at 16777215"}},
	{"a name without an end", "args.hsaco", put(8, header(".dynstr", 32), 40), BadSize, []string{"of the 40 bytes of names"}},
	{"two tables of symbols", "args.hsaco", put(4, header(".dynsym", 4), 2), BadSize, []string{"second symbol table"}},

	{"a descriptor of 63 bytes", "args.hsaco", put(8, symbol("many.kd", 16), 63), BadDescriptor, []string{`"many"`, "63 bytes, want 64"}},
	{"a descriptor outside its section", "args.hsaco", put(8, symbol("many.kd", 8), 0x1280), BadDescriptor, []string{"0x1280", ".rodata"}},
	{"a descriptor before its section", "args.hsaco", put(8, symbol("many.kd", 8), 0x1140), BadDescriptor, []string{"0x1140"}},
	{"a descriptor in no section", "args.hsaco", put(2, symbol("many.kd", 6), 77), BadDescriptor, []string{"section 77 of 15"}},
	{"a descriptor in memory only", "args.hsaco", put(2, symbol("many.kd", 6), 9), BadDescriptor, []string{".relro_padding"}},
	{"a crooked descriptor", "args.hsaco", put(8, symbol("many.kd", 8), 0x1184), BadDescriptor, []string{"0x1184", "aligned to 64"}},
	{"an entry before the text", "args.hsaco", put(8, descriptor("many", 16), 0), BadEntry, []string{"0x1180"}},
	{"an entry past the text", "args.hsaco", put(8, descriptor("many", 16), 1<<40), BadEntry, []string{"0x10000001180"}},
	{"an entry that wraps", "args.hsaco", put(8, descriptor("many", 16), 1<<64-0x2000), BadEntry, []string{"0xfffffffffffff180"}},
	{"a crooked entry", "args.hsaco", put(8, descriptor("many", 16), 0x1184), BadEntry, []string{"0x2304", "aligned to 256"}},
	{"an entry in text that is not loaded", "args.hsaco", put(4, segment(2, 4), 4), BadEntry, []string{"no executable segment"}},
	{"a function longer than the text", "args.hsaco", put(8, symtab("many", 16), 1<<20), BadEntry, []string{"1048576 bytes of code"}},
	{"a kernel without a function", "relocs.o", replace("follow\x00", "fallow\x00"), BadEntry, []string{"no function of that name"}},

	{"more LDS than there is", "args.hsaco", put(4, descriptor("many", 0), 65537), OverLimit, []string{"65537", "65536"}},
	{"more scratch than there is", "args.hsaco", put(4, descriptor("many", 4), 1<<18), OverLimit, []string{"262144 bytes of scratch in each of 32 lanes"}},
	{"more VGPRs than there are", "args.hsaco", put(1, descriptor("many", 48), 0xff), OverLimit, []string{"512 VGPRs", "256"}},
	{"shared VGPRs in a wave32", "args.hsaco", put(1, descriptor("many", 44), 1), OverLimit, []string{"8 shared VGPRs in a wave32"}},
	{"more with the shared VGPRs", "descriptor.hsaco", put(1, descriptor("odd", 48), 0x3f), OverLimit, []string{"256 VGPRs and 32 shared"}},
	{"17 user SGPRs", "descriptor.hsaco", put(1, descriptor("odd", 52), 17<<1|1), OverLimit, []string{"17 user SGPRs"}},
	{"inputs beyond the user SGPRs", "descriptor.hsaco", put(1, descriptor("odd", 52), 8<<1|1), BadDescriptor, []string{"private_segment_size in s8, of 8"}},
	{"more SGPRs than there are", "descriptor.hsaco", replace(".sgpr_count\x34", ".sgpr_count\x7f"), OverLimit, []string{"127 SGPRs", "108"}},

	{"another amount of LDS", "args.hsaco", put(4, descriptor("many", 0), 516), Mismatch, []string{"LDS", "512", "516"}},
	{"another amount of scratch", "args.hsaco", put(4, descriptor("scratch", 4), 160), Mismatch, []string{"164", "160"}},
	{"another size of arguments", "args.hsaco", put(4, descriptor("many", 8), 0), Mismatch, []string{"arguments", "108", "0"}},
	{"another wave size", "args.hsaco", put(1, descriptor("many", 57), 0), Mismatch, []string{"lanes", "32", "64"}},
	{"fewer VGPRs", "args.hsaco", put(1, descriptor("many", 48), 0xc0), Mismatch, []string{"VGPRs", "9", "8"}},
	{"CU mode in the descriptor", "args.hsaco", put(1, descriptor("many", 51), 0x40), Mismatch, []string{"WGP mode", "CU mode"}},
	{"a dynamic stack in the descriptor", "args.hsaco", put(1, descriptor("many", 57), 0x0c), Mismatch, []string{"dynamic stack", "false", "true"}},
	{"metadata for a kernel that is not there", "args.hsaco", replace("\xa9hidden.kd", "\xa9bidden.kd"), Mismatch, []string{`"bidden.kd"`}},

	{"a note past its section", "args.hsaco", put(4, inside(".note", 4), 1<<31), Truncated, []string{"2147483648"}},
	{"half a note", "args.hsaco", put(8, header(".note", 32), 6), Truncated, []string{"6 bytes for a note"}},
	{"metadata of another kind", "args.hsaco", put(1, inside(".note", 20), 0xc0), BadMetadata, nil},
	{"a list of four thousand million kernels", "args.hsaco", put(5, inside(".note", 20), 0xffffffffdd), Truncated, []string{"list of 4294967295 elements"}},
	{"no wave size", "args.hsaco", replace(".wavefront_size", ".wavefront_sizf"), BadMetadata, []string{".wavefront_size is missing"}},
	{"a size that is text", "args.hsaco", replace(".sgpr_count\x10", ".sgpr_count\xa0"), BadMetadata, []string{".sgpr_count is a string"}},
	{"a negative size", "args.hsaco", replace(".sgpr_count\x10", ".sgpr_count\xff"), BadMetadata, []string{".sgpr_count is -1"}},
	{"an argument past the segment", "args.hsaco", replace(".size\x18", ".size\x7f"), BadMetadata, []string{"127 bytes at offset 80", "108"}},

	{"relocations of 20 bytes", "relocs.hsaco", put(8, header(".rela.dyn", 56), 20), BadSize, []string{"20, want 24"}},
	{"a relocation of no symbol", "relocs.hsaco", put(4, inside(".rela.dyn", 12), 9), BadSize, []string{"symbol 9 of 3"}},
	{"a relocation past the segments", "relocs.hsaco", put(8, inside(".rela.dyn", 0), 0x38dc), BadSize, []string{"8 bytes at 0x38dc"}},
	{"a relocation between segments", "relocs.hsaco", put(8, inside(".rela.dyn", 0), 0x2000), BadSize, []string{"0x2000"}},
	{"a relocation past its section", "relocs.o", put(8, inside(".rela.text", 0), 1<<63), BadSize, []string{"0x8000000000000000"}},
	{"relocations for no section", "relocs.o", put(4, header(".rela.text", 44), 500), BadSize, []string{"section 500 of"}},
	{"relocations without addends", "relocs.o", put(4, header(".rela.text", 4), 9), BadSize, []string{"without addends"}},
}

// symtab finds a field of a symbol's entry in .symtab.
func symtab(name string, field uint64) func(*testing.T, []byte) uint64 {
	return func(t *testing.T, b []byte) uint64 {
		o, err := Parse("", b)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(o.Symbols, func(s Symbol) bool { return s.Name == name })
		return o.Symbols[i].at + field
	}
}

func TestBrokenObjectsAreRefused(t *testing.T) {
	for _, c := range broken {
		t.Run(c.name, func(t *testing.T) {
			b := c.patch(t, load(t, c.file))
			o, err := Parse("x.hsaco", b)
			if c.reason == 0 {
				if err != nil || len(o.Kernels) != 0 {
					t.Fatalf("%d kernels, %v", len(o.Kernels), err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Reason != c.reason || e.Name != "x.hsaco" {
				t.Errorf("reason %v of %q, want %v: %v", e.Reason, e.Name, c.reason, err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

// TestTruncatedObjects cuts the objects at every length. What lies before the
// end of the section headers, which come last, cannot be missed.
func TestTruncatedObjects(t *testing.T) {
	for _, c := range committed {
		b := load(t, c.name)
		for n := range b {
			_, err := Parse("cut", b[:n:n])
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%s cut to %d of %d bytes: error %v", c.name, n, len(b), err)
			}
			if n >= 4 && e.Reason != Truncated {
				t.Errorf("%s cut to %d of %d bytes: %v", c.name, n, len(b), err)
			}
		}
	}
}

// TestFlippedBytes inverts every byte in turn: an object may still be good, but
// reading it and its lines must not panic.
func TestFlippedBytes(t *testing.T) {
	for _, c := range committed {
		b := load(t, c.name)
		for i := range b {
			b[i] ^= 0xff
			exercise(b)
			b[i] ^= 0xff
		}
	}
}

// exercise reads b and everything that can be asked of it.
func exercise(b []byte) {
	o, err := Parse("fuzz", b)
	if err != nil {
		return
	}
	_ = o.LineError()
	for i := range o.Kernels {
		k := &o.Kernels[i]
		k.Descriptor.UserSGPRs()
		for at := 0; at < len(k.Code); at += 64 {
			o.Line(k.Entry + uint64(at))
		}
		o.At(k.Entry, uint64(len(k.Code)))
	}
}

// TestParseAllocatesInProportion reads an object with many symbols that are all
// functions with one long name.
func TestParseAllocatesInProportion(t *testing.T) {
	b := load(t, "args.hsaco")
	symtab, names := sectionOf(t, b, ".symtab"), sectionOf(t, b, ".strtab")
	put := binary.LittleEndian.PutUint64
	put(b[symtab.headerAt+24:], uint64(len(b)))
	const count = 1 << 18
	entry := make([]byte, symBytes)
	entry[4] = byte(elf.STT_FUNC)
	binary.LittleEndian.PutUint32(entry, 1)
	binary.LittleEndian.PutUint16(entry[6:], 1)
	for i := range uint64(count) {
		put(entry[8:], i) // each at another address
		b = append(b, entry...)
	}
	put(b[symtab.headerAt+32:], count*symBytes)
	put(b[names.headerAt+24:], uint64(len(b)))
	put(b[names.headerAt+32:], 60002)
	b = append(b, 0)
	b = append(b, bytes.Repeat([]byte("x"), 60000)...)
	b = append(b, 0)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o, err := Parse("many", b)
	runtime.ReadMemStats(&after)
	if err != nil || len(o.Symbols) != count || len(o.Symbols[9].Name) != 60000 {
		t.Fatalf("%d symbols, %v", len(o.Symbols), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16*uint64(len(b)) {
		t.Errorf("%d bytes allocated for a file of %d", got, len(b))
	} else {
		t.Logf("%.1f times the file", float64(got)/float64(len(b)))
	}
}
