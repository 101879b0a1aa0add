package simd

import (
	"fmt"
	"os"
)

// Level is a set of instruction-set extensions that kernels are written for.
// A higher level includes the lower ones.
type Level uint8

// The levels.
const (
	Portable Level = iota // plain Go
	AVX2                  // AVX2, FMA, F16C (x86-64-v3 without the bit manipulation)
	AVX512                // AVX-512 F, BW, DQ, VL and VNNI
)

// EnvLevel is the environment variable that caps Best: one of the names that
// Level.String prints.
const EnvLevel = "HOLDFAST_CPU"

var levelNames = [...]string{Portable: "portable", AVX2: "avx2", AVX512: "avx512"}

// String is the level's name, such as "avx2".
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel is the inverse of Level.String.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if n == name {
			return Level(l), nil
		}
	}
	return Portable, fmt.Errorf("simd: unknown level %q, want portable, avx2 or avx512", name)
}

// Levels lists the levels that this CPU and operating system can run,
// Portable first. EnvLevel does not shorten it.
func Levels() []Level {
	ls := make([]Level, detected+1)
	for i := range ls {
		ls[i] = Level(i)
	}
	return ls
}

// Best is the highest level that this machine can run and that EnvLevel
// allows. A value of EnvLevel that names no level does not cap; ask Capped to
// have it reported.
func Best() Level {
	l, err := Capped(os.Getenv(EnvLevel))
	if err != nil {
		return detected
	}
	return l
}

// Capped is the highest level that this machine can run, but no higher than
// the one named. An empty name does not cap; an unknown one is an error.
func Capped(name string) (Level, error) {
	if name == "" {
		return detected, nil
	}
	l, err := ParseLevel(name)
	if err != nil {
		return Portable, err
	}
	return min(l, detected), nil
}

// detected is the highest level this machine can run.
var detected = detect()
