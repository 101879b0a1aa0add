package memory

import (
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func buffer(t *testing.T, p Params, n int, base uintptr) *Buffer {
	t.Helper()
	b, err := Alloc(p, n, base)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestABufferHasWhatWasAsked(t *testing.T) {
	page := os.Getpagesize()
	for _, a := range []int{0, 1, 64, page, 4 * page, 1 << 21} {
		for _, n := range []int{1, 63, page, 3*page + 1} {
			b := buffer(t, Params{Usage: "arena", Align: a}, n, 0)
			if at := address(b.Bytes()); at%uintptr(max(a, 1)) != 0 || len(b.Bytes()) != n || cap(b.Bytes()) != n {
				t.Errorf("alignment %d: %d of %d bytes at %#x", a, len(b.Bytes()), n, at)
			}
			if p := b.Params(); p.Align < a || p.Residency != Pageable || p.Usage != "arena" {
				t.Errorf("alignment %d: it is said to be %s", a, p)
			}
			for i := range b.Bytes() {
				if b.Bytes()[i] != 0 {
					t.Fatalf("byte %d is %d", i, b.Bytes()[i])
				}
				b.Bytes()[i] = 1
			}
		}
	}
}

func TestABufferLiesWhereItIsAsked(t *testing.T) {
	const base = 0x5b0000000000
	b := buffer(t, Params{Usage: "arena", Align: 1 << 21}, 5000, base)
	if at := address(b.Bytes()); at != base {
		t.Errorf("at %#x, want %#x", at, uintptr(base))
	}
	if c, err := Alloc(Params{Usage: "arena"}, 10, base); err == nil {
		c.Close()
		t.Error("the address was given twice")
	}
}

func TestWhatTheProcessorHasNotIsAnError(t *testing.T) {
	page := uintptr(os.Getpagesize())
	for _, c := range []struct {
		name string
		p    Params
		n    int
		base uintptr
		want string
	}{
		{"memory of a device", Params{Type: Device}, 1, 0, "no device memory"},
		{"non-coherent memory", Params{Coherence: NonCoherent}, 1, 0, "no non-coherent memory"},
		{"non-migratable memory", Params{Residency: NonMigratable}, 1, 0, "no non-migratable memory: its pages are pageable or pinned"},
		{"a residency that is none", Params{Residency: 9}, 1, 0, "residency(9)"},
		{"an odd alignment", Params{Align: 48}, 1, 0, "alignment 48, want a power of two"},
		{"a negative alignment", Params{Align: -64}, 0, 0, "of 0 bytes"},
		{"too large an alignment", Params{Align: 2 * MaxAlign}, 1, 0, "alignment 2147483648"},
		{"an address that is not aligned", Params{Align: int(4 * page)}, 1, page, "want a multiple of"},
		{"an address within a page", Params{}, 1, page + 1, "want a multiple of"},
		{"nothing", Params{}, 0, 0, "of 0 bytes"},
		{"less than nothing", Params{}, -1, 0, "of -1 bytes"},
		{"everything", Params{Align: 64}, math.MaxInt, 0, "no such size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.Usage = "arena"
			b, err := Alloc(c.p, c.n, c.base)
			if err == nil {
				b.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "arena") {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Locking works, or the error says how much may be locked and how much was
// wanted.
func TestPinnedIsPinnedOrSaysWhyNot(t *testing.T) {
	const n = 1 << 20
	b, err := Alloc(Params{Usage: "arena", Residency: Pinned}, n, 0)
	if err != nil {
		if runtime.GOOS == "linux" && !(strings.Contains(err.Error(), "RLIMIT_MEMLOCK is ") && strings.Contains(err.Error(), "pinned arena of 1048576 bytes")) {
			t.Errorf("error %v", err)
		}
		t.Skip(err)
	}
	if p := b.Params(); p.Residency != Pinned {
		t.Errorf("it is said to be %s", p)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestMemoryWithoutAccessFaults(t *testing.T) {
	b := buffer(t, Params{Usage: "guard page", Access: None}, 1, 0)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("a byte was read")
		}
	}()
	t.Log(b.Bytes()[0])
}
