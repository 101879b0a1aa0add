package gguf

import "fmt"

// valueType is the type of a metadata value, numbered as in the specification.
type valueType uint32

const (
	typeUint8 valueType = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

// valueTypes names each type and gives its size in bytes; 0 where it varies.
var valueTypes = [...]struct {
	name string
	size int
}{
	typeUint8:   {"uint8", 1},
	typeInt8:    {"int8", 1},
	typeUint16:  {"uint16", 2},
	typeInt16:   {"int16", 2},
	typeUint32:  {"uint32", 4},
	typeInt32:   {"int32", 4},
	typeFloat32: {"float32", 4},
	typeBool:    {"bool", 1},
	typeString:  {"string", 0},
	typeArray:   {"array", 0},
	typeUint64:  {"uint64", 8},
	typeInt64:   {"int64", 8},
	typeFloat64: {"float64", 8},
}

func (t valueType) known() bool { return int(t) < len(valueTypes) }

// size is the number of bytes of a value; 0 for strings and arrays.
func (t valueType) size() int { return valueTypes[t].size }

func (t valueType) String() string {
	if t.known() {
		return valueTypes[t].name
	}
	return fmt.Sprintf("type(%d)", uint32(t))
}

// typeOf is the type that v is stored as, and of its elements if v is an
// array. It is the inverse of decodeValue.
func typeOf(v any) (t, elem valueType, ok bool) {
	switch v.(type) {
	case uint8:
		return typeUint8, 0, true
	case int8:
		return typeInt8, 0, true
	case uint16:
		return typeUint16, 0, true
	case int16:
		return typeInt16, 0, true
	case uint32:
		return typeUint32, 0, true
	case int32:
		return typeInt32, 0, true
	case float32:
		return typeFloat32, 0, true
	case bool:
		return typeBool, 0, true
	case string:
		return typeString, 0, true
	case uint64:
		return typeUint64, 0, true
	case int64:
		return typeInt64, 0, true
	case float64:
		return typeFloat64, 0, true
	case []uint8:
		return typeArray, typeUint8, true
	case []int8:
		return typeArray, typeInt8, true
	case []uint16:
		return typeArray, typeUint16, true
	case []int16:
		return typeArray, typeInt16, true
	case []uint32:
		return typeArray, typeUint32, true
	case []int32:
		return typeArray, typeInt32, true
	case []float32:
		return typeArray, typeFloat32, true
	case []bool:
		return typeArray, typeBool, true
	case []string:
		return typeArray, typeString, true
	case []uint64:
		return typeArray, typeUint64, true
	case []int64:
		return typeArray, typeInt64, true
	case []float64:
		return typeArray, typeFloat64, true
	}
	return 0, 0, false
}
