package check

import (
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
)

// RunRecorded checks the dispatch that is recorded in a folder (see package
// recorded), at its addresses, and compares what it writes with the record.
func RunRecorded(ctx context.Context, dir string, s Settings) *Result {
	r := &Result{Name: filepath.Base(dir)}
	d, err := recorded.Read(dir)
	if err != nil {
		r.Err = err
		return r
	}
	if len(s.Layouts) > 0 || s.Padding > 0 {
		r.Err = errors.New("a recorded dispatch has its buffers where they were: no other layout or padding")
		return r
	}
	runAll(ctx, r, s.Sweep, s.Options, func(run one) (left digest, wrong []string, err error) {
		dev, err := emu.New(run.config)
		if err != nil {
			return left, nil, err
		}
		l, err := d.Load(dev)
		if err != nil {
			return left, nil, err
		}
		if _, err := dev.Run(ctx, l.Dispatch); err != nil {
			return left, nil, err
		}
		h := sha256.New()
		for _, b := range l.Buffers {
			h.Write(b.Data)
		}
		h.Sum(left[:0])
		diffs, _ := d.Differences(l)
		for _, x := range diffs {
			wrong = append(wrong, "not as recorded: "+x.String())
		}
		return left, wrong, nil
	})
	return r
}
