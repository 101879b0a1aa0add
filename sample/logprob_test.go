package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLogprobs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		logits []float32
		id     int32
		top    int
		want   float64
		ids    []int32
	}{
		{"a coin", []float32{0, 0}, 1, 2, math.Log(.5), []int32{0, 1}},
		{"shifting all logits changes nothing", []float32{5e4, 5e4}, 1, 0, math.Log(.5), nil},
		{"probabilities come back", logs(.2, .5, .3), 2, 2, math.Log(.3), []int32{1, 2}},
		{"equals come in the order of ids", []float32{1, 2, 2, 1, 2}, 4, 4, 2 - math.Log(3*math.Exp(2)+2*math.E), []int32{1, 2, 4, 0}},
		{"huge spread", []float32{3e38, -3e38}, 0, 1, 0, []int32{0}},
		{"a masked token has probability 0", []float32{mInf, 0}, 0, 2, math.Inf(-1), []int32{1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, list, err := Logprobs(tt.logits, tt.id, tt.top)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != tt.id || float64(got.Logprob) != tt.want && !(math.Abs(float64(got.Logprob)-tt.want) < 1e-6) {
				t.Errorf("%+v, want logprob %v", got, tt.want)
			}
			var ids []int32
			for _, l := range list {
				ids = append(ids, l.ID)
			}
			if !slices.Equal(ids, tt.ids) {
				t.Errorf("top %v, want %v", ids, tt.ids)
			}
		})
	}
}

// TestLogprobsSumToOne also compares the list with a full sort.
func TestLogprobsSumToOne(t *testing.T) {
	logits := randomLogits(rand.New(rand.NewPCG(5, 5)), 151_936, 4)
	_, list, err := Logprobs(logits, 0, len(logits))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, l := range list {
		sum += math.Exp(float64(l.Logprob))
		if i > 0 && (l.Logprob > list[i-1].Logprob || l.Logprob == list[i-1].Logprob && logits[l.ID] == logits[list[i-1].ID] && l.ID < list[i-1].ID) {
			t.Fatalf("%d: %+v after %+v", i, l, list[i-1])
		}
	}
	// Each float32 logarithm near -20 is off by up to 1e-6.
	if math.Abs(sum-1) > 2e-6 {
		t.Errorf("probabilities sum to %v", sum)
	}
	_, few, err := Logprobs(logits, 0, 20)
	if err != nil || !slices.Equal(few, list[:20]) {
		t.Errorf("top 20 %v, %v; want the head of the whole list %v", few, err, list[:20])
	}
}

func TestLogprobsBadArguments(t *testing.T) {
	for want, call := range map[string]func() error{
		"sample: logprob of token 2 among 2 logits":  func() error { _, _, err := Logprobs([]float32{1, 2}, 2, 0); return err },
		"sample: logprob of token -1 among 2 logits": func() error { _, _, err := Logprobs([]float32{1, 2}, -1, 0); return err },
		"sample: logprob of token 0 among 0 logits":  func() error { _, _, err := Logprobs(nil, 0, 0); return err },
		"sample: top 3 logprobs of 2 logits":         func() error { _, _, err := Logprobs([]float32{1, 2}, 0, 3); return err },
		"sample: top -1 logprobs of 2 logits":        func() error { _, _, err := Logprobs([]float32{1, 2}, 0, -1); return err },
	} {
		if err := call(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func BenchmarkLogprobs(b *testing.B) {
	logits := randomLogits(rand.New(rand.NewPCG(1, 1)), 151_936, 3)
	for b.Loop() {
		if _, _, err := Logprobs(logits, 7, 20); err != nil {
			b.Fatal(err)
		}
	}
}
