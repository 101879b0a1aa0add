package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Writer appends to a journal. Every line is on disk when the call that wrote it
// returns. It may be used by several goroutines.
type Writer struct {
	mu sync.Mutex
	f  *os.File
}

// Create starts a journal at path, which must not exist, with its header.
func Create(path string, h *Header) (*Writer, error) {
	h.Format = JournalFormat
	if err := h.check(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f}
	if err := w.append(record{Header: h}); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Resume opens a journal to append to it, and tells what is in it. A last line
// that a kill cut off is removed.
func Resume(path string) (*Writer, *Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, err
	}
	j, err := ReadJournal(path, f)
	if err == nil && j.Cut {
		err = f.Truncate(j.Size)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return &Writer{f: f}, j, nil
}

// Close closes the journal.
func (w *Writer) Close() error { return w.f.Close() }

// Started writes that a trial starts. Its ID must be new.
func (w *Writer) Started(t *Trial, c Clocks) error {
	return w.append(record{Start: &started{t.ID, t.Arm, t.At, c}})
}

// Ended writes what became of a trial.
func (w *Writer) Ended(t *Trial, c Clocks) error {
	return w.append(record{End: &ended{t.ID, t.Outcome, t.Faces, t.Reason, t.Answer, c}})
}

// Event writes that something happened.
func (w *Writer) Event(kind, text string, at time.Time) error {
	return w.append(record{Event: &Event{at, kind, text}})
}

// append writes a line in one call and waits until it is on disk. After an error
// a part of it may be there, as after a kill.
func (w *Writer) append(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("lab: journal: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.f.Write(append(line, '\n'))
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		// A full disk takes a part of a line; what follows must not continue it.
		if end, e := w.f.Seek(0, io.SeekEnd); e == nil && n > 0 {
			_ = w.f.Truncate(end - int64(n))
		}
		return fmt.Errorf("lab: journal: %w", err)
	}
	return nil
}
