package cpu

import (
	"math"

	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/op"
)

// splitRows is the largest number of query rows that the split lanes take.
const splitRows = 16

// maxWorkspace is the most that partial states may take, in bytes.
const maxWorkspace = 1 << 30

// splitLane is a split lane: the depths it takes, and how its reducer is cut
// into tasks. The arithmetic of all three is the same, in the same order: a
// row has the same bits on each.
type splitLane struct {
	name    string
	reducer attn.Reducer
	// heads is how many of n query heads, group of them to a KV head, one task
	// of the reducer merges.
	heads func(n, group int) int
}

var splitLanes = []splitLane{
	// Up to 4 states of a head: the whole row is less work than handing it out.
	{"attention.decode_split.direct", attn.Direct, func(n, _ int) int { return n }},
	{"attention.decode_split.cooperative", attn.Cooperative, func(_, group int) int { return group }},
	{"attention.decode_split.multipass", attn.Multipass, func(int, int) int { return 1 }},
}

// match runs attention as two launches: produce leaves one partial state for
// each row, KV head and split; reduce merges a row's states in the order of
// the keys. With next_q8, reduce also packs the finished row for the matrices
// that are multiplied with it.
func (s splitLane) match(d *Device, nextQ8 bool) func(*device.Site) (*device.Match, *device.Decline) {
	return func(site *device.Site) (*device.Match, *device.Decline) {
		o, c := site.Op(), site.Compile
		if c.Limits.Tokens > splitRows {
			return nil, no(device.ReasonShape, "up to %d rows, takes %d", c.Limits.Tokens, splitRows)
		}
		keys := c.Limits.Keys
		if keys == 0 {
			keys = o.In[1].Cache.Context
		}
		if r := attn.ReducerFor(keys); r != s.reducer {
			return nil, no(device.ReasonShape, "%d blocks of %d keys are for %s", attn.Blocks(keys), attn.BlockKeys, r)
		}
		a, refused := d.newAttend(o)
		if refused != nil {
			return nil, refused
		}
		var packs []pack
		if nextQ8 {
			if packs, refused = d.nextPacks(site, o.Out[0], 1); refused != nil {
				return nil, refused
			}
		}
		plan := attn.NewPlan(attn.Shape{
			Rows: c.Limits.Tokens, Heads: o.Attr.Heads, KVHeads: a.heads, VDim: a.vDim, Keys: keys, Window: o.Attr.Window,
		})
		if bytes := 4 * plan.Floats; bytes > maxWorkspace {
			return nil, no(device.ReasonMemory, "partial states of %d bytes, allowed are %d", bytes, maxWorkspace)
		}
		states := c.Temp(o.Name+".partial", 4*plan.Floats)
		states.Cols = plan.Floats // float32
		return &device.Match{
			Launches: []device.Launch{d.produce(a, c, plan, states), d.reduce(a, c, plan, states, s, packs)},
			Covers:   1, Splits: plan.Splits,
		}, nil
	}
}

// state is where the partial state of a row, KV head and split lies, in units
// of states; splits are counted from the row's first.
func state(plan attn.Plan, heads, row, head, split int) int {
	return (row*heads+head)*plan.Splits + split
}

// tileSplits is the first split that a tile's rows attend, and how many.
func (a *attend) tileSplits(t *tile) (first, n int) {
	lo, _ := a.span(t.pos)
	_, hi := a.span(t.pos + t.rows - 1)
	return attn.SplitOf(lo), attn.Splits(lo, hi)
}

