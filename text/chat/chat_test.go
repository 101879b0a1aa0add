package chat

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// chatMLTools has what chat templates have: tools, tool calls and results,
// thinking that can be turned off.
const chatMLTools = `{%- if tools %}
    {{- '<|im_start|>system\n# Tools\n' }}
    {%- for tool in tools %}
        {{- tool | tojson }}
        {{- "\n" }}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'tool' %}
        {{- '<|im_start|>user\n<result>' ~ message.content ~ '</result><|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\n' }}
        {%- if message.reasoning_content is defined %}
            {{- '<think>' + message.reasoning_content + '</think>\n' }}
        {%- endif %}
        {{- message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '<call>{"name": ' ~ call.function.name | tojson ~ ', "arguments": ' ~ call.function.arguments | tojson ~ '}</call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}`

func TestRender(t *testing.T) {
	user := Message{Role: "user", Content: "hi <b>"}
	for _, tt := range []struct {
		name, template string
		c              Conversation
		want           string
	}{
		{
			"ChatML", ChatML,
			Conversation{Messages: []Message{{Role: "system", Content: "s"}, user}, AddGenerationPrompt: true},
			"<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nhi <b><|im_end|>\n<|im_start|>assistant\n",
		},
		{"ChatML without a generation prompt", ChatML, Conversation{Messages: []Message{user}}, "<|im_start|>user\nhi <b><|im_end|>\n"},
		{"nothing at all", ChatML, Conversation{}, ""},
		{
			"tools keep the order of their keys", chatMLTools,
			Conversation{Tools: json.RawMessage(`[{"z":1,"a":{"y":2.0,"b":[]}}]`)},
			"<|im_start|>system\n# Tools\n{\"z\": 1, \"a\": {\"y\": 2.0, \"b\": []}}\n<|im_end|>\n",
		},
		{"an empty list of tools is none", chatMLTools, Conversation{Tools: json.RawMessage(`[]`)}, ""},
		{
			"a tool call and its result", chatMLTools,
			Conversation{Messages: []Message{
				{Role: "assistant", ToolCalls: []ToolCall{{ID: "1", Name: "f", Arguments: json.RawMessage(`{"b":"é&","a":[1,null]}`)}, {Name: "g"}}},
				{Role: "tool", Content: "ok", ToolCallID: "1", Name: "f"},
			}},
			"<|im_start|>assistant\n<call>{\"name\": \"f\", \"arguments\": {\"b\": \"é&\", \"a\": [1, null]}}</call><call>{\"name\": \"g\", \"arguments\": {}}</call><|im_end|>\n" +
				"<|im_start|>user\n<result>ok</result><|im_end|>\n",
		},
		{"thinking is left to the model", chatMLTools, Conversation{AddGenerationPrompt: true}, "<|im_start|>assistant\n"},
		{"thinking turned off", chatMLTools, Conversation{AddGenerationPrompt: true, Extra: map[string]any{"enable_thinking": false}}, "<|im_start|>assistant\n<think>\n\n</think>\n\n"},
		{"thinking in the history", chatMLTools, Conversation{Messages: []Message{{Role: "assistant", Content: "c", ReasoningContent: "r"}}}, "<|im_start|>assistant\n<think>r</think>\nc<|im_end|>\n"},
		{"bos and eos", "{{ bos_token }}a{{ eos_token }}", Conversation{BOS: "<s>", EOS: "</s>"}, "<s>a</s>"},
		{"content is not template text", "{{ messages[0].content }}", Conversation{Messages: []Message{{Content: "{{ bos_token }}{% raw %}"}}}, "{{ bos_token }}{% raw %}"},
		{
			"the date is the conversation's", "{{ strftime_now('%d %b %Y, %A %-d.%-m. %H:%M %p %j %%') }}",
			Conversation{Now: time.Date(2026, 3, 5, 14, 7, 0, 0, time.UTC)},
			"05 Mar 2026, Thursday 5.3. 14:07 PM 064 %",
		},
		{
			"extra values of every type", "{{ [a, b, c, d, e, f] }}",
			Conversation{Extra: map[string]any{"a": nil, "b": true, "c": 1, "d": 1.5, "e": "s", "f": json.RawMessage(`{"k": [1e3]}`)}},
			"[None, True, 1, 1.5, 's', {'k': [1000.0]}]",
		},
		{"extra wins over the rest", "{{ bos_token }}", Conversation{BOS: "a", Extra: map[string]any{"bos_token": "b"}}, "b"},
		{"generation marks print nothing", "{% generation %}a{% endgeneration %}", Conversation{}, "a"},
		{"windows newlines", "a\r\n{% if true %}\r\nb\r\n{% endif %}\r\n", Conversation{}, "a\nb\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tmpl, err := Parse(tt.template)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time nothing is left of the first
				got, err := tmpl.Render(tt.c)
				if err != nil || got != tt.want {
					t.Errorf("%v\n got %q\nwant %q", err, got, tt.want)
				}
			}
		})
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, tt := range []struct {
		template, want string
		line           int
	}{
		{"a\n{% if x %}\nb", "{% if %} is never closed", 2},
		{"{% for a in b %}{% if c %}\n{% endfor %}", "{% endfor %} inside {% if %} of line 1", 2},
		{"\n\n{% endif %}", "{% endif %} outside any block", 3},
		{"{% else %}", "{% else %} outside any block", 1},
		{"a\n{{ b", "tag is never closed by }}", 2},
		{"{# a\n", "comment is never closed", 1},
		{"\n{{ 'a }}", "string is never closed", 2},
		{"{{ a\n? }}", "unexpected character '?'", 2},
		{"{{ a|nope }}", `no filter "nope"`, 1},
		{"\n{{ a is nope }}", `no test "nope"`, 2},
		{"{{ a b }}", `expected ")" but got "b"`, 1},
		{"x\n{{ (a }}", "brackets do not match", 2},
		{"x\n\n{{ 1 + }}", "+ without a second operand", 3},
		{"{% nonsense %}", `unsupported statement "nonsense"`, 1},
		{"{% include 'x' %}", `unsupported statement "include"`, 1},
		{"{% break %}", "{% break %} outside any block", 1},
		{"{% for x in y %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "{% break %} inside {% macro %}", 1},
		{"{% for x in y recursive %}{% endfor %}", "recursive loops are not supported", 1},
		{"{% set a, b = c %}", "{% set %} of several names is not supported", 1},
		{"{{ _chat_at(1) }}", "names that begin with _chat_ are reserved", 1},
		{"{{ 99999999999999999999 }}", "integer 99999999999999999999 is out of range", 1},
		{`{{ "\uZZZZ" }}`, `escape \uZZZZ is not a character`, 1},
		{"{{" + strings.Repeat("(", 200) + strings.Repeat(")", 200) + "}}", "nest deeper than 100", 1},
		{strings.Repeat("{% if a %}", 200), "blocks nest deeper than 100", 1},
		{"{{ a" + strings.Repeat("+a", 400) + "}}", "expression joins 400 values: at most 100", 1},
		{"{{ [" + strings.Repeat("a,", 1000) + "] }}", "tag has more than 1000 tokens", 1},
	} {
		_, err := Parse(tt.template)
		var se *SyntaxError
		if !errors.As(err, &se) || se.Line != tt.line || !strings.Contains(se.Msg, tt.want) {
			t.Errorf("%.60q: error %v, want line %d: %s", tt.template, err, tt.line, tt.want)
		}
	}
	if _, err := Parse(strings.Repeat("a", templateMax+1)); err == nil || !strings.Contains(err.Error(), "262145 bytes") {
		t.Errorf("huge template: %v", err)
	}
}

