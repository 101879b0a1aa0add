package kernel

var (
	rmsNorm      = &Kernel{Name: "rms_norm", Source: "norm", Items: 256}
	rmsNormShort = &Kernel{Name: "rms_norm_short", Source: "norm", Items: 32}
	rmsNormQ8    = &Kernel{Name: "rms_norm_q8", Source: "norm", Items: 256}
	addRMSNorm   = &Kernel{Name: "add_rms_norm", Source: "norm", Items: 256}
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

// RMSNormShort is RMSNorm with one wave a group, not eight: better up to N of about
// 512, such as the heads of queries and keys.
type RMSNormShort RMSNorm

// Kernel is rms_norm_short.
func (RMSNormShort) Kernel() *Kernel { return rmsNormShort }

// Launch is for a number of groups.
func (a RMSNormShort) Launch(groups int) Launch { return Launch{a, [3]uint32{uint32(groups), 1, 1}} }

// RMSNormQ8 normalises rows of N floats and writes them in Q8_1 x4 to Q8,
// [rows][Q8_1Bytes(N)], and as floats [rows][N] to Out. Out is 0 if nobody wants
// those, and may be X.
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
// the sum's norm as floats [rows][N] to Out and in Q8_1 x4 to Q8,
// [rows][Q8_1Bytes(N)]: either is 0 if nobody wants it.
type AddRMSNorm struct {
	A, B, Weight, Sum, Out, Q8 Pointer
	N                          uint32
	Eps                        float32
}

// Kernel is add_rms_norm.
func (AddRMSNorm) Kernel() *Kernel { return addRMSNorm }

// Launch is for a number of rows.
func (a AddRMSNorm) Launch(rows int) Launch { return Launch{a, [3]uint32{uint32(rows), 1, 1}} }
