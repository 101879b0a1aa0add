package op

// Kind names an operation.
type Kind uint8

// The operations of a decode step. x, y are rows of float32 unless said
// otherwise; n is the number of tokens in the batch.
const (
	// GetRows: out[n][k] = W[token[i]], dequantised. In: W. Out: x.
	GetRows Kind = iota
	// SelectRows: out[m][k] = x[output[j]]. In: x. Out: y.
	SelectRows
	// RMSNorm: y = x / sqrt(mean(x²)+eps) * w over groups of len(w)
	// elements. In: x, w. Out: y.
	RMSNorm
	// MulMat: y = W x (+ bias). In: x, W[, bias]. Out: y.
	MulMat
	// RopeTable: cos and sin of every rotation of every token,
	// [n][2][dims/2]. In: none. Out: table.
	RopeTable
	// Rope rotates Heads heads of HeadDim in place by the table. In: x, table. Out: x.
	Rope
	// KVStore writes keys and values of the batch to the caches.
	// In: k, v. Out: K cache, V cache.
	KVStore
	// Attention: softmax(q K^T Scale) V over the sequence's cache up to and
	// including the row's position, or over the last Window of that. A mask
	// [n][keys] of F16 or F32 is added to the scaled scores; -Inf leaves a key
	// out. In: q, K cache, V cache[, mask]. Out: o.
	Attention
	// Add: y = a + b. In: a, b. Out: y (may be a).
	Add
	// SwiGLU: y = silu(gate) * up. In: gate, up. Out: y.
	SwiGLU
	// MoERoute picks Used of Experts for each token from router logits.
	// In: logits. Out: ids [n][Used] int32, weights [n][Used].
	MoERoute
	// MulMatID: y[n][Used][rows] = W[ids[n][u]] x, where x is [n][k] or
	// [n][Used][k]. In: x, W, ids. Out: y.
	MulMatID
	// MoESum: y[n][k] = sum over u of weights[n][u] * x[n][u][k].
	// In: x, weights. Out: y.
	MoESum
)

var kindNames = [...]string{
	"get_rows", "select_rows", "rms_norm", "mul_mat", "rope_table", "rope", "kv_store",
	"attention", "add", "swiglu", "moe_route", "mul_mat_id", "moe_sum",
}

func (k Kind) String() string { return kindNames[k] }

// Op is one operation on named values.
type Op struct {
	Kind Kind
	Name string // "blk.3.attn_q"
	In   []*Value
	Out  []*Value
	Attr Attr
}

// Attr holds the numbers an operation needs; each Kind reads its own.
type Attr struct {
	Eps     float32 // RMSNorm
	Heads   int     // Rope, Attention: query heads (Rope: heads of x)
	KVHeads int     // Attention, KVStore
	HeadDim int     // Rope, Attention, KVStore: elements of a query or key head
	VDim    int     // Attention, KVStore: elements of a value head
	Scale   float32 // Attention: multiplies q·k
	Window  int     // Attention: keys that a row attends at most; 0 means all before it
	Rotary  *Rotary // RopeTable, Rope

	Experts      int     // MoERoute
	Used         int     // MoERoute, MulMatID, MoESum: experts per token
	RenormTopK   bool    // MoERoute: weights of the chosen experts sum to 1
	ExpertsScale float32 // MoERoute: multiplies the weights; 0 means 1
}

// Rotary is a rotary position embedding with its scaling already applied.
type Rotary struct {
	// InvFreq[i] is the angle of pair i per position, in radians.
	InvFreq []float64
	// Magnitude multiplies cos and sin (YaRN's attention factor); 1 for none.
	Magnitude float64
	// Interleaved rotates pairs (2i, 2i+1), as the llama architecture does;
	// otherwise pairs are (i, i+dims/2).
	Interleaved bool
}
