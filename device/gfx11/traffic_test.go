package gfx11

import (
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

func TestTrafficCountsEveryAccessAndEachByteOnce(t *testing.T) {
	c := newTraffic()
	for range 2 { // two dispatches of the same
		c.DispatchBegin(nil)
		// Three lanes read 16 bytes each, two of them the same and one across a line.
		c.Access(&emu.Access{Space: emu.Global, Bytes: 16, Lanes: 0b1011, Addr: [64]uint64{0: 0x1000, 1: 0x1000, 3: 0x1038}})
		c.Access(&emu.Access{Space: emu.Scalar, Bytes: 8, Lanes: 1, Addr: [64]uint64{0x100c}})
		c.Access(&emu.Access{Space: emu.LDS, Bytes: 4, Lanes: 1})
		c.Access(&emu.Access{Space: emu.Scratch, Bytes: 4, Lanes: 1})
		if got := c.touched(); c.requested != 3*16+8 || got != 16+16+4 {
			t.Errorf("%d bytes requested, %d touched, want 56 and 36", c.requested, got)
		}
	}
}
