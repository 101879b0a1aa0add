package emu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

var ctx = context.Background()

// localBytes is an argument that is LDS of that size.
type localBytes uint32

// pack writes the arguments of a dispatch as the metadata places them, hidden
// ones included: *emu.Buffer (nil: a null pointer), bytes by value, localBytes.
//
// libclc is for what it compiles: it takes the first four words of the hidden
// arguments for the number of dimensions and the global offset, where code
// object version 5 has counts of workgroups and their sizes, which libclc takes
// from elsewhere.
func pack(k *emu.Kernel, values map[int]any, l *emu.Dispatch, libclc bool) error {
	kernarg := make([]byte, (k.KernargBytes()+63)&^63) // loads of arguments may be widened
	le := binary.LittleEndian
	explicit := 0
	var groups [3]uint32
	for i := range groups {
		l.Grid[i], l.Workgroup[i] = max(l.Grid[i], 1), max(l.Workgroup[i], 1)
		groups[i] = l.Grid[i] / l.Workgroup[i]
	}
	dimensions := uint32(3)
	for dimensions > 1 && l.Grid[dimensions-1] == 1 {
		dimensions--
	}
	lds := k.Descriptor.LDSBytes
	for _, a := range k.Meta.Args {
		at := kernarg[a.Offset : a.Offset+a.Bytes]
		if hidden, ok := strings.CutPrefix(a.ValueKind, "hidden_"); ok {
			if libclc && (strings.HasPrefix(hidden, "block_count") || strings.HasPrefix(hidden, "group_size")) {
				if hidden == "block_count_x" {
					le.PutUint32(at, dimensions)
				}
				continue
			}
			axis := int(hidden[len(hidden)-1]) - 'x'
			switch strings.TrimRight(hidden, "xyz") {
			case "block_count_":
				le.PutUint32(at, groups[axis])
			case "group_size_":
				le.PutUint16(at, uint16(l.Workgroup[axis]))
			case "remainder_":
				le.PutUint16(at, uint16(l.Grid[axis]%l.Workgroup[axis]))
			case "grid_dims":
				le.PutUint16(at, uint16(dimensions))
			case "private_base":
				le.PutUint32(at, emu.PrivateBase>>32)
			case "shared_base":
				le.PutUint32(at, emu.SharedBase>>32)
			}
			continue
		}
		v, ok := values[explicit]
		if !ok {
			return fmt.Errorf("kernel %s: no argument %d (%s)", k.Name, explicit, a.Name)
		}
		explicit++
		switch v := v.(type) {
		case *emu.Buffer:
			if v != nil {
				le.PutUint64(at, v.Addr)
			}
		case localBytes:
			lds = (lds + 15) &^ 15
			le.PutUint32(at, lds)
			lds += uint32(v)
		case []byte:
			copy(at, v)
		}
	}
	l.Kernarg, l.DynamicLDS = kernarg, lds-k.Descriptor.LDSBytes
	return nil
}
