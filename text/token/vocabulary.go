package token

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
)

// kind is a token's type, numbered as in tokenizer.ggml.token_type.
type kind uint8

const (
	undefined   kind = 0 // and every number not listed here
	normal      kind = 1
	unknown     kind = 2
	control     kind = 3
	userDefined kind = 4
	unused      kind = 5
	singleByte  kind = 6
)

// vocabulary holds pieces of text, numbered from 0, and finds a piece's number
// by its text. The pieces are the tokens in order of id; after them come the
// few pieces that merges mention and that are no tokens.
type vocabulary struct {
	arena []byte
	ends  []uint32 // piece i is arena[ends[i-1]:ends[i]]
	seed  maphash.Seed
	slots []slot // open addressing, a power of two long, at most 2/3 full

	longest int // bytes of the longest piece
}

// slot is one place of the hash table: piece-1 and the upper half of its hash,
// so that most probes of other pieces need not read their text.
type slot struct{ tag, piece1 uint32 }

// newVocabulary makes room for n pieces of size bytes in all.
func newVocabulary(n, size int) vocabulary {
	return vocabulary{
		arena: make([]byte, 0, size),
		ends:  make([]uint32, 0, n),
		seed:  maphash.MakeSeed(),
		slots: make([]slot, tableSize(n)),
	}
}

// tableSize is the length of an open-addressed table for n entries: the power
// of two that leaves it at most 2/3 full.
func tableSize(n int) int {
	return 1 << bits.Len(uint(n+n/2))
}

// text is piece i. It must not be written to.
func (v *vocabulary) text(i int32) []byte {
	start := uint32(0)
	if i > 0 {
		start = v.ends[i-1]
	}
	return v.arena[start:v.ends[i]]
}

// find returns the number of the piece that reads s, or noToken.
func (v *vocabulary) find(s []byte) int32 {
	piece, _ := v.probe(s, maphash.Bytes(v.seed, s))
	return piece
}

// probe returns the piece that reads s, or noToken and the free slot where it
// would stand.
func (v *vocabulary) probe(s []byte, hash uint64) (int32, uint64) {
	mask := uint64(len(v.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch e := v.slots[i]; {
		case e.piece1 == 0:
			return noToken, i
		case e.tag == uint32(hash>>32) && string(v.text(int32(e.piece1-1))) == string(s):
			return int32(e.piece1 - 1), i
		}
	}
}

// add returns the number of the piece that reads s, adding it if it is new.
func (v *vocabulary) add(s []byte) (piece int32, isNew bool) {
	hash := maphash.Bytes(v.seed, s)
	piece, at := v.probe(s, hash)
	if piece != noToken {
		return piece, false
	}
	if 3*(len(v.ends)+1) > 2*len(v.slots) {
		v.grow()
		_, at = v.probe(s, hash)
	}
	v.arena = append(v.arena, s...)
	v.longest = max(v.longest, len(s))
	v.ends = append(v.ends, uint32(len(v.arena)))
	v.slots[at] = slot{tag: uint32(hash >> 32), piece1: uint32(len(v.ends))}
	return int32(len(v.ends) - 1), true
}

// grow doubles the hash table.
func (v *vocabulary) grow() {
	v.slots = make([]slot, 2*len(v.slots))
	for i := range v.ends {
		s := v.text(int32(i))
		hash := maphash.Bytes(v.seed, s)
		_, at := v.probe(s, hash)
		v.slots[at] = slot{tag: uint32(hash >> 32), piece1: uint32(i + 1)}
	}
}

// loadVocabulary reads the tokens, their kinds and, for spm, their scores.
func (t *Tokenizer) loadVocabulary(md Metadata) error {
	const tokensKey, typesKey, scoresKey = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.scores"
	tokens, ok := md.Strings(tokensKey)
	if !ok || len(tokens) == 0 {
		return fmt.Errorf("token: key %q is missing or empty", tokensKey)
	}
	size := 0
	for _, s := range tokens {
		size += len(s)
	}
	if len(tokens) > math.MaxInt32/2 || size > math.MaxUint32/4 {
		return fmt.Errorf("token: %d tokens of %d bytes are too many", len(tokens), size)
	}
	t.vocab = newVocabulary(len(tokens), size)
	var text []byte
	for i, s := range tokens {
		if text = append(text[:0], s...); len(text) == 0 {
			text = fmt.Appendf(text, "[EMPTY_%d]", i) // as llama.cpp names them
		}
		if first, isNew := t.vocab.add(text); !isNew {
			return fmt.Errorf("token: tokens %d and %d are both %q", first, i, text)
		}
	}

	t.kinds = make([]kind, len(tokens))
	types, ok := md.Ints(typesKey)
	if ok && len(types) < len(tokens) {
		return fmt.Errorf("token: %s has %d entries for %d tokens", typesKey, len(types), len(tokens))
	}
	for i := range t.kinds {
		t.kinds[i] = normal
		if ok {
			t.kinds[i] = undefined
			if k := types[i]; k >= int64(normal) && k <= int64(singleByte) {
				t.kinds[i] = kind(k)
			}
		}
	}

	if t.model != spm {
		return nil
	}
	scores, ok := md.Floats(scoresKey)
	if !ok || len(scores) < len(tokens) {
		return fmt.Errorf("token: %s has %d entries for %d tokens", scoresKey, len(scores), len(tokens))
	}
	t.scores = make([]float32, len(tokens))
	for i := range t.scores {
		t.scores[i] = float32(scores[i])
	}
	return nil
}

// findBytes fills the table of the tokens that spell single bytes.
func (t *Tokenizer) findBytes() {
	for b := range t.byteToken {
		if t.model == bpeBytes {
			t.byteToken[b] = t.named(string(byteRunes[b]))
			continue
		}
		t.byteToken[b] = t.named(fmt.Sprintf("<0x%02X>", b))
		if t.byteToken[b] == noToken && t.model == spm {
			t.byteToken[b] = t.named(string([]byte{byte(b)}))
		}
	}
}
