package emu

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Accesses that convert: MTBUF with the instruction's format, MUBUF with the
// descriptor's. Modelled are the formats whose components are equally wide.
// Declined, because documents leave open what happens: packed formats, loads of
// more components than there are, stores of fewer, 16-bit registers for 32-bit
// components, selected components other than x, y, z, w in order, and stores of
// values that memory cannot hold exactly, but for normalised ones.

// formatKind is how a component's bits are a number.
type formatKind uint8

const (
	unorm   formatKind = iota // from 0 to 1
	snorm                     // from -1 to 1
	uscaled                   // a float in the register
	sscaled
	uintFormat
	sintFormat
	floatFormat
)

// bufferFormat is the format of an element.
type bufferFormat struct {
	bits, components int
	kind             formatKind
}

// equalFormats lists the formats by the number of the first of each row.
var equalFormats = []struct {
	first            int
	bits, components int
	kinds            []formatKind
}{
	{1, 8, 1, allKinds[:6]},
	{7, 16, 1, allKinds},
	{14, 8, 2, allKinds[:6]},
	{20, 32, 1, allKinds[4:]},
	{23, 16, 2, allKinds},
	{42, 8, 4, allKinds[:6]},
	{48, 32, 2, allKinds[4:]},
	{51, 16, 4, allKinds},
	{58, 32, 3, allKinds[4:]},
	{61, 32, 4, allKinds[4:]},
}

var allKinds = []formatKind{unorm, snorm, uscaled, sscaled, uintFormat, sintFormat, floatFormat}

// formatOf is a format by its number; false if it is not modelled.
func formatOf(number uint32) (bufferFormat, bool) {
	for _, r := range equalFormats {
		if i := int(number) - r.first; i >= 0 && i < len(r.kinds) {
			return bufferFormat{r.bits, r.components, r.kinds[i]}, true
		}
	}
	return bufferFormat{}, false
}

// conversion is the format of an access and where its components are.
type conversion struct {
	bufferFormat
	count int  // of components in registers
	d16   bool // two to a register
}

const approximateConversion = "normalised values are rounded to the nearest even"

// parseFormatted reads "load_format_xy", "store_d16_hi_format_x".
func parseFormatted(name string) (m memOp, c conversion, ok bool) {
	verb, components, ok := strings.Cut(name, "format_")
	m, known := map[string]memOp{
		"load_": {kind: Load}, "load_d16_": {kind: Load, half: lowHalf}, "load_d16_hi_": {kind: Load, half: highHalf},
		"store_": {kind: Store}, "store_d16_": {kind: Store}, "store_d16_hi_": {kind: Store, half: highHalf},
	}[verb]
	m.dst, m.data, m.data2, m.addr = -1, -1, -1, -1
	return m, conversion{count: len(components), d16: strings.Contains(verb, "d16")}, ok && known
}

// of gives the conversion a format; false if it is declined.
func (c conversion) of(f bufferFormat, kind AccessKind) (*conversion, bool) {
	c.bufferFormat = f
	switch {
	case c.d16 && f.bits == 32, kind == Load && c.count > f.components, kind == Store && c.count != f.components:
		return nil, false
	case kind == Store && (f.kind == uscaled || f.kind == sscaled):
		return nil, false
	}
	return &c, true
}

// bytes is an element's size.
func (c *conversion) bytes() int { return c.bits / 8 * c.components }

// place is where component i is: a register after the first, and a shift.
func (c *conversion) place(i int, half regHalf) (register int, shift uint) {
	switch {
	case !c.d16:
		return i, 0
	case half == highHalf:
		return 0, 16
	}
	return i / 2, 16 * uint(i&1)
}

// load converts an element to registers. The half of a register that no
// component is for stays.
func (c *conversion) load(w *wave, m *memOp, lane int, src []byte) {
	for i := range c.count {
		v := c.fromMemory(readBits(src[i*c.bits/8:], c.bits))
		n, shift := c.place(i, m.half)
		r := &w.vgpr[m.dst+n][lane]
		if c.d16 {
			v = *r&^(0xffff<<shift) | v&0xffff<<shift
		}
		*r = v
	}
}

