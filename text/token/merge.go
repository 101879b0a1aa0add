package token

import (
	"math"
)

// symbol is a stretch of the text being encoded: at first one character, later
// what merges have made of it. Symbols form a list in text order; a symbol that
// was merged into its left neighbour has end 0.
type symbol struct {
	piece      int32 // in the vocabulary; noToken while it is one character
	prev, next int32 // neighbours, -1 at the ends
	start, end int32 // bytes of the text
}

// bigram is a possible merge: the symbol in the low half of key with the one
// to its right, which ends at end. The high half of key is the merge's rank.
// The smallest key goes first, so equal ranks go from left to right.
type bigram struct {
	key   uint64
	end   int32
	piece int32 // what the merge makes
}

// mergeAll merges neighbours among sc.symbols, best first, until none can
// merge. text is what the symbols' offsets point into.
//
// Every merge removes a symbol and queues at most two bigrams, so n symbols
// make fewer than 3n bigrams, each of which costs one push and one pop.
func (t *Tokenizer) mergeAll(sc *scratch, text []byte) {
	sc.queue, sc.queued = sc.queue[:0], 0
	for i := 1; i < len(sc.symbols); i++ {
		t.queueMerge(sc, text, int32(i-1), int32(i))
	}
	for len(sc.queue) > 0 {
		b := pop(&sc.queue)
		at := int32(uint32(b.key))
		left := &sc.symbols[at]
		// A bigram is stale if either side was merged away or the right side
		// grew; the left cannot grow without taking in the right.
		if left.end == 0 || left.next < 0 || sc.symbols[left.next].end != b.end {
			continue
		}
		right := &sc.symbols[left.next]
		left.piece, left.end, left.next = b.piece, right.end, right.next
		right.end = 0
		if left.next >= 0 {
			sc.symbols[left.next].prev = at
		}
		t.queueMerge(sc, text, left.prev, at)
		t.queueMerge(sc, text, at, left.next)
	}
}

// queueMerge queues the merge of the neighbours left and right, if there is one.
func (t *Tokenizer) queueMerge(sc *scratch, text []byte, left, right int32) {
	if left < 0 || right < 0 {
		return
	}
	l, r := &sc.symbols[left], &sc.symbols[right]
	if int(r.end-l.start) > t.vocab.longest {
		return
	}
	piece := t.vocab.find(text[l.start:r.end])
	if piece == noToken {
		return
	}
	var rank uint32
	if t.model == spm {
		rank = scoreRank(t.scores[piece])
	} else {
		var ok bool
		if rank, ok = t.merges.find(piece, l.end-l.start); !ok {
			return
		}
	}
	sc.queued++
	push(&sc.queue, bigram{key: uint64(rank)<<32 | uint64(uint32(left)), end: r.end, piece: piece})
}

// scoreRank orders scores as ranks: the highest score has the lowest rank.
func scoreRank(score float32) uint32 {
	bits := math.Float32bits(score + 0) // -0 ranks as 0
	if bits>>31 == 0 {
		return ^(bits | 1<<31)
	}
	return bits
}

// push adds b to the binary heap q.
func push(q *[]bigram, b bigram) {
	h := append(*q, b)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].key <= b.key {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = b
	*q = h
}

// pop removes the bigram with the smallest key from the binary heap q.
func pop(q *[]bigram) bigram {
	h := *q
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].key < h[child].key {
			child++
		}
		if last.key <= h[child].key {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	return top
}
