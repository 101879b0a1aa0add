package engine

import (
	"context"
	"fmt"
	"unsafe"
)

// Item is one sequence's part of a step.
type Item struct {
	Sequence *Sequence
	Tokens   []int32
	NoLogits bool // the logits after Tokens are not needed
}

// Step appends tokens to several sequences at once: the weights are read once
// for all of them. Afterwards each sequence's Logits are those after its last
// token, unless it asked for none. All items together may have Config.Batch
// tokens. Either every sequence grows or, on an error, none does.
func (e *Engine) Step(ctx context.Context, items []Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.step(items)
}

// step runs one batch. The caller holds e.mu.
func (e *Engine) step(items []Item) error {
	if e.closed {
		return ErrClosed
	}
	b := &e.batch
	b.Tokens, b.Pos, b.Slot, b.Output = b.Tokens[:0], b.Pos[:0], b.Slot[:0], b.Output[:0]
	for i := range items {
		if err := e.add(items, i); err != nil {
			return err
		}
	}
	if len(b.Tokens) == 0 {
		return fmt.Errorf("engine: a step of %d sequences and no tokens", len(items))
	}
	for _, p := range e.retiring {
		if err := e.retire(p); err != nil {
			return err
		}
	}
	e.retiring = e.retiring[:0]
	deepest := int32(0)
	for _, pos := range b.Pos {
		deepest = max(deepest, pos)
	}
	p, err := e.runBatch(e.classOf(len(b.Tokens), len(b.Output), int(deepest)+1, len(b.Tokens) > len(items)))
	if err != nil {
		return err
	}
	p.runs++
	e.steps++
	out, vocab, m := p.exec.Output(p.Output), e.model.Hyper.Vocab, 0
	for i := range items {
		it := &items[i]
		it.Sequence.n += len(it.Tokens)
		if !it.NoLogits {
			copy(it.Sequence.logits, float32s(out[4*m*vocab:4*(m+1)*vocab]))
			m++
		}
	}
	return nil
}

// add appends items[i] to the batch.
func (e *Engine) add(items []Item, i int) error {
	it, b := &items[i], &e.batch
	s := it.Sequence
	if s == nil {
		return fmt.Errorf("engine: item %d: no sequence", i)
	}
	if s.e != e {
		return fmt.Errorf("engine: item %d: sequence of another engine", i)
	}
	if err := s.fits(len(it.Tokens)); err != nil {
		return err
	}
	if len(it.Tokens) == 0 {
		return fmt.Errorf("engine: item %d: no tokens", i)
	}
	if len(b.Tokens)+len(it.Tokens) > e.cfg.Batch {
		return fmt.Errorf("engine: a step of more than %d tokens", e.cfg.Batch)
	}
	for j := range i {
		if items[j].Sequence == s {
			return fmt.Errorf("engine: items %d and %d are the same sequence", j, i)
		}
	}
	if err := e.known(it.Tokens); err != nil {
		return err
	}
	for k, t := range it.Tokens {
		b.Tokens = append(b.Tokens, t)
		b.Pos = append(b.Pos, int32(s.n+k))
		b.Slot = append(b.Slot, int32(s.slot))
	}
	if !it.NoLogits {
		b.Output = append(b.Output, int32(len(b.Tokens)-1))
	}
	return nil
}

// known checks that tokens are in the vocabulary.
func (e *Engine) known(tokens []int32) error {
	for _, t := range tokens {
		if t < 0 || int(t) >= e.model.Hyper.Vocab {
			return fmt.Errorf("engine: token %d of a vocabulary of %d", t, e.model.Hyper.Vocab)
		}
	}
	return nil
}

// float32s sees an output's bytes as floats.
func float32s(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}