// produce has a task for each tile of rows, KV head and split. The rows of a
// tile share the split's keys while they are in cache.
func (d *Device) produce(a *attend, c *device.Compile, plan attn.Plan, states *op.Value) device.Launch {
	o, size := a.op, attn.StateFloats(a.group, a.vDim)
	return launch(c, o.Name+".produce."+a.kern.Name, o.In, []*op.Value{states}, func(mem func(*op.Value) []byte) kernel {
		queries, part, mask := floats(mem(o.In[0])), floats(mem(states)), a.maskBytes(mem)
		splits := func(b *batch) int {
			most := 0
			for i := range b.tiles {
				_, n := a.tileSplits(&b.tiles[i])
				most = max(most, n)
			}
			return most
		}
		return kernel{
			scratch: 4 * (a.group*a.headDim + size + a.foldFloats()),
			tasks:   func(b *batch) int { return len(b.tiles) * a.heads * splits(b) },
			run: func(w *worker, b *batch, task int) {
				most := splits(b)
				t, h := &b.tiles[task/most/a.heads], task/most%a.heads
				base, n := a.tileSplits(t)
				if task%most >= n {
					return // a shorter sequence than the longest of the batch
				}
				split := base + task%most
				k, v := a.rows(t.slot, h)
				s := floats(w.scratch)
				q, s := s[:a.group*a.headDim], s[a.group*a.headDim:]
				// The state grows where the worker's cache has it, and leaves
				// once.
				own, s := s[:size], s[size:]
				p := a.partialIn(own)
				for i := range t.rows {
					first, end := a.span(t.pos + i)
					lo, hi := max(first, attn.SplitStart(split)), min(end, attn.SplitStart(split+1))
					if lo >= hi {
						continue
					}
					a.scale(q, queries, t.row+i, h)
					p.reset()
					// The next split of the head is likely this worker's too.
					ahead := min(end, hi+simd.BlockKeys)
					a.fold(p, q, k[:ahead*a.kBytes], v, lo, hi, a.maskRow(mask, t.row+i), s)
					copy(part[size*state(plan, a.heads, t.row+i, h, split-attn.SplitOf(first)):], own)
				}
			},
		}
	})
}

// reduce merges each row's states: the maximum first, then everything relative
// to it, in the order of the keys.
func (d *Device) reduce(a *attend, c *device.Compile, plan attn.Plan, states *op.Value, lane splitLane, packs []pack) device.Launch {
	o, out, size := a.op, a.op.Out[0], attn.StateFloats(a.group, a.vDim)
	n := a.heads * a.group
	each := lane.heads(n, a.group)
	writes := []*op.Value{out}
	name := o.Name + ".reduce"
	if packs != nil {
		each = n // a row is packed as a whole
		name += ".pack"
	}
	writes = append(writes, packValues(packs)...)
	return launch(c, name, []*op.Value{states, o.In[0]}, writes, func(mem func(*op.Value) []byte) kernel {
		part, dst, queries := floats(mem(states)), floats(mem(out)), floats(mem(o.In[0]))
		to := bindPacks(packs, mem)
		perRow := n / each
		return kernel{
			scratch: 4 * plan.Splits,
			tasks:   func(b *batch) int { return b.n * perRow },
			run: func(w *worker, b *batch, task int) {
				row := task / perRow
				first, end := a.span(int(b.Pos[row]))
				splits := attn.Splits(first, end)
				for h := task % perRow * each; h < (task%perRow+1)*each; h++ {
					at := part[size*state(plan, a.heads, row, h/a.group, 0):]
					d.merge(dst[row*out.Cols+h*a.vDim:][:a.vDim], at, a, h%a.group, splits, floats(w.scratch))
				}
				lo := row*out.Cols + task%perRow*each*a.vDim
				d.check(dst[lo:lo+each*a.vDim], a.queries(queries, row), o.Name, row)
				to.write(row, dst[row*out.Cols:][:out.Cols])
			},
		}
	})
}

// merge writes one head's result from its states in part, head of the group,
// as attn.State's Merge and Finish would for all of them at once. An identity
// among the states adds nothing; nothing but identities gives zeros. A state
// whose scores were NaN has the maximum of an identity and a sum that is NaN.
func (d *Device) merge(dst, part []float32, a *attend, head, splits int, scales []float32) {
	size := attn.StateFloats(a.group, a.vDim)
	top := float32(math.Inf(-1))
	for i := range splits {
		top = max(top, part[i*size+head])
	}
	sum := float32(0)
	for i := range splits {
		m, l := part[i*size+head], part[i*size+a.group+head]
		switch {
		case l == 0:
			scales[i] = 0
		case l != l:
			scales[i] = l
		default:
			scales[i] = float32(math.Exp(float64(m) - float64(top)))
		}
		if scales[i] != 0 {
			sum += scales[i] * l
		}
	}
	clear(dst)
	for i := range splits {
		if scales[i] == 0 {
			continue
		}
		d.elem.AXPY(dst, scales[i]/sum, part[i*size+2*a.group+head*a.vDim:][:a.vDim])
	}
}
