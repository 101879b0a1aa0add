package gguf_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Write a file with one key and one tensor, and read it back.
func Example() {
	var b bytes.Buffer
	err := gguf.Write(&b,
		[]gguf.KV{{Key: "general.architecture", Value: "qwen3"}},
		[]gguf.TensorSource{gguf.FromBytes("output_norm.weight", quant.F32, make([]byte, 4*64), 64)})
	if err != nil {
		log.Fatal(err)
	}
	f, err := gguf.Parse("example", b.Bytes()) // gguf.Open for a file on disk
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	arch, _ := f.String("general.architecture")
	fmt.Println("version", f.Version, arch)
	for _, t := range f.Tensors {
		fmt.Println(t.Name, t.Type, t.Dims, len(t.Data), "bytes")
	}
	// Output:
	// version 3 qwen3
	// output_norm.weight F32 [64] 256 bytes
}
