// Package emu executes gfx11 code objects: a software device that runs real
// AMD kernels instruction by instruction, with no GPU.
//
// Files by role: space.go and buffer.go hold memory, wave.go the state that
// instructions change, inst.go a predecoded instruction, one file for each
// encoding what it does, sched.go who runs next. Nothing is checked here
// beyond what the machine itself would refuse: detectors are observers (see
// package check).
package emu
