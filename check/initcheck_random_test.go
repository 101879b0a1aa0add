package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// endState is what a wave has when it ends: values, and what initcheck says is
// undefined in them.
type endState struct {
	vectors, vectorBits [32][64]uint32
	scalars, scalarBits [34]uint32 // s0 to s31, vcc
	scc, sccUndefined   bool
}

// endWatch keeps the state of the last wave.
type endWatch struct {
	*Checker
	state endState
}

// Instruction looks at the end.
func (e *endWatch) Instruction(w emu.Wave, in *isa.Inst) {
	e.Checker.Instruction(w, in)
	if in.Op.Name != "s_endpgm" {
		return
	}
	s := e.detectors[0].(*initcheck).wave(w)
	for n := range e.state.vectors {
		for lane := range w.Lanes() {
			e.state.vectors[n][lane], e.state.vectorBits[n][lane] = w.VGPR(n, lane), uint32(s.vector(n, lane).bits)
		}
	}
	for i := range e.state.scalars {
		n := i
		if i >= 32 {
			n = isa.RegVCCLo + i - 32
		}
		e.state.scalars[i], e.state.scalarBits[i] = w.SGPR(n), uint32(s.scalars[n].bits)
	}
	e.state.scc, e.state.sccUndefined = w.SCC(), s.scc.bits != 0
}

// randomInst is the words of an instruction of lanes or scalars, with registers
// below 32, that changes nothing but them.
func randomInst(r *rand.Rand, ops []*isa.Op, wave isa.Wave) (isa.Inst, []uint32) {
	for {
		op := ops[r.IntN(len(ops))]
		w := []uint32{r.Uint32(), r.Uint32(), r.Uint32()}
		vector := func() uint32 { return r.Uint32N(32) }
		source := func() uint32 {
			switch r.IntN(8) {
			case 0:
				return r.Uint32N(32)
			case 1:
				return 128 + r.Uint32N(65)
			case 2:
				return 106
			}
			return 256 + vector()
		}
		scalar := func() uint32 {
			if r.IntN(8) == 0 {
				return 106
			}
			return r.Uint32N(32)
		}
		code := uint32(op.Code)
		switch op.Format {
		case isa.VOP1:
			w[0] = 0x3f<<25 | vector()<<17 | code<<9 | source()
		case isa.VOP2:
			w[0] = code<<25 | vector()<<17 | vector()<<9 | source()
		case isa.VOPC:
			w[0] = 0x3e<<25 | code<<17 | vector()<<9 | source()
		case isa.VOP3:
			w[0] = 0x35<<26 | code<<16 | w[0]&0x7f00 | vector()
			w[1] = w[1]&0xf8000000 | source()<<18 | source()<<9 | source()
		case isa.VOP3P:
			w[0] = 0xcc<<24 | code<<16 | w[0]&0x7f00 | vector()
			w[1] = w[1]&0xf8000000 | source()<<18 | source()<<9 | source()
		case isa.SOP1:
			w[0] = 0x17d<<23 | scalar()<<16 | code<<8 | scalar()
		case isa.SOP2:
			w[0] = 2<<30 | code<<23 | scalar()<<16 | scalar()<<8 | scalar()
		case isa.SOPC:
			w[0] = 0x17e<<23 | code<<16 | scalar()<<8 | scalar()
		case isa.SOPK:
			w[0] = 0xb<<28 | code<<23 | scalar()<<16 | w[0]&0xffff
		}
		if r.IntN(6) == 0 { // DPP16
			dpp := r.Uint32()&0xff0c0000 | []uint32{0x1b, 0x111, 0x105, 0x124, 0x140, 0x153, 0x161}[r.IntN(7)]<<8 | vector()
			switch op.Format {
			case isa.VOP1, isa.VOP2, isa.VOPC:
				w[0], w[1] = w[0]&^0x1ff|250, dpp
			case isa.VOP3, isa.VOP3P:
				w[1], w[2] = w[1]&^0x1ff|250, dpp
			}
		}
		var code4 [12]byte
		for i := range w {
			binary.LittleEndian.PutUint32(code4[4*i:], w[i])
		}
		in, err := isa.Decode(0, code4[:], wave)
		if err == nil && in.Op == op && plain(&in) {
			return in, w[:in.Size/4]
		}
	}
}

// plain says that an instruction's registers are among those that are watched.
func plain(in *isa.Inst) bool {
	for _, o := range in.Args() {
		n := int(max(o.N, 1))
		switch {
		case o.Kind == isa.VGPR, o.Kind == isa.SGPR:
			if int(o.Reg)+n > 32 {
				return false
			}
		case o.Kind == isa.TTMP, o.Kind == isa.Special && o.Reg != isa.RegVCCLo && o.Reg != isa.RegVCCHi && o.Reg != isa.RegNull:
			return false
		case o.Kind == isa.Special && o.Reg == isa.RegVCCHi && n > 1:
			return false
		}
	}
	return true
}

