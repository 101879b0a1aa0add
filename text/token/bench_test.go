package token

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	md := openVocabulary(b, "qwen2")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(md); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode encodes this package's source and texts in many scripts.
func BenchmarkEncode(b *testing.B) {
	var code, scripts strings.Builder
	files, _ := filepath.Glob("*.go")
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		code.Write(source)
	}
	for _, quoted := range readLines(b, "testdata/texts.txt") {
		text, _ := strconv.Unquote(quoted)
		scripts.WriteString(text + "\n")
	}
	for _, name := range []string{"qwen2", "llama-bpe", "gpt-2", "llama-spm", "deepseek-llm", "gemma-4"} {
		tok, err := New(openVocabulary(b, name))
		if err != nil {
			b.Fatal(err)
		}
		for _, text := range []struct{ name, text string }{{"code", code.String()}, {"scripts", scripts.String()}, {"spaces", strings.Repeat(" ", 1<<16)}, {"letters", strings.Repeat("a", 1<<16)}} {
			b.Run(name+"/"+text.name, func(b *testing.B) {
				b.SetBytes(int64(len(text.text)))
				b.ReportAllocs()
				for b.Loop() {
					tok.Encode(text.text, false, true)
				}
			})
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	tok, err := New(openVocabulary(b, "qwen2"))
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.ReportAllocs()
	for i := int32(0); b.Loop(); i++ {
		dst = tok.Append(dst[:0], i%int32(tok.Size()), false)
	}
}
