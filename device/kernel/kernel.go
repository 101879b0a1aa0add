package kernel

import (
	"embed"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

//go:embed objects/*.hsaco
var objects embed.FS

// Object is the code object of a source, such as "norm", compiled for a wave
// size, 32 or 64. Errors: there is none.
func Object(source string, wave int) ([]byte, error) {
	b, err := objects.ReadFile(fmt.Sprintf("objects/%s.w%d.hsaco", source, wave))
	if err != nil {
		return nil, fmt.Errorf("kernel: no code object of %s for wave%d", source, wave)
	}
	return b, nil
}

// Kernel is an entry point.
type Kernel struct {
	Name   string // of the entry point
	Source string // the file in src without its extension
	Items  int    // work-items of a workgroup
}

// Pointer is an address in the device's memory.
type Pointer uint64

// Args are a kernel's arguments: a struct of Pointer, int32, uint32, float32,
// uint64 and float64 fields, in the kernel's order. A test compares each with its
// code object. Buffers begin at multiples of 16 bytes unless a kernel says that
// it takes less; nothing behind their end is read.
type Args interface{ Kernel() *Kernel }

// Launch is a kernel with its arguments on a number of workgroups.
type Launch struct {
	Args   Args
	Groups [3]uint32
}

// Kernarg lays arguments out as the kernel reads them, each aligned to its
// size, little endian.
func Kernarg(a Args) []byte {
	var b []byte
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		f := v.Field(i)
		for size := int(f.Type().Size()); len(b)%size != 0; {
			b = append(b, 0)
		}
		switch f.Kind() {
		case reflect.Uint64:
			b = binary.LittleEndian.AppendUint64(b, f.Uint())
		case reflect.Uint32:
			b = binary.LittleEndian.AppendUint32(b, uint32(f.Uint()))
		case reflect.Int32:
			b = binary.LittleEndian.AppendUint32(b, uint32(f.Int()))
		case reflect.Float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f.Float())))
		case reflect.Float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.Float()))
		default:
			panic(fmt.Sprintf("kernel: %T has a field of type %s", a, f.Type()))
		}
	}
	return b
}
