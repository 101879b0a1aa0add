package cpu

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/model"
	"github.com/holdfast-llm/holdfast/model/embedded"
	"github.com/holdfast-llm/holdfast/op"
	"github.com/holdfast-llm/holdfast/text/token"
)

// fusedForms are the registrations that run more than their operation, or pack
// its result.
var fusedForms = []string{
	"rms_norm.next_q8", "rms_norm.rope.kv_store", "rope.kv_store", "add.rms_norm.next_q8", "mul_mat.swiglu", "mul_mat_id.swiglu",
	"attention.decode_split.direct.next_q8", "attention.decode_split.cooperative.next_q8", "attention.decode_split.multipass.next_q8",
}

// stepOf is one step of a model over a cache of its own.
func stepOf(t *testing.T, name string, data []byte, slots, context int) *op.Graph {
	t.Helper()
	f, err := gguf.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kv.New(m.CacheLayers(quant.F16, quant.F16), slots, context)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return m.Graph(c)
}

// written is a digest of every value at the end of a run, by name: of what the
// last launch that wrote it left.
type written map[string]uint64

// watchSteps compiles a step for up to rows rows, runs it for rows rows at
// positions 0 on and then for as many behind them, and returns the program with
// what the two runs wrote.
func watchSteps(t *testing.T, d *Device, g *op.Graph, rows int, disable []string) (*device.Program, [2]written) {
	t.Helper()
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: rows, Outputs: rows}, dispatch.Options{Disable: disable})
	if err != nil {
		t.Fatal(err)
	}
	var got [2]written
	run := 0
	e, err := d.Load(p, device.LoadOptions{Watch: func(w *device.Watched) {
		for _, m := range w.Written {
			h := fnv.New64a()
			h.Write(m.Data)
			got[run][m.Value.Name] = h.Sum64()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for run = range got {
		got[run] = written{}
		b := &device.Batch{}
		for i := range rows {
			b.Tokens = append(b.Tokens, int32(5+7*i+run))
			b.Pos = append(b.Pos, int32(run*rows+i))
			b.Slot = append(b.Slot, 0)
			b.Output = append(b.Output, int32(i))
		}
		if err := e.Run(b); err != nil {
			t.Fatal(err)
		}
	}
	return p, got
}

// Every value that both forms keep has the same bits, packs included; the
// fused form waits less often.
func TestFusedFormsWriteTheBitsOfTheirParts(t *testing.T) {
	d := testDevice(t, 2)
	for _, c := range []struct {
		name   string
		config synth.Config
		want   []string // forms that must have run at one row
	}{
		{
			"dense Q4_K",
			synth.Config{Arch: "qwen3", Type: quant.Q4_K, FFN: 768, Vocab: 260},
			[]string{"rms_norm.next_q8", "rms_norm.rope.kv_store", "add.rms_norm.next_q8", "mul_mat.swiglu", "attention.decode_split.cooperative.next_q8"},
		},
		{
			"dense F16 of an odd width",
			synth.Config{Arch: "llama", Type: quant.F16, FFN: 200, Vocab: 260},
			[]string{"rope.kv_store", "mul_mat.swiglu"},
		},
		{
			"biased Q8_0",
			synth.Config{Arch: "qwen2", Type: quant.Q8_0, FFN: 96, Vocab: 260},
			[]string{"rope.kv_store", "mul_mat.swiglu"},
		},
		{
			"experts Q8_0",
			synth.Config{Arch: "qwen3moe", Type: quant.Q8_0, Layers: 2, Experts: 6, Vocab: 260},
			[]string{"rms_norm.rope.kv_store", "mul_mat_id.swiglu"},
		},
		{
			"experts Q4_K",
			synth.Config{Arch: "qwen3moe", Type: quant.Q4_K, Layers: 1, Experts: 4, Vocab: 260},
			[]string{"mul_mat_id.swiglu", "add.rms_norm.next_q8"},
		},
	} {
		for _, rows := range []int{1, 2, 3, 7, 16} {
			t.Run(fmt.Sprintf("%s, %d rows", c.name, rows), func(t *testing.T) {
				// A cache for each: what one stores the other must not read.
				data := synth.Model(c.config)
				fused, got := watchSteps(t, d, stepOf(t, c.name, data, 1, 300), rows, nil)
				parts, want := watchSteps(t, d, stepOf(t, c.name, data, 1, 300), rows, fusedForms)
				for run := range got {
					both := 0
					for name, h := range got[run] {
						if w, ok := want[run][name]; ok {
							both++
							if w != h {
								t.Errorf("run %d: %s differs", run, name)
							}
						}
					}
					// Of a layer at least the norms, the projections and what they store.
					if both < 12 {
						t.Errorf("run %d: only %d values are written by both", run, both)
					}
				}
				ran, waits := lanesOf(fused), [2]int{waitsOf(fused), waitsOf(parts)}
				if rows == 1 {
					for _, lane := range c.want {
						if !slices.Contains(ran, lane) {
							t.Errorf("%s did not run: %q", lane, ran)
						}
					}
				}
				if waits[0] >= waits[1] {
					t.Errorf("%d waits fused, %d in parts", waits[0], waits[1])
				}
				for _, lane := range lanesOf(parts) {
					if slices.Contains(fusedForms, lane) {
						t.Errorf("%s ran although disabled", lane)
					}
				}
			})
		}
	}
}

func lanesOf(p *device.Program) []string {
	var ran []string
	for _, d := range p.Decisions {
		if !slices.Contains(ran, d.Chosen) {
			ran = append(ran, d.Chosen)
		}
	}
	return ran
}

func waitsOf(p *device.Program) int {
	n := 0
	for _, l := range p.Launches {
		if l.Wait {
			n++
		}
	}
	return n
}

// A fused form says why it leaves a step to its parts.
func TestFusedFormsDeclineWithAReason(t *testing.T) {
	d := testDevice(t, 1)
	dense := stepOf(t, "dense", synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q8_0, FFN: 256, Vocab: 260}), 1, 64)
	experts := stepOf(t, "experts", synth.Model(synth.Config{Arch: "qwen3moe", Type: quant.Q8_0, Layers: 1, Experts: 6, Vocab: 260}), 1, 64)
	for _, c := range []struct {
		g          *op.Graph
		rows       int
		op, lane   string
		reason     device.Reason
		detailPart string
	}{
		{dense, 16, "blk.0.attn_norm", "rms_norm.next_q8", device.ReasonFusion, "multiplies up to 16 rows at once"},
		{dense, 1, "blk.0.attn_norm", "rms_norm.rope.kv_store", device.ReasonFusion, "is not followed by the rotations"},
		{dense, 1, "blk.0.attn_q", "mul_mat.swiglu", device.ReasonFusion, "is not followed by another product and swiglu"},
		{dense, 3, "blk.0.ffn_gate", "mul_mat.swiglu", device.ReasonShape, "up to 3 rows, takes 2"},
		{experts, 3, "blk.0.ffn_gate_exps", "mul_mat_id.swiglu", device.ReasonShape, "up to 3 rows, takes 2"},
		{experts, 1, "blk.0.ffn_down_exps", "mul_mat_id.swiglu", device.ReasonFusion, "is not followed by another product and swiglu"},
		{experts, 1, "blk.0.attn_add", "add.rms_norm.next_q8", "", ""}, // the router is a product too
	} {
		p, err := dispatch.Compile(d, c.g, device.Limits{Tokens: c.rows, Outputs: c.rows}, dispatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, dec := range p.Decisions {
			if first, _, _ := strings.Cut(dec.Op, " + "); first != c.op {
				continue
			}
			if c.reason == "" {
				found = dec.Chosen == c.lane
			}
			for _, no := range dec.Declined {
				if no.Lane == c.lane {
					found = no.Reason == c.reason && strings.Contains(no.Detail, c.detailPart)
					if !found {
						t.Logf("%v", no)
					}
				}
			}
		}
		if !found {
			t.Errorf("%d rows: %s at %s: want reason %q with %q", c.rows, c.lane, c.op, c.reason, c.detailPart)
		}
	}
}

// Beneath every registration there is one in plain Go: with all others
// quarantined the embedded model still recalls.
func TestTheEmbeddedModelRecallsOnPlainGoAlone(t *testing.T) {
	d := testDevice(t, 2)
	if d.plain == nil {
		t.Skip("there is nothing but plain Go here")
	}
	quarantined := map[string]string{}
	for k := op.Kind(0); d.Registrations(k) != nil; k++ {
		for _, r := range d.Registrations(k) {
			if !strings.HasSuffix(r.Name, ".portable") {
				quarantined[r.Name] = "for the test"
			}
		}
	}
	f, err := gguf.Parse(embedded.Name, embedded.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.New(f)
	if err != nil {
		t.Fatal(err)
	}
	prompt, answer, err := embedded.RecallPrompt(1, 70, func(text string) int { return len(tok.Encode(text, false, false)) })
	if err != nil {
		t.Fatal(err)
	}
	ids, want := tok.Encode(prompt, true, true), tok.Encode(answer, false, false)
	g := stepOf(t, embedded.Name, embedded.Bytes(), 1, len(ids)+len(want))
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{Quarantined: quarantined})
	if err != nil {
		t.Fatal(err)
	}
	for _, lane := range lanesOf(p) {
		if !strings.HasSuffix(lane, ".portable") {
			t.Errorf("%s ran", lane)
		}
	}
	e, err := d.Load(p, device.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got []int32
	for pos := 0; len(got) < len(want); pos++ {
		if pos == len(ids) {
			ids = append(ids, got[len(got)-1])
		}
		if err := e.Run(&device.Batch{Tokens: ids[pos : pos+1], Pos: []int32{int32(pos)}, Slot: []int32{0}, Output: []int32{0}}); err != nil {
			t.Fatal(err)
		}
		if pos < len(ids)-1 {
			continue
		}
		logits := floats(e.Output(g.Logits))
		best := 0
		for j, v := range logits {
			if v > logits[best] {
				best = j
			}
		}
		got = append(got, int32(best))
	}
	if !slices.Equal(got, want) {
		t.Errorf("answers with tokens %v, want %v: %q", got, want, answer)
	}
}
