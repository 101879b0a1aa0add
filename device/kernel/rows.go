package kernel

import "github.com/holdfast-llm/holdfast/gguf/quant"

// rowPiece is the elements of a row that a workgroup copies or computes.
const rowPiece = 1024

// pieces is the launch of a kernel on rows of n elements.
func pieces(a Args, n uint32, rows int) Launch {
	return Launch{a, [3]uint32{(n + rowPiece - 1) / rowPiece, uint32(rows), 1}}
}

var (
	getRowsF32  = &Kernel{Name: "get_rows_f32", Source: "rows", Items: 256}
	getRowsF16  = &Kernel{Name: "get_rows_f16", Source: "rows", Items: 256}
	getRowsQ8_0 = &Kernel{Name: "get_rows_q8_0", Source: "rows", Items: 256}
	getRowsQ4_K = &Kernel{Name: "get_rows_q4_k", Source: "rows", Items: 256}
	getRowsQ6_K = &Kernel{Name: "get_rows_q6_k", Source: "rows", Items: 256}
	selectRows  = &Kernel{Name: "select_rows", Source: "rows", Items: 256}
)

// GetRowsF32 writes the rows of Table that Tokens, int32 [rows], names to Out,
// [rows][N] floats. Table is a matrix as the file has it: rows of N elements,
// whole blocks, one behind the other. Each token must be a row of it. A table of
// Q4_K may begin at any multiple of 4 bytes, of F16, Q8_0 and Q6_K of 2.
type GetRowsF32 struct {
	Table, Tokens, Out Pointer
	N                  uint32
}

// What GetRowsF32 is for tables of other types. The results are to the bit what
// package quant makes of the blocks.
type (
	GetRowsF16  GetRowsF32
	GetRowsQ8_0 GetRowsF32
	GetRowsQ4_K GetRowsF32
	GetRowsQ6_K GetRowsF32
)

// GetRows is the kernel for a table's type with a's arguments, for a number of
// rows; false if there is none.
func GetRows(t quant.Type, a GetRowsF32, rows int) (Launch, bool) {
	switch t {
	case quant.F32:
		return a.Launch(rows), true
	case quant.F16:
		return GetRowsF16(a).Launch(rows), true
	case quant.Q8_0:
		return GetRowsQ8_0(a).Launch(rows), true
	case quant.Q4_K:
		return GetRowsQ4_K(a).Launch(rows), true
	case quant.Q6_K:
		return GetRowsQ6_K(a).Launch(rows), true
	}
	return Launch{}, false
}

// Kernel is get_rows_f32.
func (GetRowsF32) Kernel() *Kernel { return getRowsF32 }

// Kernel is get_rows_f16.
func (GetRowsF16) Kernel() *Kernel { return getRowsF16 }

// Kernel is get_rows_q8_0.
func (GetRowsQ8_0) Kernel() *Kernel { return getRowsQ8_0 }

// Kernel is get_rows_q4_k.
func (GetRowsQ4_K) Kernel() *Kernel { return getRowsQ4_K }

// Kernel is get_rows_q6_k.
func (GetRowsQ6_K) Kernel() *Kernel { return getRowsQ6_K }

// Launch is for a number of rows.
func (a GetRowsF32) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// Launch is for a number of rows.
func (a GetRowsF16) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// Launch is for a number of rows.
func (a GetRowsQ8_0) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// Launch is for a number of rows.
func (a GetRowsQ4_K) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// Launch is for a number of rows.
func (a GetRowsQ6_K) Launch(rows int) Launch { return pieces(a, a.N, rows) }

// SelectRows copies the rows of X, [any][N] floats, that Output, int32 [rows],
// names to Out, [rows][N]. Out must not overlap X.
type SelectRows struct {
	X, Output, Out Pointer
	N              uint32
}

// Kernel is select_rows.
func (SelectRows) Kernel() *Kernel { return selectRows }

// Launch is for a number of rows of Out.
func (a SelectRows) Launch(rows int) Launch { return pieces(a, a.N, rows) }
