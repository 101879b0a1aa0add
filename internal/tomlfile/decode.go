// Package tomlfile reads TOML files into structures, strictly: a key that nothing
// is for is an error that says where, and what was meant.
package tomlfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/holdfast-llm/holdfast/internal/cli"
)

// Decode reads text into the structure that v points to. A key that it has
// no field for is an error with the line and the nearest one that it has.
func Decode(path, text string, v any) error {
	md, err := toml.Decode(text, v)
	var wrong toml.ParseError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s:%d: %s", path, wrong.Position.Line, wrong.Message)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	if unknown := md.Undecoded(); len(unknown) > 0 {
		key := unknown[0]
		known, last := keysOf(reflect.TypeOf(v).Elem(), key[:len(key)-1]), key[len(key)-1]
		return fmt.Errorf("%s:%d: unknown key %q%s", path, lineOf(text, key), last, Meant(last, known))
	}
	return nil
}

// Meant suggests what was meant by a word.
func Meant[T ~string](word string, known []T) string {
	var words []string
	for _, k := range known {
		words = append(words, string(k))
	}
	near := cli.Nearest(word, words)
	if near == "" && len(words) <= 12 {
		return fmt.Sprintf(" (there are %s)", strings.Join(words, ", "))
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

// keysOf are the keys of a structure, or of one in it.
func keysOf(t reflect.Type, parents toml.Key) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var keys []string
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("toml")
		if name == "" || name == "-" {
			continue
		}
		if len(parents) > 0 && name == parents[0] {
			return keysOf(t.Field(i).Type, parents[1:])
		}
		keys = append(keys, name)
	}
	return keys
}

// lineOf is the line on which a key is first set, in its table or as one; 0 if
// it is not found, as in an inline table.
func lineOf(text string, key toml.Key) int {
	parent, last := strings.Join(key[:len(key)-1], "."), key[len(key)-1]
	table := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
			if table = strings.TrimSpace(name); table == key.String() {
				return i + 1
			}
			continue
		}
		name, _, assigned := strings.Cut(line, "=")
		if assigned && table == parent && strings.Trim(strings.TrimSpace(name), `"'`) == last {
			return i + 1
		}
	}
	return 0
}

// Quote is a string as TOML writes it.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
