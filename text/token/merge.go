package token

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// symbol is a stretch of the text being encoded: at first one byte or one
// character, later what merges have made of it. Symbols form a list in text
// order; a symbol that was merged into its left neighbour has end 0.
type symbol struct {
	piece      int32 // number in the vocabulary, or noToken
	prev, next int32 // neighbours, -1 at the ends
	start, end int32 // bytes of the text
}

// bigram is a possible merge: the symbol in the low half of key with the one
// to its right, which ends at end. The high half of key is the merge's rank;
// the smallest key goes first, so ties go to the leftmost pair.
type bigram struct {
	key   uint64
	end   int32
	piece int32 // what the merge makes
}

// mergeAll merges neighbours in sc.symbols, best first, until none can merge.
// text is what the symbols' offsets point into.
//
// Every merge removes a symbol and queues at most two bigrams, so there are
// fewer than 3n bigrams, each costing one push and one pop of a binary heap.
func (t *Tokenizer) mergeAll(sc *scratch, text string) {
	sc.queue = sc.queue[:0]
	for i := 1; i < len(sc.symbols); i++ {
		t.queueMerge(sc, text, int32(i-1), int32(i))
	}
	for len(sc.queue) > 0 {
		b := pop(&sc.queue)
		left := &sc.symbols[uint32(b.key)]
		// The bigram is stale if either side was merged away or the right grew;
		// the left cannot have grown without absorbing the right.
		if left.end == 0 || left.next < 0 || sc.symbols[left.next].end != b.end {
			continue
		}
		right := &sc.symbols[left.next]
		left.piece, left.end, left.next = b.piece, right.end, right.next
		right.end = 0
		at := int32(uint32(b.key))
		if left.next >= 0 {
			sc.symbols[left.next].prev = at
		}
		t.queueMerge(sc, text, left.prev, at)
		t.queueMerge(sc, text, at, left.next)
	}
}

// queueMerge queues the merge of symbols left and right if there is one.
func (t *Tokenizer) queueMerge(sc *scratch, text string, left, right int32) {
	if left < 0 || right < 0 {
		return
	}
	l, r := &sc.symbols[left], &sc.symbols[right]
	var rank uint32
	var piece int32
	if t.model == spm {
		if piece = t.vocab.findString(text[l.start:r.end]); piece == noToken {
			return
		}
		rank = descending(t.scores[piece])
	} else {
		var ok bool
		if rank, piece, ok = t.merges.find(l.piece, r.piece); !ok {
			return
		}
	}
	push(&sc.queue, bigram{key: uint64(rank)<<32 | uint64(uint32(left)), end: r.end, piece: piece})
}

// descending maps scores to ranks, the highest score to the lowest rank.
func descending(score float32) uint32 {
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
	if len(h) == 0 {
		return top
	}
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
	h[i] = last
	return top
}

// mergeTable finds the merge of two pieces: a hash table with open addressing.
type mergeTable struct {
	entries []mergeEntry
	shift   uint
}

type mergeEntry struct {
	left, right int32
	rank1       uint32 // rank+1; 0 marks a free entry
	piece       int32
}

// find returns the rank of the merge of left and right and what it makes.
func (m *mergeTable) find(left, right int32) (rank uint32, piece int32, ok bool) {
	e := m.entry(left, right)
	return e.rank1 - 1, e.piece, e.rank1 != 0
}

// entry is where the merge of left and right stands or would stand.
func (m *mergeTable) entry(left, right int32) *mergeEntry {
	key := uint64(uint32(left))<<32 | uint64(uint32(right))
	mask := uint64(len(m.entries) - 1)
	for i := key * 0x9E3779B97F4A7C15 >> m.shift; ; i = (i + 1) & mask {
		e := &m.entries[i]
		if e.rank1 == 0 || e.left == left && e.right == right {
			return e
		}
	}
}

