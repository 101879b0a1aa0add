package gfx11

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// recording is a run whose launches are written to folders.
type recording struct {
	dir string
	err error // the first of writing
}

// Record makes the next run write each of its launches, with all that it sees,
// to a folder of its own in dir, "0012-attention_produce_64", in the format of
// package recorded. The run's error says if that failed.
func (e *Executable) Record(dir string) {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	e.record = &recording{dir: dir}
}

// launch runs a dispatch and writes it down.
func (r *recording) launch(e *Executable, s *step, d emu.Dispatch) (*emu.Report, error) {
	object, err := e.dev.config.Objects(s.kernel.Source, e.dev.code[s.kernel.Source].wave)
	if err == nil {
		err = os.MkdirAll(r.dir, 0o777)
	}
	if err != nil {
		r.err = err
		return e.dev.emu.Run(context.Background(), d)
	}
	kept, report, err := recorded.Record(context.Background(), e.dev.emu, d, object, e.regions(s))
	if kept == nil {
		r.err = err
		return e.dev.emu.Run(context.Background(), d)
	}
	r.err = kept.Write(filepath.Join(r.dir, fmt.Sprintf("%04d-%s", s.index, s.kernel.Name)), true)
	return report, err
}

// regions is what a launch may touch: its bindings, to the byte, the batch's
// numbers and what is its own.
func (e *Executable) regions(s *step) []recorded.Region {
	var rs []recorded.Region
	l := &e.prog.Launches[s.index]
	for _, b := range l.Bindings {
		if b.Bytes > 0 {
			rs = append(rs, recorded.Region{
				Name: b.Value.Name, Addr: uint64(e.pointer(l, b.Value)), Bytes: uint64(b.Bytes), ReadOnly: b.Access == device.Read,
			})
		}
	}
	own := []*op.Value{batchTokens, batchPos, batchSlot, batchOutput}
	for _, x := range s.own {
		own = append(own, x.value)
	}
	for _, v := range own {
		if b := e.own[v]; b != nil && len(b.Data) > 0 {
			rs = append(rs, recorded.Region{Name: v.Name, Addr: b.Addr, Bytes: uint64(len(b.Data)), ReadOnly: b.ReadOnly})
		}
	}
	return rs
}
