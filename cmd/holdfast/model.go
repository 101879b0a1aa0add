package main

import (
	"crypto/sha256"
	"io"
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

// modelDigest is the SHA-256 of a model's file.
func modelDigest(path string) (sum [sha256.Size]byte, err error) {
	if path == "" {
		return sha256.Sum256(embedded.Bytes()), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
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
