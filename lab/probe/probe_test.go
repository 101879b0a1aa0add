package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

func options(url string) Options {
	return Options{URL: url, Prompt: "hi", Tokens: 2, Probs: 2, Requests: 4, Concurrency: 1, Timeout: 5 * time.Second, Digits: 6}
}

// llama is an answer of llama-server with two tokens, the second with a
// log-probability.
func llama(second string, logprob float64) string {
	return fmt.Sprintf(`{"content":"a%s","completion_probabilities":[
{"id":1,"token":"a","logprob":-0.5,"top_logprobs":[{"id":1,"token":"a","logprob":-0.5},{"id":2,"token":"b","logprob":-1.5}]},
{"id":2,"token":"%[1]s","logprob":%[2]v,"top_logprobs":[{"id":2,"token":"%[1]s","logprob":%[2]v}]}]}`, second, logprob)
}

// server answers the n-th request, from 1, by a function.
func server(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // only then does the server notice that the client has gone
		r.Body = io.NopCloser(bytes.NewReader(b))
		answer(int(n.Add(1)), w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func always(body string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func TestAnEndpointThatMisbehavesIsAFace(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hang := func(r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	flush := func(w http.ResponseWriter) { w.(http.Flusher).Flush() }
	for name, c := range map[string]struct {
		answer func(int, http.ResponseWriter, *http.Request)
		face   string
		detail string
	}{
		"it never answers": {func(_ int, _ http.ResponseWriter, r *http.Request) { hang(r) }, "timeout", "before an answer: the time is over"},
		"it stops in the middle": {func(_ int, w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"content"`)
			flush(w)
			hang(r)
		}, "timeout", "after 10 bytes of the answer: the time is over"},
		"it drips": {func(_ int, w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				io.WriteString(w, " ")
				flush(w)
				time.Sleep(5 * time.Millisecond)
			}
		}, "timeout", "of the answer: the time is over"},
		"it hangs up at once": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
		}, "cut", "the connection ended before an answer"},
		"it hangs up in the middle": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"content"`)
			flush(w)
			panic(http.ErrAbortHandler)
		}, "cut", "after 10 bytes"},
		"it resets": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		}, "", ""},
		"it speaks no HTTP": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				io.WriteString(c, "hello\r\n\r\n")
				c.Close()
			}
		}, "connection", "malformed HTTP"},
		"500": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			io.WriteString(w, `{"error":{"code":500,"message":"Invalid input batch.","type":"server_error"}}`)
		}, "http-500", "500 Internal Server Error: Invalid input batch."},
		"503 with a page": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<h1>busy</h1>", http.StatusServiceUnavailable)
		}, "http-503", "<h1>busy</h1>"},
		"it is elsewhere":     {func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "http-302", "302 Found"},
		"an error, well":      {always(`{"error":{"message":"the model is not loaded"}}`), "error", "the model is not loaded"},
		"no JSON":             {always("ok"), "invalid-json", "ok"},
		"half of it":          {always(llama("b", -1)[:80]), "invalid-json", "unexpected end"},
		"nothing":             {always(""), "invalid-json", "unexpected end"},
		"another API's":       {always(`{"choices":[]}`), "no-answer", "no content"},
		"a NaN":               {always(`{"content":"a","completion_probabilities":[{"id":1,"token":"a","logprob":NaN}]}`), "nan", "a NaN among"},
		"a NaN that is null":  {always(`{"content":"a","completion_probabilities":[{"id":1,"token":"a","logprob":null}]}`), "nan", `null of token "a"`},
		"a number too large":  {always(`{"content":"a","completion_probabilities":[{"id":1,"token":"a","logprob":1e999}]}`), "nan", "1e999"},
		"invalid UTF-8":       {always("{\"content\":\"a\xff\"}"), "invalid-utf8", "not UTF-8"},
		"an empty answer":     {always(`{"content":""}`), "empty", "without text"},
		"more than is wanted": {func(_ int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat(" ", maxBody+1)) }, "too-large", "more than 16 MiB"},
		"a bomb of brackets":  {always(strings.Repeat(`{"error":`, 100000)), "invalid-json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(server(t, c.answer))
			o.Requests, o.Timeout = 1, 5*time.Second
			if c.face == "timeout" {
				o.Timeout = 50 * time.Millisecond
			}
			r, err := Run(t.Context(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := r.Answers[0]
			if len(a.Faces) == 0 || c.face != "" && a.Faces[0] != c.face || !strings.Contains(a.Detail, c.detail) {
				t.Errorf("%q, %q; want %q, %q", a.Faces, a.Detail, c.face, c.detail)
			}
			if r.Clean() || r.Failed().K != 1 || r.Divergent().N != 0 {
				t.Error("it counts as an answer")
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	s := httptest.NewServer(nil)
	url := s.URL
	s.Close()
	o := options(url)
	o.Requests, o.GiveUp = 100, 3
	r, err := Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Answers) != 3 || r.Faces["connection"] != 3 || !strings.HasPrefix(r.Stopped, "stopped: 3 failures and no answer") {
		t.Errorf("%d answers, %v, %q", len(r.Answers), r.Faces, r.Stopped)
	}
}

func TestTheOddAnswerIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		odd  string // the third answer
		want Difference
	}{
		"another token":          {llama("c", -1), Difference{Token: 1, TextToken: 1, Usual: "b", Got: "c", HasDelta: true}},
		"another number":         {llama("b", -1.25), Difference{Token: 1, TextToken: -1, Usual: "b", Got: "b", SameText: true, HasDelta: true, Delta: -0.25}},
		"one token fewer":        {`{"content":"a","completion_probabilities":[{"id":1,"token":"a","logprob":-0.5,"top_logprobs":[{"id":1,"token":"a","logprob":-0.5},{"id":2,"token":"b","logprob":-1.5}]}]}`, Difference{Token: 1, TextToken: 1}},
		"a number of the others": {strings.Replace(llama("b", -1), "-1.5", "-1.6", 1), Difference{Token: 0, TextToken: -1, Usual: "a", Got: "a", SameText: true, HasDelta: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(server(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 3 {
					io.WriteString(w, c.odd)
				} else {
					io.WriteString(w, llama("b", -1))
				}
			}))
			r, err := Run(t.Context(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Classes) != 2 || r.Divergent().K != 1 || r.Divergent().N != 4 || r.Clean() {
				t.Fatalf("%d classes, divergent %s", len(r.Classes), r.Divergent())
			}
			if d := r.Classes[1].Difference; *d != c.want {
				t.Errorf("%+v, want %+v", *d, c.want)
			}
			for _, a := range r.Answers {
				if *a.Divergent != (a.ID == 3) {
					t.Errorf("request %d: divergent is %v", a.ID, *a.Divergent)
				}
			}
		})
	}
}

