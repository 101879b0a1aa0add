package kernel

var (
	ropeTable   = &Kernel{Name: "rope_table", Source: "rope", Items: 64}
	rope        = &Kernel{Name: "rope", Source: "rope", Items: 64}
	kvStore     = &Kernel{Name: "kv_store", Source: "rope", Items: 64}
	ropeKVStore = &Kernel{Name: "rope_kv_store", Source: "rope", Items: 64}
)

// RopeTable writes the cosines and sines of the angles Pos[row] * InvFreq[i],
// times Magnitude: Table is [rows][2][Half] floats, cosines first. InvFreq is
// float64 [Half], Pos int32 [rows], none negative. The work is done in float64: up to
// position 2^20 results are within 1 ULP of what float64 gives, rounded.
type RopeTable struct {
	InvFreq, Pos, Table Pointer
	Half                uint32
	Magnitude           float64
}

// Kernel is rope_table.
func (RopeTable) Kernel() *Kernel { return ropeTable }

// Launch is for a number of rows.
func (a RopeTable) Launch(rows int) Launch {
	return Launch{a, [3]uint32{(a.Half + 63) / 64, uint32(rows), 1}}
}

// Rope rotates X, [rows][Heads][HeadDim] floats, in place by Table, as RopeTable
// writes it. The pairs of a head are elements (i, i+Half), or (2i, 2i+1) if
// Interleaved is 1; elements from 2*Half on stay as they are.
type Rope struct {
	X, Table                          Pointer
	Heads, HeadDim, Half, Interleaved uint32
}

// Kernel is rope.
func (Rope) Kernel() *Kernel { return rope }

// Launch is for a number of rows.
func (a Rope) Launch(rows int) Launch { return Launch{a, [3]uint32{a.Heads, uint32(rows), 1}} }

// KVStore writes K, [rows][KVHeads][HeadDim] floats, and V,
// [rows][KVHeads][VDim], to the caches, [slots][KVHeads][Context][HeadDim] and
// [slots][KVHeads][Context][VDim] halves, at slot Slot[row] and position
// Pos[row], both int32 [rows] and within the caches, rounded to nearest, ties to
// even. Magnitudes of 65520 and more become infinite, a NaN stays one.
type KVStore struct {
	K, V, KCache, VCache, Pos, Slot Pointer
	KVHeads, HeadDim, VDim, Context uint32
}

// Kernel is kv_store.
func (KVStore) Kernel() *Kernel { return kvStore }

// Launch is for a number of rows.
func (a KVStore) Launch(rows int) Launch { return Launch{a, [3]uint32{a.KVHeads, uint32(rows), 1}} }

// RopeKVStore is Rope of the keys and KVStore at once: the bits in the caches
// are the same. K stays as it was.
type RopeKVStore struct {
	K, V, Table, KCache, VCache, Pos, Slot             Pointer
	KVHeads, HeadDim, VDim, Context, Half, Interleaved uint32
}

// Kernel is rope_kv_store.
func (RopeKVStore) Kernel() *Kernel { return ropeKVStore }

// Launch is for a number of rows.
func (a RopeKVStore) Launch(rows int) Launch {
	return Launch{a, [3]uint32{a.KVHeads, uint32(rows), 1}}
}
