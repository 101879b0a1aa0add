package emu

import (
	"math"
	"strings"
)

// atomicFunc is the new value of an atomic from the old one, the data, and the
// second data: what a compare-and-swap compares with. 32-bit atomics see zero
// extended values, and their result's low half counts.
type atomicFunc func(old, data, second uint64) uint64

// approximateFloatAtomic is how float atomics differ from hardware.
const approximateFloatAtomic = "denormals are kept whatever the memory's mode is"

// parseAtomic reads "add_u32", "cmpswap_b64", "min_f32", with or without _rtn
// before the type.
func parseAtomic(name string) (f atomicFunc, wide, float, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i < 0 {
		return nil, false, false, false
	}
	verb, typ := strings.TrimSuffix(name[:i], "_rtn"), name[i+1:]
	wide, float = strings.HasSuffix(typ, "64"), typ[0] == 'f'
	signed := typ[0] == 'i'
	switch {
	case float && wide:
		f = float64Atomics[verb]
	case float:
		f = float32Atomics[verb]
	case signed && wide:
		f = map[string]atomicFunc{
			"min": func(o, d, _ uint64) uint64 { return uint64(min(int64(o), int64(d))) },
			"max": func(o, d, _ uint64) uint64 { return uint64(max(int64(o), int64(d))) },
		}[verb]
	case signed:
		f = map[string]atomicFunc{
			"min": func(o, d, _ uint64) uint64 { return uint64(uint32(min(int32(o), int32(d)))) },
			"max": func(o, d, _ uint64) uint64 { return uint64(uint32(max(int32(o), int32(d)))) },
		}[verb]
	default:
		f = integerAtomics[verb]
	}
	return f, wide, float, f != nil
}

func exchange(_, data, _ uint64) uint64 { return data }

func compareExchange(old, data, second uint64) uint64 {
	if old == second {
		return data
	}
	return old
}

// conditionalExchange is for data whose highest bit says whether the others
// replace the old value.
func conditionalExchange(old, data uint32) uint32 {
	if int32(data) < 0 {
		return data &^ (1 << 31)
	}
	return old
}

// integerAtomics are right for both widths: sums wrap where they are cut.
var integerAtomics = map[string]atomicFunc{
	"swap": exchange, "storexchg": exchange,
	"cmpswap": compareExchange, "cmpstore": compareExchange,
	"add":  func(o, d, _ uint64) uint64 { return o + d },
	"sub":  func(o, d, _ uint64) uint64 { return o - d },
	"rsub": func(o, d, _ uint64) uint64 { return d - o },
	"csub": func(o, d, _ uint64) uint64 { return o - min(o, d) },
	"min":  func(o, d, _ uint64) uint64 { return min(o, d) },
	"max":  func(o, d, _ uint64) uint64 { return max(o, d) },
	"and":  func(o, d, _ uint64) uint64 { return o & d },
	"or":   func(o, d, _ uint64) uint64 { return o | d },
	"xor":  func(o, d, _ uint64) uint64 { return o ^ d },
	"inc": func(o, d, _ uint64) uint64 {
		if o >= d {
			return 0
		}
		return o + 1
	},
	"dec": func(o, d, _ uint64) uint64 {
		if o == 0 || o > d {
			return d
		}
		return o - 1
	},
	"condxchg": func(o, d, _ uint64) uint64 {
		return uint64(conditionalExchange(uint32(o>>32), uint32(d>>32)))<<32 | uint64(conditionalExchange(uint32(o), uint32(d)))
	},
	"mskor": func(o, mask, d uint64) uint64 { return o&^mask | d },
	"wrap": func(o, d, second uint64) uint64 {
		if o >= d {
			return o - d
		}
		return o + second
	},
}

var float32Atomics = map[string]atomicFunc{
	"add": func(o, d, _ uint64) uint64 { return fromF32(asF32(o) + asF32(d)) },
	"min": func(o, d, _ uint64) uint64 {
		if asF32(d) < asF32(o) {
			return d
		}
		return o
	},
	"max": func(o, d, _ uint64) uint64 {
		if asF32(d) > asF32(o) {
			return d
		}
		return o
	},
	"cmpswap": compareExchangeF32, "cmpstore": compareExchangeF32,
}

func compareExchangeF32(o, d, second uint64) uint64 {
	if asF32(o) == asF32(second) {
		return d
	}
	return o
}

var float64Atomics = map[string]atomicFunc{
	"min": func(o, d, _ uint64) uint64 {
		if math.Float64frombits(d) < math.Float64frombits(o) {
			return d
		}
		return o
	},
	"max": func(o, d, _ uint64) uint64 {
		if math.Float64frombits(d) > math.Float64frombits(o) {
			return d
		}
		return o
	},
	"cmpstore": func(o, d, second uint64) uint64 {
		if math.Float64frombits(o) == math.Float64frombits(second) {
			return d
		}
		return o
	},
}

func asF32(v uint64) float32   { return math.Float32frombits(uint32(v)) }
func fromF32(f float32) uint64 { return uint64(math.Float32bits(f)) }
