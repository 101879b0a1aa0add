package chat

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// departs are the templates of the file that we render otherwise, or refuse.
var departs = map[string]string{
	"{{ {'b':1,'A':2}|dictsort }}":                             "there are no tuples: a pair prints as a list",
	"{{ 'A' ~ 1 + 2 }}":                                        "a string plus a number joins them",
	"{% set a, b = 1, 2 %}{{ a }}{{ b }}":                      "refused",
	"{{ 1 == true }}":                                          "a boolean is no number for ==",
	"{{ '10' < '9' }}":                                         "strings that are numbers compare as numbers",
	"{% for n in [[1,[2]]] recursive %}{{ n[0] }}{% endfor %}": "refused",
	"{% for a, b, c in [[1,2,3]] %}{{ a }}{{ c }}{% endfor %}": "refused",
}

// TestSnippets compares with Python's Jinja, construct by construct: each line
// of the file has a template and what Python makes of it with x = "X", or null
// for an error.
func TestSnippets(t *testing.T) {
	data, err := os.ReadFile("testdata/snippets.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var pair [2]*string
		if err := json.Unmarshal([]byte(line), &pair); err != nil {
			t.Fatal(err)
		}
		source, want := *pair[0], pair[1]
		got, err := func() (string, error) {
			tmpl, err := Parse(source)
			if err != nil {
				return "", err
			}
			return tmpl.Render(Conversation{Extra: map[string]any{"x": "X"}})
		}()
		if reason, ok := departs[source]; ok {
			if (want == nil) == (err != nil) && (want == nil || got == *want) {
				t.Errorf("%q is Python's after all, not %q", source, reason)
			}
			continue
		}
		switch {
		case want == nil && err == nil:
			t.Errorf("%q: %q, want an error", source, got)
		case want != nil && err != nil:
			t.Errorf("%q: %v, want %q", source, err, *want)
		case want != nil && got != *want:
			t.Errorf("%q:\n got %q\nwant %q", source, got, *want)
		}
	}
}
