package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

// The embedded model finds a value by its key.
func Example() {
	f, err := gguf.Parse(embedded.Name, embedded.Bytes()) // or gguf.Open("model.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	e, err := engine.New(engine.Config{File: f})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	tok, err := e.Tokenizer()
	if err != nil {
		log.Fatal(err)
	}
	s, err := e.NewSequence()
	if err != nil {
		log.Fatal(err)
	}
	prompt, answer, err := embedded.RecallPrompt(1, 200, func(text string) int { return len(tok.Encode(text, false, false)) })
	if err != nil {
		log.Fatal(err)
	}
	r, err := s.Generate(context.Background(), engine.Request{Prompt: tok.Encode(prompt, true, true), Stop: []string{"\n"}, MaxTokens: 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q, want %q; %d prompt tokens, ended by %s\n", r.Text, answer, r.Timings.PromptTokens, r.Reason)
	// Output: " v13", want " v13\n"; 209 prompt tokens, ended by word
}
