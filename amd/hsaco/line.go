package hsaco

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
)

// Line returns the source position of the instruction at pc, as the line tables
// have it: the innermost function's where calls were inlined. ok is false where
// nothing is known, which is also so for a relocatable object.
func (o *Object) Line(pc uint64) (file string, line, col int, ok bool) {
	t, err := o.lineTable()
	if err != nil || t == nil {
		return "", 0, 0, false
	}
	return t.find(pc)
}

// LineError reports why the line tables of an object that has some cannot be
// read; nil if they can, or if there are none.
func (o *Object) LineError() error {
	if _, err := o.lineTable(); err != nil {
		return err
	}
	return nil
}

func (o *Object) lineTable() (*lineTable, *Error) {
	o.lines.once.Do(func() {
		if o.lines.table, o.lines.err = o.readLines(); o.lines.err != nil {
			o.lines.err.Name = o.Name
		}
	})
	return o.lines.table, o.lines.err
}

func (o *Object) readLines() (*lineTable, *Error) {
	if o.Relocatable {
		return nil, nil // addresses and string offsets wait for relocations
	}
	var line, str, lineStr *Section
	for i := range o.Sections {
		s := &o.Sections[i]
		switch s.Name {
		case ".debug_line":
			line = s
		case ".debug_str":
			str = s
		case ".debug_line_str":
			lineStr = s
		default:
			continue
		}
		if s.Flags&elf.SHF_COMPRESSED != 0 {
			return nil, refuse(BadDebug, s.headerAt, "section %q is compressed", s.Name)
		}
	}
	if line == nil {
		return nil, nil
	}
	t := &lineTable{}
	r := lineReader{b: line.Data, base: line.Offset, table: t, inline: newStrings(line.Data)}
	if str != nil {
		r.str = newStrings(str.Data)
	}
	if lineStr != nil {
		r.lineStr = newStrings(lineStr.Data)
	}
	if err := r.units(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.sequences, func(a, b sequence) int { return cmp.Compare(a.start, b.start) })
	return t, nil
}

// A lineTable maps addresses to lines.
type lineTable struct {
	files     []sourceFile
	rows      []row
	sequences []sequence // by start
}

type sourceFile struct{ root, dir, name string }

func (f sourceFile) path() string {
	p := f.name
	for _, dir := range [...]string{f.dir, f.root} {
		if absolute(p) || dir == "" {
			continue
		}
		p = dir + "/" + p
	}
	return p
}

// absolute also knows the paths of Windows, wherever it runs.
func absolute(p string) bool {
	return len(p) > 0 && (p[0] == '/' || p[0] == '\\') || len(p) > 1 && p[1] == ':'
}

// A row holds from pc up to the next row's.
type row struct {
	pc              uint64
	file, line, col uint32 // file is an index into files, or past them
}

// A sequence is rows first..end-1 with ascending addresses, from start to stop.
type sequence struct {
	start, stop uint64
	first, end  int
}

func (t *lineTable) find(pc uint64) (file string, line, col int, ok bool) {
	// The last sequence that starts at or before pc. Sequences do not overlap
	// in what compilers write; where they do, the later one counts.
	i := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].start > pc }) - 1
	if i < 0 || pc >= t.sequences[i].stop {
		return "", 0, 0, false
	}
	rows := t.rows[t.sequences[i].first:t.sequences[i].end]
	r := rows[sort.Search(len(rows), func(i int) bool { return rows[i].pc > pc })-1]
	if r.line == 0 || int(r.file) >= len(t.files) || t.files[r.file].name == "" {
		return "", 0, 0, false
	}
	return t.files[r.file].path(), int(r.line), int(r.col), true
}
