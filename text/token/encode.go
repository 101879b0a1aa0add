package token

import "unicode/utf8"

// scratch is the working memory of one Encode.
type scratch struct {
	symbols    []symbol
	queue      []bigram
	queued     int // bigrams queued by the last mergeAll
	ends, cuts []int
	fragments  []fragment
	parted     []fragment
	present    []int32
	seen       []bool
	word       []byte
}

// Encode returns the ids of text. addSpecial puts the beginning and end tokens
// where the vocabulary asks for them. parseSpecial turns the spelling of a
// control token in text, such as "<|im_end|>", into that token; without it
// such a spelling is ordinary text. User-defined tokens are always recognised.
//
// A byte for which the vocabulary has no token becomes the unknown token, or
// nothing where there is none. The work is O(n log n) in len(text).
func (t *Tokenizer) Encode(text string, addSpecial, parseSpecial bool) []int32 {
	sc := t.scratch.Get().(*scratch)
	defer t.scratch.Put(sc)

	ids := make([]int32, 0, len(text)/3+2)
	if addSpecial && t.addBOS {
		ids = append(ids, t.bos)
	}
	afterSpecial := true // spm: a space is put before text that follows a special token or nothing
	for _, f := range t.part(sc, text, parseSpecial) {
		if f.token != noToken {
			ids = append(ids, f.token)
			afterSpecial = true
			continue
		}
		raw := text[f.start:f.end]
		if t.addSpacePrefix && afterSpecial {
			raw = " " + raw
		}
		ids = t.encodeText(ids, sc, raw)
		afterSpecial = false
	}
	if addSpecial && t.addEOS {
		ids = append(ids, t.eos)
	}
	return ids
}

// encodeText appends the ids of text, which holds no special tokens.
func (t *Tokenizer) encodeText(ids []int32, sc *scratch, text string) []int32 {
	if t.model == spm {
		sc.word = appendMarked(sc.word[:0], text)
		return t.encodeWord(ids, sc, sc.word)
	}
	start := 0
	for _, end := range t.pre.split(sc, text) {
		word := text[start:end]
		start = end
		if t.model == bpeBytes {
			sc.word = appendByteRunes(sc.word[:0], word)
		} else {
			sc.word = appendMarked(sc.word[:0], word)
		}
		whole := t.wordToken(sc.word)
		if whole != noToken && (t.pre.wholeWords || t.model == bpeRunes && word[0] == '\n' || t.merged[whole].Load()) {
			ids = append(ids, whole)
			continue
		}
		before := len(ids)
		ids = t.encodeWord(ids, sc, sc.word)
		if whole != noToken && len(ids) == before+1 && ids[before] == whole {
			t.merged[whole].Store(true)
		}
	}
	return ids
}

// wordToken is the token that reads word, or noToken.
func (t *Tokenizer) wordToken(word []byte) int32 {
	if len(word) > t.vocab.longest {
		return noToken
	}
	if id := t.vocab.find(word); int(id) < t.Size() {
		return id
	}
	return noToken
}

// encodeWord appends the ids of word, merging from its characters. As in
// llama.cpp a character is as long as its first byte says, whatever follows.
func (t *Tokenizer) encodeWord(ids []int32, sc *scratch, word []byte) []int32 {
	sc.symbols = sc.symbols[:0]
	for i := 0; i < len(word); {
		end := min(i+leadLength(word[i]), len(word))
		n := int32(len(sc.symbols))
		sc.symbols = append(sc.symbols, symbol{piece: noToken, prev: n - 1, next: n + 1, start: int32(i), end: int32(end)})
		i = end
	}
	sc.symbols[len(sc.symbols)-1].next = -1
	t.mergeAll(sc, word)
	for i := int32(0); i >= 0; i = sc.symbols[i].next {
		s := &sc.symbols[i]
		text := word[s.start:s.end]
		piece := s.piece
		if piece == noToken {
			piece = t.vocab.find(text)
		}
		if piece != noToken && int(piece) < t.Size() {
			ids = append(ids, piece)
		} else {
			ids = t.encodeBytes(ids, text)
		}
	}
	return ids
}

// encodeBytes appends the tokens of the single bytes that text spells.
func (t *Tokenizer) encodeBytes(ids []int32, text []byte) []int32 {
	for i := 0; i < len(text); {
		b, w := text[i], 1
		if t.model == bpeBytes {
			var r rune
			r, w = utf8.DecodeRune(text[i:])
			b = byte(runeBytes[r])
		}
		i += w
		if id := t.byteToken[b]; id != noToken {
			ids = append(ids, id)
		} else if t.unknown != noToken {
			ids = append(ids, t.unknown)
		}
	}
	return ids
}

// leadLength is the length of the UTF-8 sequence that b begins, or 1.
func leadLength(b byte) int {
	switch {
	case b < 0xC0:
		return 1
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return 4
}
