// Package cpu is the device that runs programs on the processor: worker
// goroutines pinned to threads, kernels from package simd, memory by mmap.
//
// Every launch is cut into tasks whose number and contents depend only on the
// program and the batch, never on the number of workers, so that results are
// bit-identical on any number of threads.
package cpu
