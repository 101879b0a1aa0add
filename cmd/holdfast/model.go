package main

import (
	"os"
	"strings"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

// openModel opens a GGUF file, or the embedded model if path is empty.
func openModel(path string) (*gguf.File, error) {
	if path == "" {
		return gguf.Parse(embedded.Name, embedded.Bytes())
	}
	return gguf.Open(path)
}

// openEngine opens a model and an engine on it; close ends both.
func openEngine(path string, cfg engine.Config) (e *engine.Engine, closeAll func(), err error) {
	f, err := openModel(path)
	if err != nil {
		return nil, nil, err
	}
	cfg.File = f
	if e, err = engine.New(cfg); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return e, func() { _ = e.Close(); _ = f.Close() }, nil
}

// disabled joins --disable with HOLDFAST_DISABLE.
func disabled(flag []string) []string {
	if env := os.Getenv("HOLDFAST_DISABLE"); env != "" {
		return append(flag, strings.Split(env, ",")...)
	}
	return flag
}