func TestRenderErrors(t *testing.T) {
	for _, tt := range []struct {
		template, want string
		line           int
	}{
		{"a\n{% if true %}\n{{ raise_exception('roles must alternate') }}{% endif %}", "the template says: roles must alternate", 3},
		{"\n{{ u.x }}", "an undefined value has no .x", 2},
		{"{{ messages[0].content }}", "an undefined value has no .content", 1},
		{"{{ 1|items }}", "items: takes a mapping, not a number", 1},
		{"\n{% for a in 1 %}{% endfor %}", "cannot loop over a number", 2},
		{"{{ 'x'.foo() }}", "cannot call an undefined value", 1},
		{"{{ 1 // 0 }}", "// by zero", 1},
		{"{{ 9223372036854775807 * 2 }}", "9223372036854775807 * 2 is out of range", 1},
		{"{{ strftime_now('%Q') }}", "%Q is not supported", 1},
		{"{{ '{'|from_json }}", "from_json: json at byte 1: unexpected EOF", 1},
		{"{{ [1, 'a']|sort }}", "cannot compare a string with a number", 1},
	} {
		tmpl, err := Parse(tt.template)
		if err != nil {
			t.Errorf("%q: %v", tt.template, err)
			continue
		}
		s, err := tmpl.Render(Conversation{})
		var re *RenderError
		if !errors.As(err, &re) || re.Line != tt.line || !strings.Contains(re.Err.Error(), tt.want) || s != "" {
			t.Errorf("%q: %q, error %v, want line %d: %s", tt.template, s, err, tt.line, tt.want)
		}
	}
	tmpl, err := Parse("{{ raise_exception('no') }}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.Render(Conversation{})
	var raised *RaiseError
	if !errors.As(err, &raised) || raised.Message != "no" {
		t.Errorf("error %v, want a RaiseError with the message", err)
	}
}

func TestBadConversations(t *testing.T) {
	tmpl, err := Default("")
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Conversation{
		"chat: tools: json at byte 2: ":              {Tools: json.RawMessage(`[{]`)},
		"chat: tools: not an array":                  {Tools: json.RawMessage(`{}`)},
		"chat: tools: json at byte 4: more after":    {Tools: json.RawMessage(`[] []`)},
		"chat: tools: json at byte 101: nested deep": {Tools: json.RawMessage(strings.Repeat("[", 200))},
		`chat: message 1: tool call 0, "f": argumen`: {Messages: []Message{{}, {ToolCalls: []ToolCall{{Name: "f", Arguments: json.RawMessage(`{"a":`)}}}}},
		`chat: variable "x": type []int is not supp`: {Extra: map[string]any{"x": []int{1}}},
		`chat: variable "_chat_at": names that begi`: {Extra: map[string]any{"_chat_at": 1}},
	} {
		if _, err := tmpl.Render(c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestHostileTemplates are programs that would hang, crash or eat all memory.
func TestHostileTemplates(t *testing.T) {
	doubling := "{% set x = 'aaaaaaaaaaaaaaaa' %}" + strings.Repeat("{% set x = x ~ x %}", 40)
	for name, source := range map[string]string{
		"an endless range":                              "{% for i in range(1000000000000) %}{% endfor %}",
		"a range past the last integer":                 "{{ range(0, 9223372036854775807, 9223372036854775806)|list|length }}{{ range(1000000)|length }}",
		"loops in loops":                                strings.Repeat("{% for i in range(99999) %}", 5) + strings.Repeat("{% endfor %}", 5),
		"a macro that calls itself":                     "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"macros that call each other":                   "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}",
		"a string repeated":                             "{{ 'abc' * 100000000000 }}",
		"a string repeated twice":                       "{{ ('a' * 1000000 * 1000000)|length }}",
		"a string doubled":                              doubling,
		"a list doubled":                                "{% set x = [1] %}" + strings.Repeat("{% set x = x + x %}", 40),
		"a list nested":                                 "{% set x = [1, 1] %}" + strings.Repeat("{% set x = [x, x] %}", 40),
		"a list in itself":                              "{% set x = [] %}{% set _ = x.append(x) %}{{ x }}",
		"a list in itself, by way of another":           "{% set x = [] %}{% set y = [x] %}{% set _ = x.append(y) %}{{ x ~ '' }}",
		"a namespace in itself":                         "{% set n = namespace() %}{% set n.n = [n] %}{{ n == n }}",
		"a list filled after it was nested":             "{% set l = [] %}{% set x = l %}" + strings.Repeat("{% set x = [x, x] %}", 12) + "{% for i in range(1000) %}{% set _ = l.append('a' * 1000) %}{% endfor %}{{ x ~ '' }}",
		"lists filled after they were nested, compared": "{% set l = [] %}{% set m = [] %}{% set x = l %}{% set y = m %}" + strings.Repeat("{% set x = [x, x] %}{% set y = [y, y] %}", 12) + "{% for i in range(20000) %}{% set _ = l.append(1) %}{% set _ = m.append(1) %}{% endfor %}{{ x == y }}",
		"a macro that doubles its argument":             "{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}{{ f('aaaaaaaaaaaaaaaaaaaa') }}",
		"output in a loop":                              "{% for i in range(99999) %}{{ '" + strings.Repeat("a", 1000) + "' }}{% endfor %}",
		"replace":                                       "{{ ('a' * 100000)|replace('a', 'b' * 100000) }}",
		"replace nothing":                               "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
		"join":                                          "{{ range(99999)|join('b' * 100000) }}",
		"indent":                                        "{{ ('\\n' * 100000)|indent(9999) }}{{ ('\\n' * 100000)|indent('a' * 1000) }}",
		"tojson":                                        "{{ [[1]]|tojson(indent=1000000000) }}",
		"format":                                        "{{ ('{0}' * 100000).format('a' * 100000) }}",
		"append in a loop over itself":                  "{% set l = [1] %}{% for i in l %}{% set _ = l.append(i) %}{% endfor %}{{ l|length }}{% for i in range(99999) %}{% set _ = l.append(l|string) %}{% endfor %}",
		"a big power":                                   "{{ 9 ** 9 ** 9 ** 9 }}",
		"a slice past the end":                          "{{ [1][0:9000000000000000000:2] }}{{ 'abc'[9000000000000000000:-9000000000000000000:-2] }}{{ raise_exception('ok') }}",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			tmpl, err := Parse(source)
			if err == nil {
				_, err = tmpl.Render(Conversation{})
			}
			if err == nil {
				t.Error("rendered")
			}
			if d := time.Since(start); d > timeMax+time.Second {
				t.Errorf("took %v: %v", d, err)
			}
			t.Log(err)
		})
	}
}

func TestRenderIsConcurrent(t *testing.T) {
	tmpl, err := Parse(chatMLTools)
	if err != nil {
		t.Fatal(err)
	}
	c := readConversation(t, "tool")
	want, err := tmpl.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if got, err := tmpl.Render(c); err != nil || got != want {
					t.Errorf("%q, %v, want %q", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

// metadata is a file's metadata in a map.
type metadata map[string]any

func (m metadata) String(key string) (string, bool)    { s, ok := m[key].(string); return s, ok }
func (m metadata) Strings(key string) ([]string, bool) { s, ok := m[key].([]string); return s, ok }

func TestFromMetadata(t *testing.T) {
	md := metadata{
		"tokenizer.chat_template":          "plain",
		"tokenizer.chat_template.tool_use": "tools",
		"tokenizer.chat_templates":         []string{"tool_use", "rag", "tool_use"},
	}
	if got := Names(md); len(got) != 2 || got[0] != "" || got[1] != "tool_use" {
		t.Errorf("names %q", got)
	}
	for name, want := range map[string]string{"": "plain", ForTools(md): "tools"} {
		tmpl, err := FromMetadata(md, name)
		if err != nil || tmpl.Source() != want {
			t.Errorf("template %q: %v", name, err)
		}
	}
	if _, err := FromMetadata(md, "rag"); err == nil || err.Error() != `chat: the file has no tokenizer.chat_template.rag; its templates are ["" "tool_use"]` {
		t.Errorf("error %v", err)
	}
	if got := Names(metadata{}); len(got) != 0 || ForTools(metadata{}) != "" {
		t.Errorf("names of a file without: %q", got)
	}
	if _, err := Default("nope"); err == nil || err.Error() != `chat: no built-in template "nope": there is chatml` {
		t.Errorf("error %v", err)
	}
}

// FuzzRender looks for panics and hangs.
func FuzzRender(f *testing.F) {
	f.Add(ChatML)
	f.Add(chatMLTools)
	f.Add("{% set x = [] %}{% macro f(a, b=1) %}{{ a ~ b * 2 }}{% endmacro %}{% for k, v in {'a': x}.items() if v %}{{ f(k) }}{% else %}{{ range(3)|list }}{% endfor %}")
	f.Add("{% filter upper %}{% call(a) m() %}{{ 'x'.split(',', 1)[0][1:] }}{% endcall %}{% endfilter %}{% raw %}{{{% endraw %}{# c #}")
	f.Add("{{ '%5.1f%c' % (1.5, 65) }}{{ x[::-1][0] }}{{ dict(a=1)|tojson(indent=2) }}{% set n = namespace(l=[]) %}{% set n.l = n.l + [n.l] %}")
	f.Add("{{ [{'a': 1}]|selectattr('a', 'eq', 1)|map(attribute='a')|join(', ') if x is not none else -1.5e3 // 2 }}")
	c := Conversation{
		Messages:            []Message{{Role: "user", Content: "hi"}, {Role: "assistant", ToolCalls: []ToolCall{{Name: "f"}}}},
		Tools:               json.RawMessage(`[{"a": 1}]`),
		AddGenerationPrompt: true,
		Extra:               map[string]any{"x": "X"},
	}
	f.Fuzz(func(t *testing.T, source string) {
		tmpl, err := Parse(source)
		if err != nil {
			if strings.Contains(err.Error(), "panicked") {
				t.Fatal(err)
			}
			return
		}
		if _, err := tmpl.Render(c); err != nil && strings.Contains(err.Error(), "panicked") {
			t.Log(err) // the library's; Render turned it into an error
		}
	})
}

func BenchmarkRender(b *testing.B) {
	tmpl, err := Parse(chatMLTools)
	if err != nil {
		b.Fatal(err)
	}
	c := readConversation(b, "tool")
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := Parse(chatMLTools); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			if _, err := tmpl.Render(c); err != nil {
				b.Fatal(err)
			}
		}
	})
}
