package inspect

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// The JSON document: sizes in bytes, addresses as numbers.
type document struct {
	File        string          `json:"file"`
	Version     int             `json:"code_object_version"`
	Target      string          `json:"target"`
	Generic     uint8           `json:"generic_version,omitempty"`
	Relocatable bool            `json:"relocatable"`
	Metadata    *metadata       `json:"metadata"`
	Warnings    []warning       `json:"warnings,omitempty"`
	Kernels     []kernel        `json:"kernels"`
	Segments    []segment       `json:"segments"`
	Relocations []relocation    `json:"relocations,omitempty"`
	Symbols     []symbol        `json:"symbols"`
	Sections    []sectionHeader `json:"sections"`
}

type metadata struct {
	Version [2]int   `json:"version"`
	Target  string   `json:"target,omitempty"`
	Printf  []string `json:"printf,omitempty"`
}

type warning struct {
	Reason string `json:"reason"`
	Offset uint64 `json:"offset"`
	Detail string `json:"detail"`
}

type segment struct {
	Address     uint64 `json:"address"`
	MemoryBytes uint64 `json:"memory_bytes"`
	FileBytes   int    `json:"file_bytes"`
	Offset      uint64 `json:"offset"`
	Align       uint64 `json:"align"`
	Flags       string `json:"flags"`
}

type relocation struct {
	Section string `json:"section,omitempty"`
	Offset  uint64 `json:"offset"`
	Type    string `json:"type"`
	Symbol  string `json:"symbol,omitempty"`
	Addend  int64  `json:"addend"`
}

type symbol struct {
	Name    string `json:"name"`
	Value   uint64 `json:"value"`
	Bytes   uint64 `json:"bytes"`
	Type    string `json:"type"`
	Bind    string `json:"bind"`
	Section int    `json:"section"`
}

type sectionHeader struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Address uint64 `json:"address"`
	Offset  uint64 `json:"offset"`
	Bytes   uint64 `json:"bytes"`
}

type kernel struct {
	Name                 string           `json:"name"`
	Entry                uint64           `json:"entry"`
	CodeBytes            int              `json:"code_bytes"`
	Descriptor           uint64           `json:"descriptor"`
	WavefrontSize        int              `json:"wavefront_size"`
	WGPMode              bool             `json:"wgp_mode"`
	LDSBytes             uint32           `json:"lds_bytes"`
	ScratchBytes         uint32           `json:"scratch_bytes"`
	DynamicStack         bool             `json:"dynamic_stack"`
	KernargBytes         uint32           `json:"kernarg_bytes"`
	VGPRsAllocated       int              `json:"vgprs_allocated"`
	SharedVGPRs          int              `json:"shared_vgprs,omitempty"`
	FloatMode            uint8            `json:"float_mode"`
	IEEEMode             bool             `json:"ieee_mode"`
	DX10Clamp            bool             `json:"dx10_clamp"`
	UserSGPRCount        int              `json:"user_sgpr_count"`
	UserSGPRs            []hsaco.UserSGPR `json:"user_sgprs"`
	WorkgroupIDs         [3]bool          `json:"workgroup_ids"`
	WorkitemIDs          int              `json:"workitem_ids"`
	Rsrc                 [3]uint32        `json:"compute_pgm_rsrc"`
	Properties           uint16           `json:"kernel_code_properties"`
	FromMetadata         bool             `json:"from_metadata"` // what follows is known
	KernargAlign         uint32           `json:"kernarg_align,omitempty"`
	VGPRs                int              `json:"vgprs,omitempty"`
	SGPRs                int              `json:"sgprs,omitempty"`
	VGPRSpills           int              `json:"vgpr_spills,omitempty"`
	SGPRSpills           int              `json:"sgpr_spills,omitempty"`
	MaxFlatWorkgroupSize uint32           `json:"max_flat_workgroup_size,omitempty"`
	ReqdWorkgroupSize    *[3]uint32       `json:"reqd_workgroup_size,omitempty"`
	Args                 []hsaco.Arg      `json:"args,omitempty"`
}

// JSON writes all that is known of an object but its bytes. The error is w's.
func JSON(w io.Writer, o *hsaco.Object) error {
	d := document{
		File: o.Name, Version: o.Version, Target: o.Target.String(), Generic: o.Target.Generic, Relocatable: o.Relocatable,
		Kernels: []kernel{}, Segments: []segment{}, Symbols: []symbol{}, Sections: []sectionHeader{},
	}
	if md := o.Metadata; md != nil {
		d.Metadata = &metadata{Version: md.Version, Target: md.Target, Printf: md.Printf}
	}
	for _, e := range o.Warnings {
		d.Warnings = append(d.Warnings, warning{e.Reason.String(), e.Offset, e.Detail})
	}
	for i := range o.Kernels {
		d.Kernels = append(d.Kernels, describe(&o.Kernels[i]))
	}
	for _, s := range o.Segments {
		d.Segments = append(d.Segments, segment{s.Vaddr, s.MemBytes, len(s.Data), s.Offset, s.Align, access(s.Flags)})
	}
	for _, r := range o.Relocs {
		d.Relocations = append(d.Relocations, relocation{r.Section, r.Offset, r.Type.String(), r.Symbol, r.Addend})
	}
	for _, s := range o.Symbols {
		if s.Name != "" {
			d.Symbols = append(d.Symbols, symbol{
				s.Name, s.Value, s.Size, strings.TrimPrefix(s.Type.String(), "STT_"), strings.TrimPrefix(s.Bind.String(), "STB_"), int(s.Section),
			})
		}
	}
	for _, s := range o.Sections {
		d.Sections = append(d.Sections, sectionHeader{s.Name, s.Type.String(), s.Addr, s.Offset, s.Size})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

func describe(k *hsaco.Kernel) kernel {
	d := &k.Descriptor
	out := kernel{
		Name: k.Name, Entry: k.Entry, CodeBytes: len(k.Code), Descriptor: k.Addr,
		WavefrontSize: d.WavefrontSize(), WGPMode: d.WGPMode(), LDSBytes: d.LDSBytes, ScratchBytes: d.ScratchBytes,
		DynamicStack: d.DynamicStack(), KernargBytes: d.KernargBytes, VGPRsAllocated: d.VGPRs(), SharedVGPRs: d.SharedVGPRs(),
		FloatMode: d.FloatMode(), IEEEMode: d.IEEEMode(), DX10Clamp: d.DX10Clamp(),
		UserSGPRCount: d.UserSGPRCount(), UserSGPRs: d.UserSGPRs(), WorkgroupIDs: d.WorkgroupIDs(), WorkitemIDs: d.WorkitemIDs(),
		Rsrc: [3]uint32{d.Rsrc1, d.Rsrc2, d.Rsrc3}, Properties: d.Properties,
	}
	if m := k.Meta; m != nil {
		out.FromMetadata = true
		out.KernargAlign, out.VGPRs, out.SGPRs = m.KernargAlign, m.VGPRs, m.SGPRs
		out.VGPRSpills, out.SGPRSpills, out.MaxFlatWorkgroupSize = m.VGPRSpills, m.SGPRSpills, m.MaxFlatWorkgroupSize
		if m.ReqdWorkgroupSize != [3]uint32{} {
			out.ReqdWorkgroupSize = &m.ReqdWorkgroupSize
		}
		out.Args = m.Args
	}
	return out
}
