package emu

import (
	"slices"
	"testing"
)

// An access to a page that is not mapped changes nothing; once the page is
// mapped, it does what it would have done.
func TestAnAccessThatIsTriedAgainChangesNothingBefore(t *testing.T) {
	t.Parallel()
	lines := []string{
		"global_load_b32 v8, v[0:1], off", "global_load_b64 v[0:1], v[0:1], off", "global_store_b64 v[0:1], v[4:5], off",
		"global_load_b32 v2, v2, s[2:3]", "global_atomic_add_u32 v8, v[0:1], v4, off glc", "global_atomic_add_u32 v[0:1], v4, off",
		"flat_load_b32 v0, v[0:1]", "flat_store_b32 v[0:1], v4", "flat_atomic_swap_b64 v[0:1], v[0:1], v[4:5] glc",
		"buffer_load_b32 v2, v2, s[4:7], 0 offen", "buffer_load_b64 v[2:3], v2, s[8:11], 0 offen", // its last lanes are out of range
		"buffer_atomic_or_b32 v2, v2, s[8:11], 0 offen glc", "buffer_load_format_xy v[1:2], v2, s[4:7], 0 offen",
		"s_load_b64 s[2:3], s[2:3], 0x7fc", "s_buffer_load_b256 s[4:11], s[4:7], 0x7f0",
	}
	code := programs(t, lines)
	for i := range code {
		for _, newOne := range []func(t *testing.T) *bench{newBench, newRelaxedBench, newLateBench} {
			fresh := func() *bench {
				b := newOne(t)
				copy(b.w.sgpr[8:12], b.w.sgpr[4:8])
				b.w.sgpr[7] |= 48<<12 | 0o7654 // 32_32_UINT
				b.w.sgpr[10] = 1024
				b.w.vgpr[1][7] = SharedBase >> 32 // a lane of flat accesses is of local memory
				if code[i].Op.Name[0] != 'f' {
					b.w.vgpr[1][7] = b.w.vgpr[1][6]
				} else {
					b.w.vgpr[0][7] = 64
				}
				return b
			}
			want := fresh()
			code[i].run(want.w, &code[i])
			want.w.finish()

			b := fresh()
			before := fresh()
			number := b.buffer.Addr / pageBytes
			p := &pages{driver: &driver{Pressure: &Pressure{}}, absent: map[uint64]*page{number: {number: number}}}
			b.w.pages = p
			retried := func() (ok bool) {
				defer func() { _, ok = recover().(retry) }()
				code[i].run(b.w, &code[i])
				return false
			}()
			if !retried {
				t.Errorf("%s: not tried again", lines[i])
			}
			same := func(o *bench) bool {
				return b.w.sgpr == o.w.sgpr && slices.Equal(b.w.vgpr, o.w.vgpr) && slices.Equal(b.buffer.Data, o.buffer.Data) && slices.Equal(b.w.group.lds, o.w.group.lds)
			}
			if !same(before) {
				t.Errorf("%s: a register or memory changed before it was tried again", lines[i])
			}
			if pg := p.absent[number]; len(pg.waiting) != 1 || !slices.Equal(b.w.held, []uint64{number}) {
				t.Errorf("%s: %d waves wait, pages %x are held", lines[i], len(pg.waiting), b.w.held)
			}
			delete(p.absent, number)
			b.w.pending.pendingCounts = b.w.counted
			code[i].run(b.w, &code[i])
			if b.w.relaxed != nil && b.w.pending.pendingCounts != want.w.pending.pendingCounts {
				t.Errorf("%s: counted %+v, want %+v", lines[i], b.w.pending.pendingCounts, want.w.pending.pendingCounts)
			}
			b.w.finish()
			if !same(want) {
				t.Errorf("%s: tried again, it does something else", lines[i])
			}
		}
	}
}
