package chat

import (
	"fmt"
	"slices"
)

// Metadata is what is read of a file's metadata; *gguf.File satisfies it.
type Metadata interface {
	String(key string) (string, bool)
	Strings(key string) ([]string, bool)
}

const (
	keyTemplate = "tokenizer.chat_template"  // the default, or with ".NAME" a named one
	keyNames    = "tokenizer.chat_templates" // which names there are
)

// Names returns the names of a file's templates, "" for the default first. It
// is empty for a file without any: use [Default] then, and say so.
func Names(md Metadata) []string {
	var names []string
	if _, ok := md.String(keyTemplate); ok {
		names = append(names, "")
	}
	named, _ := md.Strings(keyNames)
	for _, name := range named {
		if _, ok := md.String(keyTemplate + "." + name); ok && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// FromMetadata parses a file's template by name: "" is the default one, others
// seen are "tool_use" and "rag". The error says which names there are.
func FromMetadata(md Metadata, name string) (*Template, error) {
	key := keyTemplate
	if name != "" {
		key += "." + name
	}
	source, ok := md.String(key)
	if !ok {
		return nil, fmt.Errorf("chat: the file has no %s; its templates are %q", key, Names(md))
	}
	return Parse(source)
}

// ForTools returns the name of the template to use for a conversation with
// tools: "tool_use" if the file has it, else "".
func ForTools(md Metadata) string {
	if slices.Contains(Names(md), "tool_use") {
		return "tool_use"
	}
	return ""
}
