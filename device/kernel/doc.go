// Package kernel has Holdfast's GPU kernels: C++ sources for gfx11 and NVIDIA
// GPUs (src), the code objects compiled from them for gfx11 (objects), and in
// Go what it takes to launch them: arguments and geometry. It runs nothing.
//
//	go generate ./device/kernel
//
// compiles the sources (clang 22 and lld 22); the same compiler gives the same
// bytes, and CI compares them. Each source is one object for wave32; those that
// say so in their first lines have another for wave64.
package kernel

//go:generate ./build.sh
