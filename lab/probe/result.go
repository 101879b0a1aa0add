package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/lab/stat"
)

// Class is a distinct answer.
type Class struct {
	Number int    `json:"number"` // from 1 for the most frequent
	Count  int    `json:"count"`
	Text   string `json:"text"`
	First  int    `json:"first"` // the ID of the first request that had it
	// Difference is where it first differs from the most frequent answer, nil for that.
	Difference *Difference `json:"difference,omitempty"`

	answer *Answer
	key    string
}

// Difference is where two answers part.
type Difference struct {
	// Token is the place of the first token that differs at all, from 0; for answers
	// without tokens that of the first byte.
	Token int  `json:"token"`
	Bytes bool `json:"bytes,omitempty"`
	// SameText says that the tokens are the same and only numbers differ.
	SameText bool    `json:"same_text"`
	Usual    string  `json:"usual"` // the token of the most frequent answer there
	Got      string  `json:"got"`
	Delta    float64 `json:"logprob_delta"` // Got's log-probability less Usual's
	HasDelta bool    `json:"has_delta"`
	// TextToken is the place of the first token that is another, -1 if none is.
	TextToken int `json:"text_token"`
}

// Result is what a probe found.
type Result struct {
	Options     Options
	Target      string
	API         API
	Answers     []*Answer // in the order of their ends
	Classes     []Class   // the most frequent first
	Texts       int       // distinct texts
	Faces       map[string]int
	Stopped     string // why it ended early
	Interrupted int    // requests that were under way when it ended
	NoProbs     bool   // none were given although they were asked for
}

// finish sorts the answers into classes.
func (r *Result) finish() {
	r.Faces = map[string]int{}
	byKey := map[string]*Class{}
	texts := map[string]bool{}
	probs := false
	for _, a := range r.Answers {
		for _, f := range a.Faces {
			r.Faces[f]++
		}
		if a.Distractor || len(a.Faces) > 0 {
			continue
		}
		texts[a.Text] = true
		probs = probs || len(a.Tokens) > 0
		k := a.key(r.Options.Digits)
		c := byKey[k]
		if c == nil {
			c = &Class{Text: a.Text, First: a.ID, answer: a, key: k}
			byKey[k] = c
		}
		c.Count++
		if a.ID < c.First {
			c.First, c.answer = a.ID, a
		}
	}
	r.Texts = len(texts)
	for _, c := range byKey {
		r.Classes = append(r.Classes, *c)
	}
	slices.SortFunc(r.Classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.First, b.First))
	})
	number := map[string]int{}
	for i := range r.Classes {
		c := &r.Classes[i]
		c.Number = i + 1
		number[c.key] = c.Number
		if i > 0 {
			c.Difference = difference(r.Classes[0].answer, c.answer, r.Options.Digits)
		}
	}
	for _, a := range r.Answers {
		if !a.Distractor && len(a.Faces) == 0 {
			a.Class = number[a.key(r.Options.Digits)]
			divergent := a.Class != 1
			a.Divergent = &divergent
		}
	}
	r.NoProbs = r.API != Command && r.Options.Probs > 0 && len(r.Classes) > 0 && !probs
}

// Divergent is how many of the answered requests differ from the most frequent
// answer.
func (r *Result) Divergent() stat.Rate {
	var d stat.Rate
	for _, c := range r.Classes {
		d.N += c.Count
	}
	if len(r.Classes) > 0 {
		d.K = d.N - r.Classes[0].Count
	}
	return d
}

// Failed is how many requests, distractors apart, were not answered.
func (r *Result) Failed() stat.Rate {
	var f stat.Rate
	for _, a := range r.Answers {
		if a.Distractor {
			continue
		}
		f.N++
		if len(a.Faces) > 0 {
			f.K++
		}
	}
	return f
}

// key is equal for equal answers.
func (a *Answer) key(digits int) string {
	var b strings.Builder
	b.WriteString(a.Text)
	b.WriteByte(0)
	for i := range a.Tokens {
		b.WriteString(a.Tokens[i].key(digits))
	}
	return b.String()
}

func (t *Token) key(digits int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\x01%s\x01%s", t.ID, t.Text, t.number(digits))
	for i := range t.Top {
		x := &t.Top[i]
		fmt.Fprintf(&b, "\x02%d\x01%s\x01%s", x.ID, x.Text, x.number(digits))
	}
	b.WriteByte(0)
	return b.String()
}

func (t *Token) number(digits int) string {
	if !t.HasProb {
		return ""
	}
	scale := math.Pow10(digits)
	n := math.Round(t.Logprob*scale) / scale
	return fmt.Sprintf("%.*f", digits, n+0) // no minus zero
}

// difference compares an answer with the most frequent one.
func difference(usual, got *Answer, digits int) *Difference {
	d := &Difference{TextToken: -1}
	if len(usual.Tokens) == 0 || len(got.Tokens) == 0 {
		d.Bytes = true
		for d.Token < min(len(usual.Text), len(got.Text)) && usual.Text[d.Token] == got.Text[d.Token] {
			d.Token++
		}
		d.SameText = usual.Text == got.Text
		d.Usual, d.Got = around(usual.Text, d.Token), around(got.Text, d.Token)
		return d
	}
	n := min(len(usual.Tokens), len(got.Tokens))
	d.Token = -1
	for i := range n {
		u, g := &usual.Tokens[i], &got.Tokens[i]
		if d.Token < 0 && u.key(digits) != g.key(digits) {
			d.Token = i
			d.Usual, d.Got = u.Text, g.Text
			if d.HasDelta = u.HasProb && g.HasProb; d.HasDelta {
				d.Delta = g.Logprob - u.Logprob
			}
		}
		if u.Text != g.Text || u.ID != g.ID {
			d.TextToken = i
			return d
		}
	}
	if len(usual.Tokens) != len(got.Tokens) {
		d.TextToken = n
	}
	if d.Token < 0 { // one goes on, or the text alone differs
		d.Token = n
	}
	d.SameText = d.TextToken < 0 && usual.Text == got.Text
	return d
}

// around is a little of s from at on.
func around(s string, at int) string {
	s = s[at:]
	if len(s) > 24 {
		s = s[:24]
	}
	return strings.ToValidUTF8(s, "?")
}
