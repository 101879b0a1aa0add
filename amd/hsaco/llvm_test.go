package hsaco

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// TestAgreesWithLLVM compares everything that is read from an object with what
// LLVM's tools print.
func TestAgreesWithLLVM(t *testing.T) {
	needLLVM(t)
	for _, b := range append(slices.Clone(committed), more...) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := b.compile(t, t.TempDir())
			o, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			readelf := tool(t, "llvm-readelf-22", "-W", "-h", "-S", "-l", "-r", "--symbols", "--dyn-syms", "--notes", path)
			compareTarget(t, o, readelf)
			compareMetadata(t, o, mustRead(t, path), readelf)
			compareSymbols(t, o, readelf)
			compareSegments(t, o, readelf)
			compareRelocs(t, o, readelf)
			compareDescriptors(t, o, path)
			compareLines(t, o, path, strings.Contains(readelf, ".debug_line "))
		})
	}
}

func compareTarget(t *testing.T, o *Object, header string) {
	t.Helper()
	_, flags, _ := strings.Cut(header, "Flags:")
	flags, _, _ = strings.Cut(flags, "\n")
	want := strings.Split(strings.TrimSpace(flags), ", ")[1:]
	got := []string{o.Target.Processor}
	if o.Target.Generic != 0 {
		got = append(got, fmt.Sprintf("generic_v%d", o.Target.Generic))
	}
	if !slices.Equal(got, want) {
		t.Errorf("target %v, llvm-readelf %v", got, want)
	}
	if abi := fmt.Sprintf("ABI Version:%*d\n", 24, o.Version-2); !strings.Contains(header, abi) {
		t.Errorf("version %d, llvm-readelf\n%s", o.Version, header)
	}
}

// flattenYAML reads what LLVM prints of metadata: maps and lists by indentation,
// one scalar a line. The result maps paths such as amdhsa.kernels/0/.name to
// their text.
func flattenYAML(text string) map[string]string {
	out := make(map[string]string)
	type level struct {
		indent int
		path   string
		next   int // element of a list
	}
	stack := []level{{indent: -1}}
	for _, line := range strings.Split(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		body := strings.TrimSpace(line)
		for body != "" {
			for stack[len(stack)-1].indent > indent || stack[len(stack)-1].indent == indent && !strings.HasPrefix(stack[len(stack)-1].path, "list:") {
				stack = stack[:len(stack)-1]
			}
			if rest, ok := strings.CutPrefix(body, "- "); ok {
				top := &stack[len(stack)-1]
				if top.indent != indent || !strings.HasPrefix(top.path, "list:") {
					stack = append(stack, level{indent: indent, path: "list:" + strings.TrimPrefix(top.path, "list:")})
					top = &stack[len(stack)-1]
				}
				item := strings.TrimPrefix(top.path, "list:") + strconv.Itoa(top.next) + "/"
				top.next++
				indent += 2
				stack = append(stack, level{indent: indent - 1, path: item})
				body = strings.TrimSpace(rest)
				if !strings.Contains(body, ": ") && !strings.HasSuffix(body, ":") {
					out[strings.TrimSuffix(item, "/")] = scalarYAML(body)
					body = ""
				}
				continue
			}
			key, val, _ := strings.Cut(body, ":")
			path := strings.TrimPrefix(stack[len(stack)-1].path, "list:") + key
			if val = strings.TrimSpace(val); val == "" {
				stack = append(stack, level{indent: indent, path: path + "/"})
			} else if val != "[]" && val != "{}" {
				out[path] = scalarYAML(val)
			}
			body = ""
		}
	}
	return out
}

func scalarYAML(s string) string {
	if u, ok := strings.CutPrefix(s, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(u, "'"), "''", "'")
	}
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return s
}

// flatten does the same to decoded metadata.
func flatten(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case dict:
		for key, e := range v {
			flatten(out, path+key+"/", e)
		}
	case []any:
		for i, e := range v {
			flatten(out, fmt.Sprint(path, i, "/"), e)
		}
	default:
		out[strings.TrimSuffix(path, "/")] = fmt.Sprint(v)
	}
}

