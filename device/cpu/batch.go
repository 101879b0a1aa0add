package cpu

import "github.com/holdfast-llm/holdfast/device"

// batch is a device.Batch with what the kernels derive from it.
type batch struct {
	device.Batch
	n, m  int
	tiles []tile
}

// tile is a run of rows of one sequence at consecutive positions, at most
// attentionTile of them.
type tile struct {
	row, rows int
	slot, pos int
}

// cut divides the batch into tiles.
func (b *batch) cut() {
	b.tiles = b.tiles[:0]
	for i := range b.n {
		if k := len(b.tiles) - 1; k >= 0 {
			t := &b.tiles[k]
			if t.rows < attentionTile && t.slot == int(b.Slot[i]) && t.pos+t.rows == int(b.Pos[i]) {
				t.rows++
				continue
			}
		}
		b.tiles = append(b.tiles, tile{row: i, rows: 1, slot: int(b.Slot[i]), pos: int(b.Pos[i])})
	}
}
