package isa

// Wave is the number of lanes of a wave. It decides the width of lane masks.
type Wave uint8

// The two wave sizes of gfx11.
const (
	Wave32 Wave = 32
	Wave64 Wave = 64
)

// Format is an encoding: the leading bits that an instruction's fields follow
// from.
type Format uint8

// The encodings. FLAT is split by its segment field.
const (
	SOP1 Format = iota
	SOP2
	SOPC
	SOPK
	SOPP
	SMEM
	DS
	FLAT
	GLOBAL
	SCRATCH
	MUBUF
	MTBUF
	MIMG
	LDSDIR
	EXP
	VINTERP
	VOP1
	VOP2
	VOPC
	VOP3
	VOP3P
	VOPD
	numFormats
)

var formatNames = [numFormats]string{
	"SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM", "DS", "FLAT", "GLOBAL", "SCRATCH",
	"MUBUF", "MTBUF", "MIMG", "LDSDIR", "EXP", "VINTERP", "VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "VOPD",
}

func (f Format) String() string {
	if f < numFormats {
		return formatNames[f]
	}
	return "Format(?)"
}

// opcodes is the number of opcodes that each encoding's field can hold. An
// operation's ID is the sum of the counts before its format, plus its opcode,
// so that IDs are dense enough for a jump table and stable.
var opcodes = [numFormats]int{
	SOP1: 256, SOP2: 128, SOPC: 128, SOPK: 32, SOPP: 128, SMEM: 256, DS: 256,
	FLAT: 128, GLOBAL: 128, SCRATCH: 128, MUBUF: 256, MTBUF: 16, MIMG: 256, LDSDIR: 4, EXP: 1, VINTERP: 128,
	VOP1: 128, VOP2: 64, VOPC: 256, VOP3: 1024, VOP3P: 128,
	VOPD: 16 * 32, // the X opcode times 32, plus the Y opcode
}

// NumIDs bounds every Op.ID: 0 <= ID < NumIDs.
const NumIDs = 256 + 128 + 128 + 32 + 128 + 256 + 256 + 3*128 + 256 + 16 + 256 + 4 + 1 + 128 + 128 + 64 + 256 + 1024 + 128 + 512

// idBase is the ID of a format's opcode 0.
func idBase(f Format) int {
	n := 0
	for g := Format(0); g < f; g++ {
		n += opcodes[g]
	}
	return n
}

// Access says what an instruction does with an operand.
type Access uint8

// Read and Write combine.
const (
	Read  Access = 1 << iota
	Write        // for a destination
)

// Arg describes an operand of an operation, in the order of the text. Operand i
// is that of Arg i, but that the address of MIMG may be several.
type Arg struct {
	Field  Field
	Type   Type
	Access Access
}

// Op is one operation of one encoding. All values are made once; an Inst
// points to them.
type Op struct {
	ID     uint16 // below NumIDs
	Code   uint16 // the encoding's opcode field
	Format Format
	Flags  OpFlags
	Name   string // as documented, without the suffixes of the text: "v_add_f32"
	Suffix string // what the text adds to the name: "_e32", "_e64" or ""
	Args   []Arg
}

// OpFlags are facts about an operation that decoding and printing need.
type OpFlags uint32

// The flags of the scalar and memory encodings are in the low byte, those of
// the vector encodings in the next, those of images above.
const (
	OpLiteral OpFlags = 1 << iota // always followed by a literal: s_fmaak_f32, s_setreg_imm32_b32
	OpAtomic                      // a read-modify-write of memory
)

// Inst is one decoded instruction. It is a plain value: copies share nothing
// but Op.
type Inst struct {
	PC       uint64
	Op       *Op
	Size     int       // bytes, 4 to 20
	Words    [5]uint32 // the first Size/4 are valid
	Operands [MaxOperands]Operand
	N        uint8 // operands in use
	Wave     Wave
	Mods     Mods
}

// MaxOperands is the largest number of operands: VOPD with two literals.
const MaxOperands = 8

// Args returns the operands in use, in the order of the text.
func (in *Inst) Args() []Operand { return in.Operands[:in.N] }

// Mods are the modifiers that belong to a whole instruction. Which are
// meaningful follows from the format. Modifiers of one operand (neg, abs, sext,
// a register's half) are in Operand.Mods.
type Mods struct {
	Offset  int32 // bytes: DS (one address), FLAT, GLOBAL, SCRATCH, SMEM, MUBUF, MTBUF
	Offset0 uint8 // DS with two addresses, in elements
	Offset1 uint8
	Format  uint8 // MTBUF: the buffer format
	DMask   uint8 // MIMG: bit i for component i
	Dim     uint8 // MIMG: the dimensions of the image
	Wait    uint8 // LDSDIR: wait_vdst; VINTERP: wait_exp
	Flags   Flags

	Omod      uint8  // VOP3: 0 none, 1 mul:2, 2 mul:4, 3 div:2
	OpSel     uint8  // VOP3 and VOP3P: bit i for source i, bit 3 for a VOP3 destination
	OpSelHi   uint8  // VOP3P
	NegLo     uint8  // VOP3P
	NegHi     uint8  // VOP3P
	DPP       DPP    // which kind of DPP, if any
	RowMask   uint8  // DPP16
	BankMask  uint8  // DPP16
	DPPCtrl   uint16 // DPP16
	DPP8Lanes uint32 // DPP8: 8 selectors of 3 bits
}

// Flags are the one-bit modifiers.
type Flags uint32

// The flags of memory instructions, then those of vector instructions.
const (
	GLC Flags = 1 << iota
	SLC
	DLC
	TFE
	OffEn // MUBUF, MTBUF: vaddr holds an offset
	IdxEn // MUBUF, MTBUF: vaddr holds an index
	GDS
	Clamp
	BoundCtrl // DPP16: lanes out of bounds read 0
	FI        // DPP: fetch inactive lanes
	UNorm     // MIMG: coordinates are in pixels
	R128      // MIMG: the descriptor has four registers
	A16       // MIMG: coordinates are halves or 16-bit integers, in pairs
	LWE       // MIMG: texels that are not resident are reported
	D16       // MIMG: data are halves or 16-bit integers, in pairs
	Done      // EXP: the last of the wave
	RowEn     // EXP: m0 says which row
)

// DPP is the kind of data-parallel primitive that an instruction uses.
type DPP uint8

// The kinds.
const (
	NoDPP DPP = iota
	DPP8
	DPP16
)

// row is a line of an encoding's table: opcode, name and operands.
type row struct {
	code  int
	name  string
	args  []Arg
	flags OpFlags
}

// table makes an encoding's operations, indexed by opcode; nil is a reserved
// opcode.
func table(f Format, suffix string, rows []row) []*Op {
	base := idBase(f)
	t := make([]*Op, opcodes[f])
	ops := make([]Op, len(rows))
	for i, r := range rows {
		if t[r.code] != nil {
			panic("isa: " + f.String() + ": two operations with the opcode of " + r.name)
		}
		ops[i] = Op{
			ID: uint16(base + r.code), Code: uint16(r.code), Format: f, Flags: r.flags,
			Name: r.name, Suffix: suffix, Args: r.args,
		}
		t[r.code] = &ops[i]
	}
	return t
}
