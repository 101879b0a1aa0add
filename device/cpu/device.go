package cpu

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/op"
)

// Config says how to run on the processor. The zero value uses every
// processor and the best instruction set there is.
type Config struct {
	Threads int         // workers, the caller included; 0 means runtime.GOMAXPROCS
	Level   *simd.Level // instruction set; nil means the best
}

// maxThreads bounds Config.Threads: barriers among more workers than
// processors only cost time.
const maxThreads = 1024

// Device is the processor. One program runs at a time; Run calls of several
// goroutines wait for each other.
type Device struct {
	level simd.Level
	elem  *simd.Elem
	plain *Device // offers at the portable level, for when the others fault; nil at that level
	pool  *pool
	mu    sync.Mutex // held while a program runs
	runs  int        // so far; guarded by mu
}

// New starts the workers. Errors: a thread count outside 0..1024.
func New(cfg Config) (*Device, error) {
	if cfg.Threads < 0 || cfg.Threads > maxThreads {
		return nil, fmt.Errorf("cpu: %d threads: want 1 to %d, or 0 for all processors", cfg.Threads, maxThreads)
	}
	if cfg.Threads == 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	level := simd.Best()
	if cfg.Level != nil {
		level = *cfg.Level
	}
	d := &Device{level: level, elem: simd.ElemFor(level), pool: newPool(cfg.Threads)}
	if level != simd.Portable {
		d.plain = &Device{level: simd.Portable, elem: simd.ElemFor(simd.Portable), pool: d.pool}
	}
	return d, nil
}

// Name is "cpu".
func (d *Device) Name() string { return "cpu" }

// Threads is the number of workers.
func (d *Device) Threads() int { return d.pool.workers }

// Level is the instruction set in use.
func (d *Device) Level() simd.Level { return d.level }

// Describe says how many threads run which instruction set.
func (d *Device) Describe() string {
	return fmt.Sprintf("cpu, %d threads, %s", d.pool.workers, d.level)
}

// Close ends the workers. Nothing may run on the device.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pool.close()
	return nil
}

// Registrations are the processor's offers for one kind of operation. Beneath
// all others is the one that takes anything, in plain Go: "mul_mat.portable".
func (d *Device) Registrations(k op.Kind) []device.Registration {
	rs := d.offers(k)
	if d.plain != nil && len(rs) > 0 {
		plain := d.plain.offers(k)
		last := plain[len(plain)-1]
		last.Name, last.Priority = k.String()+".portable", last.Priority-1
		rs = append(rs, last)
	}
	return rs
}

// offers are the registrations at the device's level, the one that takes
// anything last.
func (d *Device) offers(k op.Kind) []device.Registration {
	switch k {
	case op.GetRows:
		return d.one("get_rows", d.matchGetRows)
	case op.SelectRows:
		return d.one("select_rows", d.matchSelectRows)
	case op.RMSNorm:
		return []device.Registration{
			fused("rms_norm.rope.kv_store", 2, d.matchRopeStore),
			fused("rms_norm.next_q8", 1, d.matchNormNext),
			single("rms_norm", 0, d.matchRMSNorm),
		}
	case op.MulMat:
		return d.mulMat()
	case op.RopeTable:
		return d.one("rope_table", d.matchRopeTable)
	case op.Rope:
		return []device.Registration{
			fused("rope.kv_store", 1, d.matchRopeStore),
			single("rope", 0, d.matchRope),
		}
	case op.KVStore:
		return d.one("kv_store", d.matchKVStore)
	case op.Attention:
		return d.attention()
	case op.Add:
		return []device.Registration{
			fused("add.rms_norm.next_q8", 1, d.matchAddNormNext),
			single("add", 0, d.matchAdd),
		}
	case op.SwiGLU:
		return d.one("swiglu", d.matchSwiGLU)
	case op.MoERoute:
		return d.one("moe_route", d.matchMoERoute)
	case op.MulMatID:
		return d.mulMatID()
	case op.MoESum:
		return d.one("moe_sum", d.matchMoESum)
	}
	return nil
}

// matcher is the Match of a registration that runs one operation.
type matcher = func(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline)

// single is a registration that runs one operation.
func single(name string, priority int, m matcher) device.Registration {
	return device.Registration{Name: name, Priority: priority, Match: func(s *device.Site) (*device.Match, *device.Decline) {
		ls, decline := m(s.Op(), s.Compile)
		if decline != nil {
			return nil, decline
		}
		return &device.Match{Launches: ls, Covers: 1}, nil
	}}
}

func (d *Device) one(name string, m matcher) []device.Registration {
	return []device.Registration{single(name, 0, m)}
}

// no says why a registration does not take an operation.
func no(r device.Reason, format string, args ...any) *device.Decline {
	return &device.Decline{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// decline is what a matcher returns that says no.
func decline(r device.Reason, format string, args ...any) ([]device.Launch, *device.Decline) {
	return nil, no(r, format, args...)
}
