// Package probe asks an endpoint or a command the same thing many times and counts
// how many different answers come. Greedy decoding of one prompt by one program on
// one machine has one answer, to the last digit of its log-probabilities, unless
// something is wrong or the batch was another.
package probe

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// API is how an endpoint is spoken to.
type API string

// The APIs: llama-server's own, and OpenAI's two.
const (
	Completion  API = "completion"  // POST /completion
	Completions API = "completions" // POST /v1/completions
	Chat        API = "chat"        // POST /v1/chat/completions
	Command     API = "command"     // a process, whose output is the answer
)

// Options say what is asked, how often, and how.
type Options struct {
	URL     string   // of the endpoint, or of the server: then API says which
	API     API      // "" for what the URL's path says, else Completion
	Command []string // instead of URL
	Model   string   // for servers that have several
	Key     string   // "Authorization: Bearer"
	Prompt  string
	Tokens  int // to generate
	Probs   int // log-probabilities of so many likeliest tokens at each place; 0 asks for none

	Requests    int
	Concurrency int // so many at a time
	Distractors int // other requests before each of them
	Seed        uint64
	Timeout     time.Duration // of each
	// Digits are the decimals of log-probabilities that must agree.
	Digits int
	// GiveUp ends the probe after so many failures if nothing was answered.
	GiveUp int
}

// endpoint is the URL that requests are sent to.
func (o *Options) endpoint() (string, API, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return "", "", fmt.Errorf("probe: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "", fmt.Errorf("probe: %q: want http://HOST[:PORT][/PATH]", o.URL)
	}
	paths := map[API]string{Completion: "/completion", Completions: "/v1/completions", Chat: "/v1/chat/completions"}
	path := strings.TrimRight(u.Path, "/")
	for _, api := range []API{Chat, Completions, Completion} {
		if strings.HasSuffix(path, paths[api]) && (o.API == "" || o.API == api) {
			return u.String(), api, nil
		}
	}
	api := o.API
	if api == "" {
		api = Completion
	}
	u.Path = strings.TrimSuffix(path, "/v1") + paths[api]
	return u.String(), api, nil
}

// Moment is a time by two clocks: the wall's, and CLOCK_BOOTTIME in nanoseconds, which
// drivers stamp events with (0 where there is none).
type Moment struct {
	Wall time.Time `json:"wall"`
	Boot int64     `json:"boot,omitempty"`
}

// Token is a generated token.
type Token struct {
	Text    string  `json:"text"`
	ID      int     `json:"id,omitempty"` // -1 if the endpoint does not say
	Logprob float64 `json:"logprob"`
	HasProb bool    `json:"-"`
	Top     []Token `json:"top,omitempty"`
}

// Answer is one request and what came of it.
type Answer struct {
	ID         int    `json:"id"` // from 1
	Distractor bool   `json:"-"`
	Kind       string `json:"kind"` // "request" or "distractor"
	Start      Moment `json:"start"`
	End        Moment `json:"end"`
	// Faces are the ways in which it failed, none if it was answered: "timeout",
	// "connection", "http-500", "nan", "invalid-utf8", "exit-1".
	Faces  []string `json:"faces,omitempty"`
	Detail string   `json:"detail,omitempty"` // of the first face
	Text   string   `json:"text,omitempty"`
	Tokens []Token  `json:"tokens,omitempty"`
	// Class is the answer's number among the distinct ones, from 1 for the most
	// frequent; 0 if it failed or is a distractor.
	Class     int   `json:"class,omitempty"`
	Divergent *bool `json:"divergent,omitempty"` // nil likewise
}

func (a *Answer) fail(face, format string, args ...any) {
	a.Faces = append(a.Faces, face)
	if a.Detail == "" {
		a.Detail = fmt.Sprintf(format, args...)
	}
}
