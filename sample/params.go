package sample

import (
	"fmt"
	"math"
)

// Params says how tokens are picked. The zero value is greedy decoding; every
// field that is zero is off.
type Params struct {
	// Temperature divides the logits before the draw; 0 is greedy.
	Temperature float32
	// TopK keeps the K largest logits; 0 keeps all.
	TopK int
	// TopP keeps the shortest run of most likely tokens whose probabilities
	// reach P together; 0 and 1 keep all.
	TopP float32
	// MinP keeps tokens at least P times as likely as the likeliest; 0 keeps
	// all.
	MinP float32

	// RepeatPenalty divides a positive and multiplies a negative logit of each
	// token in the window; 0 and 1 are off, below 1 rewards repetition.
	RepeatPenalty float32
	// FrequencyPenalty is subtracted once per occurrence in the window.
	FrequencyPenalty float32
	// PresencePenalty is subtracted once if the token is in the window.
	PresencePenalty float32
	// RepeatLastN is the window of the three penalties: the last N accepted
	// tokens; 0 turns them off, as in llama.cpp.
	RepeatLastN int

	// Seed starts the generator; every value, 0 too, is a seed.
	Seed uint64
}

// Default returns llama.cpp's defaults: temperature 0.8, top-k 40, top-p 0.95,
// min-p 0.05, a window of 64 tokens and no penalties.
func Default() Params {
	return Params{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1, RepeatLastN: 64}
}

const (
	// penaltyMax bounds the three penalties so that no sum of them overflows a
	// float32. APIs in use allow at most 2.
	penaltyMax = 1e6
	// repeatLastNMax bounds the window, which is allocated once by [New].
	repeatLastNMax = 1 << 20
)

// Validate reports the first field out of range, with its value.
func (p Params) Validate() error {
	between := func(name string, v, lo, hi float32) error {
		if v >= lo && v <= hi { // false for NaN
			return nil
		}
		return fmt.Errorf("sample: %s %v: want %v to %v", name, v, lo, hi)
	}
	// The float32 maximum excludes +Inf.
	if err := between("temperature", p.Temperature, 0, math.MaxFloat32); err != nil {
		return err
	}
	if p.TopK < 0 {
		return fmt.Errorf("sample: top-k %d: want 0 (all) or more", p.TopK)
	}
	if err := between("top-p", p.TopP, 0, 1); err != nil {
		return err
	}
	if err := between("min-p", p.MinP, 0, 1); err != nil {
		return err
	}
	if p.RepeatPenalty != 0 {
		if err := between("repeat penalty", p.RepeatPenalty, 1/penaltyMax, penaltyMax); err != nil {
			return err
		}
	}
	if err := between("frequency penalty", p.FrequencyPenalty, -penaltyMax, penaltyMax); err != nil {
		return err
	}
	if err := between("presence penalty", p.PresencePenalty, -penaltyMax, penaltyMax); err != nil {
		return err
	}
	if p.RepeatLastN < 0 || p.RepeatLastN > repeatLastNMax {
		return fmt.Errorf("sample: repeat last n %d: want 0 to %d", p.RepeatLastN, repeatLastNMax)
	}
	return nil
}

// penalises reports whether any penalty can change a logit.
func (p Params) penalises() bool {
	repeat := p.RepeatPenalty != 0 && p.RepeatPenalty != 1
	return p.RepeatLastN > 0 && (repeat || p.FrequencyPenalty != 0 || p.PresencePenalty != 0)
}