func compareMetadata(t *testing.T, o *Object, b []byte, readelf string) {
	t.Helper()
	_, notes, ok := strings.Cut(readelf, "---\n")
	if !ok {
		t.Fatal("llvm-readelf prints no metadata")
	}
	notes, _, _ = strings.Cut(notes, "\n...")
	want := flattenYAML(notes)

	f := &file{b: b}
	if err := f.readSections(); err != nil {
		t.Fatal(err)
	}
	desc, at, err := f.metadataNote()
	if err != nil {
		t.Fatal(err)
	}
	root, err := msgpack(desc, at)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	flatten(got, "", root)
	if len(want) < 10 {
		t.Fatalf("only %d values in\n%s", len(want), notes)
	}
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s = %q, llvm-readelf %q", key, got[key], w)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s = %q, which llvm-readelf does not print", key, got[key])
		}
	}
	compareFields(t, o, want)
}

// compareFields compares the fields of Metadata and KernelMeta with the flattened text.
func compareFields(t *testing.T, o *Object, want map[string]string) {
	t.Helper()
	seen := make(map[string]bool)
	check := func(key string, got any) {
		t.Helper()
		seen[key] = true
		w, present := want[key]
		g := fmt.Sprint(got)
		if !present && (g == "" || g == "0" || g == "false") {
			return
		}
		if n, err := strconv.ParseBool(w); err == nil && (g == "true" || g == "false") {
			w = fmt.Sprint(n) // some flags are 0 and 1
		}
		if g != w {
			t.Errorf("%s: field %q, llvm-readelf %q", key, g, w)
		}
	}
	check("amdhsa.target", o.Metadata.Target)
	check("amdhsa.version/0", o.Metadata.Version[0])
	check("amdhsa.version/1", o.Metadata.Version[1])
	for i, s := range o.Metadata.Printf {
		check(fmt.Sprintf("amdhsa.printf/%d", i), s)
	}
	for i := range 64 {
		at := fmt.Sprintf("amdhsa.kernels/%d/", i)
		name, ok := want[at+".name"]
		if !ok {
			break
		}
		k, ok := o.Kernel(name)
		if !ok || k.Meta == nil {
			t.Errorf("kernel %q is not there, or has no metadata", name)
			continue
		}
		m := k.Meta
		check(at+".name", m.Name)
		check(at+".symbol", m.Symbol)
		check(at+".language", m.Language)
		check(at+".kind", m.Kind)
		check(at+".kernarg_segment_size", m.KernargBytes)
		check(at+".kernarg_segment_align", m.KernargAlign)
		check(at+".group_segment_fixed_size", m.LDSBytes)
		check(at+".private_segment_fixed_size", m.ScratchBytes)
		check(at+".wavefront_size", m.WavefrontSize)
		check(at+".sgpr_count", m.SGPRs)
		check(at+".vgpr_count", m.VGPRs)
		check(at+".sgpr_spill_count", m.SGPRSpills)
		check(at+".vgpr_spill_count", m.VGPRSpills)
		check(at+".max_flat_workgroup_size", m.MaxFlatWorkgroupSize)
		check(at+".uses_dynamic_stack", m.DynamicStack)
		check(at+".uniform_work_group_size", m.UniformWorkgroupSize)
		if m.WGPMode != nil {
			check(at+".workgroup_processor_mode", *m.WGPMode)
		}
		for j, v := range m.ReqdWorkgroupSize {
			check(fmt.Sprintf("%s.reqd_workgroup_size/%d", at, j), v)
		}
		for j, v := range m.LanguageVersion {
			check(fmt.Sprintf("%s.language_version/%d", at, j), v)
		}
		for j, a := range m.Args {
			at := fmt.Sprintf("%s.args/%d/", at, j)
			check(at+".name", a.Name)
			check(at+".type_name", a.TypeName)
			check(at+".offset", a.Offset)
			check(at+".size", a.Bytes)
			check(at+".value_kind", a.ValueKind)
			check(at+".address_space", a.AddressSpace)
			check(at+".access", a.Access)
			check(at+".actual_access", a.ActualAccess)
			check(at+".pointee_align", a.PointeeAlign)
			check(at+".is_const", a.Const)
			check(at+".is_restrict", a.Restrict)
			check(at+".is_volatile", a.Volatile)
		}
	}
	for key := range want {
		if !seen[key] {
			t.Errorf("no field holds %s = %q", key, want[key])
		}
	}
}

