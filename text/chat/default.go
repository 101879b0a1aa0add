package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ChatML is the template for files that bring none: each turn between
// <|im_start|>role and <|im_end|>. It is this package's own; a model that was
// not trained on ChatML will not follow it well, so say that it is in use.
const ChatML = `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\n' }}
{%- endif %}`

// defaults are the built-in templates by name.
var defaults = map[string]string{"chatml": ChatML}

// Default returns a built-in template by name: "chatml", which "" also is.
func Default(name string) (*Template, error) {
	if name == "" {
		name = "chatml"
	}
	source, ok := defaults[name]
	if !ok {
		return nil, fmt.Errorf("chat: no built-in template %q: there is %s", name, strings.Join(slices.Sorted(maps.Keys(defaults)), ", "))
	}
	return Parse(source)
}
