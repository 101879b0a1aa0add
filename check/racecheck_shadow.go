package check

// What racecheck remembers of memory: for each dword the last store and the
// reads since, or the same for each of its bytes where they differ.

// mark says who made an access: workgroup and wave, sequence number,
// instruction. 0 is none.
type mark uint64

const (
	markSplit   mark = 1 << 63 // the rest is the number of a split (stores) or of readers (reads)
	markAtomic  mark = 1 << 62 // a read-modify-write, or a store to what those are made to
	markSeqs         = 24      // bits
	markPlaces       = 14
	markClasses      = 2
	markWaves        = 62 - markSeqs - markPlaces - markClasses
)

func newMark(wave int, seq uint32, place int, c class) mark {
	return mark(wave+1)<<(markSeqs+markPlaces+markClasses) | mark(seq)<<(markPlaces+markClasses) | mark(place)<<markClasses | mark(c)
}

func (m mark) wave() int {
	return int(m&^(markSplit|markAtomic)>>(markSeqs+markPlaces+markClasses)) - 1
}
func (m mark) seq() uint32  { return uint32(m >> (markPlaces + markClasses) & (1<<markSeqs - 1)) }
func (m mark) place() int   { return int(m >> markClasses & (1<<markPlaces - 1)) }
func (m mark) class() class { return class(m & (1<<markClasses - 1)) }
func (m mark) number() int  { return int(m &^ markSplit) }

// cell is what is remembered of 4 bytes, or of one in a split.
type cell struct {
	store mark
	reads mark // one, or with markSplit where a list of them is
}

// cells are pages of shadow memory.
type cells struct {
	pages  map[uint64]*page
	last   *page
	lastAt uint64
	splits [][4]cell
	spare  []*page // cleared, of earlier dispatches
}

const pageBytes = 4096

type page [pageBytes / 4]cell

// clear forgets everything.
func (s *cells) clear() {
	const most = 4096 // pages that are kept
	for _, p := range s.pages {
		if len(s.spare) < most {
			*p = page{}
			s.spare = append(s.spare, p)
		}
	}
	s.pages, s.last, s.splits = map[uint64]*page{}, nil, s.splits[:0]
}

// page is the page that address at is in.
func (s *cells) page(at uint64) *page {
	n := at / pageBytes
	if s.last != nil && s.lastAt == n {
		return s.last
	}
	p := s.pages[n]
	if p == nil {
		if k := len(s.spare); k > 0 {
			p, s.spare = s.spare[k-1], s.spare[:k-1]
		} else {
			p = new(page)
		}
		s.pages[n] = p
	}
	s.last, s.lastAt = p, n
	return p
}

// each calls f with the cell of each dword, or part of one, in [at, at+n), and
// with the address that it is of. A dword that is accessed in part is split and
// stays so until it is stored to as a whole.
func (s *cells) each(at, n uint64, f func(at uint64, c *cell)) {
	for end := at + n; at < end; {
		c := &s.page(at)[at%pageBytes/4]
		if at%4 == 0 && end-at >= 4 && c.store&markSplit == 0 {
			f(at, c)
			at += 4
			continue
		}
		if c.store&markSplit == 0 {
			s.splits = append(s.splits, [4]cell{*c, *c, *c, *c})
			*c = cell{store: markSplit | mark(len(s.splits)-1)}
		}
		parts := &s.splits[c.store.number()]
		for last := min(at|3, end-1); at <= last; at++ {
			f(at, &parts[at%4])
		}
		if parts[0] == parts[1] && parts[1] == parts[2] && parts[2] == parts[3] {
			if int(c.store.number()) == len(s.splits)-1 {
				s.splits = s.splits[:len(s.splits)-1]
			}
			*c = parts[0]
		}
	}
}

// mostReaders is how many waves' reads of a byte are remembered, and fewReaders
// how many are looked through for those that are no longer of interest.
const (
	mostReaders = 16
	fewReaders  = 4
)

// readers are lists of reads, one after the other. A list never changes, so that
// cells may share it.
type readers []mark

// readerBits is how many bits of a list's mark are its length.
const readerBits = 8

// of is the list that a cell's reads stand for.
func (r readers) of(reads *mark) []mark {
	switch {
	case *reads == 0:
		return nil
	case *reads&markSplit == 0:
		return []mark{*reads}
	}
	n := reads.number()
	return r[n>>readerBits:][:n&(1<<readerBits-1)]
}

// add is the mark of a new list.
func (r *readers) add(list []mark) mark {
	at := len(*r)
	*r = append(*r, list...)
	return markSplit | mark(at<<readerBits|len(list))
}

// compactMin is how long the lists may become before those that no cell has any
// more are taken out.
const compactMin = 1 << 20

// compact keeps the lists that cells have.
func (r *racecheck) compact() {
	kept, moved := readers{}, map[mark]mark{}
	move := func(c *cell) {
		if c.reads&markSplit == 0 || c.store&markSplit != 0 {
			return
		}
		to, ok := moved[c.reads]
		if !ok {
			to = kept.add(r.readers.of(&c.reads))
			moved[c.reads] = to
		}
		c.reads = to
	}
	all := []*cells{&r.global}
	for _, g := range r.groups {
		all = append(all, &g.lds)
	}
	for _, s := range all {
		for _, p := range s.pages {
			for i := range p {
				move(&p[i])
			}
		}
		for i := range s.splits {
			for j := range s.splits[i] {
				move(&s.splits[i][j])
			}
		}
	}
	r.readers, r.compactAt = kept, max(compactMin, 2*len(kept))
}
