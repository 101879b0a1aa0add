// Package embedded holds the model that Holdfast carries with it: 7.2 million
// parameters of the Qwen3 architecture that complete Go and recall a key's
// value from up to 4,000 tokens back. README.md says what it was trained on,
// how well it does, and how to make it again.
package embedded

import _ "embed"

// Name is the model's file name.
const Name = "holdfast-7m-q8_0.gguf"

//go:embed holdfast-7m-q8_0.gguf
var file []byte

// Bytes returns the GGUF file. The bytes are shared: they must not change.
func Bytes() []byte { return file }
