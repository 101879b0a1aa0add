package quant

import (
	"encoding/binary"
	"math"
)

// A Q8_K block is 256 activations as signed bytes, with the sums of sixteen for
// products with weights that have minima:
//
//	  0  d      float32
//	  4  qs     256 signed bytes
//	260  bsums  16 int16: bsums[i] is the sum of qs[16i:16i+16]
//
//	x = d * q

func dequantizeQ8K(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[292]byte)(src), (*[256]float32)(dst)
		d := math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
		for j := range y {
			y[j] = d * float32(int8(b[4+j]))
		}
		dst, src = dst[256:], src[292:]
	}
}

func quantizeQ8K(dst []byte, src []float32) {
	for len(src) >= 256 {
		b, x := (*[292]byte)(dst), (*[256]float32)(src)
		quantizeBlockQ8K(b, x)
		dst, src = dst[292:], src[256:]
	}
}

func quantizeBlockQ8K(b *[292]byte, x *[256]float32) {
	top := peak(x[:])
	if top == 0 {
		clear(b[:])
		return
	}
	inv := -127 / top // the element furthest from zero becomes -127
	for i := range 16 {
		var sum int16
		for j := 16 * i; j < 16*i+16; j++ {
			q := int8(min(127, nearest(inv*x[j])))
			b[4+j] = byte(q)
			sum += int16(q)
		}
		binary.LittleEndian.PutUint16(b[260+2*i:], uint16(sum))
	}
	binary.LittleEndian.PutUint32(b[:], math.Float32bits(1/inv))
}