// directives gives a descriptor as llvm-objdump does, by the names of the
// assembler's directives without .amdhsa_.
func directives(d *Descriptor) map[string]int {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	ids := d.WorkgroupIDs()
	m := map[string]int{
		"group_segment_fixed_size": int(d.LDSBytes), "private_segment_fixed_size": int(d.ScratchBytes), "kernarg_size": int(d.KernargBytes),
		"shared_vgpr_count": d.SharedVGPRs() / 8, "inst_pref_size": d.InstPrefBytes() / 128,
		"next_free_vgpr": d.VGPRs(), "next_free_sgpr": 8 * (d.GranulatedSGPRs() + 1),
		"float_round_mode_32": int(d.Round32()), "float_round_mode_16_64": int(d.Round16And64()),
		"float_denorm_mode_32": int(d.Denorm32()), "float_denorm_mode_16_64": int(d.Denorm16And64()),
		"dx10_clamp": flag(d.DX10Clamp()), "ieee_mode": flag(d.IEEEMode()), "fp16_overflow": flag(d.FP16Overflow()),
		"workgroup_processor_mode": flag(d.WGPMode()), "memory_ordered": flag(d.MemOrdered()), "forward_progress": flag(d.ForwardProgress()),
		"enable_private_segment":        flag(d.UsesScratch()),
		"system_sgpr_workgroup_id_x":    flag(ids[0]),
		"system_sgpr_workgroup_id_y":    flag(ids[1]),
		"system_sgpr_workgroup_id_z":    flag(ids[2]),
		"system_sgpr_workgroup_info":    flag(d.WorkgroupInfo()),
		"system_vgpr_workitem_id":       d.WorkitemIDs() - 1,
		"wavefront_size32":              flag(d.WavefrontSize() == 32),
		"uses_dynamic_stack":            flag(d.DynamicStack()),
		"user_sgpr_dispatch_ptr":        0,
		"user_sgpr_queue_ptr":           0,
		"user_sgpr_kernarg_segment_ptr": 0, "user_sgpr_dispatch_id": 0, "user_sgpr_private_segment_size": 0,
	}
	for i, name := range []string{
		"fp_ieee_invalid_op", "fp_denorm_src", "fp_ieee_div_zero", "fp_ieee_overflow", "fp_ieee_underflow", "fp_ieee_inexact", "int_div_zero",
	} {
		m["exception_"+name] = int(d.Exceptions() >> i & 1)
	}
	for _, u := range d.UserSGPRs() {
		m["user_sgpr_"+u.Name] = 1
	}
	return m
}

func compareDescriptors(t *testing.T, o *Object, path string) {
	t.Helper()
	ignored := []string{"reserve_vcc", "reserve_xnack_mask"} // always 0: not in the descriptor
	var names []string
	for i := range o.Kernels {
		names = append(names, o.Kernels[i].Name+".kd")
	}
	listing := tool(t, "llvm-objdump-22", "-D", "--disassemble-symbols="+strings.Join(names, ","), path)
	for i := range o.Kernels {
		k := &o.Kernels[i]
		_, text, _ := strings.Cut(listing, "\n.amdhsa_kernel "+k.Name+"\n")
		text, _, ok := strings.Cut(text, "\n.end_amdhsa_kernel")
		matches := directive.FindAllStringSubmatch(text, -1)
		if !ok || len(matches) < 20 {
			t.Errorf("kernel %s: llvm-objdump prints\n%s", k.Name, listing)
		}
		got := directives(&k.Descriptor)
		for _, m := range matches {
			g, ok := got[m[1]]
			if !ok && slices.Contains(ignored, m[1]) {
				continue
			}
			if want, _ := strconv.Atoi(m[2]); !ok || g != want {
				t.Errorf("kernel %s: %s %d, llvm-objdump %d", k.Name, m[1], g, want)
			}
		}
	}
}

var directive = regexp.MustCompile(`(?m)^\t\.amdhsa_(\w+) (-?\d+)$`)

