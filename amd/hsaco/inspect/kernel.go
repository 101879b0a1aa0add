package inspect

import (
	"fmt"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

func (p *printer) kernel(o *hsaco.Object, k *hsaco.Kernel) {
	p.line("\nkernel %s", plain(k.Name))
	rows := [][]string{
		{"code", fmt.Sprintf("%d bytes at %#x in %s, descriptor at %#x", len(k.Code), k.Entry, plain(o.Sections[k.Section].Name), k.Addr)},
		{"waves", waves(k)},
		{"registers", registers(k)},
		{"memory", memory(k)},
		{"floats", floats(&k.Descriptor)},
		{"inputs", strings.Join(inputs(&k.Descriptor), ", ")},
	}
	if traps := exceptions(&k.Descriptor); traps != "" {
		rows = append(rows, []string{"traps", traps})
	}
	p.table("  ", rows)
	if k.Meta == nil {
		p.line("  no metadata: the arguments are not known")
		return
	}
	if len(k.Meta.Args) == 0 {
		p.line("  no arguments")
		return
	}
	p.line("  arguments")
	rows = [][]string{{"offset", "bytes", "kind", "space", "type", "name"}}
	for _, a := range k.Meta.Args {
		rows = append(rows, []string{
			fmt.Sprint(a.Offset), fmt.Sprint(a.Bytes), plain(a.ValueKind), orDash(a.AddressSpace),
			orDash(a.TypeName), orDash(a.Name) + qualifiers(&a),
		})
	}
	for _, row := range rows[1:] { // hidden arguments have neither space, type nor name
		for len(row) > 3 && row[len(row)-1] == "-" {
			row[len(row)-1] = ""
			row = row[:len(row)-1]
		}
	}
	p.table("    ", rows)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return plain(s)
}

// qualifiers is what else is said about an argument, in parentheses.
func qualifiers(a *hsaco.Arg) string {
	var words []string
	for _, q := range []struct {
		set  bool
		word string
	}{{a.Const, "const"}, {a.Restrict, "restrict"}, {a.Volatile, "volatile"}} {
		if q.set {
			words = append(words, q.word)
		}
	}
	if a.Access != "" {
		words = append(words, "declared "+plain(a.Access))
	}
	if a.ActualAccess != "" {
		words = append(words, plain(a.ActualAccess))
	}
	if a.PointeeAlign != 0 {
		words = append(words, fmt.Sprintf("aligned to %d", a.PointeeAlign))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func waves(k *hsaco.Kernel) string {
	d := &k.Descriptor
	s := fmt.Sprintf("wave%d, CU mode", d.WavefrontSize())
	if d.WGPMode() {
		s = fmt.Sprintf("wave%d, WGP mode", d.WavefrontSize())
	}
	if m := k.Meta; m != nil {
		if r := m.ReqdWorkgroupSize; r != [3]uint32{} {
			s += fmt.Sprintf(", workgroups of %d x %d x %d", r[0], r[1], r[2])
		}
		s += fmt.Sprintf(", at most %d work-items in a workgroup", m.MaxFlatWorkgroupSize)
		if m.Kind != "" {
			s += ", runs at " + plain(m.Kind)
		}
	}
	return s
}

func registers(k *hsaco.Kernel) string {
	d := &k.Descriptor
	s := fmt.Sprintf("%d VGPRs allocated", d.VGPRs())
	if m := k.Meta; m != nil {
		s = fmt.Sprintf("%d VGPRs (%d allocated), %d SGPRs, spilled %d VGPRs, %d SGPRs", m.VGPRs, d.VGPRs(), m.SGPRs, m.VGPRSpills, m.SGPRSpills)
	}
	if n := d.SharedVGPRs(); n > 0 {
		s += fmt.Sprintf(", %d shared by the halves of a wave", n)
	}
	return s
}

func memory(k *hsaco.Kernel) string {
	d := &k.Descriptor
	s := fmt.Sprintf("LDS %d bytes, scratch %d bytes a work-item", d.LDSBytes, d.ScratchBytes)
	if d.DynamicStack() {
		s += " and a dynamic stack"
	}
	s += fmt.Sprintf(", arguments %d bytes", d.KernargBytes)
	if m := k.Meta; m != nil {
		s += fmt.Sprintf(" aligned to %d", m.KernargAlign)
	}
	return s
}

func floats(d *hsaco.Descriptor) string {
	s := fmt.Sprintf("f32 rounds %v, denormals %v; f16 and f64 round %v, denormals %v",
		d.Round32(), d.Denorm32(), d.Round16And64(), d.Denorm16And64())
	for _, m := range []struct {
		set  bool
		word string
	}{{d.IEEEMode(), "IEEE mode"}, {d.DX10Clamp(), "DX10 clamp"}, {d.FP16Overflow(), "f16 overflow clamped"}} {
		if m.set {
			s += ", " + m.word
		}
	}
	return s
}

// inputs lists the registers that are set when a wave starts.
func inputs(d *hsaco.Descriptor) []string {
	var list []string
	for _, u := range d.UserSGPRs() {
		list = append(list, scalars(u.First, u.Count)+" "+u.Name)
	}
	next := d.UserSGPRCount()
	for i, enabled := range d.WorkgroupIDs() {
		if enabled {
			list = append(list, scalars(next, 1)+" workgroup_id_"+string("xyz"[i]))
			next++
		}
	}
	if d.WorkgroupInfo() {
		list = append(list, scalars(next, 1)+" workgroup_info")
	}
	return append(list, "v0 work-item id "+strings.Join(strings.Split("xyz"[:min(d.WorkitemIDs(), 3)], ""), ", "))
}

func scalars(first, count int) string {
	if count == 1 {
		return fmt.Sprintf("s%d", first)
	}
	return fmt.Sprintf("s[%d:%d]", first, first+count-1)
}

func exceptions(d *hsaco.Descriptor) string {
	var list []string
	for i, name := range []string{
		"invalid operation", "denormal source", "division by zero", "overflow", "underflow", "inexact", "integer division by zero",
	} {
		if d.Exceptions()>>i&1 == 1 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}
