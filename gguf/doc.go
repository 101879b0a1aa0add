// Package gguf reads and writes GGUF files: typed metadata and a table of
// tensors. It does not know what a model needs (see package model) or how
// blocks are decoded (see gguf/quant).
//
// Versions 2 and 3 are read and version 3 is written, little-endian. Nothing in
// a file is trusted: every offset, size, count and length is checked against
// the bytes that are there before anything is allocated for it, so that
// opening a file, good or bad, allocates at most twice the file's size and
// 2 MiB. An error says which key or tensor, where, and the numbers.
//
// # Lifetime
//
// A file is mapped, not read. Tensor data and the elements of string arrays
// (a vocabulary of 151,936 strings, say) are windows into the mapping and must
// not be used after [File.Close]. Keys, tensor names, single strings and
// numeric arrays are copies and live on.
//
// # Limits
//
// Arrays of arrays, which the format allows and nobody writes, are refused.
// The constants in limits.go bound the rest.
package gguf
