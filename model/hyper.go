package model

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/gguf"
)

// Hyper is a model's hyperparameters.
type Hyper struct {
	Arch    string
	Layers  int
	Context int // positions the model was trained for
	Hidden  int
	FFN     int
	Heads   int
	KVHeads int
	HeadDim int // elements of a query or key head
	// ValueDim is the elements of a value head.
	ValueDim int
	Vocab    int
	Eps      float32

	Experts     int // 0: dense
	ExpertsUsed int
	ExpertFFN   int
	ExpertScale float32 // multiplies the experts' weights; 0 means 1

	RopeDims  int // rotated elements of a head
	RopeBase  float64
	RopeScale RopeScale
}

// RopeScale stretches rotary positions beyond the trained context.
type RopeScale struct {
	Type            string // "", "linear" or "yarn"
	Factor          float64
	OriginalContext int     // yarn
	AttnFactor      float64 // yarn: extra factor on the magnitude
	BetaFast        float64 // yarn
	BetaSlow        float64 // yarn
}

// Limits on what a file may claim; the largest seen are in the comments
// (2026-11). They keep every product of two of them inside 64 bits.
const (
	maxLayers  = 1 << 12 // 126, Llama 3.1 405B
	maxWidth   = 1 << 20 // 53,248, its FFN
	maxHeads   = 1 << 12 // 128
	maxVocab   = 1 << 24 // 262,144, Gemma 3
	maxContext = 1 << 28 // 10,485,760, Llama 4 Scout
	maxExperts = 1 << 12 // 512, Qwen3-Next
)

// reader reads "<arch>.<key>" and keeps the first error.
type reader struct {
	f    *gguf.File
	arch string
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("model: "+format, args...)
	}
}

// count reads a whole number in 1..limit. A missing key gives fallback, and
// fallback 0 makes the key required.
func (r *reader) count(key string, fallback, limit int) int {
	key = r.arch + "." + key
	v, ok := r.f.Uint(key)
	if !ok {
		if per, isArray := r.f.Ints(key); isArray {
			return r.uniform(key, per, limit)
		}
		if fallback == 0 {
			r.fail("no %s in the file", key)
			return 1 // as in every other error, so that products and quotients are safe
		}
		return fallback
	}
	if v < 1 || v > uint64(limit) {
		r.fail("%s is %d, want 1 to %d", key, v, limit)
		return 1
	}
	return int(v)
}

// uniform accepts a value per layer if all are the same.
func (r *reader) uniform(key string, per []int64, limit int) int {
	if len(per) == 0 {
		r.fail("%s is an empty array", key)
		return 1
	}
	for i, v := range per {
		if v != per[0] {
			r.fail("%s differs between layers (%d in layer 0, %d in layer %d): not supported", key, per[0], v, i)
		}
	}
	if per[0] < 1 || per[0] > int64(limit) {
		r.fail("%s is %d, want 1 to %d", key, per[0], limit)
		return 1
	}
	return int(per[0])
}

func (r *reader) float(key string, fallback float64) float64 {
	v, ok := r.f.Float(r.arch + "." + key)
	if !ok {
		return fallback
	}
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		r.fail("%s.%s is %v", r.arch, key, v)
	}
	return v
}

func readHyper(f *gguf.File, arch string) (*Hyper, error) {
	r := &reader{f: f, arch: arch}
	h := &Hyper{
		Arch:    arch,
		Layers:  r.count("block_count", 0, maxLayers),
		Context: r.count("context_length", 0, maxContext),
		Hidden:  r.count("embedding_length", 0, maxWidth),
		Heads:   r.count("attention.head_count", 0, maxHeads),
		Eps:     float32(r.float("attention.layer_norm_rms_epsilon", -1)),
	}
	if h.Eps == -1 {
		r.fail("no %s.attention.layer_norm_rms_epsilon in the file", arch)
	}
	if r.err != nil {
		return nil, r.err
	}
	h.KVHeads = r.count("attention.head_count_kv", h.Heads, maxHeads)
	h.HeadDim = r.count("attention.key_length", max(1, h.Hidden/h.Heads), maxWidth)
	h.ValueDim = r.count("attention.value_length", max(1, h.Hidden/h.Heads), maxWidth)
	if h.Heads%h.KVHeads != 0 {
		r.fail("%d query heads are no multiple of %d KV heads", h.Heads, h.KVHeads)
	}
	if err := h.readExperts(r); err != nil {
		return nil, err
	}
	h.readRope(r)
	h.readVocab(r)
	return h, r.err
}

func (h *Hyper) readExperts(r *reader) error {
	if n, ok := r.f.Uint(h.Arch + ".expert_count"); ok && n > 0 {
		h.Experts = r.count("expert_count", 0, maxExperts)
		h.ExpertsUsed = r.count("expert_used_count", 0, maxExperts)
		h.ExpertScale = float32(r.float("expert_weights_scale", 0))
		if h.ExpertsUsed > h.Experts {
			r.fail("%d experts used of %d", h.ExpertsUsed, h.Experts)
		}
	}
	if h.Arch == "qwen3moe" && h.Experts == 0 {
		r.fail("no qwen3moe.expert_count in the file")
	}
	h.FFN = r.count("feed_forward_length", 0, maxWidth)
	if h.Experts > 0 {
		h.ExpertFFN = r.count("expert_feed_forward_length", max(1, h.FFN/h.ExpertsUsed), maxWidth)
	}
	return r.err
}

func (h *Hyper) readRope(r *reader) {
	h.RopeDims = r.count("rope.dimension_count", h.HeadDim, maxWidth)
	h.RopeBase = r.float("rope.freq_base", 10000)
	if h.RopeDims%2 != 0 || h.RopeDims > h.HeadDim {
		r.fail("%d rotated elements of a head of %d: want an even number no larger", h.RopeDims, h.HeadDim)
	}
	if h.RopeBase <= 0 {
		r.fail("rope.freq_base is %v", h.RopeBase)
	}
	s := &h.RopeScale
	s.Factor = r.float("rope.scaling.factor", r.float("rope.scale_linear", 0))
	s.Type, _ = r.f.String(h.Arch + ".rope.scaling.type")
	if s.Factor == 0 {
		s.Factor = 1
	}
	switch s.Type {
	case "none", "":
		// A factor without a type is the older way to write linear scaling.
		if s.Type == "none" || s.Factor == 1 {
			*s = RopeScale{Factor: 1}
		} else {
			s.Type = "linear"
		}
	case "linear":
	case "yarn":
		s.OriginalContext = r.count("rope.scaling.original_context_length", h.Context, maxContext)
		s.AttnFactor = r.float("rope.scaling.attn_factor", 1)
		s.BetaFast = r.float("rope.scaling.yarn_beta_fast", 32)
		s.BetaSlow = r.float("rope.scaling.yarn_beta_slow", 1)
	default:
		r.fail("rope scaling %q is not supported; supported are none, linear, yarn, and llama3's factors in rope_freqs.weight", s.Type)
	}
}

func (h *Hyper) readVocab(r *reader) {
	emb, ok := r.f.Tensor("token_embd.weight")
	if !ok || len(emb.Dims) != 2 {
		r.fail("no two-dimensional token_embd.weight in the file")
		return
	}
	h.Vocab = emb.Dims[1]
	if h.Vocab > maxVocab {
		r.fail("vocabulary of %d, want at most %d", h.Vocab, maxVocab)
	}
}
