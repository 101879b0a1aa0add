package hsaco

import "math"

// Numbers of the DWARF standard, version 5, section 7.22 (line tables) and 7.5 (forms).
const (
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9

	lneEndSequence = 1
	lneSetAddress  = 2

	lnctPath      = 1
	lnctDirectory = 2

	formBlock   = 0x09
	formData1   = 0x0b
	formData2   = 0x05
	formData4   = 0x06
	formData8   = 0x07
	formData16  = 0x1e
	formString  = 0x08
	formStrp    = 0x0e
	formUdata   = 0x0f
	formLineStr = 0x1f
)

// A lineReader runs the line number programs of .debug_line. Every entry and
// row takes at least a byte of it, so nothing is allocated for what is not there.
type lineReader struct {
	b            []byte
	pos, end     int // end of the current unit
	base         uint64
	err          *Error
	table        *lineTable
	str, lineStr stringTable
	inline       stringTable // .debug_line itself
}

func (r *lineReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = refuse(BadDebug, r.base+uint64(r.pos), format, args...)
	}
}

// take returns the next n bytes of the unit, or nil after an error.
func (r *lineReader) take(n uint64) []byte {
	if r.err == nil && n > uint64(r.end-r.pos) {
		r.fail("line table wants %d bytes, %d are left", n, r.end-r.pos)
	}
	if r.err != nil {
		return nil
	}
	b := r.b[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// uint reads n bytes, little-endian; 0 after an error.
func (r *lineReader) uint(n uint64) uint64 {
	var v uint64
	for i, c := range r.take(n) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// uleb reads an unsigned number of variable length; bits past 64 are lost.
func (r *lineReader) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		c := r.uint(1)
		v |= (c & 0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
}

// sleb reads a signed one.
func (r *lineReader) sleb() int64 {
	var v uint64
	for shift := uint(0); ; {
		c := r.uint(1)
		v |= (c & 0x7f) << shift
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 && shift < 64 {
				v |= math.MaxUint64 << shift
			}
			return int64(v)
		}
	}
}

// text reads a string that stands here.
func (r *lineReader) text() string {
	s, ok := "", false
	if r.err == nil {
		s, ok = r.inline.at(uint32(r.pos))
	}
	if !ok {
		r.fail("a string without an end")
		return ""
	}
	r.take(uint64(len(s)) + 1)
	return s
}

func (r *lineReader) units() *Error {
	if len(r.b) > math.MaxInt32 {
		return refuse(BadDebug, r.base, "%d bytes of line tables", len(r.b))
	}
	for r.pos < len(r.b) && r.err == nil {
		r.end = len(r.b)
		size := r.uint(4)
		offsetBytes := uint64(4)
		if size == math.MaxUint32 {
			size, offsetBytes = r.uint(8), 8
		}
		if size > uint64(r.end-r.pos) {
			r.fail("a line table of %d bytes, %d are left", size, r.end-r.pos)
			break
		}
		r.end = r.pos + int(size)
		r.unit(offsetBytes)
		r.pos = r.end
	}
	return r.err
}

// A program is the header of a unit, as far as the rows need it.
type program struct {
	minInst, lineRange, opcodeBase uint64
	lineBase                       int64
	operands                       []byte // of the standard opcodes, by opcode - 1
	firstFile                      int    // index in the table's files of file 0
}

func (r *lineReader) unit(offsetBytes uint64) {
	version := r.uint(2)
	if version < 2 || version > 5 {
		r.fail("a line table of version %d; 2 to 5 are read", version)
	}
	addrBytes := uint64(8)
	if version == 5 {
		if addrBytes = r.uint(1); addrBytes != 8 {
			r.fail("addresses of %d bytes, want 8", addrBytes)
		}
		r.uint(1) // size of a segment selector
	}
	headerBytes := r.uint(offsetBytes)
	if headerBytes > uint64(r.end-r.pos) {
		r.fail("a line table header of %d bytes, %d are left", headerBytes, r.end-r.pos)
	}
	start := r.pos + int(headerBytes)
	p := program{minInst: r.uint(1), firstFile: len(r.table.files)}
	if version >= 4 {
		if n := r.uint(1); n != 1 {
			r.fail("%d operations in an instruction, want 1", n)
		}
	}
	r.uint(1) // default of is_stmt
	p.lineBase, p.lineRange, p.opcodeBase = int64(int8(r.uint(1))), r.uint(1), r.uint(1)
	if p.lineRange == 0 || p.opcodeBase == 0 {
		r.fail("line range %d, opcode base %d", p.lineRange, p.opcodeBase)
		return
	}
	p.operands = r.take(p.opcodeBase - 1)
	if version == 5 {
		dirs := r.entries(offsetBytes, nil)
		r.table.files = append(r.table.files, r.entries(offsetBytes, dirs)...)
	} else {
		r.oldFiles()
	}
	if r.err == nil && start < r.pos {
		r.fail("a line table header that ends %d bytes before its files", r.pos-start)
	}
	if r.err != nil {
		return
	}
	r.pos = start
	r.run(&p)
}

// entries reads the directories (dirs is nil) or files of version 5.
func (r *lineReader) entries(offsetBytes uint64, dirs []sourceFile) []sourceFile {
	formats := make([][2]uint64, r.uint(1))
	for i := range formats {
		formats[i] = [2]uint64{r.uleb(), r.uleb()}
	}
	count := r.uleb()
	if count > 0 && len(formats) == 0 || count > uint64(r.end-r.pos) {
		r.fail("%d file names, %d bytes are left", count, r.end-r.pos)
	}
	var list []sourceFile
	for range count {
		var f sourceFile
		for _, format := range formats {
			s, n := r.form(format[1], offsetBytes)
			switch format[0] {
			case lnctPath:
				f.name = s
			case lnctDirectory:
				if n < uint64(len(dirs)) {
					f.dir, f.root = dirs[n].name, dirs[0].name
				}
			}
		}
		if r.err != nil {
			return nil
		}
		list = append(list, f)
	}
	return list
}

// form reads a value of a file entry, a string or a number.
func (r *lineReader) form(form, offsetBytes uint64) (string, uint64) {
	switch form {
	case formString:
		return r.text(), 0
	case formStrp, formLineStr:
		table, off := r.lineStr, r.uint(offsetBytes)
		if form == formStrp {
			table = r.str
		}
		s, ok := "", false
		if off <= math.MaxUint32 {
			s, ok = table.at(uint32(off))
		}
		if !ok {
			r.fail("no string at %#x", off)
		}
		return s, 0
	case formUdata:
		return "", r.uleb()
	case formData1:
		return "", r.uint(1)
	case formData2:
		return "", r.uint(2)
	case formData4:
		return "", r.uint(4)
	case formData8:
		return "", r.uint(8)
	case formData16:
		r.take(16)
	case formBlock:
		r.take(r.uleb())
	default:
		r.fail("form %#x in a file entry", form)
	}
	return "", 0
}

// oldFiles reads directories and files of versions 2 to 4. Directory 0 is the
// compilation's, which only .debug_info knows: such paths stay relative.
func (r *lineReader) oldFiles() {
	dirs := []string{""}
	for r.err == nil {
		dir := r.text()
		if dir == "" {
			break
		}
		dirs = append(dirs, dir)
	}
	r.table.files = append(r.table.files, sourceFile{}) // files count from 1
	for r.err == nil {
		f := sourceFile{name: r.text()}
		if f.name == "" {
			break
		}
		if dir := r.uleb(); dir < uint64(len(dirs)) {
			f.dir = dirs[dir]
		}
		r.uleb() // time
		r.uleb() // length
		r.table.files = append(r.table.files, f)
	}
}

// run executes a line number program.
func (r *lineReader) run(p *program) {
	t := r.table
	var pc uint64
	file, line, col := uint64(1), int64(1), uint64(0)
	first := len(t.rows)
	emit := func() {
		if n := len(t.rows); n > first && pc < t.rows[n-1].pc {
			r.fail("address %#x after %#x in one sequence", pc, t.rows[n-1].pc)
			return
		}
		out := row{pc: pc, file: math.MaxUint32, col: uint32(min(col, math.MaxInt32))}
		if at := uint64(p.firstFile) + file; file < uint64(len(t.files)-p.firstFile) {
			out.file = uint32(at)
		}
		if line > 0 && line <= math.MaxInt32 {
			out.line = uint32(line)
		}
		t.rows = append(t.rows, out)
	}
	for r.pos < r.end && r.err == nil {
		op := r.uint(1)
		if op >= p.opcodeBase {
			pc += (op - p.opcodeBase) / p.lineRange * p.minInst
			line += p.lineBase + int64((op-p.opcodeBase)%p.lineRange)
			emit()
			continue
		}
		switch op {
		case 0:
			size := r.uleb()
			if size == 0 || size > uint64(r.end-r.pos) {
				r.fail("an extended opcode of %d bytes, %d are left", size, r.end-r.pos)
				return
			}
			next := r.pos + int(size)
			switch r.uint(1) {
			case lneEndSequence:
				emit()
				if n := len(t.rows); r.err == nil && n-1 > first {
					t.sequences = append(t.sequences, sequence{t.rows[first].pc, pc, first, n - 1})
				}
				first = len(t.rows)
				pc, file, line, col = 0, 1, 1, 0
			case lneSetAddress:
				pc = r.uint(size - 1)
			}
			r.pos = next
		case lnsCopy:
			emit()
		case lnsAdvancePC:
			pc += r.uleb() * p.minInst
		case lnsAdvanceLine:
			line += r.sleb()
		case lnsSetFile:
			file = r.uleb()
		case lnsSetColumn:
			col = r.uleb()
		case lnsConstAddPC:
			pc += (255 - p.opcodeBase) / p.lineRange * p.minInst
		case lnsFixedAdvancePC:
			pc += r.uint(2)
		default: // its operands do not matter for the rows
			for range p.operands[op-1] {
				r.uleb()
			}
		}
	}
}
