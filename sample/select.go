package sample

import (
	"fmt"
	"math"
	"slices"
)

// LogitError is a logit that cannot be sampled from.
type LogitError struct {
	ID    int     // the first such token, or -1 when all logits are -Inf
	Value float32 // NaN, +Inf, or -Inf with ID -1
}

func (e *LogitError) Error() string {
	if e.ID < 0 {
		return "sample: every logit is -Inf"
	}
	return fmt.Sprintf("sample: logit %d is %v", e.ID, e.Value)
}

// argmax returns the id of the largest logit, the lowest of equals, in one
// pass that also finds what cannot be sampled from.
func argmax(logits []float32) (int32, error) {
	best, id := float32(math.Inf(-1)), -1
	for i, x := range logits {
		// One branch, rarely taken: it holds for a new maximum and for NaN.
		if !(x <= best) {
			if x != x || x > math.MaxFloat32 {
				return 0, &LogitError{ID: i, Value: x}
			}
			best, id = x, i
		}
	}
	if id < 0 {
		return 0, &LogitError{ID: -1, Value: best}
	}
	return int32(id), nil
}

// before orders candidates: larger logit first, then lower id. No two are
// equal, as no two ids are.
func before(a, b candidate) int {
	switch {
	case a.logit > b.logit:
		return -1
	case a.logit < b.logit:
		return +1
	}
	return int(a.id) - int(b.id)
}

// largest returns the k first logits in the order of before, sorted, in buf's
// memory when its capacity allows. A heap with the last of them on top takes
// n comparisons and about k ln(n/k) exchanges for logits in random order.
func largest(buf []candidate, logits []float32, k int) []candidate {
	heap := buf[:0]
	for id, x := range logits[:k] {
		heap = append(heap, candidate{x, int32(id)})
	}
	for i := k/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for i, x := range logits[k:] {
		// Ids ascend, so an equal logit comes after all that are held.
		if x > heap[0].logit {
			heap[0] = candidate{x, int32(k + i)}
			sink(heap, 0)
		}
	}
	slices.SortFunc(heap, before)
	return heap
}

// sink restores the heap below i, in which no parent comes before its children.
func sink(heap []candidate, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && before(heap[child+1], heap[child]) > 0 {
			child++
		}
		if before(heap[i], heap[child]) > 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
