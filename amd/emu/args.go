package emu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// LDSBytes is the argument for a parameter that points to dynamic LDS: how many
// bytes the kernel wants there.
type LDSBytes uint32

// Packed is a kernel's arguments as they lie in memory.
type Packed struct {
	Kernarg    []byte
	DynamicLDS uint32 // bytes that LDSBytes arguments take
	// Absent names the hidden arguments that the kernel has and the device does
	// not provide (printf and hostcall buffers, heaps, device queues): they are
	// null pointers, which a kernel that uses them follows.
	Absent []string
}

// Pack lays out a kernel's arguments as its metadata says, hidden ones
// included. values are those of the visible parameters in order:
//
//   - a *Buffer or a uint64 address for a pointer, nil for a null pointer;
//   - LDSBytes for a pointer to dynamic LDS;
//   - for a parameter by value, a number or an array of the same size, or
//     []byte.
//
// Errors: no metadata, values that do not fit the parameters.
func (k *Kernel) Pack(grid, workgroup [3]uint32, values ...any) (*Packed, error) {
	if k.Meta == nil {
		return nil, fmt.Errorf("emu: kernel %q has no metadata: pack its arguments by hand", k.Name)
	}
	for i := range 3 {
		grid[i], workgroup[i] = max(grid[i], 1), max(workgroup[i], 1)
	}
	p := &Packed{Kernarg: make([]byte, k.KernargBytes())}
	lds := k.Descriptor.LDSBytes
	for i := range k.Meta.Args {
		a := &k.Meta.Args[i]
		if uint64(a.Offset)+uint64(a.Bytes) > uint64(len(p.Kernarg)) {
			return nil, fmt.Errorf("emu: kernel %q: argument %d ends at %d, of %d bytes", k.Name, i, uint64(a.Offset)+uint64(a.Bytes), len(p.Kernarg))
		}
		to := p.Kernarg[a.Offset : a.Offset+a.Bytes]
		if kind, hidden := strings.CutPrefix(a.ValueKind, "hidden_"); hidden {
			v, ok := hiddenValue(kind, grid, workgroup)
			if !ok {
				p.Absent = append(p.Absent, kind)
			}
			if kind == "dynamic_lds_size" {
				v = uint64(p.DynamicLDS)
			}
			putUint(to, v)
			continue
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("emu: kernel %q: no value for parameter %d, %q", k.Name, i, a.Name)
		}
		v := values[0]
		values = values[1:]
		if err := packValue(to, a, v, &lds); err != nil {
			return nil, fmt.Errorf("emu: kernel %q: parameter %d, %q: %w", k.Name, i, a.Name, err)
		}
		p.DynamicLDS = lds - k.Descriptor.LDSBytes
	}
	if len(values) > 0 {
		return nil, fmt.Errorf("emu: kernel %q: %d values more than parameters", k.Name, len(values))
	}
	return p, nil
}

// packValue writes one visible argument. lds is the LDS in use so far.
func packValue(to []byte, a *hsaco.Arg, v any, lds *uint32) error {
	switch a.ValueKind {
	case "dynamic_shared_pointer":
		n, ok := v.(LDSBytes)
		if !ok {
			return fmt.Errorf("%T for a pointer to LDS, want LDSBytes", v)
		}
		align := max(a.PointeeAlign, 16)
		if n > hsaco.LDSBytesMax || align > hsaco.LDSBytesMax {
			return fmt.Errorf("%d bytes of LDS, at most %d", n, hsaco.LDSBytesMax)
		}
		start := (*lds + align - 1) &^ (align - 1)
		putUint(to, uint64(start))
		*lds = start + uint32(n)
		return nil
	case "by_value":
		return packBytes(to, v)
	case "global_buffer", "pipe", "queue", "image", "sampler":
		switch v := v.(type) {
		case nil:
			return nil
		case *Buffer:
			if v == nil {
				return errors.New("a nil *Buffer; a null pointer is nil")
			}
			putUint(to, v.Addr)
			return nil
		case uint64:
			putUint(to, v)
			return nil
		}
		return fmt.Errorf("%T for a pointer, want *Buffer, uint64 or nil", v)
	}
	return fmt.Errorf("kind %q is not known", a.ValueKind)
}

// packBytes writes a value whose size is that of the parameter.
func packBytes(to []byte, v any) error {
	switch v := v.(type) {
	case []byte:
		if len(v) != len(to) {
			return fmt.Errorf("%d bytes, the parameter has %d", len(v), len(to))
		}
		copy(to, v)
		return nil
	case *Buffer: // a pointer that the compiler passes by value, in a structure
		if v != nil && len(to) == 8 {
			putUint(to, v.Addr)
			return nil
		}
	}
	r := reflect.ValueOf(v)
	if !r.IsValid() || binary.Size(v) < 0 {
		return fmt.Errorf("%T has no fixed size", v)
	}
	if n := binary.Size(v); n != len(to) {
		return fmt.Errorf("%T has %d bytes, the parameter has %d", v, n, len(to))
	}
	_, err := binary.Encode(to, binary.LittleEndian, v)
	return err
}

// hiddenValue is an argument that the runtime provides; false if the device has
// none such.
func hiddenValue(kind string, grid, workgroup [3]uint32) (uint64, bool) {
	if i := strings.IndexByte("xyz", kind[max(0, len(kind)-1)]); i >= 0 {
		switch strings.TrimRight(kind, "xyz") {
		case "block_count_": // partial workgroups do not count
			return uint64(grid[i] / workgroup[i]), true
		case "group_size_":
			return uint64(workgroup[i]), true
		case "remainder_":
			return uint64(grid[i] % workgroup[i]), true
		case "global_offset_":
			return 0, true
		}
	}
	switch kind {
	case "grid_dims":
		n := uint64(1)
		for i, g := range grid {
			if g > 1 {
				n = uint64(i) + 1
			}
		}
		return n, true
	case "private_base":
		return PrivateBase >> 32, true
	case "shared_base":
		return SharedBase >> 32, true
	case "queue_ptr":
		return systemBase + queueOffset, true
	case "none", "dynamic_lds_size":
		return 0, true
	}
	return 0, false
}

// putUint writes the low bytes of v, as many as there is room for.
func putUint(to []byte, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	clear(to[copy(to, b[:]):])
}

// Float16 is a half-precision number for a parameter by value, rounded to the
// nearest.
func Float16(x float32) uint16 { return uint16(narrow(math.Float32bits(x))) }
