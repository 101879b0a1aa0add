// Package engine decodes models: it binds a GGUF file to a device, keeps the
// key-value cache of its sequences, and turns tokens into logits and text.
//
//	f, err := gguf.Open("model.gguf")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer f.Close()
//	e, err := engine.New(engine.Config{File: f})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer e.Close()
//	tok, err := e.Tokenizer()
//	if err != nil {
//		log.Fatal(err)
//	}
//	s, err := e.NewSequence()
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := s.Generate(ctx, engine.Request{Prompt: tok.Encode("func main() {", true, true), MaxTokens: 64})
//	fmt.Println(r.Text, err)
//
// The same file, flags and seed give the same tokens on any number of
// threads. Sequences share the engine's steps one after another; Engine.Step
// decodes several in one pass over the weights.
package engine
