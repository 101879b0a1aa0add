package trace

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxRecord bounds a record, against sizes that lie.
const maxRecord = 1 << 30

// Output is what one command wrote of one value.
type Output struct {
	Step, Program, Command int
	Value                  string
	Kind                   Kind
	Digest                 uint64
	Size                   int    // bytes
	Data                   []byte // nil if only digests were kept; valid until the next call
}

// Reader reads a trace.
type Reader struct {
	Name  string   // for errors
	Model [32]byte // the SHA-256 of the model's file

	r        *bufio.Reader
	outputs  uint64 // so far
	ended    bool
	at       int64
	programs [][]Command
	buf      []byte
}

// NewReader reads a trace from r. Errors: no trace, or one that is cut off
// before it says of which model it is.
func NewReader(name string, r io.Reader) (*Reader, error) {
	t := &Reader{Name: name, r: bufio.NewReaderSize(r, 1<<20)}
	b := make([]byte, len(magic))
	if _, err := io.ReadFull(t.r, b); err != nil || string(b) != magic {
		return nil, fmt.Errorf("trace: %s is no trace of this version", name)
	}
	t.at = int64(len(magic))
	letter, payload, err := t.record()
	switch {
	case err != nil:
		return nil, err
	case letter != 'M' || len(payload) != len(t.Model):
		return nil, t.errorf("record %q of %d bytes, want the model's digest", letter, len(payload))
	}
	copy(t.Model[:], payload)
	return t, nil
}

// Commands are the commands of a program that an output has named.
func (t *Reader) Commands(program int) []Command { return t.programs[program] }

// Next is the next output; io.EOF at the end, which the trace itself states:
// one that was cut off is an error. Every number in an output is in range.
func (t *Reader) Next() (*Output, error) {
	for {
		if t.ended {
			return nil, io.EOF
		}
		letter, payload, err := t.record()
		if err != nil {
			return nil, err
		}
		switch letter {
		case 'P':
			if err := t.program(payload); err != nil {
				return nil, err
			}
		case 'O':
			t.outputs++
			return t.output(payload)
		case 'E':
			if n, k := binary.Uvarint(payload); k <= 0 || n != t.outputs {
				return nil, t.errorf("the end of %d outputs, after %d", n, t.outputs)
			}
			t.ended = true
		default:
			return nil, t.errorf("record %q", letter)
		}
	}
}

func (t *Reader) errorf(format string, args ...any) error {
	return fmt.Errorf("trace: %s: record before byte %d: %s", t.Name, t.at, fmt.Sprintf(format, args...))
}

func (t *Reader) record() (letter byte, payload []byte, err error) {
	letter, err = t.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, nil, t.errorf("missing: the trace is cut off after %d outputs", t.outputs)
	}
	if err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(t.r)
	if err != nil {
		return 0, nil, t.errorf("ends in its length")
	}
	if n > maxRecord {
		return 0, nil, t.errorf("%d bytes, at most %d", n, maxRecord)
	}
	t.at += int64(n) + 2
	// Grow with what is there, not with what a length says.
	t.buf = t.buf[:0]
	for len(t.buf) < int(n) {
		k := len(t.buf)
		t.buf = append(t.buf, make([]byte, min(int(n)-k, 1<<20))...)
		if _, err := io.ReadFull(t.r, t.buf[k:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return 0, nil, t.errorf("of %d bytes is cut off", n)
			}
			return 0, nil, err
		}
	}
	return letter, t.buf, nil
}

func (t *Reader) program(b []byte) error {
	id, n := binary.Uvarint(b)
	if n <= 0 || id != uint64(len(t.programs)) {
		return t.errorf("program %d, want %d", id, len(t.programs))
	}
	var j programJSON
	if err := json.Unmarshal(b[n:], &j); err != nil {
		return t.errorf("program %d: %v", id, err)
	}
	t.programs = append(t.programs, j.Commands)
	return nil
}

func (t *Reader) output(b []byte) (*Output, error) {
	var num [4]uint64
	for i := range num {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<40 {
			return nil, t.errorf("output with a bad number")
		}
		num[i], b = v, b[n:]
	}
	o := &Output{Step: int(num[0]), Program: int(num[1]), Command: int(num[2])}
	if o.Program >= len(t.programs) || o.Command >= len(t.programs[o.Program]) {
		return nil, t.errorf("output of command %d of program %d, which is not there", o.Command, o.Program)
	}
	if num[3] > uint64(len(b)) || len(b)-int(num[3]) < 9 {
		return nil, t.errorf("output with a name of %d bytes is cut off", num[3])
	}
	o.Value, b = string(b[:num[3]]), b[num[3]:]
	o.Kind, o.Digest = Kind(b[0]), binary.LittleEndian.Uint64(b[1:])
	size, n := binary.Uvarint(b[9:])
	if n <= 0 || size > maxRecord {
		return nil, t.errorf("output %s with a bad size", o.Value)
	}
	o.Size, b = int(size), b[9+n:]
	switch {
	case len(b) == 0:
	case len(b) == o.Size:
		o.Data = b
	default:
		return nil, t.errorf("output %s of %d bytes has %d", o.Value, o.Size, len(b))
	}
	return o, nil
}
