// Package hsaco reads AMDGPU code objects: ELF files of code object versions 3
// to 6 with kernels for gfx11. It gives kernels with their descriptors and
// metadata, symbols, relocations, the segments to load, and source lines. It
// neither decodes instructions (package amd/isa) nor runs them (package
// amd/emu), and it applies no relocation.
//
// # Trust
//
// Nothing in a file is trusted. Every offset, size and count is checked against
// the bytes that are there before it is used, names are windows into one copy of
// their table, and what is refused is an [*Error] with a [Reason], the offset in
// the file and the numbers that disagree. A file that is merely poorer than it
// could be (no metadata, relocations left to do, a line table that does not
// parse) is read, and says so in [Object.Warnings].
//
// That is why the tables are read here and not by debug/elf and debug/dwarf,
// whose documentation excludes hostile input: the former indexes its sections
// with an unchecked number and inflates without a limit, the latter allocates
// whatever count a line table claims. The constants and their names are
// debug/elf's.
//
// # Sources of facts
//
// LLVM's "User Guide for AMDGPU Backend"; the tests compare every field with
// what LLVM 22's tools print.
package hsaco
