// Package chat renders conversations into prompts with the chat templates that
// model files bring: Jinja, in the key tokenizer.chat_template.
//
//	tmpl, err := chat.FromMetadata(file, "") // or chat.Default("") if chat.Names(file) is empty
//	prompt, err := tmpl.Render(chat.Conversation{
//		Messages:            []chat.Message{{Role: "user", Content: "Hello"}},
//		AddGenerationPrompt: true,
//	})
//
// It does not tokenize, does not parse what a model answers, and adapts no
// conversation to what a template can do: a template that knows no system role
// or no tools raises an exception or leaves them out, and that is what the
// caller gets.
//
// # How it works
//
// The template is lexed here, rewritten (rewrite.go says how), and then parsed
// and run by github.com/ardanlabs/jinja. Rewriting is needed for what v1.7.0 of
// that library does otherwise than Jinja, most of it without an error:
//
//   - A tag's whitespace control reaches over other tags: in
//     "Hello {{ x }}{%- if y %}" the space before {{ x }} is lost.
//   - A key of a mapping hides the method of the same name (items, in JSON
//     schemas); a missing attribute is a method if one has its name.
//   - default's second argument by position, split's second, select and map by
//     filter name, first of a string, list of a mapping, is sequence and is
//     iterable differ; select and selectattr with one argument panic; there are
//     fewer string escapes; tojson with indent sorts the keys.
//   - Variables set in a loop's body keep their values in the next round, macro
//     defaults end at the first comma, and a loop's condition sees pairs.
//   - dict(a=1, b=2) has its keys in another order each time.
//   - There are no limits: a template of 30 bytes can take all memory, recurse
//     until the process ends, or loop for ever.
//   - Errors at run time have no line.
//
// # What is supported
//
// Everything that the templates in use have: if, for (one or two variables, with
// a condition, else, break and continue), set, block set, macro, call, filter,
// raw, generation; namespace, range, dict, joiner, cycler, raise_exception,
// strftime_now; Jinja's filters and tests but the rare ones. Refused with the
// line: include, import, extends, do, with, recursive loops, assignment of
// several names, loops over three variables.
//
// # Where it differs from Jinja
//
// {{ none }} prints nothing, as in llama.cpp; Python's prints None. Tuples are
// lists. true == 1 is false, comparison of strings that look like numbers is
// numeric, a string plus a number joins them, integers have 64 bits. Invalid
// UTF-8 in a conversation stays as it is, but for tojson and the repr of lists.
// Tests keep the list honest: testdata/snippets.jsonl has each construct with
// what Python's Jinja makes of it, and TestLlamaCppTemplates compares the 68
// templates that llama.cpp collects, with three conversations each.
//
// # Limits
//
// A template is somebody else's program. A rendering ends with a [LimitError]
// after 4 Mi steps or 10 seconds, with macros 100 deep, or when a value or the
// output grows past 1 MiB plus 16 times the conversation. One expression can
// still join some hundred values of that size before it is stopped. If the
// library panics all the same, Parse and Render return an error that says so;
// fuzzing has found no template that does.
package chat
