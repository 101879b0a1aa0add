package token

import (
	"cmp"
	"slices"
	"strings"
)

// fragment is a part of a text: text[start:end] to encode, or a special token.
type fragment struct {
	start, end int
	token      int32 // noToken for text
}

// specialSet finds the tokens that are recognised by their spelling before
// anything else: control, unknown and user-defined ones.
type specialSet struct {
	tokens []special  // the longest first, then by id
	root   [256]int32 // node of the trie by first byte, 0 for none
	nodes  []trieNode // nodes[0] is unused
}

type special struct {
	id     int32
	text   string
	plain  bool // user-defined: recognised even where special tokens are not parsed
	rstrip bool // the spaces after it belong to it
}

// trieNode is one byte of the spellings that share a beginning. Children of a
// node are a list: there are few, but below the first byte, which root indexes.
type trieNode struct {
	child, sibling int32 // nodes, 0 for none
	special1       int32 // index in tokens plus 1 of the spelling that ends here, 0 for none
	b              byte
}

// newSpecialSet collects the special tokens of the vocabulary.
func (t *Tokenizer) newSpecialSet(md Metadata) specialSet {
	set := specialSet{nodes: make([]trieNode, 1)}
	strip := phi3(md)
	for id, k := range t.kinds {
		if k != control && k != unknown && k != userDefined {
			continue
		}
		s := special{id: int32(id), text: string(t.vocab.text(int32(id))), plain: k == userDefined}
		s.rstrip = strip && s.text != "<unk>" && s.text != "<s>" && s.text != "<|endoftext|>"
		set.tokens = append(set.tokens, s)
	}
	slices.SortFunc(set.tokens, func(a, b special) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.id, b.id))
	})
	for i, s := range set.tokens {
		at := &set.root[s.text[0]]
		for j := range len(s.text) {
			for *at != 0 && set.nodes[*at].b != s.text[j] {
				at = &set.nodes[*at].sibling
			}
			node := *at
			if node == 0 {
				node = int32(len(set.nodes))
				*at = node // before the append, which may move what at points to
				set.nodes = append(set.nodes, trieNode{b: s.text[j]})
			}
			if j == len(s.text)-1 {
				set.nodes[node].special1 = int32(i + 1)
			}
			at = &set.nodes[node].child
		}
	}
	return set
}

// maxFragment is the length at which any text is cut, so that the offsets of
// symbols, in text that may grow threefold, fit 32 bits.
const maxFragment = 1 << 29

// part cuts text at its special tokens. As in llama.cpp, a longer token is cut
// out of the whole text before a shorter one is looked for.
func (t *Tokenizer) part(sc *scratch, text string, parseSpecial bool) []fragment {
	sc.fragments = sc.fragments[:0]
	for start := 0; start < len(text); start += maxFragment {
		sc.fragments = append(sc.fragments, fragment{start: start, end: min(start+maxFragment, len(text)), token: noToken})
	}
	for _, i := range t.specials.occurring(sc, text, parseSpecial) {
		sc.parted = sc.parted[:0]
		for _, f := range sc.fragments {
			sc.parted = t.specials.tokens[i].cut(sc.parted, text, f)
		}
		sc.fragments, sc.parted = sc.parted, sc.fragments
	}
	return sc.fragments
}

// occurring returns which tokens of the set occur in text, as indices in order.
func (set *specialSet) occurring(sc *scratch, text string, parseSpecial bool) []int32 {
	sc.present = sc.present[:0]
	for i := range len(text) {
		node := set.root[text[i]]
		for j := i; node != 0; {
			n := &set.nodes[node]
			if k := n.special1 - 1; k >= 0 && !sc.seen[k] && (parseSpecial || set.tokens[k].plain) {
				sc.seen[k] = true
				sc.present = append(sc.present, k)
			}
			if j++; j == len(text) {
				break
			}
			for node = n.child; node != 0 && set.nodes[node].b != text[j]; {
				node = set.nodes[node].sibling
			}
		}
	}
	for _, k := range sc.present {
		sc.seen[k] = false
	}
	slices.Sort(sc.present)
	return sc.present
}

// cut appends the fragments that f falls into at the occurrences of s.
func (s *special) cut(dst []fragment, text string, f fragment) []fragment {
	for f.token == noToken {
		i := strings.Index(text[f.start:f.end], s.text)
		if i < 0 {
			break
		}
		if i > 0 {
			dst = append(dst, fragment{start: f.start, end: f.start + i, token: noToken})
		}
		dst = append(dst, fragment{token: s.id})
		f.start += i + len(s.text)
		for s.rstrip && f.start < f.end && isASCIISpace(text[f.start]) {
			f.start++
		}
		if f.start == f.end {
			return dst
		}
	}
	return append(dst, f)
}

// isASCIISpace is C's isspace.
func isASCIISpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
