package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unpacker writes the kernel that turns blocks of one weight type, in as many
// rows as a vector has lanes, into one vector's worth of a panel.
type unpacker struct {
	name       string
	kind       kind
	blockBytes int
	groups     int // groups of a block; 0 for float types
	prepare    func() []Op
	block      func(b *block)
}

// block is a position in the matrix and in the panel while code for one block
// is written.
type block struct {
	kind   kind
	base   []reg.Register // rows 0, 4, 8, 12
	index  reg.Register   // stride of a row
	index3 reg.Register   // three strides
	dst    reg.Register
	consts []Op

	ahead, next reg.Register
	lines, line int // lines of a row's block, lines prefetched so far
}

func (u unpacker) generate() {
	name := "gemmUnpack" + u.name + suffix()
	TEXT(name, NOSPLIT, "func(dst, w *byte, stride, blocks, ahead int)")
	Doc(fmt.Sprintf("%s unpacks blocks of %d rows that are stride bytes apart and prefetches what lies ahead bytes further on.", name, lanes()))
	dst := Load(Param("dst"), GP64())
	w := Load(Param("w"), GP64())
	stride := Load(Param("stride"), GP64())
	blocks := Load(Param("blocks"), GP64())
	ahead := Load(Param("ahead"), GP64())
	b := &block{kind: u.kind, index: stride, index3: GP64(), dst: dst, ahead: ahead, next: GP64(), lines: (u.blockBytes + 63) / 64}
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, b.index3)
	b.base = append(b.base, w)
	for range lanes()/4 - 1 {
		r := GP64()
		LEAQ(Mem{Base: b.base[len(b.base)-1], Index: stride, Scale: 4}, r)
		b.base = append(b.base, r)
	}
	if u.prepare != nil {
		b.consts = u.prepare()
	}
	Label("block")
	u.block(b)
	b.prefetch(lanes() * b.lines)
	for _, r := range b.base {
		ADDQ(U32(u.blockBytes), r)
	}
	if u.groups > 0 {
		ADDQ(U32(u.groups*u.kind.bytes()), dst)
	} else {
		ADDQ(U32(u.blockBytes/floatBytes[u.name]*4*panelRows()), dst)
	}
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// row is the address of byte off of a row's block.
func (b *block) row(i, off int) Mem {
	m := Mem{Base: b.base[i/4], Disp: off}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = b.index, 1
	case 2:
		m.Index, m.Scale = b.index, 2
	case 3:
		m.Index, m.Scale = b.index3, 1
	}
	return m
}

// prefetch asks for the next lines of what lies ahead. They are spread over the
// stores of a block: in one burst they would hold up the loads.
func (b *block) prefetch(lines int) {
	for ; lines > 0 && b.line < lanes()*b.lines; lines-- {
		if b.line%b.lines == 0 {
			LEAQ(b.row(b.line/b.lines, 0), b.next)
		}
		PREFETCHT0(Mem{Base: b.next, Index: b.ahead, Scale: 1, Disp: 64 * (b.line % b.lines)})
		b.line++
	}
}

// quad reads 16 bytes at off of each row's block and transposes them: vector j
// has doubleword j of row i in lane i.
func (b *block) quad(off int) [4]reg.VecVirtual {
	var x [4]reg.VecVirtual
	for j := range x {
		x[j] = vec()
		// A broadcast is no slower than a load, and defines the whole register.
		if wide {
			VBROADCASTI32X4(b.row(j, off), x[j])
			for part := 1; part < 4; part++ {
				VINSERTI32X4(U8(part), b.row(4*part+j, off), x[j], x[j])
			}
		} else {
			VBROADCASTI128(b.row(j, off), x[j])
			VINSERTI128(U8(1), b.row(4+j, off), x[j], x[j])
		}
	}
	t := vecs(4)
	VPUNPCKLDQ(x[1], x[0], t[0])
	VPUNPCKHDQ(x[1], x[0], t[1])
	VPUNPCKLDQ(x[3], x[2], t[2])
	VPUNPCKHDQ(x[3], x[2], t[3])
	VPUNPCKLQDQ(t[2], t[0], x[0])
	VPUNPCKHQDQ(t[2], t[0], x[1])
	VPUNPCKLQDQ(t[3], t[1], x[2])
	VPUNPCKHQDQ(t[3], t[1], x[3])
	return x
}

// put writes step s of group g: four quants of each row.
func (b *block) put(g, s int, v reg.VecVirtual) {
	store(v, at(b.dst, g*b.kind.bytes()+panelQuants(s)))
	b.prefetch(2)
}

func (b *block) putScale(g, part int, v reg.VecVirtual) {
	store(v, at(b.dst, g*b.kind.bytes()+b.kind.scales(part)))
}

func (b *block) putOffset(g, part int, v reg.VecVirtual) {
	store(v, at(b.dst, g*b.kind.bytes()+b.kind.offs(part)))
}