var symbolLine = regexp.MustCompile(`^ *\d+: [0-9a-f]{16} `)

func compareSymbols(t *testing.T, o *Object, readelf string) {
	t.Helper()
	for section, syms := range map[string][]Symbol{".dynsym": o.Dynamic, ".symtab": o.Symbols} {
		_, text, ok := strings.Cut(readelf, "'"+section+"' contains")
		if !ok {
			if len(syms) != 0 {
				t.Errorf("%d symbols, llvm-readelf prints no %s", len(syms), section)
			}
			continue
		}
		n := 0
		for _, line := range strings.Split(text, "\n")[2:] {
			if !symbolLine.MatchString(line) {
				break
			}
			f := strings.Fields(line)
			if n >= len(syms) {
				t.Fatalf("%s: more symbols than %d", section, n)
			}
			s := syms[n]
			n++
			name := ""
			if len(f) > 7 {
				name = f[7]
			}
			index := strconv.Itoa(int(s.Section))
			switch {
			case s.Section == elf.SHN_UNDEF:
				index = "UND"
			case s.Section == elf.SHN_ABS:
				index = "ABS"
			case s.Section >= elf.SHN_LORESERVE:
				index = f[6]
			}
			own := s.Name
			if s.Type == elf.STT_SECTION && own == "" {
				own = o.Sections[s.Section].Name
			}
			got := []string{
				fmt.Sprintf("%016x", s.Value), strconv.FormatUint(s.Size, 10), strings.TrimPrefix(s.Type.String(), "STT_"),
				strings.TrimPrefix(s.Bind.String(), "STB_"), strings.TrimPrefix(s.Vis.String(), "STV_"), index, own,
			}
			if want := append(slices.Clone(f[1:7]), name); !slices.Equal(got, want) {
				t.Errorf("%s %d: %q, llvm-readelf %q", section, n-1, got, want)
			}
		}
		if n != len(syms) {
			t.Errorf("%s: %d symbols, llvm-readelf %d", section, len(syms), n)
		}
	}
}

