// Package progen writes random programs that mean the same on any machine, as
// witnesses of the software device: the same source compiles for the host and
// for gfx11, and every work-item's results must agree in every bit.
//
// A program is a function of its seed. It has no undefined behaviour, and
// nothing in it depends on the order of work-items; prelude.h says how that is
// arranged and what it costs (the sign and payload of NaNs are not compared).
//
// Files: types.go has the types, expr.go the expressions and statement.go the
// statements that there are, program.go puts programs together and prints
// them, shrink.go makes a failing one small; witness.go compiles and runs,
// miscompiled.go knows where the compiler is the one that errs.
package progen