// loadMerges reads the merges: "left right", the best first.
func (t *Tokenizer) loadMerges(md Metadata) error {
	const key = "tokenizer.ggml.merges"
	merges, ok := md.Strings(key)
	if !ok {
		return fmt.Errorf("token: key %q is missing", key)
	}
	if len(merges) > math.MaxInt32/4 {
		return fmt.Errorf("token: %d merges are too many", len(merges))
	}
	size := tableSize(len(merges))
	t.merges = mergeTable{entries: make([]mergeEntry, size), shift: uint(64 - log2(size))}
	var joined []byte
	next := int32(0) // what the merge makes, if it makes the token after the last one
	for i, line := range merges {
		cut := -1
		if len(line) > 0 {
			cut = strings.IndexByte(line[1:], ' ') + 1 // a piece is never empty
		}
		if cut <= 0 || cut == len(line)-1 {
			return fmt.Errorf("token: merge %d is %q, want two pieces with a space between", i, line)
		}
		joined = append(append(joined[:0], line[:cut]...), line[cut+1:]...)
		left := t.piece(joined[:cut])
		right := t.piece(joined[cut:])
		made := next
		if int(next) >= t.Size() || string(t.vocab.text(next)) != string(joined) {
			made = t.piece(joined)
		}
		next = made + 1
		if e := t.merges.entry(left, right); e.rank1 == 0 { // a repeated merge keeps its first rank
			*e = mergeEntry{left: left, right: right, rank1: uint32(i + 1), piece: made}
		}
	}
	return nil
}

// piece is the number of the piece that reads s, added if need be.
func (t *Tokenizer) piece(s []byte) int32 {
	p, _ := t.vocab.add(s)
	return p
}

// log2 of a power of two.
func log2(n int) int {
	k := 0
	for n > 1 {
		n >>= 1
		k++
	}
	return k
}

// encodeWords appends the ids of text, which the pre-tokenizer cuts into words.
func (t *Tokenizer) encodeWords(ids []int32, sc *scratch, text string) []int32 {
	start := 0
	for _, end := range t.pre.split(sc, text) {
		word := text[start:end]
		start = end
		if t.pre.wholeWords || t.model == bpeRunes && word[0] == '\n' {
			if id := t.wordToken(sc, word); id != noToken {
				ids = append(ids, id)
				continue
			}
		}
		if t.model == bpeRunes {
			ids = t.encodeRunes(ids, sc, word)
			continue
		}
		sc.symbols = sc.symbols[:0]
		for i := range len(word) {
			sc.symbols = appendSymbol(sc.symbols, t.bytePiece[word[i]], i, i+1)
		}
		ids = t.encodeSymbols(ids, sc, word)
	}
	return ids
}

// wordToken is the token that spells the whole of word, or noToken.
func (t *Tokenizer) wordToken(sc *scratch, word string) int32 {
	sc.word = sc.word[:0]
	if t.model == bpeBytes {
		sc.word = appendByteRunes(sc.word, word)
	} else {
		sc.word = append(sc.word, word...)
	}
	if id := t.vocab.find(sc.word); int(id) < t.Size() {
		return id
	}
	return noToken
}

// encodeRunes appends the ids of text, merging from its characters. As in
// llama.cpp a character is as long as its first byte says, whatever follows.
func (t *Tokenizer) encodeRunes(ids []int32, sc *scratch, text string) []int32 {
	sc.symbols = sc.symbols[:0]
	for i := 0; i < len(text); {
		end := min(i+leadLength(text[i]), len(text))
		sc.symbols = appendSymbol(sc.symbols, t.vocab.findString(text[i:end]), i, end)
		i = end
	}
	return t.encodeSymbols(ids, sc, text)
}

// leadLength is the length of the UTF-8 sequence that b begins; 1 if it begins none.
func leadLength(b byte) int {
	switch {
	case b < 0xC0:
		return 1
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return utf8.UTFMax
}

// appendSymbol appends the symbol for text[start:end], linked to its neighbours.
func appendSymbol(symbols []symbol, piece int32, start, end int) []symbol {
	n := int32(len(symbols))
	if n > 0 {
		symbols[n-1].next = n
	}
	return append(symbols, symbol{piece: piece, prev: n - 1, next: -1, start: int32(start), end: int32(end)})
}

// encodeSymbols merges sc.symbols, which cover text, and appends their ids.
func (t *Tokenizer) encodeSymbols(ids []int32, sc *scratch, text string) []int32 {
	t.mergeAll(sc, text)
	for i := int32(0); i >= 0; i = sc.symbols[i].next {
		s := &sc.symbols[i]
		if s.piece >= 0 && int(s.piece) < t.Size() {
			ids = append(ids, s.piece)
			continue
		}
		for _, b := range []byte(text[s.start:s.end]) {
			if id := t.byteToken[b]; id != noToken {
				ids = append(ids, id)
			} else if t.unknown != noToken {
				ids = append(ids, t.unknown)
			}
		}
	}
	return ids
}
