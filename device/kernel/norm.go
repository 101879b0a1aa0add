package kernel

var rmsNorm = &Kernel{Name: "rms_norm", Source: "norm", Items: 256}

// RMSNorm normalises rows of N floats by their root mean square, times Weight
// [N]. X and Out may be the same.
type RMSNorm struct {
	X, Weight, Out Pointer
	N              uint32
	Eps            float32
}

// Kernel is rms_norm.
func (RMSNorm) Kernel() *Kernel { return rmsNorm }

// Launch is for a number of rows.
func (a RMSNorm) Launch(rows int) Launch { return Launch{a, [3]uint32{uint32(rows), 1, 1}} }
