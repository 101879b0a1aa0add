package emu

// Additions and subtractions of 32 bits with a carry in, a carry out or both.

var carryOperations = map[string]operation{
	"v_add_co_u32":       {custom: prepareCarry(false, false)},
	"v_sub_co_u32":       {custom: prepareCarry(true, false)},
	"v_subrev_co_u32":    {custom: prepareCarry(true, true)},
	"v_add_co_ci_u32":    {custom: prepareCarry(false, false)},
	"v_sub_co_ci_u32":    {custom: prepareCarry(true, false)},
	"v_subrev_co_ci_u32": {custom: prepareCarry(true, true)},
}

func prepareCarry(subtract, reverse bool) func(in *inst) error {
	return func(in *inst) error {
		p, err := newPlan(in)
		if err != nil {
			return err
		}
		in.aux = p
		saturate := p.clamp
		p.clamp = false
		in.run = func(w *wave, _ *inst) {
			a, b, _, active := p.operands(w)
			if reverse {
				a, b = b, a
			}
			var carry uint64
			if p.maskIn.kind != fromNothing {
				carry = p.maskIn.scalar(w)
			}
			d := &w.vec.dst
			whole := active == w.all() && !saturate
			if whole {
				d = &w.vgpr[p.dst]
			}
			if subtract {
				carry = subCarry(d[:w.n], a[:w.n], b[:w.n], carry)
			} else {
				carry = addCarry(d[:w.n], a[:w.n], b[:w.n], carry)
			}
			if saturate {
				saturateCarry(d[:w.n], carry, subtract)
			}
			if !whole {
				p.write(w, d, active)
			}
			w.setMask(p.maskOut, carry&active)
		}
		return nil
	}
}

// addCarry sets d to the sums of a, b and the carries in, and returns the
// carries out.
func addCarry(d, a, b []uint32, carry uint64) (out uint64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		v := uint64(a[i]) + uint64(b[i]) + carry&1
		carry >>= 1
		d[i] = uint32(v)
		out = out>>1 | v>>32<<63
	}
	return out >> ((64 - uint(len(d))) & 63)
}

// subCarry is addCarry of differences.
func subCarry(d, a, b []uint32, carry uint64) (out uint64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		v := uint64(a[i]) - uint64(b[i]) - carry&1
		carry >>= 1
		d[i] = uint32(v)
		out = out>>1 | v&(1<<63)
	}
	return out >> ((64 - uint(len(d))) & 63)
}

// saturateCarry replaces results that do not fit by the nearest that do.
func saturateCarry(d []uint32, carry uint64, subtract bool) {
	limit := ^uint32(0)
	if subtract {
		limit = 0
	}
	for i := range d {
		if carry>>uint(i)&1 != 0 {
			d[i] = limit
		}
	}
}
