package isa

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// checkDecode decodes the bytes and checks what must hold for any.
func checkDecode(t *testing.T, code []byte, wave Wave) {
	t.Helper()
	in, err := Decode(0x100, code, wave)
	if err != nil {
		var u *Unknown
		var short *Truncated
		switch {
		case errors.As(err, &u):
			if u.PC != 0x100 || len(u.Words) == 0 || len(u.Words) > 5 || u.Reason == "" || 4*len(u.Words) > len(code) {
				t.Errorf("%x: %#v", code, u)
			}
		case errors.As(err, &short):
			if short.PC != 0x100 || short.Have != len(code) || short.Need <= short.Have || short.Need > 20 {
				t.Errorf("%x: %#v", code, short)
			}
		default:
			t.Errorf("%x: error %v of type %T", code, err, err)
		}
		return
	}
	if in.Op == nil || in.Size < 4 || in.Size > 20 || in.Size%4 != 0 || in.Size > len(code) || in.N > MaxOperands {
		t.Fatalf("%x: %+v", code, in)
	}
	for i := range in.Size / 4 {
		if in.Words[i] != binary.LittleEndian.Uint32(code[4*i:]) {
			t.Errorf("%x: word %d is %08x", code, i, in.Words[i])
		}
	}
	for _, o := range in.Args() {
		last := int(o.Reg) + int(o.N)
		if o.Kind == VGPR && last > 256 || o.Kind == SGPR && last > 106 || o.Kind == TTMP && last > 16 || o.Kind == None {
			t.Errorf("%x: operand %+v", code, o)
		}
	}
	text := in.String()
	if text == "" {
		t.Errorf("%x: no text", code)
	}
	// The bytes that belong to the instruction decide all of it.
	again, err := Decode(0x100, code[:in.Size], wave)
	if err != nil || again != in {
		t.Errorf("%x: %q alone decodes to %+v, %v", code, text, again, err)
	}
	if in.Size > 4 {
		if _, err := Decode(0x100, code[:in.Size-4], wave); err == nil {
			t.Errorf("%x: %q decodes without its last word", code, text)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 0x81, 0xbf}, false)
	f.Add([]byte{0xff, 0, 4, 0xbe, 1, 2, 3, 4}, true)
	f.Fuzz(func(t *testing.T, code []byte, wide bool) {
		wave := Wave32
		if wide {
			wave = Wave64
		}
		checkDecode(t, code, wave)
	})
}

// TestRandomWordsNeverPanic puts random words behind the leading bits of every
// encoding.
func TestRandomWordsNeverPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	var code [20]byte
	for i := range n {
		for j := 0; j < len(code); j += 4 {
			binary.LittleEndian.PutUint32(code[j:], r.Uint32())
		}
		code[3] = byte(i) // every leading byte as often
		checkDecode(t, code[:4*(1+i/256%5)], Wave(32<<(i/1280%2)))
	}
}
