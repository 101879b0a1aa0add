package token

// A matcher is one pass of a pre-tokenizer: it looks at the characters of s
// from byte i and returns how many bytes to take, at least 1, and whether they
// are a piece of their own (true) or belong to a stretch that this pass leaves
// alone (false). The first character of s and its end are the ends of the text
// as far as it is concerned.
type matcher func(s string, i int) (n int, piece bool)

// preTokenizer cuts text into words, within which BPE merges. Each pass cuts
// the pieces that the passes before it left.
type preTokenizer struct {
	passes     []matcher
	wholeWords bool // a word that is a token is taken as it is, unmerged
	addBOS     bool // unless the metadata says otherwise
	noBOS      bool // there is no beginning token unless the metadata names one
}

// split returns the ends of the words of s, in order.
func (p *preTokenizer) split(sc *scratch, s string) []int {
	sc.ends = append(sc.ends[:0], len(s))
	for _, m := range p.passes {
		sc.cuts = sc.cuts[:0]
		start := 0
		for _, end := range sc.ends {
			sc.cuts = m.cut(sc.cuts, s[start:end], start)
			start = end
		}
		sc.ends, sc.cuts = sc.cuts, sc.ends
	}
	return sc.ends
}

// cut appends the ends of the pieces of s, each plus base.
func (m matcher) cut(ends []int, s string, base int) []int {
	between := false // a stretch that is no piece of this pass is open
	for i := 0; i < len(s); {
		n, piece := m(s, i)
		if piece && between {
			ends = append(ends, base+i)
		}
		i += n
		if piece {
			ends = append(ends, base+i)
		}
		between = !piece
	}
	if between {
		ends = append(ends, base+len(s))
	}
	return ends
}
