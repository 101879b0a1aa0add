package emu

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// fakeKernel is a kernel with arguments one after another, each aligned to its
// size.
func fakeKernel(args ...hsaco.Arg) *Kernel {
	var at uint32
	for i := range args {
		a := &args[i]
		align := min(a.Bytes&-a.Bytes, 8)
		at = (at + align - 1) &^ (align - 1)
		a.Offset = at
		at += a.Bytes
	}
	return &Kernel{Kernel: &hsaco.Kernel{Name: "k", Descriptor: hsaco.Descriptor{LDSBytes: 20}, Meta: &hsaco.KernelMeta{KernargBytes: at, Args: args}}}
}

func TestArgumentsAreLaidOutAsTheMetadataSays(t *testing.T) {
	k := fakeKernel(
		hsaco.Arg{Name: "p", Bytes: 8, ValueKind: "global_buffer"},
		hsaco.Arg{Name: "n", Bytes: 4, ValueKind: "by_value"},
		hsaco.Arg{Name: "l", Bytes: 4, ValueKind: "dynamic_shared_pointer", PointeeAlign: 4},
		hsaco.Arg{Name: "v", Bytes: 16, ValueKind: "by_value"},
		hsaco.Arg{Name: "m", Bytes: 4, ValueKind: "dynamic_shared_pointer", PointeeAlign: 64},
		hsaco.Arg{Bytes: 4, ValueKind: "hidden_block_count_x"},
		hsaco.Arg{Bytes: 4, ValueKind: "hidden_block_count_y"},
		hsaco.Arg{Bytes: 2, ValueKind: "hidden_group_size_x"},
		hsaco.Arg{Bytes: 2, ValueKind: "hidden_remainder_x"},
		hsaco.Arg{Bytes: 8, ValueKind: "hidden_global_offset_z"},
		hsaco.Arg{Bytes: 2, ValueKind: "hidden_grid_dims"},
		hsaco.Arg{Bytes: 8, ValueKind: "hidden_hostcall_buffer"},
		hsaco.Arg{Bytes: 4, ValueKind: "hidden_dynamic_lds_size"},
		hsaco.Arg{Bytes: 4, ValueKind: "hidden_shared_base"},
	)
	p, err := k.Pack([3]uint32{100, 7, 1}, [3]uint32{32, 2, 1}, &Buffer{Addr: 0x123456789a}, float32(1), LDSBytes(8), [4]uint32{1, 2, 3, 4}, LDSBytes(100))
	if err != nil {
		t.Fatal(err)
	}
	want := binary.LittleEndian.AppendUint64(nil, 0x123456789a)
	for _, v := range []uint32{0x3f800000, 32, 1, 2, 3, 4, 64, 3, 3, 32 | 4<<16, 0, 0, 2, 0, 0, 0, 64 + 100 - 20, SharedBase >> 32} {
		want = binary.LittleEndian.AppendUint32(want, v)
	}
	if !slices.Equal(p.Kernarg, want) {
		t.Errorf("arguments\n%x, want\n%x", p.Kernarg, want)
	}
	if p.DynamicLDS != 144 || !slices.Equal(p.Absent, []string{"hostcall_buffer"}) {
		t.Errorf("%d bytes of LDS, absent %v", p.DynamicLDS, p.Absent)
	}
}

func TestArgumentsThatDoNotFitAreRefused(t *testing.T) {
	pointer := hsaco.Arg{Name: "p", Bytes: 8, ValueKind: "global_buffer"}
	number := hsaco.Arg{Name: "n", Bytes: 4, ValueKind: "by_value"}
	local := hsaco.Arg{Name: "l", Bytes: 4, ValueKind: "dynamic_shared_pointer"}
	for _, c := range []struct {
		fact   string
		args   []hsaco.Arg
		values []any
		want   string
	}{
		{"one is missing", []hsaco.Arg{pointer, number}, []any{uint64(0)}, `no value for parameter 1, "n"`},
		{"one is too many", []hsaco.Arg{number}, []any{int32(0), 1}, "1 values more"},
		{"a number of another size", []hsaco.Arg{number}, []any{float64(0)}, "float64 has 8 bytes, the parameter has 4"},
		{"an int has no size", []hsaco.Arg{number}, []any{1}, "int has no fixed size"},
		{"nothing for a number", []hsaco.Arg{number}, []any{nil}, "no fixed size"},
		{"a number for a pointer", []hsaco.Arg{pointer}, []any{float32(1)}, "float32 for a pointer"},
		{"a null buffer", []hsaco.Arg{pointer}, []any{(*Buffer)(nil)}, "a null pointer is nil"},
		{"bytes of another size", []hsaco.Arg{number}, []any{[]byte{1}}, "1 bytes, the parameter has 4"},
		{"a number for LDS", []hsaco.Arg{local}, []any{uint32(8)}, "want LDSBytes"},
		{"more than all LDS", []hsaco.Arg{local}, []any{LDSBytes(1 << 20)}, "at most 65536"},
	} {
		t.Run(c.fact, func(t *testing.T) {
			_, err := fakeKernel(c.args...).Pack([3]uint32{1}, [3]uint32{1}, c.values...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := (&Kernel{Kernel: &hsaco.Kernel{Name: "k"}}).Pack([3]uint32{}, [3]uint32{}); err == nil {
		t.Error("arguments of a kernel without metadata")
	}
}
