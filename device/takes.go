package device

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/op"
)

// Takes is what batches a program can run: devices check them with it before
// anything runs.
type Takes struct {
	limits         Limits
	context, slots int // of the caches that the program uses; 0 if it uses none
	vocabulary     int // rows of the embedding matrix; 0 if it has none

	turn uint32   // of Accept
	seen []uint32 // by slot: the last turn that had rows of it
}

// TakesOf is what a program can run.
func TakesOf(p *Program) Takes {
	t := Takes{limits: p.Limits}
	for i := range p.Launches {
		l := &p.Launches[i]
		for _, b := range l.Bindings {
			switch v := b.Value; {
			case v.Role == op.Cache:
				t.context, t.slots = v.Cache.Context, v.Cache.Slots
			case v.Role == op.Weight && p.Decisions[l.Op].Kind == op.GetRows:
				t.vocabulary = v.Height
			}
		}
	}
	t.seen = make([]uint32, t.slots)
	return t
}

// Context is the positions of the caches that the program uses; 0 if it uses
// none.
func (t *Takes) Context() int { return t.context }

// Accept checks that a batch fits: after that kernels index with what it says
// without looking.
func (t *Takes) Accept(b *Batch) error {
	n, m, l := len(b.Tokens), len(b.Output), t.limits
	switch {
	case n == 0 || n > l.Tokens:
		return fmt.Errorf("device: batch of %d tokens, program takes 1 to %d", n, l.Tokens)
	case m > l.Outputs:
		return fmt.Errorf("device: %d outputs wanted, program gives %d", m, l.Outputs)
	case len(b.Pos) != n || len(b.Slot) != n:
		return fmt.Errorf("device: batch of %d tokens with %d positions and %d slots", n, len(b.Pos), len(b.Slot))
	}
	for i, o := range b.Output {
		if o < 0 || int(o) >= n {
			return fmt.Errorf("device: output %d is row %d of a batch of %d", i, o, n)
		}
	}
	for i, id := range b.Tokens {
		if t.vocabulary > 0 && (id < 0 || int(id) >= t.vocabulary) {
			return fmt.Errorf("device: row %d: token %d of a vocabulary of %d", i, id, t.vocabulary)
		}
	}
	if t.slots == 0 {
		return nil
	}
	return t.acceptRows(b)
}

// acceptRows checks positions and slots. Two rows at one position would write
// the same cache row at the same time.
func (t *Takes) acceptRows(b *Batch) error {
	t.turn++
	if t.turn == 0 { // 2³² batches later
		clear(t.seen)
		t.turn = 1
	}
	for i, pos := range b.Pos {
		if pos < 0 || int(pos) >= t.context || t.limits.Keys > 0 && int(pos) >= t.limits.Keys {
			return fmt.Errorf("device: row %d at position %d: the cache has %d, the program takes %d", i, pos, t.context, t.limits.Keys)
		}
		s := b.Slot[i]
		if s < 0 || int(s) >= t.slots {
			return fmt.Errorf("device: row %d in slot %d: the cache has %d", i, s, t.slots)
		}
		switch {
		case i == 0 || s != b.Slot[i-1]:
			if t.seen[s] == t.turn {
				return fmt.Errorf("device: row %d in slot %d: the slot's rows are not together", i, s)
			}
			t.seen[s] = t.turn
		case pos <= b.Pos[i-1]:
			return fmt.Errorf("device: row %d at position %d of slot %d, after position %d", i, pos, s, b.Pos[i-1])
		}
	}
	return nil
}
