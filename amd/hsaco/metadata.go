package hsaco

import (
	"debug/elf"
	"fmt"
	"math"
)

const (
	noteMetadata     = 32      // NT_AMDGPU_METADATA
	metadataBytesMax = 1 << 26 // of the note; large libraries have some MiB
)

// Metadata is what the note NT_AMDGPU_METADATA says about the whole object.
type Metadata struct {
	Version [2]int   // amdhsa.version, {1, 2} since code object version 5
	Target  string   // amdhsa.target, "amdgcn-amd-amdhsa--gfx1151"; empty before version 4
	Printf  []string // amdhsa.printf: one format string each
}

// KernelMeta is what the metadata says about a kernel. Sizes are in bytes.
type KernelMeta struct {
	Name, Symbol         string // Symbol is the descriptor's, Name + ".kd"
	Language             string
	LanguageVersion      []int
	KernargBytes         uint32
	KernargAlign         uint32
	LDSBytes             uint32 // static; dynamic LDS comes at launch
	ScratchBytes         uint32 // of one work-item; more at run time with a dynamic stack
	WavefrontSize        int
	SGPRs, VGPRs         int
	SGPRSpills           int
	VGPRSpills           int
	MaxFlatWorkgroupSize uint32
	ReqdWorkgroupSize    [3]uint32 // zeros if not required
	DynamicStack         bool
	WGPMode              *bool // nil before code object version 5
	UniformWorkgroupSize bool
	Kind                 string // "normal", "init" or "fini"; empty means normal
	Args                 []Arg  // in the order of the metadata, hidden ones last
}

// Arg is one kernel argument, or one hidden value that the runtime provides.
type Arg struct {
	Name         string `json:"name,omitempty"`
	TypeName     string `json:"type,omitempty"`
	Offset       uint32 `json:"offset"` // in the kernarg segment
	Bytes        uint32 `json:"bytes"`
	ValueKind    string `json:"value_kind"`              // by_value, global_buffer, hidden_block_count_x, ...
	AddressSpace string `json:"address_space,omitempty"` // of a pointer: global, constant, local, ...
	Access       string `json:"access,omitempty"`        // read_only, write_only, read_write
	ActualAccess string `json:"actual_access,omitempty"`
	PointeeAlign uint32 `json:"pointee_align,omitempty"` // of dynamic LDS
	Const        bool   `json:"const,omitempty"`
	Restrict     bool   `json:"restrict,omitempty"`
	Volatile     bool   `json:"volatile,omitempty"`
}

// metadataNote finds the note and returns its contents, or nil without one.
func (f *file) metadataNote() (desc []byte, at uint64, _ *Error) {
	for i := range f.sections {
		s := &f.sections[i]
		if s.Type != elf.SHT_NOTE {
			continue
		}
		b, pos := s.Data, uint64(0)
		for size := uint64(len(b)); pos < size; {
			where := s.Offset + pos
			if size-pos < 12 {
				return nil, 0, refuse(Truncated, where, "section %q: %d bytes for a note", s.Name, size-pos)
			}
			nameBytes, descBytes, typ := uint64(le.Uint32(b[pos:])), uint64(le.Uint32(b[pos+4:])), le.Uint32(b[pos+8:])
			nameAt := pos + 12
			descAt := nameAt + (nameBytes+3)&^3
			next := descAt + (descBytes+3)&^3
			if descAt+descBytes > size {
				return nil, 0, refuse(Truncated, where, "section %q: a note of %d + %d bytes, %d are left", s.Name, nameBytes, descBytes, size-pos-12)
			}
			if typ == noteMetadata && string(b[nameAt:nameAt+nameBytes]) == "AMDGPU\x00" {
				if desc != nil {
					return nil, 0, refuse(BadMetadata, where, "a second metadata note; the first is at %#x", at)
				}
				if descBytes > metadataBytesMax {
					return nil, 0, refuse(BadSize, where, "%d bytes of metadata, past the limit of %d", descBytes, metadataBytesMax)
				}
				desc, at = b[descAt:descAt+descBytes:descAt+descBytes], s.Offset+descAt
			}
			pos = next
		}
	}
	return desc, at, nil
}

// readMetadata decodes the note.
func readMetadata(desc []byte, at uint64) (*Metadata, []KernelMeta, *Error) {
	root, err := msgpack(desc, at)
	if err != nil {
		return nil, nil, err
	}
	m, ok := root.(dict)
	if !ok {
		return nil, nil, refuse(BadMetadata, at, "metadata is not a map")
	}
	g := getter{m: m, where: "metadata", at: at}
	md := &Metadata{Target: g.text("amdhsa.target"), Printf: g.texts("amdhsa.printf")}
	if v := g.numbers("amdhsa.version"); len(v) == 2 {
		md.Version = [2]int{int(v[0]), int(v[1])}
	} else {
		g.fail("amdhsa.version has %d numbers, want 2", len(v))
	}
	var kernels []KernelMeta
	for i, k := range g.dicts("amdhsa.kernels") {
		kernels = append(kernels, g.kernel(k, fmt.Sprintf("kernel %d", i)))
	}
	if g.err != nil {
		return nil, nil, g.err
	}
	return md, kernels, nil
}

// A getter takes values out of maps, and keeps the first error.
type getter struct {
	m     dict
	where string
	at    uint64
	err   *Error
}

func (g *getter) fail(format string, args ...any) {
	if g.err == nil {
		g.err = refuse(BadMetadata, g.at, "%s: %s", g.where, fmt.Sprintf(format, args...))
	}
}

