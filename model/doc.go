// Package model knows the architectures: each is a plain struct whose fields
// name the file's tensors and whose Forward writes one step as operations
// (package op). It computes nothing itself.
//
// Supported: llama (Llama 2 and 3), qwen2, qwen3, qwen3moe.
package model
