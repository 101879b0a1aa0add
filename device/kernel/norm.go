package kernel

var (
	rmsNorm    = &Kernel{Name: "rms_norm", Source: "norm", Items: 256}
	rmsNormQ8  = &Kernel{Name: "rms_norm_q8", Source: "norm", Items: 256}
	addRMSNorm = &Kernel{Name: "add_rms_norm", Source: "norm", Items: 256}
)

// RMSNorm normalises groups of N floats by their root mean square, times Weight
// [N]: rows, or the heads of rows, which lie one behind the other. X and Out may
// be the same.
type RMSNorm struct {
	X, Weight, Out Pointer
	N              uint32
	Eps            float32
}

// Kernel is rms_norm.
func (RMSNorm) Kernel() *Kernel { return rmsNorm }

// Launch is for a number of groups.
func (a RMSNorm) Launch(groups int) Launch { return Launch{a, [3]uint32{uint32(groups), 1, 1}} }

// RMSNormQ8 normalises rows of N floats and writes them to Q8 in Q8_1 x4, rows of
// 144 bytes for each 128 elements or part of them, and to Out as floats
// [rows][N]. Out is 0 if nobody wants those, and may be X.
type RMSNormQ8 struct {
	X, Weight, Out, Q8 Pointer
	N                  uint32
	Eps                float32
}

// Kernel is rms_norm_q8.
func (RMSNormQ8) Kernel() *Kernel { return rmsNormQ8 }

// Launch is for a number of rows.
func (a RMSNormQ8) Launch(rows int) Launch { return Launch{a, [3]uint32{uint32(rows), 1, 1}} }

// AddRMSNorm writes A + B, rows of N floats, to Sum, which may be A or B, and
// the sum's norm to Out as floats [rows][N] and to Q8 as RMSNormQ8 does: either is
// 0 if nobody wants it.
type AddRMSNorm struct {
	A, B, Weight, Sum, Out, Q8 Pointer
	N                          uint32
	Eps                        float32
}

// Kernel is add_rms_norm.
func (AddRMSNorm) Kernel() *Kernel { return addRMSNorm }

// Launch is for a number of rows.
func (a AddRMSNorm) Launch(rows int) Launch { return Launch{a, [3]uint32{uint32(rows), 1, 1}} }
