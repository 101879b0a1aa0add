package addr

import (
	"cmp"
	"slices"
	"sort"
)

// Page is the size of the pages that drivers report faults by.
const Page = 4096

// Class is where an address is.
type Class string

// The classes.
const (
	Inside  Class = "inside"  // a live allocation
	Freed   Class = "freed"   // memory that was an allocation's
	Edge    Class = "edge"    // not in one, but the page is: only the page is known
	Gap     Class = "gap"     // between allocations
	Outside Class = "outside" // below or above all of them
)

// Fault is an address to explain.
type Fault struct {
	Addr uint64
	// PageOnly says that only the page is known: drivers report the first byte of
	// the page that a wave touched.
	PageOnly bool
}

// bytes is how many bytes from Addr the access may have started at.
func (f Fault) bytes() uint64 {
	if f.PageOnly {
		return Page - f.Addr%Page
	}
	return 1
}

// Explanation is what a map says of an address.
type Explanation struct {
	Fault
	Class Class
	// In are the live ranges that hold the address, the shortest first; for Edge
	// those that have bytes on the page.
	In []*Range
	// Was are freed ranges that held it, the last freed first.
	Was []*Range
	// Below is the live range that ends nearest below the address, Above the one that
	// starts nearest above it; nil if there is none or the address is in one.
	Below, Above *Range
	// Past and Before are how far the address is past the last byte's successor
	// of Below, and before the first byte of Above.
	Past, Before uint64
	Wraps        []Wrap
	// Chance is how many of the products that were tried, with strides up to the
	// best's, would be expected to lead to a random address in 2^32 bytes.
	Chance float64
}

// Explain explains an address by a map, trying the wraps that o allows.
func (m *Map) Explain(f Fault, o WrapOptions) *Explanation {
	x := &Explanation{Fault: f}
	if f.PageOnly {
		x.Addr -= x.Addr % Page
	}
	m.holders(x)
	if len(x.In) == 0 {
		m.neighbours(x)
	}
	switch {
	case len(x.In) > 0 && x.In[0].contains(x.Addr):
		x.Class = Inside
	case len(x.Was) > 0:
		x.Class = Freed
	case len(x.In) > 0:
		x.Class = Edge
		m.neighbours(x)
	case x.Below != nil && x.Above != nil:
		x.Class = Gap
	default:
		x.Class = Outside
	}
	if x.Class != Inside {
		x.Wraps, x.Chance = m.wraps(x.Fault, o)
	}
	return x
}

// holders finds the ranges that hold the address or, where only the page is
// known, have bytes on the page.
func (m *Map) holders(x *Explanation) {
	last := x.Addr + x.bytes() - 1
	end := sort.Search(len(m.Ranges), func(i int) bool { return m.Ranges[i].Start > last })
	for i := range m.Ranges[:end] {
		r := &m.Ranges[i]
		switch {
		case r.End() <= x.Addr:
		case r.Freed:
			x.Was = append(x.Was, r)
		default:
			x.In = append(x.In, r)
		}
	}
	slices.SortStableFunc(x.In, func(a, b *Range) int {
		ia, ib := a.contains(x.Addr), b.contains(x.Addr)
		if ia != ib {
			if ia {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Bytes, b.Bytes)
	})
	slices.SortStableFunc(x.Was, func(a, b *Range) int { return cmp.Compare(b.order, a.order) })
}

func (m *Map) neighbours(x *Explanation) {
	for i := range m.Ranges {
		r := &m.Ranges[i]
		switch {
		case r.Freed:
		case r.End() <= x.Addr:
			// Of ranges that end together the inner one says more.
			if x.Below == nil || r.End() > x.Below.End() || r.End() == x.Below.End() && r.Bytes <= x.Below.Bytes {
				x.Below, x.Past = r, x.Addr-r.End()
			}
		case r.Start > x.Addr && x.Above == nil:
			x.Above, x.Before = r, r.Start-x.Addr
		}
	}
}
