// Command export writes the trained model as a GGUF file.
//
//	go -C model/embedded/train run ./export -in ../../../.train -out ../holdfast-7m-q8_0.gguf
//
// It reads the tokenizer.json and the model-*.safetensors that bpe.py and train.py wrote. Matrices become Q8_0 (or
// what -type names), norms stay F32.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// The model's shape where the tensors do not tell it; it repeats Config in model.py.
const (
	contextLength = 4096
	heads         = 8
	kvHeads       = 2
	headSize      = 64
	ropeBase      = 1e6
	normEps       = 1e-6
)

func main() {
	in := flag.String("in", ".train", "directory with tokenizer.json and model-*.safetensors")
	out := flag.String("out", "holdfast-7m-q8_0.gguf", "file to write")
	typeName := flag.String("type", "Q8_0", "type of the matrices: Q8_0, F16 or F32")
	flag.Parse()
	if err := run(*in, *out, *typeName); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

// A fileType is a type of matrices and what general.file_type calls a file full of them.
type fileType struct {
	matrix quant.Type
	id     uint32
}

var fileTypes = map[string]fileType{"F32": {quant.F32, 0}, "F16": {quant.F16, 1}, "Q8_0": {quant.Q8_0, 7}}

func run(in, out, typeName string) error {
	ft, ok := fileTypes[typeName]
	if !ok {
		return fmt.Errorf("type %q is not Q8_0, F16 or F32", typeName)
	}
	weights, err := readWeights(filepath.Join(in, "model-*.safetensors"))
	if err != nil {
		return err
	}
	vocabulary, err := tokenizerKVs(filepath.Join(in, "tokenizer.json"))
	if err != nil {
		return err
	}
	layers := 0
	for weights[layerName(layers, "input_layernorm")].values != nil {
		layers++
	}
	embedding, ok := weights["model.embed_tokens.weight"]
	if !ok {
		return fmt.Errorf("no model.embed_tokens.weight in %s", in)
	}
	kvs := append([]gguf.KV{
		{Key: "general.architecture", Value: "qwen3"},
		{Key: "general.type", Value: "model"},
		{Key: "general.name", Value: "Holdfast 7M"},
		{Key: "general.basename", Value: "holdfast"},
		{Key: "general.size_label", Value: "7M"},
		{Key: "general.description", Value: "Completes Go; answers k17 -> from key k17 = v93 up to 4,000 tokens back"},
		{Key: "general.license", Value: "apache-2.0"},
		{Key: "general.file_type", Value: ft.id},
		{Key: "general.quantization_version", Value: uint32(2)},
		{Key: "qwen3.block_count", Value: uint32(layers)},
		{Key: "qwen3.context_length", Value: uint32(contextLength)},
		{Key: "qwen3.embedding_length", Value: uint32(embedding.shape[1])},
		{Key: "qwen3.feed_forward_length", Value: uint32(weights[layerName(0, "mlp.gate_proj")].shape[0])},
		{Key: "qwen3.attention.head_count", Value: uint32(heads)},
		{Key: "qwen3.attention.head_count_kv", Value: uint32(kvHeads)},
		{Key: "qwen3.attention.key_length", Value: uint32(headSize)},
		{Key: "qwen3.attention.value_length", Value: uint32(headSize)},
		{Key: "qwen3.attention.layer_norm_rms_epsilon", Value: float32(normEps)},
		{Key: "qwen3.rope.freq_base", Value: float32(ropeBase)},
		{Key: "qwen3.vocab_size", Value: uint32(embedding.shape[0])},
	}, vocabulary...)
	tensors, err := tensors(weights, layers, ft.matrix)
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := gguf.Write(f, kvs, tensors); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func layerName(i int, part string) string { return fmt.Sprintf("model.layers.%d.%s.weight", i, part) }

// parts pairs the names of a layer's tensors in GGUF and in Hugging Face's Qwen3.
var parts = [][2]string{
	{"attn_norm", "input_layernorm"},
	{"attn_q", "self_attn.q_proj"},
	{"attn_k", "self_attn.k_proj"},
	{"attn_v", "self_attn.v_proj"},
	{"attn_q_norm", "self_attn.q_norm"},
	{"attn_k_norm", "self_attn.k_norm"},
	{"attn_output", "self_attn.o_proj"},
	{"ffn_norm", "post_attention_layernorm"},
	{"ffn_gate", "mlp.gate_proj"},
	{"ffn_up", "mlp.up_proj"},
	{"ffn_down", "mlp.down_proj"},
}

// tensors lists every weight under its GGUF name. A weight left over, or missing, is an error.
func tensors(weights map[string]weight, layers int, matrix quant.Type) ([]gguf.TensorSource, error) {
	names := [][2]string{{"token_embd.weight", "model.embed_tokens.weight"}}
	for i := range layers {
		for _, p := range parts {
			names = append(names, [2]string{fmt.Sprintf("blk.%d.%s.weight", i, p[0]), layerName(i, p[1])})
		}
	}
	names = append(names, [2]string{"output_norm.weight", "model.norm.weight"})
	if len(names) != len(weights) {
		return nil, fmt.Errorf("%d tensors in the files, want %d for %d layers", len(weights), len(names), layers)
	}
	var out []gguf.TensorSource
	for _, n := range names {
		w, ok := weights[n[1]]
		if !ok {
			return nil, fmt.Errorf("no tensor %q", n[1])
		}
		t, err := encode(n[0], w, matrix)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", n[1], err)
		}
		out = append(out, t)
	}
	return out, nil
}

// encode writes a matrix as the given type and a vector as F32. GGUF gives the row length first.
func encode(name string, w weight, matrix quant.Type) (gguf.TensorSource, error) {
	if len(w.shape) == 1 || matrix == quant.F32 {
		data := make([]byte, 4*len(w.values))
		for i, v := range w.values {
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
		}
		return gguf.FromBytes(name, quant.F32, data, reversed(w.shape)...), nil
	}
	data := make([]byte, matrix.RowBytes(len(w.values)))
	if err := quant.Quantize(matrix, data, w.values); err != nil {
		return gguf.TensorSource{}, err
	}
	return gguf.FromBytes(name, matrix, data, reversed(w.shape)...), nil
}

func reversed(shape []int) []int {
	out := make([]int, len(shape))
	for i, d := range shape {
		out[len(shape)-1-i] = d
	}
	return out
}
