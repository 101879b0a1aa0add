// Package gfx11 is the software GPU as a device: package amd/emu runs the code
// objects of package device/kernel, instruction by instruction, on memory that
// the host maps. It is slow and exact, and every address, argument and
// instruction can be looked at.
//
// A program's launches run one after another. Weights are mapped once for all
// programs, read-only and under their values' names, when the first of them is
// loaded; caches too. A program has an arena of its own and, outside of it, the
// numbers of the batch and what single kernels keep (completion counters, fault
// words): each a buffer of exactly its size, with unmapped bytes around it, so
// that an access past an end is a fault.
//
// What the kernels do not take (types of weights or caches, head sizes) is
// declined when a program is compiled, before anything is loaded.
package gfx11