func TestDigitsBelowThoseAskedForDoNotMatter(t *testing.T) {
	o := options(server(t, func(n int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, llama("b", -1+float64(n)*1e-8)) }))
	r, err := Run(t.Context(), o, nil)
	if err != nil || !r.Clean() {
		t.Errorf("%v, %d classes", err, len(r.Classes))
	}
	o.Digits = 9
	r, err = Run(t.Context(), o, nil)
	if err != nil || len(r.Classes) != 4 {
		t.Errorf("%v, %d classes, want 4", err, len(r.Classes))
	}
}

func TestEachAPI(t *testing.T) {
	for name, c := range map[string]struct {
		path, answer, wantPath string
		api                    API
		body                   string // what the request must contain
	}{
		"llama-server": {"", llama("b", -1), "/completion", Completion, `"n_probs":2`},
		"llama-server, older": {
			"/completion", `{"content":"ab","completion_probabilities":[{"content":"a","probs":[{"tok_str":"a","prob":0.5}]},{"content":"b","probs":[{"tok_str":"b","prob":0}]}]}`,
			"/completion", Completion, `"n_predict":2`,
		},
		"completions": {
			"/v1/completions", `{"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[-0.5,-1],"top_logprobs":[{"a":-0.5,"c":-2},{"b":-1}]}}]}`,
			"/v1/completions", Completions, `"logprobs":2`,
		},
		"completions as chat's": {
			"/v1/completions", `{"choices":[{"text":"ab","logprobs":{"content":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-1}]}}]}`,
			"/v1/completions", Completions, `"max_tokens":2`,
		},
		"chat": {
			"/v1/chat/completions", `{"choices":[{"message":{"content":"ab"},"logprobs":{"content":[{"token":"a","logprob":-0.5,"top_logprobs":[{"token":"a","logprob":-0.5}]},{"token":"b","bytes":[255],"logprob":-1}]}}]}`,
			"/v1/chat/completions", Chat, `"messages":[{"content":"hi","role":"user"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var path, body string
			url := server(t, func(_ int, w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				path, body = r.URL.Path, string(b)
				io.WriteString(w, c.answer)
			})
			o := options(url + c.path)
			o.Requests = 2
			r, err := Run(t.Context(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Clean() || path != c.wantPath || r.API != c.api || !strings.Contains(body, c.body) || !strings.Contains(body, `"temperature":0`) {
				t.Errorf("%v, path %q, api %s, body %s", r.Answers[0], path, r.API, body)
			}
			if ts := r.Answers[0].Tokens; len(ts) != 2 || !ts[0].HasProb || !ts[1].HasProb || r.Answers[0].Text != "ab" {
				t.Errorf("%+v", r.Answers[0])
			}
		})
	}
}

func TestDistractorsComeBetween(t *testing.T) {
	var prompts []string
	o := options(server(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		var m struct{ Prompt string }
		json.NewDecoder(r.Body).Decode(&m)
		prompts = append(prompts, m.Prompt)
		io.WriteString(w, fmt.Sprintf(`{"content":%q}`, m.Prompt))
	}))
	o.Distractors, o.Probs = 2, 0
	r, err := Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(prompts) != 12 || prompts[2] != "hi" || prompts[5] != "hi" || prompts[0] == prompts[1] || !r.Clean() || r.Failed().N != 4 {
		t.Errorf("%q, clean %v, %s", prompts, r.Clean(), r.Failed())
	}
}

func TestSoManyAtATime(t *testing.T) {
	var under, most atomic.Int64
	o := options(server(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), under.Add(1)))
		time.Sleep(2 * time.Millisecond)
		under.Add(-1)
		io.WriteString(w, llama("b", -1))
	}))
	o.Requests, o.Concurrency = 40, 4
	r, err := Run(t.Context(), o, nil)
	if err != nil || len(r.Answers) != 40 || most.Load() > 4 || !r.Clean() {
		t.Errorf("%v, %d answers, %d at a time", err, len(r.Answers), most.Load())
	}
	ids := map[int]bool{}
	for _, a := range r.Answers {
		ids[a.ID] = true
		if a.End.Wall.Before(a.Start.Wall) || a.End.Boot < a.Start.Boot {
			t.Errorf("request %d ends before it starts", a.ID)
		}
	}
	if len(ids) != 40 {
		t.Errorf("%d ids", len(ids))
	}
}

func TestAnInterruptLeavesWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options(server(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 3 {
			cancel()
			<-r.Context().Done()
			return
		}
		io.WriteString(w, llama("b", -1))
	}))
	r, err := Run(ctx, o, nil)
	if err != nil || len(r.Answers) != 2 || r.Interrupted != 1 || len(r.Faces) != 0 {
		t.Errorf("%v, %d answers, %d interrupted, %v", err, len(r.Answers), r.Interrupted, r.Faces)
	}
}

func TestBadOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"no URL":         {Requests: 1, Concurrency: 1, Timeout: 1},
		"another scheme": {URL: "ftp://x", Requests: 1, Concurrency: 1, Timeout: 1},
		"no host":        {URL: "http://", Requests: 1, Concurrency: 1, Timeout: 1},
		"no request":     {URL: "http://x", Concurrency: 1, Timeout: 1},
		"no time":        {URL: "http://x", Requests: 1, Concurrency: 1},
		"a command with distractors": {
			Command: []string{"x"}, Requests: 1, Concurrency: 1, Timeout: 1, Distractors: 1,
		},
	} {
		if _, err := Run(t.Context(), o, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAResultIsPrinted(t *testing.T) {
	o := options(server(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 2:
			io.WriteString(w, llama("b", -1.125))
		case 5:
			io.WriteString(w, llama("c", -1))
		case 7:
			http.Error(w, "oh", http.StatusInternalServerError)
		default:
			io.WriteString(w, llama("b", -1))
		}
	}))
	o.Requests = 10
	r, err := Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Target = "http://127.0.0.1:8080/completion"
	var b strings.Builder
	if err := r.Write(&b, 0.95); err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(b.String(), "median")
	golden.Check(t, "result.txt", text)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(llama("b", -1)), uint8(0))
	f.Add([]byte(`{"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[null,-1],"top_logprobs":[{"a":-0.5}]}}]}`), uint8(1))
	f.Add([]byte(`{"choices":[{"message":{"content":"ab"},"logprobs":{"content":[{"token":"a","bytes":[300,-1]}]}}]}`), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		a := &Answer{ID: 1, Kind: "request"}
		a.parse([]API{Completion, Completions, Chat}[n%3], b, n > 5)
		u := &Answer{ID: 2, Text: "x", Tokens: []Token{{Text: "x"}}}
		d := difference(u, a, 6)
		if len(a.Faces) == 0 && d.Token < 0 {
			t.Errorf("%+v", d)
		}
		_ = d.String()
		r := &Result{Options: Options{Digits: 6}, Answers: []*Answer{a, u}}
		r.finish()
		if err := r.WriteRequests(io.Discard); err != nil {
			t.Error(err)
		}
		if err := r.WriteJSON(io.Discard, 0.95); err != nil {
			t.Error(err)
		}
	})
}
