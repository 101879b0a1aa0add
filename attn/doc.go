// Package attn is the mathematics of attention over a split key/value cache:
// the partial state that a split leaves and how states merge, and a float64
// reference to hold every kernel against. It is pure: it knows no device, no
// tensor type and no cache layout (see attn/kv), and it is not fast (see
// device/cpu/simd).
package attn
