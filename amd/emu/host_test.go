package emu

import "testing"

func TestTheHostSeesNonCoherentMemoryOnlyAfterInvalidate(t *testing.T) {
	for _, nonCoherent := range []bool{false, true} {
		d, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Alloc("logits", 8, Placement{NonCoherent: nonCoherent})
		if err != nil {
			t.Fatal(err)
		}
		read := func() byte {
			t.Helper()
			var v [1]byte
			if err := b.HostRead(v[:], 3); err != nil {
				t.Fatal(err)
			}
			return v[0]
		}
		b.Data[3] = 7 // the device writes
		if got := read(); (got == 7) == nonCoherent {
			t.Errorf("non-coherent %v: the host reads %d", nonCoherent, got)
		}
		b.Invalidate()
		if got := read(); got != 7 {
			t.Errorf("non-coherent %v: after Invalidate the host reads %d", nonCoherent, got)
		}
		if err := b.HostWrite(3, []byte{9}); err != nil {
			t.Fatal(err)
		}
		if got := b.Data[3]; (got == 9) == nonCoherent {
			t.Errorf("non-coherent %v: the device has %d before Flush", nonCoherent, got)
		}
		b.Flush()
		if b.Data[3] != 9 {
			t.Errorf("non-coherent %v: the device has %d after Flush", nonCoherent, b.Data[3])
		}
		for _, off := range []int{-1, 8, 1 << 62} {
			if err := b.HostRead(make([]byte, 1), off); err == nil {
				t.Errorf("host read at %d of 8 bytes", off)
			}
		}
	}
}
