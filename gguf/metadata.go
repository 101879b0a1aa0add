package gguf

import "math"

// Value is the metadata value of a key, as the file has it.
func (f *File) Value(key string) (any, bool) {
	i, ok := search(f.byKey, key, func(i int32) string { return f.KV[i].Key })
	if !ok {
		return nil, false
	}
	return f.KV[i].Value, true
}

// String is the value of a key that holds a string.
func (f *File) String(key string) (string, bool) {
	v, _ := f.Value(key)
	s, ok := v.(string)
	return s, ok
}

// Bool is the value of a key that holds a bool.
func (f *File) Bool(key string) (bool, bool) {
	v, _ := f.Value(key)
	b, ok := v.(bool)
	return b, ok
}

// Uint is the value of a key that holds an integer of any width that is not
// negative.
func (f *File) Uint(key string) (uint64, bool) {
	v, _ := f.Value(key)
	if u, ok := v.(uint64); ok {
		return u, true
	}
	i, ok := toInt(v)
	if !ok || i < 0 {
		return 0, false
	}
	return uint64(i), true
}

// Int is the value of a key that holds an integer of any width that fits.
func (f *File) Int(key string) (int64, bool) {
	v, _ := f.Value(key)
	return toInt(v)
}

// Float is the value of a key that holds a number.
func (f *File) Float(key string) (float64, bool) {
	v, _ := f.Value(key)
	switch v := v.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	case uint64:
		return float64(v), true
	}
	i, ok := toInt(v)
	return float64(i), ok
}

// Strings is the value of a key that holds an array of strings. The strings
// are windows into the file: not to be used after Close, nor the slice changed.
func (f *File) Strings(key string) ([]string, bool) {
	v, _ := f.Value(key)
	s, ok := v.([]string)
	return s, ok
}

// Ints is a copy of the value of a key that holds an array of integers of any
// width; false if one does not fit.
func (f *File) Ints(key string) ([]int64, bool) {
	v, _ := f.Value(key)
	switch v := v.(type) {
	case []uint8:
		return convert[int64](v), true
	case []int8:
		return convert[int64](v), true
	case []uint16:
		return convert[int64](v), true
	case []int16:
		return convert[int64](v), true
	case []uint32:
		return convert[int64](v), true
	case []int32:
		return convert[int64](v), true
	case []int64:
		return convert[int64](v), true
	case []uint64:
		for _, u := range v {
			if u > math.MaxInt64 {
				return nil, false
			}
		}
		return convert[int64](v), true
	}
	return nil, false
}

// Floats is a copy of the value of a key that holds an array of numbers.
func (f *File) Floats(key string) ([]float64, bool) {
	v, _ := f.Value(key)
	switch v := v.(type) {
	case []float32:
		return convert[float64](v), true
	case []float64:
		return convert[float64](v), true
	case []uint64:
		return convert[float64](v), true
	}
	i, ok := f.Ints(key)
	if !ok {
		return nil, false
	}
	return convert[float64](i), true
}

// toInt is v if it is an integer that an int64 holds.
func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case uint8:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

// number is what metadata arrays hold besides strings and bools.
type number interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
}

func convert[To, From number](v []From) []To {
	out := make([]To, len(v))
	for i, x := range v {
		out[i] = To(x)
	}
	return out
}