func compareSegments(t *testing.T, o *Object, readelf string) {
	t.Helper()
	var got, want []string
	for _, s := range o.Segments {
		got = append(got, fmt.Sprintf("0x%06x 0x%016x 0x%06x 0x%06x %d 0x%x", s.Offset, s.Vaddr, len(s.Data), s.MemBytes, s.Flags, s.Align))
	}
	for _, line := range strings.Split(readelf, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "LOAD" {
			continue
		}
		flags := 0
		for _, c := range strings.Join(f[6:len(f)-1], "") {
			flags |= map[rune]int{'R': 4, 'W': 2, 'E': 1}[c]
		}
		want = append(want, fmt.Sprintf("%s %s %s %s %d %s", f[1], f[2], f[4], f[5], flags, f[len(f)-1]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("segments\n%q, llvm-readelf\n%q", got, want)
	}
}

func compareRelocs(t *testing.T, o *Object, readelf string) {
	t.Helper()
	var got, want []string
	for _, r := range o.Relocs {
		got = append(got, fmt.Sprintf("%016x %v %s %d", r.Offset, r.Type, r.Symbol, r.Addend))
	}
	for _, line := range strings.Split(readelf, "\n") {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[2], "R_AMDGPU_") {
			continue
		}
		symbol, addend := "", f[3] // without a symbol there is the addend alone
		if len(f) == 7 {
			symbol, addend = f[4], f[5]+f[6]
		}
		n, err := strconv.ParseInt(addend, 16, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		want = append(want, fmt.Sprintf("%s %s %s %d", f[0], f[2], symbol, n))
	}
	sort.Strings(got)
	sort.Strings(want)
	if !slices.Equal(got, want) {
		t.Errorf("relocations\n%q, llvm-readelf\n%q", got, want)
	}
}

var noLine = regexp.MustCompile(`:0:\d+$`)

// compareLines asks llvm-symbolizer about every instruction word.
func compareLines(t *testing.T, o *Object, path string, debug bool) {
	t.Helper()
	if err := o.LineError(); err != nil {
		t.Error(err)
	}
	if o.Relocatable {
		return
	}
	var pcs []string
	for i := range o.Kernels {
		k := &o.Kernels[i]
		for at := range len(k.Code) / 4 {
			pcs = append(pcs, fmt.Sprintf("%#x", k.Entry+4*uint64(at)))
		}
	}
	cmd := exec.Command("llvm-symbolizer-22", "--obj="+path, "--no-inlines", "--functions=none")
	cmd.Stdin = strings.NewReader(strings.Join(pcs, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	answers := strings.Split(strings.TrimSpace(string(out)), "\n\n")
	for i, pc := range pcs {
		addr, _ := strconv.ParseUint(pc, 0, 64)
		got := "??:0:0"
		if file, line, col, ok := o.Line(addr); ok {
			known++
			got = fmt.Sprintf("%s:%d:%d", file, line, col)
		}
		want := strings.TrimSpace(answers[i])
		if noLine.MatchString(want) {
			want = "??:0:0" // line 0 means that nothing is known
		}
		if strings.HasPrefix(filepath.Base(path), "dwarf4") {
			// The compilation's directory is not in its line table.
			want = strings.TrimPrefix(want, "/src/")
		}
		if got != want {
			t.Errorf("%s: %s, llvm-symbolizer %s", pc, got, want)
		}
	}
	if debug != (known > 0) {
		t.Errorf("lines for %d of %d words, line table: %v", known, len(pcs), debug)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTargetsAreNamedAsLLVMNamesThem asks llvm-readelf about every value of
// EF_AMDGPU_MACH and every combination of the feature bits.
func TestTargetsAreNamedAsLLVMNamesThem(t *testing.T) {
	needLLVM(t)
	dir := t.TempDir()
	var paths []string
	var want []Target
	add := func(version int, flags uint32) {
		h := make([]byte, ehdrBytes)
		copy(h, "\x7fELF\x02\x01\x01\x40")
		h[elf.EI_ABIVERSION] = byte(version - 2)
		binary.LittleEndian.PutUint16(h[16:], uint16(elf.ET_DYN))
		binary.LittleEndian.PutUint16(h[18:], uint16(elf.EM_AMDGPU))
		binary.LittleEndian.PutUint32(h[20:], 1)
		binary.LittleEndian.PutUint32(h[48:], flags)
		for at, v := range map[int]uint16{52: 64, 54: 56, 58: 64} {
			binary.LittleEndian.PutUint16(h[at:], v)
		}
		path := filepath.Join(dir, fmt.Sprintf("v%d-%08x", version, flags))
		if err := os.WriteFile(path, h, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		want = append(want, parseTarget(flags, version))
	}
	for mach := range uint32(256) {
		add(6, mach)
	}
	for features := range uint32(16) {
		for version := 3; version <= 6; version++ {
			add(version, 0x3f|features<<8)
		}
	}
	add(6, 0x07000054)
	out := tool(t, "llvm-readelf-22", append([]string{"-h"}, paths...)...)
	lines := regexp.MustCompile(`(?m)^  Flags: +(.*)$`).FindAllStringSubmatch(out, -1)
	if len(lines) != len(want) {
		t.Fatalf("%d lines of flags for %d files", len(lines), len(want))
	}
	for i, l := range lines {
		words := strings.Split(l[1], ", ")[1:]
		got := []string{}
		if g := want[i]; machines[g.Mach] != "" {
			got = append(got, g.Processor)
		}
		for _, f := range []struct {
			name string
			set  Setting
		}{{"xnack", want[i].XNACK}, {"sramecc", want[i].SRAMECC}} {
			suffix, version3 := map[Setting]string{Any: "", On: "+", Off: "-"}[f.set], strings.Contains(paths[i], "v3-")
			switch {
			case version3 && f.set == On:
				got = append(got, f.name)
			case f.set != Unsupported:
				got = append(got, f.name+suffix)
			}
		}
		if want[i].Generic != 0 {
			got = append(got, fmt.Sprintf("generic_v%d", want[i].Generic))
		}
		sort.Strings(got)
		sort.Strings(words)
		if !slices.Equal(got, words) {
			t.Errorf("%s: %q, llvm-readelf %q", filepath.Base(paths[i]), got, words)
		}
	}
}
