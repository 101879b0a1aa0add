package sample

import "math"

// window remembers the last accepted tokens and penalises them.
type window struct {
	repeat, frequency, presence float32

	ring []int32 // the last tokens; full once len(ring) == cap(ring)
	next int     // where the next token goes once the ring is full
	// count[id] is how often id stands in the ring. Invariant between calls:
	// never negative.
	count []int32 // [vocab]
}

func newWindow(p Params, vocab int) *window {
	w := &window{
		repeat:    p.RepeatPenalty,
		frequency: p.FrequencyPenalty,
		presence:  p.PresencePenalty,
		ring:      make([]int32, 0, p.RepeatLastN),
		count:     make([]int32, vocab),
	}
	if w.repeat == 0 {
		w.repeat = 1
	}
	return w
}

// add puts id into the window, and pushes the oldest token out of a full one.
// An id outside the vocabulary takes its place but penalises nothing.
func (w *window) add(id int32) {
	if len(w.ring) < cap(w.ring) {
		w.ring = append(w.ring, id)
	} else {
		w.bump(w.ring[w.next], -1)
		w.ring[w.next] = id
		w.next = (w.next + 1) % len(w.ring)
	}
	w.bump(id, +1)
}

func (w *window) bump(id, by int32) {
	if id >= 0 && int(id) < len(w.count) {
		w.count[id] += by
	}
}

func (w *window) reset() {
	for _, id := range w.ring {
		if id >= 0 && int(id) < len(w.count) {
			w.count[id] = 0
		}
	}
	w.ring, w.next = w.ring[:0], 0
}

// apply penalises logits in place, each token of the window once.
func (w *window) apply(logits []float32) {
	for _, id := range w.ring {
		if id < 0 || int(id) >= len(w.count) || w.count[id] < 0 {
			continue
		}
		logits[id] = w.penalise(logits[id], w.count[id])
		w.count[id] = -w.count[id] // seen; restored below
	}
	for _, id := range w.ring {
		if id >= 0 && int(id) < len(w.count) && w.count[id] < 0 {
			w.count[id] = -w.count[id]
		}
	}
}

// penalise returns the logit x of a token that stands n > 0 times in the
// window. The explicit conversions keep a compiler from fusing the product
// with the sum, so that every platform rounds alike.
func (w *window) penalise(x float32, n int32) float32 {
	if x > math.MaxFloat32 {
		return x // +Inf stays, for argmax to refuse
	}
	if x > 0 {
		x /= w.repeat
	} else {
		x *= w.repeat
	}
	x -= float32(float32(n)*w.frequency) + w.presence
	// A reward on a logit near the largest float must not make +Inf.
	return min(x, math.MaxFloat32)
}
