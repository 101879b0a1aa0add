package kernel

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// What Go says of a kernel's arguments and workgroups is what its code objects
// say, for every kernel, and every kernel of every object is in the list.
func TestArgumentsAreThoseOfTheCodeObjects(t *testing.T) {
	listed := map[string]bool{}
	for _, a := range All() {
		k := a.Kernel()
		listed[k.Source+"."+k.Name] = true
		for _, wave := range []int{32, 64} {
			b, err := Object(k.Source, wave)
			if err != nil {
				if wave == 32 {
					t.Error(err)
				}
				continue
			}
			o, err := hsaco.Parse(k.Source, b)
			if err != nil {
				t.Fatal(err)
			}
			compiled, ok := o.Kernel(k.Name)
			if !ok {
				t.Errorf("%s.w%d has no kernel %s", k.Source, wave, k.Name)
				continue
			}
			m := compiled.Meta
			if m.WavefrontSize != wave || int(m.MaxFlatWorkgroupSize) != k.Items {
				t.Errorf("%s: wave%d, %d work-items; want wave%d, %d", k.Name, m.WavefrontSize, m.MaxFlatWorkgroupSize, wave, k.Items)
			}
			if m.ScratchBytes > 0 || m.VGPRSpills > 0 {
				t.Errorf("%s.w%d: %d bytes of scratch, %d registers spilled", k.Name, wave, m.ScratchBytes, m.VGPRSpills)
			}
			compare(t, a, m)
		}
	}
	files, err := objects.ReadDir("objects")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, _ := objects.ReadFile("objects/" + f.Name())
		o, err := hsaco.Parse(f.Name(), b)
		if err != nil {
			t.Fatal(err)
		}
		source, _, _ := strings.Cut(f.Name(), ".")
		for _, k := range o.Kernels {
			if !listed[source+"."+k.Name] {
				t.Errorf("%s has a kernel %s that is not in the list", f.Name(), k.Name)
			}
		}
	}
}

// compare holds a struct against the parameters in an object's metadata.
func compare(t *testing.T, a Args, k *hsaco.KernelMeta) {
	t.Helper()
	typ := reflect.TypeOf(a)
	if typ.NumField() != len(k.Args) {
		t.Errorf("%s: %d fields, %d parameters", k.Name, typ.NumField(), len(k.Args))
		return
	}
	offset := 0
	for i := range typ.NumField() {
		f, p := typ.Field(i), k.Args[i]
		size := int(f.Type.Size())
		offset = (offset + size - 1) / size * size
		pointer := f.Type == reflect.TypeFor[Pointer]()
		if snake(f.Name) != p.Name || offset != int(p.Offset) || size != int(p.Bytes) || pointer != (p.ValueKind == "global_buffer") {
			t.Errorf("%s: field %s (%s) of %d bytes at %d, parameter %s of %d at %d, %s", k.Name, f.Name, snake(f.Name), size, offset, p.Name, p.Bytes, p.Offset, p.ValueKind)
		}
		offset += size
	}
}

// snake is a Go name as the sources write it: KVHeads is kv_heads.
func snake(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i, c := range r {
		if i > 0 && unicode.IsUpper(c) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func TestKernargsAreAlignedAndLittleEndian(t *testing.T) {
	got := Kernarg(RMSNorm{X: 0x0102030405060708, Weight: 1, Out: 2, N: 3, Eps: 1})
	want := []byte{8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0x80, 0x3f}
	if !bytes.Equal(got, want) {
		t.Errorf("% x", got)
	}
}

func TestAnObjectThatIsNotThereIsNamed(t *testing.T) {
	if _, err := Object("nothing", 32); err == nil || !strings.Contains(err.Error(), "nothing for wave32") {
		t.Error(err)
	}
}
