package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// A weight is one float32 tensor. Shape is PyTorch's: rows first.
type weight struct {
	shape  []int
	values []float32
}

// readWeights reads every tensor of the safetensors files that match pattern: an eight-byte header length, a JSON
// header, and the data that the header's offsets point into. Only F32 is expected.
func readWeights(pattern string) (map[string]weight, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no file matches %s", pattern)
	}
	weights := map[string]weight{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		if err := addWeights(weights, b); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return weights, nil
}

func addWeights(weights map[string]weight, b []byte) error {
	if len(b) < 8 {
		return fmt.Errorf("%d bytes is too short", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b)-8) {
		return fmt.Errorf("header of %d bytes in a file of %d", n, len(b))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	data := b[8+n:]
	for name, text := range header {
		if name == "__metadata__" {
			continue
		}
		var t struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(text, &t); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		size := 4
		for _, d := range t.Shape {
			size *= d
		}
		from, to := t.Offsets[0], t.Offsets[1]
		if t.DType != "F32" || from < 0 || to > len(data) || to-from != size {
			return fmt.Errorf("tensor %q: %s %v at %d to %d of %d bytes", name, t.DType, t.Shape, from, to, len(data))
		}
		w := weight{t.Shape, make([]float32, size/4)}
		for i := range w.values {
			w.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[from+4*i:]))
		}
		weights[name] = w
	}
	return nil
}
