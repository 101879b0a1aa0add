package trace

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"io"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

const magic = "holdfast trace 2\n"

// Kind says how an output's bytes are read.
type Kind byte

// The kinds.
const (
	Float32 Kind = 'f'
	Int32   Kind = 'i'
	Packed  Kind = 'q' // quantised, or laid out for a kernel
)

func (k Kind) String() string {
	switch k {
	case Float32:
		return "f32"
	case Int32:
		return "i32"
	}
	return "packed"
}

// Command names a command of a program.
type Command struct {
	Kernel string `json:"kernel"`
	Lane   string `json:"lane"` // the registration
	Op     string `json:"op"`
}

type programJSON struct {
	Commands []Command `json:"commands"`
}

// Writer writes a trace. An error is kept and returned by End.
type Writer struct {
	w        *bufio.Writer
	digests  bool
	outputs  uint64
	programs map[*device.Program]int
	payload  []byte
	err      error
}

// NewWriter starts a trace of a model, which the SHA-256 of its file stands for.
// With digestsOnly, outputs are kept as digests: a difference then has a
// command and an output, but no element.
func NewWriter(w io.Writer, model [32]byte, digestsOnly bool) *Writer {
	t := &Writer{w: bufio.NewWriterSize(w, 1<<20), digests: digestsOnly, programs: map[*device.Program]int{}}
	_, t.err = t.w.WriteString(magic)
	t.payload = append(t.payload, model[:]...)
	t.record('M')
	return t
}

// Watch records a command that has ended: it is an engine's watcher.
func (t *Writer) Watch(step int, p *device.Program, w *device.Watched) {
	id, ok := t.programs[p]
	if !ok {
		id = len(t.programs)
		t.programs[p] = id
		t.program(id, p)
	}
	for _, m := range w.Written {
		t.output(step, id, w.Launch, m)
	}
}

func (t *Writer) program(id int, p *device.Program) {
	var j programJSON
	for _, l := range p.Launches {
		d := p.Decisions[l.Op]
		j.Commands = append(j.Commands, Command{l.Kernel, d.Chosen, d.Op})
	}
	b, err := json.Marshal(j)
	if err != nil {
		panic("trace: names do not marshal: " + err.Error())
	}
	t.payload = append(binary.AppendUvarint(t.payload[:0], uint64(id)), b...)
	t.record('P')
}

func (t *Writer) output(step, program, command int, m device.Memory) {
	p := t.payload[:0]
	for _, n := range []int{step, program, command, len(m.Value.Name)} {
		p = binary.AppendUvarint(p, uint64(n))
	}
	p = append(p, m.Value.Name...)
	p = append(p, byte(kindOf(m)))
	h := fnv.New64a()
	h.Write(m.Data)
	p = binary.LittleEndian.AppendUint64(p, h.Sum64())
	p = binary.AppendUvarint(p, uint64(len(m.Data)))
	if !t.digests {
		p = append(p, m.Data...)
	}
	t.payload = p
	t.outputs++
	t.record('O')
}

func kindOf(m device.Memory) Kind {
	switch {
	case m.Value.Cols == 0:
		return Packed
	case m.Value.Type == quant.F32:
		return Float32
	case m.Value.Type == quant.I32:
		return Int32
	}
	return Packed
}

func (t *Writer) record(letter byte) {
	if t.err != nil {
		return
	}
	head := binary.AppendUvarint([]byte{letter}, uint64(len(t.payload)))
	if _, t.err = t.w.Write(head); t.err == nil {
		_, t.err = t.w.Write(t.payload)
	}
}

// End ends the trace and returns the first error there was.
func (t *Writer) End() error {
	t.payload = binary.AppendUvarint(t.payload[:0], t.outputs)
	t.record('E')
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}
