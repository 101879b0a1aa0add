package check

import (
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

func TestABufferThatWasFreedIsNamed(t *testing.T) {
	o := compiled(t, `KERNEL(64) k(GLOBAL u32 *x, GLOBAL u32 *gone) { x[item()] = gone[item() + 2]; }`)
	c, err := New(Options{Tools: []Tool{Memcheck}})
	if err != nil {
		t.Fatal(err)
	}
	d := newRig(t, o, "k", emu.Config{Observer: c})
	x, gone := d.buffer("x", 256), d.buffer("gone", 512)
	if err := d.dev.Free(gone); err != nil {
		t.Fatal(err)
	}
	if err := d.launch(1, 64, x, gone.Addr); err != nil {
		t.Fatal(err)
	}
	f := c.Report().Findings
	if len(f) != 1 || f[0].Kind != UseAfterFree || f[0].Message != `load of 4 bytes at byte 8 of "gone" (512 bytes), which was freed` {
		t.Errorf("%v", f)
	}
}

func TestAWriteOnlyBufferIsNotRead(t *testing.T) {
	o := compiled(t, `KERNEL(64) k(GLOBAL u32 *x, GLOBAL u32 *out) { out[item()] = x[item()]; x[item()] = out[item() ^ 1]; }`)
	c, err := New(Options{Tools: []Tool{Memcheck}})
	if err != nil {
		t.Fatal(err)
	}
	d := newRig(t, o, "k", emu.Config{Observer: c})
	x, out := d.buffer("x", 256), d.buffer("out", 256)
	out.WriteOnly = true
	if err := d.launch(1, 64, x, out); err != nil {
		t.Fatal(err)
	}
	if err := kindsAre(c.Report(), []Kind{WriteOnlyRead}); err != nil {
		t.Error(err)
	}
}
