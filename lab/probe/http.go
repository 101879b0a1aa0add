package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxBody bounds an answer.
const maxBody = 16 << 20

// client sends requests to an endpoint.
type client struct {
	http *http.Client
	url  string
	api  API
	o    *Options
}

func newClient(o *Options) (*client, error) {
	u, api, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{MaxIdleConnsPerHost: o.Concurrency, ResponseHeaderTimeout: o.Timeout}
	return &client{
		url: u, api: api, o: o,
		// What is elsewhere is not this endpoint's answer.
		http: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// body is the request for a prompt: greedy, without the server's cache of prompts.
func (c *client) body(prompt string) ([]byte, error) {
	m := map[string]any{"temperature": 0, "top_k": 1, "seed": 1, "stream": false, "cache_prompt": false}
	if c.o.Model != "" {
		m["model"] = c.o.Model
	}
	switch c.api {
	case Chat:
		m["messages"] = []map[string]string{{"role": "user", "content": prompt}}
		m["max_tokens"] = c.o.Tokens
		if c.o.Probs > 0 {
			m["logprobs"], m["top_logprobs"] = true, c.o.Probs
		}
	case Completions:
		m["prompt"], m["max_tokens"] = prompt, c.o.Tokens
		if c.o.Probs > 0 {
			m["logprobs"] = c.o.Probs
		}
	default:
		m["prompt"], m["n_predict"], m["n_probs"] = prompt, c.o.Tokens, c.o.Probs
	}
	return json.Marshal(m)
}

// ask sends a prompt and fills in what came back.
func (c *client) ask(ctx context.Context, prompt string, a *Answer) {
	body, err := c.body(prompt)
	if err != nil {
		a.fail("request", "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		a.fail("request", "%v", err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		a.transport(err, "before an answer")
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if len(b) > maxBody {
		a.fail("too-large", "an answer of more than %d MiB", maxBody>>20)
		return
	}
	if !utf8.Valid(b) {
		a.fail("invalid-utf8", "the answer's bytes are not UTF-8")
	}
	if resp.StatusCode != http.StatusOK {
		a.fail(fmt.Sprintf("http-%d", resp.StatusCode), "%s: %s", resp.Status, errorText(b))
		return
	}
	if err != nil {
		a.transport(err, fmt.Sprintf("after %d bytes of the answer", len(b)))
		return
	}
	a.parse(c.api, b, c.o.Probs > 0)
}

// transport names an error of the connection.
func (a *Answer) transport(err error, when string) {
	var e net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &e) && e.Timeout():
		a.fail("timeout", "%s: the time is over", when)
	case errors.Is(err, context.Canceled):
		a.fail("interrupted", "%s", when)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		a.fail("cut", "the connection ended %s", when)
	default:
		a.fail("connection", "%s: %v", when, err)
	}
}

// errorText is the message in an error's envelope, or the beginning of what there is.
func errorText(b []byte) string {
	var e struct {
		Error json.RawMessage
	}
	if json.Unmarshal(b, &e) == nil && len(e.Error) > 0 {
		var m struct{ Message string }
		if json.Unmarshal(e.Error, &m) == nil && m.Message != "" {
			return short(m.Message)
		}
		b = e.Error
	}
	return short(string(b))
}

// short is the first line, or what a line may have of it.
func short(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(strings.ToValidUTF8(s, "?")), "\n")
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "..."
	}
	return s
}
