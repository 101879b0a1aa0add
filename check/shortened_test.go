package check

import (
	"fmt"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
)

// TestABufferThatIsTooShortIsNamedToTheByte takes 1 to 64 bytes off the end of
// each buffer of launches of each of our own kernels. Where the kernel accesses
// them, memcheck names the buffer and bytes that are no longer there; where it
// does not, it is silent. HOLDFAST_LONG=1.
func TestABufferThatIsTooShortIsNamedToTheByte(t *testing.T) {
	if os.Getenv("HOLDFAST_LONG") == "" {
		t.Skip("HOLDFAST_LONG=1 shortens the buffers of all kernels")
	}
	const launches = 4 // of each kernel
	named, silent := 0, 0
	for kernel, all := range recordings(t) {
		for _, d := range all[:min(len(all), launches)] {
			used := touched(t, d)
			for i, a := range d.Allocations {
				for _, off := range []int{1, 2, 4, 16, 64} {
					if off >= len(a.Before) {
						continue
					}
					n := len(a.Before) - off
					wants := used[i] > uint64(n)
					if err := shortened(d, i, n, wants); err != nil {
						t.Errorf("%s without the last %d bytes of %q: %v", kernel, off, a.Name, err)
					}
					if wants {
						named++
					} else {
						silent++
					}
				}
			}
		}
	}
	t.Logf("%d shortened buffers named, %d whose last bytes are not used", named, silent)
	if named < 100 {
		t.Errorf("%d shortened buffers named: that cannot be all", named)
	}
}

// shortened checks a launch with n bytes of one allocation.
func shortened(d *recorded.Dispatch, i, n int, wants bool) error {
	c := *d
	c.Allocations = slices.Clone(d.Allocations)
	a := &c.Allocations[i]
	a.Before, a.After = a.Before[:n], nil
	ck, err := New(Options{Tools: []Tool{Memcheck}})
	if err != nil {
		return err
	}
	if _, err := carryOut(&c, emu.Config{Observer: ck, Budget: 20_000_000}); err != nil {
		return err
	}
	findings := ck.Report().Findings
	if !wants {
		if len(findings) > 0 {
			return fmt.Errorf("found though the bytes are not used: %v", findings[0])
		}
		return nil
	}
	for _, f := range findings {
		if f.Kind == OutOfBounds && f.Buffer == a.Name && f.Offset < int64(n)+64 && f.Offset+int64(f.Bytes) > int64(n) {
			return nil
		}
	}
	return fmt.Errorf("not named: %v", findings)
}

// touched is up to which byte a launch accesses each allocation.
func touched(t *testing.T, d *recorded.Dispatch) []uint64 {
	t.Helper()
	o := &extents{d: d, used: make([]uint64, len(d.Allocations))}
	if _, err := carryOut(d, emu.Config{Observer: o}); err != nil {
		t.Fatal(err)
	}
	return o.used
}

type extents struct {
	emu.NopObserver
	d    *recorded.Dispatch
	used []uint64
}

func (e *extents) Access(a *emu.Access) {
	if a.Space != emu.Global && a.Space != emu.Scalar {
		return
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		at := a.Addr[bits.TrailingZeros64(lanes)]
		for i := range e.d.Allocations {
			b := &e.d.Allocations[i]
			if off := at - b.Addr; off < uint64(len(b.Before)) {
				e.used[i] = max(e.used[i], off+uint64(a.Bytes))
			}
		}
	}
}
