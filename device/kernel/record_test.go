package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
)

// HOLDFAST_RECORD names a folder to which the tests write what they launch, as
// package recorded does: inputs, arguments and what the software device made of
// them, to be run elsewhere, such as on a GPU (see nvidia/replay.py).
var recordDir = os.Getenv("HOLDFAST_RECORD")

// Limits of what is recorded: bytes of one launch's buffers, and launches of one
// kernel.
const (
	recordBytes    = 2 << 20
	recordLaunches = 60
)

// records counts what was recorded, by kernel.
var records struct {
	sync.Mutex
	n map[string]int
}

// record runs a launch and records it, if that is wanted: in coherent memory
// with wave32. It does nothing otherwise.
func (r *rig) record(t testing.TB, l Launch, d emu.Dispatch) (*emu.Report, error) {
	if recordDir == "" || r.wave != 32 || r.dev.Config().Mode != emu.Coherent {
		return nil, nil
	}
	k := l.Args.Kernel()
	var regions []recorded.Region
	total := 0
	v := reflect.ValueOf(l.Args)
	for i := range v.NumField() {
		if v.Field(i).Type() != reflect.TypeFor[Pointer]() {
			continue
		}
		b := r.dev.Space().Find(v.Field(i).Uint(), 1)
		if b == nil && v.Field(i).Uint() != 0 {
			return nil, nil // a matrix of which only some rows are there
		}
		if b == nil || slices.ContainsFunc(regions, func(x recorded.Region) bool { return x.Addr == b.Addr }) {
			continue
		}
		regions = append(regions, recorded.Region{Name: b.Name, Addr: b.Addr, Bytes: uint64(len(b.Data))})
		total += len(b.Data)
	}
	records.Lock()
	defer records.Unlock()
	if total > recordBytes || records.n[k.Name] == recordLaunches {
		return nil, nil
	}
	if records.n == nil {
		records.n = map[string]int{}
	}
	object, err := Object(k.Source, r.wave)
	if err != nil {
		t.Fatal(err)
	}
	rec, report, err := recorded.Record(context.Background(), r.dev, d, object, regions)
	if err != nil {
		return report, err
	}
	records.n[k.Name]++
	if err := rec.Write(filepath.Join(recordDir, fmt.Sprintf("%s-%03d", k.Name, records.n[k.Name])), true); err != nil {
		t.Fatal(err)
	}
	return report, nil
}
