package gguf

// Limits on what a file may hold. Lengths and counts are besides bounded by the
// bytes that remain in the file, which is the stricter bound for most.
const (
	// MaxKeys is the number of metadata entries; files in use have 20 to 60.
	MaxKeys = 1 << 14
	// MaxKeyBytes is the length of a key, as the specification has it.
	MaxKeyBytes = 1<<16 - 1
	// MaxTensors is the number of tensors; the largest file seen has 2,300.
	MaxTensors = 1 << 15
	// MaxNameBytes is the length of a tensor's name. ggml stores 63 bytes and a
	// terminator, and so refuses a name of 64.
	MaxNameBytes = 63
	// MaxDims is the number of dimensions of a tensor, as in ggml.
	MaxDims = 4
	// DefaultAlignment is the alignment of tensor data, in bytes, of a file that
	// does not set general.alignment.
	DefaultAlignment = 32
	// MaxAlignment is the largest alignment read: a huge page.
	MaxAlignment = 1 << 21
)

const (
	magic      = "GGUF"
	headerSize = 24 // magic, version, tensor count, key count

	keyAlignment = "general.alignment"

	minKeyBytes    = 8 + 1 + 4 + 1         // length, one byte of key, type, one byte of value
	minTensorBytes = 8 + 1 + 4 + 8 + 4 + 8 // length, one byte of name, dimension count, one dimension, type, offset
)
