package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user", "assistant", "tool", or what the template knows
	Content string

	// ReasoningContent is what an assistant thought before it answered; not
	// there for the template if empty.
	ReasoningContent string
	// ToolCalls are what an assistant asks for; not there if empty.
	ToolCalls []ToolCall
	// ToolCallID and Name say what a tool's message answers; not there if empty.
	ToolCallID, Name string
}

// ToolCall is one call that an assistant makes.
type ToolCall struct {
	ID, Name string
	// Arguments is a JSON value, nearly always an object; empty is {}. Key
	// order is kept.
	Arguments json.RawMessage
}

// Conversation is what a template renders.
type Conversation struct {
	Messages []Message
	// Tools is a JSON array of tool definitions in OpenAI's form, with the
	// order of keys kept; empty is no tools: the variable is undefined then.
	Tools json.RawMessage
	// AddGenerationPrompt ends the rendering where the assistant's turn starts.
	AddGenerationPrompt bool
	// BOS and EOS are the texts of those tokens, for bos_token and eos_token.
	BOS, EOS string
	// Extra are further variables by name: enable_thinking, reasoning_effort,
	// documents and so on. Values are nil, bool, int, int64, float64, string or
	// json.RawMessage. They win over the variables above.
	Extra map[string]any
	// Now is what strftime_now formats, in its zone; zero is the present.
	Now time.Time
}

// Template is a parsed chat template. It is safe for concurrent use.
type Template struct {
	source string
	tmpl   *jinja.Template
	lines  []int // lines[n-1] is the source's line of line n of what the library parsed
}

// templateMax bounds a template's bytes. The largest seen has 17 kB (2026-11).
const templateMax = 256 << 10

// Parse reads a Jinja chat template. It fails with a *[SyntaxError], with the
// template's line, on what is not Jinja, and on what is not supported: the
// package comment has a list.
func Parse(template string) (t *Template, err error) {
	if len(template) > templateMax {
		return nil, fmt.Errorf("chat: template of %d bytes: at most %d", len(template), templateMax)
	}
	rewritten, lines, err := rewrite(template)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("chat: template library panicked: %v", p)
		}
	}()
	tmpl, err := jinja.Compile(rewritten)
	if err != nil {
		return nil, librarySyntaxError(err, lines)
	}
	return &Template{source: template, tmpl: tmpl, lines: lines}, nil
}

var libraryLine = regexp.MustCompile(`line (\d+)(?:, col \d+)?:? ?`)

// librarySyntaxError moves the library's error to the line of the template.
func librarySyntaxError(err error, lines []int) error {
	msg, line := err.Error(), 1
	if m := libraryLine.FindStringSubmatchIndex(msg); m != nil {
		if n, _ := strconv.Atoi(msg[m[2]:m[3]]); n >= 1 && n <= len(lines) {
			line = lines[n-1]
		}
		msg = msg[m[1]:]
	}
	return &SyntaxError{line, msg}
}

// Source returns the template as it was parsed.
func (t *Template) Source() string { return t.source }

// RenderError is a template that failed on a conversation. Err is a
// *[RaiseError] when the template itself refuses it, a *[LimitError] when it
// was stopped.
type RenderError struct {
	Line int // of the tag, in the template
	Err  error
}

func (e *RenderError) Error() string {
	return fmt.Sprintf("chat: template line %d: %v", e.Line, e.Err)
}

// Unwrap returns Err.
func (e *RenderError) Unwrap() error { return e.Err }

// Render returns the prompt of a conversation. It fails with a *[RenderError],
// or before that on tools, arguments and extra values that are not JSON.
//
// Control tokens are text in the prompt: tokenize it with special tokens parsed,
// and without adding a BOS if the prompt begins with one, as many do.
func (t *Template) Render(c Conversation) (s string, err error) {
	vars, size, err := variables(c)
	if err != nil {
		return "", err
	}
	r := &run{
		bytesMax: valueMin + valuePer*size,
		deadline: time.Now().Add(timeMax),
		now:      c.Now,
		filters:  filters,
		line:     1,
	}
	if r.now.IsZero() {
		r.now = time.Now()
	}
	data := r.functions()
	for name, v := range vars {
		data[name] = v
	}
	defer func() {
		if p := recover(); p != nil {
			s, err = "", &RenderError{r.line, fmt.Errorf("template library panicked: %v", p)}
		}
	}()
	s, err = t.tmpl.RenderValues(data)
	if err != nil {
		return "", &RenderError{r.line, err}
	}
	return s, nil
}

