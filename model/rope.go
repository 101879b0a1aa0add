package model

import (
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// rotary computes the angle per position of every rotated pair: base^(-2i/d),
// divided by the file's factors (llama3), stretched linearly, or blended
// between both by wavelength (YaRN, arXiv:2309.00071).
func (h *Hyper) rotary(factors *op.Value, interleaved bool) *op.Rotary {
	n := h.RopeDims / 2
	r := &op.Rotary{InvFreq: make([]float64, n), Magnitude: 1, Interleaved: interleaved}
	div := make([]float32, n)
	for i := range div {
		div[i] = 1
	}
	if factors != nil {
		if err := quant.Dequantize(factors.Type, div, factors.Data); err != nil {
			panic(err) // bind has checked type and size
		}
	}
	s := h.RopeScale
	low, high := 0.0, 0.0
	if s.Type == "yarn" {
		low = math.Max(0, math.Floor(h.yarnDim(s.BetaFast)))
		high = math.Min(float64(h.RopeDims-1), math.Ceil(h.yarnDim(s.BetaSlow)))
		r.Magnitude = s.AttnFactor * (1 + 0.1*math.Log(s.Factor))
	}
	for i := range n {
		f := math.Pow(h.RopeBase, -2*float64(i)/float64(h.RopeDims)) / float64(div[i])
		stretched := f / s.Factor
		switch s.Type {
		case "yarn":
			// keep is 1 for short wavelengths, which stay as trained.
			keep := 1 - math.Min(1, math.Max(0, (float64(i)-low)/math.Max(0.001, high-low)))
			f = stretched*(1-keep) + f*keep
		case "linear":
			f = stretched
		}
		r.InvFreq[i] = f
	}
	return r
}

// yarnDim is the pair whose wavelength fits turns times into the original
// context.
func (h *Hyper) yarnDim(turns float64) float64 {
	return float64(h.RopeDims) * math.Log(float64(h.RopeScale.OriginalContext)/(turns*2*math.Pi)) / (2 * math.Log(h.RopeBase))
}
