package simd

import "golang.org/x/sys/cpu"

// detect asks CPUID. x/sys/cpu sets HasAVX2 and HasAVX512F only where the
// operating system also saves the wider registers (XCR0); FMA and F16C use
// the same registers as AVX2.
func detect() Level {
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA || !x.HasF16C {
		return Portable
	}
	if !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI {
		return AVX2
	}
	return AVX512
}
