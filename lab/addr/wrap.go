package addr

import (
	"cmp"
	"slices"
)

// Wrap is an index that leads to the fault: the range's start plus the product of
// index and stride, computed in 32 bits, plus less than a stride.
type Wrap struct {
	Range  *Range // whose start is the base
	Index  uint64
	Also   []uint64 // other indices that have the same product
	Stride uint64
	// Count is how many strides the range has; Derived says that the stride was had
	// by dividing the range's bytes by it, as the map gives none.
	Count   uint64
	Derived bool
	// Product is index x stride modulo 2^32.
	Product uint32
	// Signed says that the product is taken as a signed number; Wide that it was not
	// cut to 32 bits at all.
	Signed, Wide bool
	// Rest is the fault's offset in the element that base and product point to.
	Rest uint64
}

// WrapOptions say what is tried.
type WrapOptions struct {
	Strides []uint64 // for every range; nil: the map's strides, or those of experts
	Indices []uint64 // nil: Sentinels
	Row     uint64   // if not 0, Rest must be a multiple of it, to within the page
	Bases   []Range  // more bases than the map's ranges have
}

// Sentinels are indices that mean "none" in programs that should not have used
// them: extreme values of 32 and 16 bits, and a quiet NaN's bits.
var Sentinels = []uint64{0x7fffffff, 0xffffffff, 0x80000000, 0x7fff, 0xffff, 0x7fc00000}

// expertCounts are the numbers of experts that models have; a range's bytes divided by
// one are a stride to try where the map gives none.
var expertCounts = []uint64{8, 16, 32, 60, 64, 96, 128, 160, 192, 256, 384, 512}

// maxExpert bounds the strides that are had by dividing.
const maxExpert = 64 << 20

// maxWraps bounds what is listed.
const maxWraps = 8

// wraps are the products that lead to the fault, the likeliest first, and how many
// such would be expected by chance.
func (m *Map) wraps(f Fault, o WrapOptions) ([]Wrap, float64) {
	indices := o.Indices
	if indices == nil {
		indices = Sentinels
	}
	var found []Wrap
	var tried []trial
	each := func(r *Range) {
		if r.Freed {
			return
		}
		for _, s := range r.strides(o.Strides) {
			for _, index := range indices {
				if index < s.count { // a valid index
					continue
				}
				w := Wrap{Range: r, Index: index, Stride: s.stride, Count: s.count, Derived: s.derived, Product: uint32(index * s.stride)}
				window := s.stride
				if o.Row > 0 {
					window = s.stride / o.Row * min(f.bytes(), o.Row)
				}
				tried = append(tried, trial{s.stride, min(1, float64(window+f.bytes()-1)/(1<<32))})
				for _, v := range w.variants(f, o.Row) {
					found = keep(found, v)
				}
			}
		}
	}
	for i := range o.Bases {
		each(&o.Bases[i])
	}
	for i := range m.Ranges {
		each(&m.Ranges[i])
	}
	slices.SortStableFunc(found, func(a, b Wrap) int {
		return cmp.Or(order(a.Derived, b.Derived), order(a.Wide, b.Wide), order(a.Signed, b.Signed),
			cmp.Compare(a.Stride, b.Stride), cmp.Compare(b.Range.Start, a.Range.Start))
	})
	chance := 0.0
	for _, t := range tried {
		if len(found) > 0 && t.stride <= found[0].Stride {
			chance += t.chance
		}
	}
	return found[:min(len(found), maxWraps)], chance
}

// trial is a product that was tried, and how likely it is to lead to a random
// address.
type trial struct {
	stride uint64
	chance float64
}

// keep adds a wrap to those found. An index with the same product is noted with the
// one that has it; of derived strides that explain the same by the same index the
// least stays, which allows the fewest addresses.
func keep(found []Wrap, w Wrap) []Wrap {
	for i := range found {
		o := &found[i]
		if o.Range != w.Range || o.Signed != w.Signed || o.Wide != w.Wide {
			continue
		}
		switch same := o.Index == w.Index || slices.Contains(o.Also, w.Index); {
		case o.Stride == w.Stride && o.Product == w.Product && !w.Wide:
			o.Also = append(o.Also, w.Index)
			return found
		case o.Derived && w.Derived && same && w.Stride < o.Stride:
			*o = w
			return found
		case o.Derived && w.Derived && same:
			return found
		}
	}
	return append(found, w)
}

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

type strideOf struct {
	stride, count uint64
	derived       bool
}

func (r *Range) strides(given []uint64) []strideOf {
	var list []strideOf
	switch {
	case given != nil:
		for _, s := range given {
			if s > 0 {
				list = append(list, strideOf{stride: s, count: r.Bytes / s})
			}
		}
	case r.Stride > 0:
		list = append(list, strideOf{stride: r.Stride, count: r.Bytes / r.Stride})
	default:
		// Blocks of quantised weights are of an even number of bytes, rows longer.
		for _, n := range expertCounts {
			if s := r.Bytes / n; r.Bytes%n == 0 && s >= 1<<12 && s <= maxExpert && s%2 == 0 {
				list = append(list, strideOf{s, n, true})
			}
		}
	}
	return list
}

// variants are those readings of the product that lead to the fault.
func (w Wrap) variants(f Fault, row uint64) []Wrap {
	var list []Wrap
	try := func(target uint64) {
		rest, ok := within(f, target, w.Stride, row)
		if ok {
			w.Rest = rest
			list = append(list, w)
		}
	}
	try(w.Range.Start + uint64(w.Product))
	if int32(w.Product) < 0 && !w.Derived { // else all that is just before a range would have one
		w.Signed = true
		try(w.Range.Start + uint64(int64(int32(w.Product))))
		w.Signed = false
	}
	if wide := w.Index * w.Stride; wide != uint64(w.Product) {
		w.Wide = true
		try(w.Range.Start + wide)
	}
	return list
}

// within says whether the fault can be in the element at target, and how far in it
// at least. With rows the access starts a row.
func within(f Fault, target, stride, row uint64) (uint64, bool) {
	// The access is at one of the bytes [Addr, Addr+bytes).
	rest := uint64(0)
	if f.Addr > target {
		rest = f.Addr - target
	} else if target-f.Addr >= f.bytes() {
		return 0, false
	}
	if row > 0 {
		rest = (rest + row - 1) / row * row
		if target+rest-f.Addr >= f.bytes() {
			return 0, false
		}
	}
	return rest, rest < stride
}