// value returns m[key] as a T. A key that is absent gives the zero value.
func value[T any](g *getter, key string) T {
	v, present := g.m[key]
	t, ok := v.(T)
	if present && !ok {
		g.fail("%s is a %T, want a %T", key, v, t)
	}
	return t
}

func (g *getter) text(key string) string { return value[string](g, key) }

// flag returns a truth value. LLVM has written some of them as 0 and 1.
func (g *getter) flag(key string) bool {
	if n, ok := g.m[key].(int64); ok && (n == 0 || n == 1) {
		return n == 1
	}
	return value[bool](g, key)
}

func (g *getter) number(key string) uint32 {
	v := value[int64](g, key)
	if v < 0 || v > math.MaxUint32 {
		g.fail("%s is %d, want 0..%d", key, v, uint32(math.MaxUint32))
		return 0
	}
	return uint32(v)
}

// required is number, but for a key that must be there.
func (g *getter) required(key string) uint32 {
	if _, ok := g.m[key]; !ok {
		g.fail("%s is missing", key)
	}
	return g.number(key)
}

// count is required, of registers.
func (g *getter) count(key string) int {
	n := g.required(key)
	if n > math.MaxInt32 {
		g.fail("%s is %d", key, n)
		return 0
	}
	return int(n)
}

func elements[T any](g *getter, key string) []T {
	list := value[[]any](g, key)
	var out []T
	for i, v := range list {
		t, ok := v.(T)
		if !ok {
			g.fail("%s[%d] is a %T, want a %T", key, i, v, t)
			return nil
		}
		out = append(out, t)
	}
	return out
}

func (g *getter) texts(key string) []string { return elements[string](g, key) }
func (g *getter) dicts(key string) []dict   { return elements[dict](g, key) }

func (g *getter) numbers(key string) []uint32 {
	var out []uint32
	for i, v := range elements[int64](g, key) {
		if v < 0 || v > math.MaxInt32 {
			g.fail("%s[%d] is %d, want 0..%d", key, i, v, math.MaxInt32)
			return nil
		}
		out = append(out, uint32(v))
	}
	return out
}

// kernel reads the map of one kernel.
func (g *getter) kernel(m dict, where string) KernelMeta {
	k := getter{m: m, where: where, at: g.at, err: g.err}
	out := KernelMeta{Name: k.text(".name"), Symbol: k.text(".symbol")}
	if out.Name == "" || out.Symbol == "" {
		k.fail("no .name or no .symbol")
	}
	k.where = fmt.Sprintf("kernel %.256q", out.Name)
	out.Language, out.Kind = k.text(".language"), k.text(".kind")
	for _, v := range k.numbers(".language_version") {
		out.LanguageVersion = append(out.LanguageVersion, int(v))
	}
	out.KernargBytes, out.KernargAlign = k.required(".kernarg_segment_size"), k.required(".kernarg_segment_align")
	if a := out.KernargAlign; a == 0 || a&(a-1) != 0 {
		k.fail(".kernarg_segment_align is %d, want a power of two", a)
	}
	out.LDSBytes, out.ScratchBytes = k.required(".group_segment_fixed_size"), k.required(".private_segment_fixed_size")
	out.WavefrontSize, out.SGPRs, out.VGPRs = k.count(".wavefront_size"), k.count(".sgpr_count"), k.count(".vgpr_count")
	out.SGPRSpills, out.VGPRSpills = int(k.number(".sgpr_spill_count")), int(k.number(".vgpr_spill_count"))
	out.MaxFlatWorkgroupSize = k.required(".max_flat_workgroup_size")
	if size := k.numbers(".reqd_workgroup_size"); len(size) == 3 {
		out.ReqdWorkgroupSize = [3]uint32(size)
	} else if len(size) != 0 {
		k.fail(".reqd_workgroup_size has %d numbers, want 3", len(size))
	}
	out.DynamicStack, out.UniformWorkgroupSize = k.flag(".uses_dynamic_stack"), k.flag(".uniform_work_group_size")
	if _, ok := m[".workgroup_processor_mode"]; ok {
		wgp := k.flag(".workgroup_processor_mode")
		out.WGPMode = &wgp
	}
	for i, a := range k.dicts(".args") {
		out.Args = append(out.Args, k.arg(a, i, out.KernargBytes))
	}
	g.err = k.err
	return out
}

func (g *getter) arg(m dict, i int, kernargBytes uint32) Arg {
	a := getter{m: m, where: fmt.Sprintf("%s: argument %d", g.where, i), at: g.at, err: g.err}
	out := Arg{
		Name: a.text(".name"), TypeName: a.text(".type_name"),
		Offset: a.required(".offset"), Bytes: a.required(".size"), ValueKind: a.text(".value_kind"),
		AddressSpace: a.text(".address_space"), Access: a.text(".access"), ActualAccess: a.text(".actual_access"),
		PointeeAlign: a.number(".pointee_align"), Const: a.flag(".is_const"), Restrict: a.flag(".is_restrict"), Volatile: a.flag(".is_volatile"),
	}
	if out.ValueKind == "" {
		a.fail("no .value_kind")
	}
	if end := uint64(out.Offset) + uint64(out.Bytes); end > uint64(kernargBytes) {
		a.fail("%d bytes at offset %d end past the kernarg segment's %d", out.Bytes, out.Offset, kernargBytes)
	}
	g.err = a.err
	return out
}