// variables makes what the template sees, and counts the conversation's bytes.
func variables(c Conversation) (map[string]jinja.Value, int, error) {
	size := len(c.Tools)
	messages := make([]jinja.Value, len(c.Messages))
	for i, m := range c.Messages {
		v, n, err := m.value()
		if err != nil {
			return nil, 0, fmt.Errorf("chat: message %d: %w", i, err)
		}
		messages[i], size = v, size+n
	}
	vars := map[string]jinja.Value{
		"messages":              jinja.NewList(messages),
		"add_generation_prompt": jinja.NewBool(c.AddGenerationPrompt),
		"bos_token":             jinja.NewString(c.BOS),
		"eos_token":             jinja.NewString(c.EOS),
	}
	if len(c.Tools) > 0 {
		tools, err := fromJSON(c.Tools)
		if err == nil && !tools.IsList() {
			err = errors.New("not an array")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("chat: tools: %w", err)
		}
		if tools.AsList().Len() > 0 {
			vars["tools"] = tools
		}
	}
	for name, x := range c.Extra {
		v, n, err := extraValue(x)
		if strings.HasPrefix(name, reserved) {
			err = fmt.Errorf("names that begin with %s are reserved", reserved)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("chat: variable %q: %w", name, err)
		}
		vars[name], size = v, size+n
	}
	return vars, size, nil
}

// value is the message as a template sees it, and its bytes.
func (m Message) value() (jinja.Value, int, error) {
	v, size := jinja.NewDict(), 0
	d := v.AsDict()
	set := func(key, text string) {
		d.Set(key, jinja.NewString(text))
		size += len(text)
	}
	set("role", m.Role)
	set("content", m.Content)
	if m.ReasoningContent != "" {
		set("reasoning_content", m.ReasoningContent)
	}
	if len(m.ToolCalls) > 0 {
		calls := make([]jinja.Value, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			call, err := c.value()
			if err != nil {
				return v, 0, fmt.Errorf("tool call %d, %q: arguments: %w", i, c.Name, err)
			}
			calls[i] = call
			size += len(c.ID) + len(c.Name) + len(c.Arguments)
		}
		d.Set("tool_calls", jinja.NewList(calls))
	}
	if m.ToolCallID != "" {
		set("tool_call_id", m.ToolCallID)
	}
	if m.Name != "" {
		set("name", m.Name)
	}
	return v, size, nil
}

// value is the call in OpenAI's form, with the arguments as a value and not as
// the string that they are on the wire: that is what templates expect.
func (c ToolCall) value() (jinja.Value, error) {
	args, err := jinja.NewDict(), error(nil)
	if len(c.Arguments) > 0 {
		args, err = fromJSON(c.Arguments)
	}
	function := jinja.NewDict()
	function.AsDict().Set("name", jinja.NewString(c.Name))
	function.AsDict().Set("arguments", args)
	v := jinja.NewDict()
	if c.ID != "" {
		v.AsDict().Set("id", jinja.NewString(c.ID))
	}
	v.AsDict().Set("type", jinja.NewString("function"))
	v.AsDict().Set("function", function)
	return v, err
}

func extraValue(x any) (jinja.Value, int, error) {
	switch x := x.(type) {
	case nil, bool, int, int64, float64:
		return jinja.FromGoValue(x), 0, nil
	case string:
		return jinja.NewString(x), len(x), nil
	case json.RawMessage:
		v, err := fromJSON(x)
		return v, len(x), err
	}
	return jinja.Undefined(), 0, fmt.Errorf("type %T is not supported", x)
}