// store converts registers to an element.
func (c *conversion) store(w *wave, m *memOp, lane int, dst []byte) {
	for i := range c.count {
		n, shift := c.place(i, m.half)
		v := w.vgpr[m.data+n][lane] >> shift
		if c.d16 {
			v &= 0xffff
		}
		bits, ok := c.toMemory(v)
		if !ok {
			panic(&Unsupported{PC: w.at, Text: w.access.Inst.String() + " of a value that memory cannot hold exactly"})
		}
		switch c.bits {
		case 8:
			dst[i] = byte(bits)
		case 16:
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(bits))
		default:
			binary.LittleEndian.PutUint32(dst[4*i:], bits)
		}
	}
}

func readBits(p []byte, bits int) uint32 {
	switch bits {
	case 8:
		return uint32(p[0])
	case 16:
		return uint32(binary.LittleEndian.Uint16(p))
	}
	return binary.LittleEndian.Uint32(p)
}

// signExtended is a component as a signed number.
func (c *conversion) signExtended(v uint32) int32 {
	shift := 32 - uint(c.bits)
	return int32(v<<shift) >> shift
}

// fromMemory is what a register gets for a component.
func (c *conversion) fromMemory(v uint32) uint32 {
	switch c.kind {
	case unorm:
		return c.float(float64(v) / float64(uint32(1)<<c.bits-1))
	case snorm:
		return c.float(max(float64(c.signExtended(v))/float64(uint32(1)<<(c.bits-1)-1), -1))
	case uscaled:
		return c.float(float64(v))
	case sscaled:
		return c.float(float64(c.signExtended(v)))
	case sintFormat:
		return uint32(c.signExtended(v))
	case floatFormat:
		if c.bits == 16 && !c.d16 {
			return widen(v)
		}
	}
	return v
}

// float is a number as the register's float.
func (c *conversion) float(x float64) uint32 {
	if c.d16 {
		return half.round(floatMode{}, x)
	}
	return math.Float32bits(float32(x))
}

// toMemory is a component for what a register has; false if it does not fit.
func (c *conversion) toMemory(v uint32) (uint32, bool) {
	x := float64(f32(v))
	if c.d16 {
		x = half.number(v)
	}
	mask := ^uint32(0) >> (32 - uint(c.bits))
	switch c.kind {
	case unorm:
		return uint32(math.RoundToEven(clamp(x, 0) * float64(mask))), true
	case snorm:
		return uint32(int32(math.RoundToEven(clamp(x, -1)*float64(mask>>1)))) & mask, true
	case uintFormat:
		return v, v <= mask
	case sintFormat:
		if c.d16 {
			v = uint32(int32(int16(v)))
		}
		return v & mask, c.signExtended(v&mask) == int32(v)
	}
	if c.bits == 32 || c.d16 {
		return v, true
	}
	h := narrow(v)
	return h, widen(h) == v
}

// clamp is x from low to 1; 0 for a NaN.
func clamp(x, low float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, low), 1)
}

// addFormatted makes the handler of an operation that converts.
func addFormatted(h *handler, op *isa.Op, m memOp, c conversion) {
	h.fidelity.Approximate = approximateConversion
	h.prepare = func(in *inst) error {
		if err := prepareBuffer(in, m); err != nil {
			return err
		}
		p := in.aux.(*bufferOp)
		p.formatted, p.conversion = true, c
		if op.Format != isa.MTBUF {
			return nil // the format is the descriptor's
		}
		if f, ok := formatOf(uint32(in.Mods.Format)); ok {
			if p.convert, ok = c.of(f, m.kind); ok {
				p.bytes = p.convert.bytes()
				return nil
			}
		}
		return &Unsupported{PC: in.PC, Text: in.Inst.String()}
	}
}

// inFormat is a formatted operation with the descriptor's format.
func (p *bufferOp) inFormat(in *inst, d *descriptor) *memOp {
	if p.convert != nil {
		return &p.memOp
	}
	m := p.memOp
	if f, ok := formatOf(d.format); ok && d.selectsInOrder(p.conversion.count) {
		if m.convert, ok = p.conversion.of(f, m.kind); ok {
			m.bytes = m.convert.bytes()
			return &m
		}
	}
	panic(&Unsupported{PC: in.PC, Text: in.Inst.String() + " in a format that is not modelled"})
}