// randomOps are the operations that randomInst chooses from.
func randomOps() []*isa.Op {
	var ops []*isa.Op
	for _, op := range isa.Ops() {
		switch op.Format {
		case isa.VOP1, isa.VOP2, isa.VOPC, isa.VOP3, isa.VOP3P, isa.SOP1, isa.SOP2, isa.SOPC, isa.SOPK:
		default:
			continue
		}
		_, supported := emu.Support(op)
		for _, not := range []string{"exec", "cmpx", "rel", "pc_", "call", "rfe", "reg_", "sendmsg", "waitcnt", "subvector", "version", "nop", "pipeflush"} {
			supported = supported && !strings.Contains(op.Name, not)
		}
		if supported {
			ops = append(ops, op)
		}
	}
	return ops
}

// Random instructions run from registers of which many were never written, in
// waves that differ in nothing else. A bit that comes out different must be
// undefined: what initcheck follows is never less than what matters.
func TestBitsThatChangeWithWhatIsUndefinedAreUndefined(t *testing.T) {
	for _, wave := range []isa.Wave{isa.Wave32, isa.Wave64} {
		t.Run(fmt.Sprint(wave), func(t *testing.T) {
			t.Parallel()
			bitsThatChange(t, wave)
		})
	}
}

func bitsThatChange(t *testing.T, wave isa.Wave) {
	kernels, length := 300, 12
	if os.Getenv("HOLDFAST_LONG") != "" {
		kernels = 3000
	}
	ops := randomOps()
	r := rand.New(rand.NewPCG(1, 2))
	var codes, texts []string
	for range kernels {
		var code, text strings.Builder
		if r.IntN(2) == 0 {
			fmt.Fprintf(&code, "s_mov_b32 exec_lo, %#x;", r.Uint32()|1)
			if wave == isa.Wave64 {
				fmt.Fprintf(&code, "s_mov_b32 exec_hi, %#x;", r.Uint32())
			}
		}
		for i := range 8 { // v1 to v7, s2 to s9: known; v8 to v11, s10 to s13 in part
			fmt.Fprintf(&code, "s_mov_b32 s%d, %#x;", 2+i, r.Uint32()>>r.IntN(32))
			if i > 0 {
				fmt.Fprintf(&code, "v_mul_lo_u32 v%d, v0, s%d;", i, 2+i)
			}
		}
		for i := range 4 {
			fmt.Fprintf(&code, "v_and_b32 v%d, %#x, v%d;s_and_b32 s%d, s%d, %#x;", 8+i, r.Uint32(), 8+i, 10+i, 10+i, r.Uint32())
		}
		for range length {
			in, words := randomInst(r, ops, wave)
			for _, w := range words {
				fmt.Fprintf(&code, ".long %#x;", w)
			}
			fmt.Fprintf(&text, "\n\t%s", in.String())
		}
		codes, texts = append(codes, code.String()), append(texts, text.String())
	}
	o := waveKernels(t, int(wave), "", codes)
	undefined, total := 0, 0
	for i := range codes {
		var first endState
		for seed := range uint64(3) {
			c, err := New(Options{Tools: []Tool{Initcheck}})
			if err != nil {
				t.Fatal(err)
			}
			watch := &endWatch{Checker: c}
			rig := newRig(t, o, fmt.Sprintf("k%d", i), emu.Config{Observer: watch, Seed: seed + 1, Poison: true})
			a, b := rig.buffer("a", 16), rig.buffer("b", 16)
			var unsupported *emu.Unsupported
			if err := rig.launch(1, uint32(wave), a, b); errors.As(err, &unsupported) {
				break // a form of an operation that the device does not run
			} else if err != nil {
				t.Fatal(err, texts[i])
			}
			s := &watch.state
			if seed == 0 {
				first = *s
				for n := range s.vectorBits {
					for _, u := range s.vectorBits[n] {
						if total++; u != 0 {
							undefined++
						}
					}
				}
				continue
			}
			if bad := first.differs(s); bad != "" {
				t.Errorf("kernel %d, seed %d: %s%s", i, seed+1, bad, texts[i])
				break
			}
		}
	}
	if undefined == 0 || undefined == total {
		t.Errorf("%d of %d registers' lanes are undefined", undefined, total)
	}
	t.Logf("%d kernels of %d instructions of %d operations, %d of %d registers' lanes undefined", kernels, length, len(ops), undefined, total)
}

// differs names what is different though it is defined.
func (e *endState) differs(o *endState) string {
	for n := range e.vectors {
		for lane := range 64 {
			if diff := e.vectors[n][lane] ^ o.vectors[n][lane]; diff&^(e.vectorBits[n][lane]&o.vectorBits[n][lane]) != 0 {
				return fmt.Sprintf("v%d of lane %d is %#x or %#x, undefined are %#x", n, lane, e.vectors[n][lane], o.vectors[n][lane], e.vectorBits[n][lane])
			}
		}
	}
	for i := range e.scalars {
		if diff := e.scalars[i] ^ o.scalars[i]; diff&^(e.scalarBits[i]&o.scalarBits[i]) != 0 {
			return fmt.Sprintf("scalar %d is %#x or %#x, undefined are %#x", i, e.scalars[i], o.scalars[i], e.scalarBits[i])
		}
	}
	if e.scc != o.scc && !(e.sccUndefined && o.sccUndefined) {
		return "scc"
	}
	return ""
}
