package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// IsTerminal reports whether w is a terminal, as far as can be told without
// asking the operating system: a character device that is not the null device.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Progress is a bar on one line that is redrawn in place. Its methods are safe
// for concurrent use; a nil Progress draws nothing.
type Progress struct {
	mu    sync.Mutex // protects all below
	w     io.Writer
	total int64
	done  int64
	label string
	start time.Time
	drawn time.Time
}

const (
	barWidth      = 30
	drawInterval  = 100 * time.Millisecond
	clearLineANSI = "\r\x1b[K"
)

// NewProgress starts a bar for total units of work.
func NewProgress(w io.Writer, total int64) *Progress {
	return &Progress{w: w, total: total, start: time.Now()}
}

// Add says that n more units are done.
func (p *Progress) Add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.draw(time.Now())
}

// Label sets the text after the bar.
func (p *Progress) Label(s string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label = s
	p.draw(time.Now())
}

// Clear takes the bar off the line, so that something else can be printed.
func (p *Progress) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.w, clearLineANSI)
	p.drawn = time.Time{}
}

// draw redraws the line, not too often. The caller holds mu.
func (p *Progress) draw(now time.Time) {
	if now.Sub(p.drawn) < drawInterval {
		return
	}
	p.drawn = now
	share := 0.0
	if p.total > 0 {
		share = min(float64(p.done)/float64(p.total), 1)
	}
	full := int(share * barWidth)
	line := fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*share)
	if elapsed := now.Sub(p.start); share > 0.01 && elapsed > time.Second {
		left := time.Duration(float64(elapsed) * (1 - share) / share)
		line += " " + left.Round(time.Second).String() + " left"
	}
	fmt.Fprintf(p.w, "%s%s %s", clearLineANSI, line, p.label)
}
