// Package isa decodes and prints AMD's gfx11 instructions: gfx1100 to gfx1103
// and gfx1150 to gfx1152, wave32 and wave64.
//
// [Decode] turns the words at a program counter into an [Inst]: an operation
// ([Op], one value per encoding and opcode, with a small dense number for jump
// tables), operands whose registers, widths and constants are resolved, and
// modifiers. [Inst.String] is the text that llvm-objdump prints for it. Bits
// that the hardware ignores are ignored. The package does not execute anything
// and knows nothing of object files.
//
// Words that are no instruction, or one that compute code cannot contain, give
// an [*Unknown]; an instruction that runs past the end of the code gives a
// [*Truncated]. The graphics encodings are not modelled and are Unknown: MIMG,
// VINTERP, LDSDIR and EXP.
package isa
