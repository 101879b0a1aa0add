package token

import (
	"fmt"
	"math"
	"strings"
)

// mergeTable knows the ranks of merges. A merge is the piece that it makes and
// where that piece is cut in two; so it is found with the piece, and reading
// the merges of a file need not look up their halves.
type mergeTable struct {
	first  []int32 // by piece: its first merge plus 1, 0 for none
	merges []merge
}

type merge struct {
	cut  int32 // length of the left half
	rank uint32
	next int32 // another merge that makes the same piece, plus 1; 0 for none
}

// find returns the rank of the merge that makes piece of its first cut bytes
// and the rest. Lower ranks merge first.
func (m *mergeTable) find(piece, cut int32) (rank uint32, ok bool) {
	if int(piece) >= len(m.first) {
		return 0, false
	}
	for i := m.first[piece]; i != 0; i = m.merges[i-1].next {
		if e := &m.merges[i-1]; e.cut == cut {
			return e.rank, true
		}
	}
	return 0, false
}

// add gives a merge its rank, unless it has one: the first mention counts.
func (m *mergeTable) add(piece, cut int32, rank uint32) {
	if _, ok := m.find(piece, cut); ok {
		return
	}
	for int(piece) >= len(m.first) {
		m.first = append(m.first, 0)
	}
	m.merges = append(m.merges, merge{cut: cut, rank: rank, next: m.first[piece]})
	m.first[piece] = int32(len(m.merges))
}

// loadMerges reads the merges, "left right" each, the best first.
func (t *Tokenizer) loadMerges(md Metadata) error {
	const key = "tokenizer.ggml.merges"
	lines, ok := md.Strings(key)
	if !ok {
		return fmt.Errorf("token: key %q is missing", key)
	}
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	if len(lines) > math.MaxInt32/4 || size > math.MaxInt32/2 {
		return fmt.Errorf("token: %d merges of %d bytes are too many", len(lines), size)
	}
	t.merges = mergeTable{first: make([]int32, t.Size()), merges: make([]merge, 0, len(lines))}
	var joined []byte
	next := int32(0)
	for i, line := range lines {
		cut := 0
		if len(line) > 0 {
			cut = strings.IndexByte(line[1:], ' ') + 1 // neither half is empty
		}
		if cut == 0 || cut == len(line)-1 {
			return fmt.Errorf("token: merge %d is %q, want two pieces with a space between", i, line)
		}
		// Most files list merges in the order of the tokens they make.
		piece := next
		if int(next) >= t.Size() || !spells(t.vocab.text(next), line[:cut], line[cut+1:]) {
			joined = append(append(joined[:0], line[:cut]...), line[cut+1:]...)
			piece, _ = t.vocab.add(joined)
		}
		t.merges.add(piece, int32(cut), uint32(i))
		next = piece + 1
	}
	return nil
}

// spells reports whether text is left followed by right.
func spells(text []byte, left, right string) bool {
	return len(text) == len(left)+len(right) && string(text[:len(left)]) == left && string(text[len(left):]) == right
}
