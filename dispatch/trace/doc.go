// Package trace keeps what every command of a serial run wrote, in a file, and
// finds the first difference between two of them: the first command whose
// output differs is where two runs parted, whatever they look like later.
//
// A file is a magic line, then records: a letter, the length of the payload as
// a uvarint, the payload.
//
//	M  the model, first of all: the SHA-256 of its file, 32 bytes
//	P  a program: uvarint id, then JSON {"commands": [{kernel, lane, op}]}
//	O  an output: uvarints step, program, command; the value's name (uvarint
//	   length, bytes); its kind ('f' float32, 'i' int32, 'q' packed); the
//	   FNV-1a digest, 8 bytes little-endian; uvarint size; the bytes, unless
//	   only digests are kept
//	E  the end: uvarint number of outputs. A trace without it was cut off
//
// Values are as large as what the commands write: about 4 MB for a token of a
// model of 0.6 B parameters, 40 bytes an output without them.
package trace
