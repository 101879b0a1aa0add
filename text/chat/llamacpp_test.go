package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// conversationFile is a file of testdata: the variables, as both programs get
// them.
type conversationFile struct {
	Messages []struct {
		Role             string `json:"role"`
		Content          string `json:"content"`
		ReasoningContent string `json:"reasoning_content"`
		ToolCallID       string `json:"tool_call_id"`
		Name             string `json:"name"`
		ToolCalls        []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools               json.RawMessage `json:"tools"`
	AddGenerationPrompt bool            `json:"add_generation_prompt"`
	EnableThinking      *bool           `json:"enable_thinking"`
	BOS                 string          `json:"bos_token"`
	EOS                 string          `json:"eos_token"`
}

func readConversation(t testing.TB, name string) Conversation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f conversationFile
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	c := Conversation{
		Tools: f.Tools, AddGenerationPrompt: f.AddGenerationPrompt, BOS: f.BOS, EOS: f.EOS,
		Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
	if f.EnableThinking != nil {
		c.Extra = map[string]any{"enable_thinking": *f.EnableThinking}
	}
	for _, m := range f.Messages {
		out := Message{Role: m.Role, Content: m.Content, ReasoningContent: m.ReasoningContent, ToolCallID: m.ToolCallID, Name: m.Name}
		for _, tc := range m.ToolCalls {
			out.ToolCalls = append(out.ToolCalls, ToolCall{ID: tc.ID, Name: tc.Function.Name, Arguments: tc.Function.Arguments})
		}
		c.Messages = append(c.Messages, out)
	}
	return c
}

// golden is a line of testdata/llamacpp.txt or jinja2.txt.
type golden struct {
	refused bool // the template raised an error
	length  int
	sha256  string
}

func readGoldens(t *testing.T, file string) map[string]golden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	goldens := map[string]golden{}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 4 {
			t.Fatalf("%s: %q: want template, conversation, length, digest", file, line)
		}
		g := golden{refused: f[2] == "error", sha256: f[3]}
		g.length, _ = strconv.Atoi(f[2])
		goldens[f[0]+" "+f[1]] = g
	}
	return goldens
}

// differs are the renderings that are not llama.cpp's, each with the reason.
// They are compared with Python's Jinja instead.
var differs = map[string]string{
	"Apriel-1.6-15b-Thinker-fixed tool": reprQuotes,
	"unsloth-Apriel-1.5 tool":           reprQuotes,
	"openbmb-MiniCPM5-1B tool":          "a mapping printed as such: llama.cpp writes nothing, Python and we its repr",
}

const reprQuotes = "the repr of a string with both kinds of quotes: llama.cpp picks double ones, Python and we single ones"

// TestLlamaCppTemplates renders the templates that llama.cpp collects, and
// compares with what llama.cpp's Jinja engine made of the same variables (see
// testdata/README.md). The templates are not ours to keep:
// HOLDFAST_LLAMACPP names a directory with llama.cpp's source. To see where a
// rendering goes apart, put llama.cpp's into HOLDFAST_RENDERINGS as
// TEMPLATE.CONVERSATION.
func TestLlamaCppTemplates(t *testing.T) {
	root := os.Getenv("HOLDFAST_LLAMACPP")
	if root == "" {
		t.Skip("SKIPPED: set HOLDFAST_LLAMACPP to llama.cpp's source to compare its chat templates")
	}
	files, err := filepath.Glob(filepath.Join(root, "models", "templates", "*.jinja"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates in %s/models/templates: %v", root, err)
	}
	llamacpp, python := readGoldens(t, "llamacpp.txt"), readGoldens(t, "jinja2.txt")
	same := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jinja")
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, conversation := range []string{"plain", "tool", "think"} {
			key := name + " " + conversation
			want, known := llamacpp[key]
			if !known {
				t.Logf("%s: new since the goldens were made", key)
				continue
			}
			reason, expected := differs[key]
			if expected {
				if want, known = python[key]; !known {
					t.Errorf("%s: differs from llama.cpp (%s), and jinja2.txt has no line", key, reason)
					continue
				}
			}
			tmpl, err := Parse(string(source))
			if err != nil {
				t.Errorf("%s: %v", key, err)
				continue
			}
			got, err := tmpl.Render(readConversation(t, conversation))
			if (err != nil) != want.refused {
				t.Errorf("%s: error %v, want an error: %v", key, err, want.refused)
				continue
			}
			sum := sha256.Sum256([]byte(got))
			if err == nil && hex.EncodeToString(sum[:]) != want.sha256 {
				t.Errorf("%s: %d bytes, want %d\n%s", key, len(got), want.length, difference(got, name+"."+conversation))
				continue
			}
			if !expected {
				same++
			}
		}
	}
	t.Logf("%d renderings of %d templates are llama.cpp's; %d differ for a listed reason", same, len(files), len(differs))
}

// difference shows where got leaves the rendering of that name, if there is one
// to look at.
func difference(got, name string) string {
	dir := os.Getenv("HOLDFAST_RENDERINGS")
	if dir == "" {
		return "(set HOLDFAST_RENDERINGS to see where)"
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	want, i := string(data), 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-40)
	return fmt.Sprintf("first difference at byte %d\n got %.120q\nwant %.120q", i, got[from:], want[from:])
}
