// Package emu executes gfx11 code objects: a software device that runs real
// AMD kernels instruction by instruction, with no GPU.
//
// New makes a Device; Device.Alloc and Device.Map give it memory, Device.Load a
// code object. Module.Kernel prepares a kernel, Kernel.Pack lays out its
// arguments, and Device.Run runs a Dispatch to its end and reports what ran.
// Config says which memory model, which schedule from which seed, and who looks
// on; a run is a function of these, the code and the memory. Bad objects and
// launches are errors before anything runs (*LoadError, *LaunchError); what a
// program does wrong is a *Fault, and an instruction that is not modelled an
// *Unsupported, never a wrong value.
//
// Nothing is checked beyond what the machine itself would refuse: detectors are
// observers (see package check).
//
// # Fidelity
//
// Integer, bit and memory operations, conversions and arithmetic in every
// rounding and denormal mode give what AMD's documents define. Where they leave
// room the result is the correctly rounded one; Support says for each operation
// how it differs from hardware, and a Report lists those that ran. There is no
// time: clocks show how many instructions have run. What a device has beyond
// programs (trap handlers, debuggers, graphics) is not modelled.
//
// # Files by role
//
// device.go, module.go and kernel.go are what is loaded, dispatch.go and
// launch.go how it starts, sched.go who runs next and stuck.go what is said of
// those that never end, run.go the loop over instructions, code.go their
// decoding. inst.go is a predecoded instruction and wave.go the state that
// instructions change; what they do is in sop*.go and scalar*.go, in vector*.go,
// vop*.go and float*.go, and in memory.go, flat.go, mubuf.go, ds.go, smem.go and
// atomic.go. relaxed.go is relaxed memory, pending.go what waves have under way
// there, timing.go when that completes, and wait.go the waits for it; pressure.go
// and paging.go are what a driver does meanwhile, host.go is the host's view of
// memory.
package emu
