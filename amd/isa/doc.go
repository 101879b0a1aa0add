// Package isa decodes and prints AMD's gfx11 instructions: gfx1100 to gfx1103
// and gfx1150 to gfx1152, wave32 and wave64.
//
// [Decode] turns the words at a program counter into an [Inst]: an operation
// ([Op], one value per encoding and opcode, with a small dense number for jump
// tables), operands whose registers, widths and constants are resolved, and
// modifiers. [Inst.String] is the text that llvm-objdump prints for it. The
// package does not execute anything and knows nothing of object files.
//
// The chips are decoded alike: the scalar float operations (s_add_f32 and its
// like), which only gfx1150 and later have, decode for all.
//
// Words that are no instruction give an [*Unknown]; an instruction that runs past
// the end of the code gives a [*Truncated]. LLVM 22 is the measure of what an
// instruction is: every opcode that it knows for these chips is decoded, those
// of graphics too; bits that it ignores are ignored, words that it refuses are
// Unknown. Unknown too, though LLVM prints them, are
//
//   - register ranges past v255, and registers or constants where the operation
//     takes none such (LLVM notes "Invalid register" or "Invalid immediate");
//   - images of which no instruction has as many registers as the fields ask for
//     (LLVM prints another instruction's registers): atomics with too little or
//     too much of dmask, images of many samples where there is none, nsa for an
//     address of one register, and tfe with d16 for what gathers four texels;
//   - src_flat_scratch_base_lo and _hi, which came with gfx12.5;
//   - the word 0, which LLVM calls v_illegal.
//
// There is a file for each encoding, with its table of operations; vop3 and
// vop3p share vector.go, SOP and SOPP share scalar.go.
package isa
