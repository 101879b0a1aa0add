package probe

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
)

// wireToken is a token as llama-server and OpenAI's chat write it. Older servers of
// llama.cpp write prob and probs with tok_str.
type wireToken struct {
	ID      *int            `json:"id"`
	Token   *string         `json:"token"`
	Bytes   []int           `json:"bytes"`
	Logprob json.RawMessage `json:"logprob"`
	Top     []wireToken     `json:"top_logprobs"`
	Content *string         `json:"content"`
	Probs   []struct {
		Text string  `json:"tok_str"`
		Prob float64 `json:"prob"`
	} `json:"probs"`
}

// wireAnswer has the members of all three APIs.
type wireAnswer struct {
	Error   json.RawMessage `json:"error"`
	Content *string         `json:"content"`
	Probs   []wireToken     `json:"completion_probabilities"`
	Choices []struct {
		Text    *string `json:"text"`
		Message *struct {
			Content   *string `json:"content"`
			Reasoning string  `json:"reasoning_content"`
		} `json:"message"`
		Logprobs *struct {
			Content []wireToken `json:"content"`
			Tokens  []string    `json:"tokens"`
			Token   []*float64  `json:"token_logprobs"`
			Top     []topLegacy `json:"top_logprobs"`
		} `json:"logprobs"`
	} `json:"choices"`
}

// topLegacy is what the older API has for a place: text to log-probability. A null
// is what a NaN becomes.
type topLegacy map[string]*float64

// parse reads a whole answer.
func (a *Answer) parse(api API, b []byte, wantProbs bool) {
	var w wireAnswer
	if err := json.Unmarshal(b, &w); err != nil {
		if bytes.Contains(b, []byte("NaN")) || bytes.Contains(bytes.ToLower(b), []byte(":nan")) {
			a.fail("nan", "a NaN among the answer's numbers")
			return
		}
		a.fail("invalid-json", "%v: %s", err, short(string(b)))
		return
	}
	if len(w.Error) > 0 && string(w.Error) != "null" {
		a.fail("error", "%s", errorText(b))
		return
	}
	switch {
	case api == Completion && w.Content == nil:
		a.fail("no-answer", "no content in the answer: %s", short(string(b)))
		return
	case api == Completion:
		a.Text = *w.Content
		a.tokens(w.Probs)
	case len(w.Choices) == 0:
		a.fail("no-answer", "no choices in the answer: %s", short(string(b)))
		return
	default:
		c := w.Choices[0]
		switch {
		case c.Message != nil && c.Message.Content != nil:
			a.Text = c.Message.Reasoning + *c.Message.Content
		case c.Message != nil && c.Message.Reasoning != "":
			a.Text = c.Message.Reasoning
		case c.Text != nil:
			a.Text = *c.Text
		default:
			a.fail("no-answer", "no text in the first choice: %s", short(string(b)))
			return
		}
		if l := c.Logprobs; l != nil && len(l.Content) > 0 {
			a.tokens(l.Content)
		} else if l != nil {
			a.legacy(l.Tokens, l.Token, l.Top)
		}
	}
	if wantProbs && a.Text == "" && len(a.Tokens) == 0 {
		a.fail("empty", "an answer without text")
	}
}

func (a *Answer) tokens(list []wireToken) {
	for _, w := range list {
		t := w.token(a)
		for _, x := range w.Top {
			t.Top = append(t.Top, x.token(a))
		}
		for _, x := range w.Probs {
			t.Top = append(t.Top, Token{Text: x.Text, ID: -1, Logprob: math.Log(max(x.Prob, math.SmallestNonzeroFloat64)), HasProb: true})
		}
		if !t.HasProb && len(t.Top) > 0 {
			t.Logprob, t.HasProb = t.Top[0].Logprob, true
		}
		a.Tokens = append(a.Tokens, t)
	}
}

// token reads a token without its Top.
func (w *wireToken) token(a *Answer) Token {
	t := Token{ID: -1}
	if w.ID != nil {
		t.ID = *w.ID
	}
	switch {
	case w.Token != nil:
		t.Text = *w.Token
	case w.Content != nil:
		t.Text = *w.Content
	}
	if len(w.Bytes) > 0 { // the text has no invalid UTF-8
		b := make([]byte, len(w.Bytes))
		for i, x := range w.Bytes {
			b[i] = byte(x)
		}
		t.Text = string(b)
	}
	if len(w.Logprob) == 0 {
		return t
	}
	t.HasProb = true
	if string(w.Logprob) == "null" || json.Unmarshal(w.Logprob, &t.Logprob) != nil {
		if !slices.Contains(a.Faces, "nan") {
			a.fail("nan", "the log-probability %s of token %q", w.Logprob, t.Text)
		}
		t.HasProb = false
	}
	return t
}

// legacy reads OpenAI's older arrays. The first token of a prompt may have null.
func (a *Answer) legacy(tokens []string, probs []*float64, top []topLegacy) {
	for i, s := range tokens {
		t := Token{Text: s, ID: -1}
		if i < len(probs) {
			if probs[i] == nil {
				if !slices.Contains(a.Faces, "nan") {
					a.fail("nan", "the log-probability null of token %q", s)
				}
			} else {
				t.Logprob, t.HasProb = *probs[i], true
			}
		}
		if i < len(top) {
			for text, p := range top[i] {
				if p != nil {
					t.Top = append(t.Top, Token{Text: text, ID: -1, Logprob: *p, HasProb: true})
				}
			}
			slices.SortFunc(t.Top, func(x, y Token) int {
				switch {
				case x.Logprob > y.Logprob, x.Logprob == y.Logprob && x.Text < y.Text:
					return -1
				}
				return 1
			})
		}
		a.Tokens = append(a.Tokens, t)
	}
}
