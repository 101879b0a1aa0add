package cpu

import "testing"

// BenchmarkGuards is what the guards that are always on cost a token of
// Qwen3-0.6B: the scan of its logits, and that of 28 layers' attention. Checks
// of bindings are made when a program is compiled and cost a token nothing.
func BenchmarkGuards(b *testing.B) {
	d := testDevice(b, 1)
	logits, rows := make([]float32, 151936), make([]float32, 16*128)
	for range b.N {
		if d.elem.NonFinite(logits) >= 0 {
			b.Fatal("a zero is no number")
		}
		for range 28 {
			d.check(rows, nil, "attention", 0)
		}
	}
}
