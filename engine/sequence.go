package engine

import (
	"context"
	"errors"
	"fmt"
)

// Sequence is one text being decoded: its tokens so far are in the cache.
// A sequence must not be used by two goroutines at once; different sequences
// may.
type Sequence struct {
	e      *Engine
	slot   int
	n      int       // positions filled; guarded by e.mu
	logits []float32 // of the last step, [vocab]
	closed bool
}

// ErrSequences is returned by NewSequence when Config.Sequences are in use.
var ErrSequences = errors.New("engine: all sequences are in use")

// ErrClosed is returned by the methods of a closed engine or sequence.
var ErrClosed = errors.New("engine: closed")

// ContextError says that a sequence has no room for more tokens.
type ContextError struct {
	Have    int // tokens in the sequence
	Add     int // tokens to be added
	Context int // room
}

func (e *ContextError) Error() string {
	return fmt.Sprintf("engine: %d tokens and %d more do not fit the context of %d", e.Have, e.Add, e.Context)
}

// NewSequence starts an empty sequence. It holds one of Config.Sequences
// slots until Close.
func (e *Engine) NewSequence() (*Sequence, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newSequence()
}

// newSequence is NewSequence for a caller who holds e.mu.
func (e *Engine) newSequence() (*Sequence, error) {
	if e.closed {
		return nil, ErrClosed
	}
	if len(e.free) == 0 {
		return nil, fmt.Errorf("%w: %d", ErrSequences, e.cfg.Sequences)
	}
	last := len(e.free) - 1
	s := &Sequence{e: e, slot: e.free[last], logits: make([]float32, e.model.Hyper.Vocab)}
	e.free = e.free[:last]
	return s, nil
}

// Close gives the sequence's slot back.
func (s *Sequence) Close() {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.e.free = append(s.e.free, s.slot)
	}
}

// Len is the number of tokens in the sequence.
func (s *Sequence) Len() int {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.n
}

// Truncate keeps the first n tokens; n larger than Len changes nothing.
func (s *Sequence) Truncate(n int) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.n = max(0, min(s.n, n))
}

// Fork starts a sequence with the same tokens in a slot of its own.
func (s *Sequence) Fork() (*Sequence, error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	f, err := s.e.newSequence()
	if err != nil {
		return nil, err
	}
	s.e.cache.Copy(f.slot, s.slot, s.n)
	f.n = s.n
	copy(f.logits, s.logits)
	return f, nil
}

// Prefill appends tokens, Config.Batch at a time, and returns the logits
// after the last, valid until the sequence's next step. When ctx ends between
// two batches the sequence keeps what it has (see Len) and the error is ctx's.
func (s *Sequence) Prefill(ctx context.Context, tokens []int32) ([]float32, error) {
	if len(tokens) == 0 {
		return nil, errors.New("engine: no tokens to prefill")
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if err := s.fits(len(tokens)); err != nil {
		return nil, err
	}
	if err := s.e.known(tokens); err != nil {
		return nil, err
	}
	for at := 0; at < len(tokens); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(s.e.cfg.Batch, len(tokens)-at)
		s.e.items[0] = Item{Sequence: s, Tokens: tokens[at : at+n], NoLogits: at+n < len(tokens)}
		if err := s.e.step(s.e.items); err != nil {
			return nil, err
		}
		at += n
	}
	return s.logits, nil
}

// Decode appends one token and returns the logits after it, valid until the
// sequence's next step. It allocates nothing.
func (s *Sequence) Decode(ctx context.Context, token int32) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.single[0] = token
	s.e.items[0] = Item{Sequence: s, Tokens: s.e.single[:]}
	if err := s.e.step(s.e.items); err != nil {
		return nil, err
	}
	return s.logits, nil
}

// Logits are those of the sequence's last step, [vocabulary].
func (s *Sequence) Logits() []float32 { return s.logits }

// fits checks that n more tokens have room. The caller holds e.mu.
func (s *Sequence) fits(n int) error {
	switch {
	case s.closed || s.e.closed:
		return ErrClosed
	case s.n+n > s.e.cfg.Context:
		return &ContextError{Have: s.n, Add: n, Context: s.e.cfg.Context}
	}
	return nil
}
