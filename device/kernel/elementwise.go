package kernel

var (
	add      = &Kernel{Name: "add", Source: "elementwise", Items: 256}
	swiGLU   = &Kernel{Name: "swiglu", Source: "elementwise", Items: 256}
	swiGLUQ8 = &Kernel{Name: "swiglu_q8", Source: "elementwise", Items: 256}
	moeSum   = &Kernel{Name: "moe_sum", Source: "elementwise", Items: 256}
)

// Add is Out = A + B over rows of N floats. Out may be A or B.
type Add struct {
	A, B, Out Pointer
	N         uint32
}

// Kernel is add.
func (Add) Kernel() *Kernel { return add }

// Launch is for a number of rows.
func (a Add) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// SwiGLU is Out = Gate / (1 + exp(-Gate)) * Up over rows of N floats. Out may be
// Gate or Up.
type SwiGLU struct {
	Gate, Up, Out Pointer
	N             uint32
}

// Kernel is swiglu.
func (SwiGLU) Kernel() *Kernel { return swiGLU }

// Launch is for a number of rows.
func (a SwiGLU) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// SwiGLUQ8 is SwiGLU with the result in Q8_1 x4, Q8 [rows][Q8_1Bytes(N)].
type SwiGLUQ8 struct {
	Gate, Up, Q8 Pointer
	N            uint32
}

// Kernel is swiglu_q8.
func (SwiGLUQ8) Kernel() *Kernel { return swiGLUQ8 }

// Launch is for a number of rows.
func (a SwiGLUQ8) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// MoESum is Out[row] = sum over u of Weights[row][u] * X[row][u]: X is
// [rows][Used][N] floats, Weights [rows][Used], Out [rows][N]. Terms are added
// in the order of u.
type MoESum struct {
	X, Weights, Out Pointer
	N, Used         uint32
}

// Kernel is moe_sum.
func (MoESum) Kernel() *Kernel { return moeSum }

// Launch is for a number of rows.
func (a MoESum) Launch(rows int) Launch { return pieces(a, a.N, rows) }
