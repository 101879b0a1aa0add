package emu

// Operations of graphics that compute code may contain: cube maps, lighting.

var cubeOperations = map[string]operation{
	"v_cubeid_f32": {run: cube(func(c *cubeFace) uint32 {
		id := uint32(2 * c.axis)
		if c.major>>31 != 0 && c.major<<1 != 0 {
			id++
		}
		return single.round(floatMode{}, float64(id))
	})},
	"v_cubema_f32": {run: lanes3(func(w *wave, x, y, z uint32) uint32 {
		return single.mul(w.mode32(), newCubeFace(x, y, z).major, 0x40000000)
	})},
	"v_cubesc_f32": {run: cube(func(c *cubeFace) uint32 {
		switch {
		case c.axis == 0 && !c.negative(), c.axis == 2 && c.negative():
			return c.minor[0] ^ 1<<31
		}
		return c.minor[0]
	})},
	"v_cubetc_f32": {run: cube(func(c *cubeFace) uint32 {
		if c.axis == 1 && !c.negative() {
			return c.minor[1]
		}
		return c.minor[1] ^ 1<<31
	})},
	"v_mullit_f32": {run: lanes3(mullit)},
}

// cubeFace is the face of a cube that a vector points at.
type cubeFace struct {
	axis  int       // 0, 1, 2: the largest component is x, y, z
	major uint32    // that component
	minor [2]uint32 // the components that s and t follow from
}

// newCubeFace prefers z to y to x. A NaN is never the largest.
func newCubeFace(x, y, z uint32) *cubeFace {
	abs := func(v uint32) float32 { return f32(v &^ (1 << 31)) }
	switch {
	case abs(z) >= abs(x) && abs(z) >= abs(y):
		return &cubeFace{2, z, [2]uint32{x, y}}
	case abs(y) >= abs(x):
		return &cubeFace{1, y, [2]uint32{x, z}}
	}
	return &cubeFace{0, x, [2]uint32{z, y}}
}

func (c *cubeFace) negative() bool { return f32(c.major) < 0 }

func cube(f func(c *cubeFace) uint32) kernel {
	return int3(func(x, y, z uint32) uint32 { return f(newCubeFace(x, y, z)) })
}

// mullit is a*b, or the least number if b is that or less or no number, or if
// c is not positive.
func mullit(w *wave, a, b, c uint32) uint32 {
	const least = 0xff7fffff
	if single.isNaN(b) || b == least || b == 0xff800000 || single.isNaN(c) || f32(c) <= 0 {
		return least
	}
	return single.mul(w.mode32(), a, b)
}
