package simd

import "encoding/binary"

// The products of one row in plain Go, for weights in blocks of 256.

func dotQ2K(w, act []byte, k int) float32 {
	var sum float32
	for range k / 256 {
		b, y := (*[84]byte)(w), (*[q8kBytes]byte)(act)
		var s, m int32
		for g := range 16 { // 16 elements
			q, a := (*[16]byte)(b[16+g/8*32+g%2*16:]), (*[16]byte)(y[16*g:])
			shift := g % 8 / 2 * 2
			var t int32
			for i, v := range q {
				t += int32(v>>shift&3) * int32(int8(a[i]))
			}
			s += int32(b[g]&15) * t
			m += int32(b[g]>>4) * sum16(y, g)
		}
		sum += f32(y[q8kD:]) * (f16(b[80:])*float32(s) - f16(b[82:])*float32(m))
		w, act = w[84:], act[q8kBytes:]
	}
	return sum
}

func dotQ3K(w, act []byte, k int) float32 {
	var sum float32
	for range k / 256 {
		b, y := (*[110]byte)(w), (*[q8kBytes]byte)(act)
		scales := q3kScales(b[96:108])
		var s int32
		for g := range 16 { // 16 elements
			high, q, a := (*[16]byte)(b[g%2*16:]), (*[16]byte)(b[32+g/8*32+g%2*16:]), (*[16]byte)(y[16*g:])
			shift, bit := g%8/2*2, g/2
			var t int32
			for i, v := range q {
				t += int32(v>>shift&3|high[i]>>bit&1<<2) * int32(int8(a[i]))
			}
			s += (int32(scales[g]) - 32) * (t - 4*sum16(y, g))
		}
		sum += f32(y[q8kD:]) * f16(b[108:]) * float32(s)
		w, act = w[110:], act[q8kBytes:]
	}
	return sum
}

// q3kScales unpacks the 16 scales of 6 bits of a Q3_K block: the lower nibbles
// from the first 8 bytes, the upper two bits from the last 4.
func q3kScales(b []byte) (scales [16]byte) {
	for i := range scales {
		scales[i] = b[i%8]>>(i/8*4)&15 | b[8+i%4]>>(i/4*2)&3<<4
	}
	return scales
}

func dotQ4K(w, act []byte, k int) float32 {
	var sum float32
	for range k / 256 {
		b, y := (*[144]byte)(w), (*[q8kBytes]byte)(act)
		scales, mins := q4kScales(b[4:16])
		var s, m int32
		for g := range 4 { // 64 elements
			q, lo, hi := (*[32]byte)(b[16+32*g:]), (*[32]byte)(y[64*g:]), (*[32]byte)(y[64*g+32:])
			var t, u int32
			for i, v := range q {
				t += int32(v&15) * int32(int8(lo[i]))
				u += int32(v>>4) * int32(int8(hi[i]))
			}
			s += int32(scales[2*g])*t + int32(scales[2*g+1])*u
			m += int32(mins[2*g])*sum32(y, 2*g) + int32(mins[2*g+1])*sum32(y, 2*g+1)
		}
		sum += f32(y[q8kD:]) * (f16(b[0:])*float32(s) - f16(b[2:])*float32(m))
		w, act = w[144:], act[q8kBytes:]
	}
	return sum
}

func dotQ5K(w, act []byte, k int) float32 {
	var sum float32
	for range k / 256 {
		b, y := (*[176]byte)(w), (*[q8kBytes]byte)(act)
		scales, mins := q4kScales(b[4:16])
		high := (*[32]byte)(b[16:])
		var s, m int32
		for g := range 4 { // 64 elements
			q, lo, hi := (*[32]byte)(b[48+32*g:]), (*[32]byte)(y[64*g:]), (*[32]byte)(y[64*g+32:])
			var t, u int32
			for i, v := range q {
				h := high[i] >> (2 * g)
				t += int32(v&15|h&1<<4) * int32(int8(lo[i]))
				u += int32(v>>4|h&2<<3) * int32(int8(hi[i]))
			}
			s += int32(scales[2*g])*t + int32(scales[2*g+1])*u
			m += int32(mins[2*g])*sum32(y, 2*g) + int32(mins[2*g+1])*sum32(y, 2*g+1)
		}
		sum += f32(y[q8kD:]) * (f16(b[0:])*float32(s) - f16(b[2:])*float32(m))
		w, act = w[176:], act[q8kBytes:]
	}
	return sum
}

// q4kScales unpacks the 8 scales and 8 minima of 6 bits of a Q4_K or Q5_K
// block: the first four of each lie in the low bits of bytes 0-3 and 4-7; the
// others have nibbles in bytes 8-11 and their upper two bits above the first.
func q4kScales(b []byte) (scales, mins [8]byte) {
	b = b[:12]
	for i := range 4 {
		scales[i], mins[i] = b[i]&63, b[4+i]&63
		scales[4+i] = b[8+i]&15 | b[i]>>6<<4
		mins[4+i] = b[8+i]>>4 | b[4+i]>>6<<4
	}
	return scales, mins
}

func dotQ6K(w, act []byte, k int) float32 {
	var sum float32
	for range k / 256 {
		b, y := (*[210]byte)(w), (*[q8kBytes]byte)(act)
		var s int32
		for g := range 8 { // 16 elements of the lower 64 of a half, 16 of the upper
			half, part := g/4, g%4*16
			low, high := (*[16]byte)(b[64*half+part:]), (*[16]byte)(b[128+32*half+part%32:])
			shift := part / 32 * 2
			lo, hi := (*[16]byte)(y[128*half+part:]), (*[16]byte)(y[128*half+64+part:])
			var t, u int32
			for i, v := range low {
				h := high[i] >> shift
				t += int32(v&15|h&3<<4) * int32(int8(lo[i]))
				u += int32(v>>4|h>>4&3<<4) * int32(int8(hi[i]))
			}
			g0 := 8*half + part/16
			s += int32(int8(b[192+g0]))*(t-32*sum16(y, g0)) + int32(int8(b[192+g0+4]))*(u-32*sum16(y, g0+4))
		}
		sum += f32(y[q8kD:]) * f16(b[208:]) * float32(s)
		w, act = w[210:], act[q8kBytes:]
	}
	return sum
}

func dotIQ4XS(w, act []byte, k int) float32 {
	var sum float32
	for range k / 256 {
		b, y := (*[136]byte)(w), (*[q8kBytes]byte)(act)
		high := int32(binary.LittleEndian.Uint16(b[2:]))
		var s int32
		for g := range 8 { // 32 elements
			scale := int32(b[4+g/2]>>(g%2*4)&15) | high>>(2*g)&3<<4
			s += (scale - 32) * lookup32(b[8+16*g:], y[32*g:])
		}
		sum += f32(y[q8kD:]) * f16(b[0:]) * float32(s)
		w, act = w[136:], act[q8kBytes:]
	}
	return sum
}

// sum16 is the sum of elements 16*g to 16*g+15 of a q8k block.
func sum16(y *[q8kBytes]byte, g int) int32 {
	return int32(int16(binary.LittleEndian.Uint16(y[q8kS16+2*g:])))
}

// sum32 is the sum of elements 32*g to 32*g+31 of a q8k block.
func sum32(y *[q8kBytes]byte, g int) int32 {
	return int32(int16(binary.LittleEndian.Uint16(y[q8kS32+2*g:])))
}
