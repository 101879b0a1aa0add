package addr

import (
	"bytes"
	"io"
	"strconv"
	"testing"
)

func hex(x uint64) string { return "0x" + strconv.FormatUint(x, 16) }
func dec(x uint64) string { return strconv.FormatUint(x, 10) }

// FuzzRead reads anything and explains an address by it: what holds the address
// holds it, and nothing panics.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		table, "{\n\"commands\": [{\"bindings\": [{\"value\": \"q\", \"address\": \"0x1\", \"bytes\": 5}]}]}",
		"7f00-8f00 rw-p 00000000 00:00 0\n", "alloc ptr=0x7f0000001000 size=4096\nfree ptr=0x7f0000001000\n",
	} {
		f.Add([]byte(s), uint64(0x7f0000001000), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, at uint64, page bool) {
		m, err := Read("f", bytes.NewReader(b))
		if err != nil {
			return
		}
		x := m.Explain(Fault{Addr: at, PageOnly: page}, WrapOptions{})
		for _, r := range x.In {
			if r.Freed || r.Start > x.Addr+x.bytes()-1 || r.End() <= x.Addr {
				t.Errorf("%#x is said to be in %s", x.Addr, r)
			}
		}
		for i := range m.Ranges {
			if r := &m.Ranges[i]; !r.Freed && r.contains(x.Addr) && x.Class != Inside {
				t.Errorf("%#x is in %s, but said to be %s", x.Addr, r, x.Class)
			}
		}
		if err := x.Write(io.Discard); err != nil {
			t.Error(err)
		}
	})
}
