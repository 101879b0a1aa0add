package emu

// Kernels from functions of one lane, for operations that are not worth a loop
// of their own.

func lanes1(f func(w *wave, a uint32) uint32) kernel {
	return func(w *wave, d, a, _, _ *lanes) {
		for i := range d[:w.n] {
			d[i] = f(w, a[i])
		}
	}
}

func lanes2(f func(w *wave, a, b uint32) uint32) kernel {
	return func(w *wave, d, a, b, _ *lanes) {
		for i := range d[:w.n] {
			d[i] = f(w, a[i], b[i])
		}
	}
}

func lanes3(f func(w *wave, a, b, c uint32) uint32) kernel {
	return func(w *wave, d, a, b, c *lanes) {
		for i := range d[:w.n] {
			d[i] = f(w, a[i], b[i], c[i])
		}
	}
}

// Likewise of integers, which need nothing of the wave.

func int1(f func(a uint32) uint32) kernel {
	return func(w *wave, d, a, _, _ *lanes) {
		for i := range d[:w.n] {
			d[i] = f(a[i])
		}
	}
}

func int2(f func(a, b uint32) uint32) kernel {
	return func(w *wave, d, a, b, _ *lanes) {
		for i := range d[:w.n] {
			d[i] = f(a[i], b[i])
		}
	}
}

func int3(f func(a, b, c uint32) uint32) kernel {
	return func(w *wave, d, a, b, c *lanes) {
		for i := range d[:w.n] {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

func wide1(f func(w *wave, a uint64) uint64) wideKernel {
	return func(w *wave, d, a, _, _ *wide) {
		for i := range d[:w.n] {
			d[i] = f(w, a[i])
		}
	}
}

func wide2(f func(w *wave, a, b uint64) uint64) wideKernel {
	return func(w *wave, d, a, b, _ *wide) {
		for i := range d[:w.n] {
			d[i] = f(w, a[i], b[i])
		}
	}
}

func wide3(f func(w *wave, a, b, c uint64) uint64) wideKernel {
	return func(w *wave, d, a, b, c *wide) {
		for i := range d[:w.n] {
			d[i] = f(w, a[i], b[i], c[i])
		}
	}
}
