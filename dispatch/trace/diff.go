package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Difference is the first output in which two traces differ.
type Difference struct {
	Step, Command int
	Kernel        string
	Lane, Op      string
	Value         string
	Kind          Kind
	DigestA       uint64
	DigestB       uint64
	// Element is the first that differs, in float32, int32 or bytes by the
	// kind; -1 if a trace has only digests. BitsA and BitsB are it, and Count
	// is how many differ of Of.
	Element      int
	BitsA, BitsB uint32
	Count, Of    int
	Outputs      int // compared and equal before it
}

func (d *Difference) String() string {
	s := fmt.Sprintf("step %d, command %d: %s (%s, for %s): output %s (%s): ", d.Step, d.Command, d.Kernel, d.Lane, d.Op, d.Value, d.Kind)
	if d.Element < 0 {
		return s + fmt.Sprintf("digests %016x and %016x", d.DigestA, d.DigestB)
	}
	s += fmt.Sprintf("element %d is ", d.Element)
	switch d.Kind {
	case Float32:
		s += fmt.Sprintf("%g (%#08x) and %g (%#08x)", math.Float32frombits(d.BitsA), d.BitsA, math.Float32frombits(d.BitsB), d.BitsB)
	case Int32:
		s += fmt.Sprintf("%d and %d", int32(d.BitsA), int32(d.BitsB))
	default:
		s += fmt.Sprintf("%#02x and %#02x", d.BitsA, d.BitsB)
	}
	return s + fmt.Sprintf("; %d of %d differ", d.Count, d.Of)
}

// Incomparable says that two traces are not of the same model and commands.
type Incomparable struct{ Detail string }

func (e *Incomparable) Error() string { return "trace: not comparable: " + e.Detail }

// Diff compares two traces output by output. It is nil if they are equal; n is
// the number of outputs compared. Errors: an *Incomparable, or those of
// reading.
func Diff(a, b *Reader) (d *Difference, n int, err error) {
	if a.Model != b.Model {
		return nil, 0, &Incomparable{fmt.Sprintf("%s is of a model file with SHA-256 %x, %s of one with %x", a.Name, a.Model, b.Name, b.Model)}
	}
	for ; ; n++ {
		x, errA := a.Next()
		y, errB := b.Next()
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, n, err
			}
		}
		switch {
		case errA != nil && errB != nil:
			return nil, n, nil
		case errA != nil || errB != nil:
			short, long, more := a, b, y
			if errA == nil {
				short, long, more = b, a, x
			}
			return nil, n, &Incomparable{fmt.Sprintf("%s ends after %d equal outputs, %s goes on with step %d", short.Name, n, long.Name, more.Step)}
		}
		ca, cb := a.Commands(x.Program)[x.Command], b.Commands(y.Program)[y.Command]
		if ca != cb || x.Step != y.Step || x.Command != y.Command || x.Value != y.Value || x.Kind != y.Kind || x.Size != y.Size {
			return nil, n, &Incomparable{fmt.Sprintf("after %d equal outputs %s has step %d, command %d, %s by %s writing %s (%d bytes), %s has step %d, command %d, %s by %s writing %s (%d bytes)",
				n, a.Name, x.Step, x.Command, ca.Kernel, ca.Lane, x.Value, x.Size, b.Name, y.Step, y.Command, cb.Kernel, cb.Lane, y.Value, y.Size)}
		}
		if x.Digest != y.Digest {
			d := &Difference{
				Step: x.Step, Command: x.Command, Kernel: ca.Kernel, Lane: ca.Lane, Op: ca.Op, Value: x.Value, Kind: x.Kind,
				DigestA: x.Digest, DigestB: y.Digest, Element: -1, Outputs: n,
			}
			d.locate(x.Data, y.Data)
			return d, n, nil
		}
	}
}

// locate finds the elements that differ. The data are of one size.
func (d *Difference) locate(a, b []byte) {
	if a == nil || b == nil {
		return
	}
	size := 4
	if d.Kind == Packed {
		size = 1
	}
	at := func(b []byte, i int) uint32 {
		if size == 1 {
			return uint32(b[i])
		}
		return binary.LittleEndian.Uint32(b[4*i:])
	}
	d.Of = len(a) / size
	for i := range d.Of {
		x, y := at(a, i), at(b, i)
		if x == y {
			continue
		}
		if d.Count == 0 {
			d.Element, d.BitsA, d.BitsB = i, x, y
		}
		d.Count++
	}
}
