package emu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// Dispatch is a kernel to run and how, as in an AQL packet.
type Dispatch struct {
	Kernel *Kernel
	// Grid is the number of work-items. It need not be a multiple of Workgroup:
	// the last workgroups are then smaller. Zeros mean 1.
	Grid [3]uint32
	// Workgroup is the number of work-items of a workgroup. Zeros mean 1.
	Workgroup [3]uint32
	// Kernarg is the kernel's arguments; Kernel.Pack makes it. It may be longer
	// than the kernel wants, not shorter.
	Kernarg []byte
	// DynamicLDS is how many bytes of LDS come after the kernel's own.
	DynamicLDS uint32
}

// threadsMax is the most work-items in a workgroup.
const threadsMax = 1024

// LaunchError is why a dispatch is refused before it runs.
type LaunchError struct {
	Kernel string
	Reason hsaco.Reason
	Detail string
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("emu: launch %s: %s: %s", e.Kernel, e.Reason, e.Detail)
}

// dispatch is a dispatch while it runs.
type dispatch struct {
	Launched
	dev    *Device
	kernel *Kernel
	obs    Observer
	count  uint64 // of workgroups
	packet *Buffer
	caches *relaxed // nil if memory is coherent
	mode   uint32   // MODE at the start of a wave
	user   []userValue
	budget atomic.Int64 // instructions that nobody has taken yet
	next   atomic.Uint64
	failed atomic.Bool
}

// userValue is a scalar register that the packet processor fills.
type userValue struct {
	reg   int
	value uint32
}

// Run runs a dispatch to its end. The report is there even if there is an
// error: *LaunchError (then nothing ran), *Fault, *Unsupported, or ctx's.
func (d *Device) Run(ctx context.Context, l Dispatch) (*Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	report := &Report{Workers: 1}
	r, err := d.launch(l)
	if err != nil {
		return report, err
	}
	defer r.unmap()
	if err := r.mapSystem(); err != nil {
		return report, err
	}
	if r.obs != nil {
		r.obs.DispatchBegin(&r.Launched)
	}
	r.memoryBegin()
	start := time.Now()
	err = r.run(ctx, report)
	report.Elapsed = time.Since(start)
	r.memoryEnd()
	if r.obs != nil {
		r.obs.DispatchEnd(&r.Launched, err)
	}
	return report, err
}

// launch checks a dispatch.
func (d *Device) launch(l Dispatch) (*dispatch, error) {
	k := l.Kernel
	if k == nil {
		return nil, errors.New("emu: launch: no kernel")
	}
	refuse := func(r hsaco.Reason, format string, args ...any) (*dispatch, error) {
		return nil, &LaunchError{k.Name, r, fmt.Sprintf(format, args...)}
	}
	if k.Module.dev != d {
		return refuse(hsaco.Mismatch, "the kernel is loaded on another device")
	}
	threads, count := uint64(1), uint64(1)
	var groups [3]uint32
	for i := range 3 {
		l.Grid[i], l.Workgroup[i] = max(l.Grid[i], 1), max(l.Workgroup[i], 1)
		if l.Workgroup[i] > threadsMax {
			return refuse(hsaco.OverLimit, "workgroup of %v work-items, at most %d", l.Workgroup, threadsMax)
		}
		groups[i] = uint32((uint64(l.Grid[i]) + uint64(l.Workgroup[i]) - 1) / uint64(l.Workgroup[i]))
		threads *= uint64(l.Workgroup[i])
		if count > math.MaxInt64/uint64(groups[i]) {
			return refuse(hsaco.OverLimit, "grid of %v work-items: too many workgroups", l.Grid)
		}
		count *= uint64(groups[i])
	}
	if threads > threadsMax {
		return refuse(hsaco.OverLimit, "workgroup of %v = %d work-items, at most %d", l.Workgroup, threads, threadsMax)
	}
	if meta := k.Meta; meta != nil {
		if limit := meta.MaxFlatWorkgroupSize; limit != 0 && threads > uint64(limit) {
			return refuse(hsaco.OverLimit, "workgroup of %d work-items, the kernel was compiled for at most %d", threads, limit)
		}
		if want := meta.ReqdWorkgroupSize; want != [3]uint32{} && want != l.Workgroup {
			return refuse(hsaco.Mismatch, "workgroup of %v work-items, the kernel requires %v", l.Workgroup, want)
		}
	}
	if have, want := len(l.Kernarg), k.KernargBytes(); have < want {
		return refuse(hsaco.BadSize, "%d bytes of arguments, the kernel has %d", have, want)
	}
	desc := &k.Descriptor
	lds := uint64(desc.LDSBytes) + uint64(l.DynamicLDS)
	if lds > hsaco.LDSBytesMax {
		return refuse(hsaco.OverLimit, "%d bytes of LDS and %d dynamic ones, a workgroup has at most %d", desc.LDSBytes, l.DynamicLDS, hsaco.LDSBytesMax)
	}
	if s := uint64(desc.ScratchBytes) * uint64(desc.WavefrontSize()); s > hsaco.ScratchBytesWaveMax {
		return refuse(hsaco.OverLimit, "%d bytes of scratch for a wave, at most %d", s, hsaco.ScratchBytesWaveMax)
	}
	r := &dispatch{dev: d, kernel: k, obs: d.config.Observer, count: count, mode: initialMode(desc)}
	r.Launched = Launched{Dispatch: l, Groups: groups, LDS: uint32(lds), Scratch: scratchBytes(k), Device: d}
	r.budget.Store(int64(min(d.config.Budget, math.MaxInt64)))
	return r, nil
}

// dynamicStackBytes is what a work-item gets of a stack whose size the compiler
// does not know, if that leaves the wave within its limit.
const dynamicStackBytes = 16 << 10

// scratchBytes is the scratch of a work-item, a multiple of 4.
func scratchBytes(k *Kernel) uint32 {
	n := k.Descriptor.ScratchBytes
	if k.Descriptor.DynamicStack() {
		n = max(n, min(n+dynamicStackBytes, hsaco.ScratchBytesWaveMax/uint32(k.wave)))
	}
	return (n + 3) &^ 3
}

// The system buffers' offsets from systemBase.
const (
	packetOffset  = 0
	queueOffset   = 0x1000
	kernargOffset = 0x10_0000
)

// mapSystem puts the packet, the queue and the arguments into memory, and works
// out the user SGPRs.
func (r *dispatch) mapSystem() error {
	k, l := r.kernel, &r.Launched
	le := binary.LittleEndian
	descriptor := k.Module.Base + k.Addr

	packet := make([]byte, 64)
	le.PutUint16(packet[0:], 2|1<<8|2<<9|2<<11) // a kernel dispatch, barrier, system scopes
	le.PutUint16(packet[2:], r.dimensions())
	for i := range 3 {
		le.PutUint16(packet[4+2*i:], uint16(l.Workgroup[i]))
		le.PutUint32(packet[12+4*i:], l.Grid[i])
	}
	le.PutUint32(packet[24:], l.Scratch)
	le.PutUint32(packet[28:], l.LDS)
	le.PutUint64(packet[32:], descriptor)
	le.PutUint64(packet[40:], systemBase+kernargOffset)

	queue := make([]byte, 256) // hsa_queue_t and the start of amd_queue_t
	le.PutUint32(queue[4:], 1) // it takes kernel dispatches
	le.PutUint64(queue[8:], systemBase+packetOffset)
	le.PutUint32(queue[24:], 1) // packet
	le.PutUint32(queue[0x40:], SharedBase>>32)
	le.PutUint32(queue[0x44:], PrivateBase>>32)

	// Compilers load arguments in pieces that may reach past the last of them:
	// runtimes give them whole cache lines.
	args := make([]byte, (len(l.Kernarg)+63)&^63)
	copy(args, l.Kernarg)

	r.packet = &Buffer{Name: "dispatch packet", Addr: systemBase + packetOffset, Data: packet, Residency: Pinned, ReadOnly: true}
	r.Args = &Buffer{Name: "kernel arguments", Addr: systemBase + kernargOffset, Data: args, Residency: Pinned, ReadOnly: true}
	r.dev.queue = &Buffer{Name: "queue", Addr: systemBase + queueOffset, Data: queue, Residency: Pinned, ReadOnly: true}
	for _, b := range []*Buffer{r.packet, r.dev.queue, r.Args} {
		if len(b.Data) == 0 {
			continue
		}
		if err := r.dev.space.add(b); err != nil {
			return err
		}
	}
	return r.userSGPRs()
}

// unmap takes away what mapSystem put into memory.
func (r *dispatch) unmap() {
	for _, b := range []*Buffer{r.packet, r.dev.queue, r.Args} {
		if b != nil {
			_ = r.dev.space.remove(b) // those that were not reached are not there
		}
	}
}

// dimensions is how many of the grid's dimensions there are.
func (r *dispatch) dimensions() uint16 {
	switch {
	case r.Grid[2] > 1:
		return 3
	case r.Grid[1] > 1:
		return 2
	}
	return 1
}

// userSGPRs works out the values that the packet processor puts into the first
// scalar registers.
func (r *dispatch) userSGPRs() error {
	count := r.kernel.Descriptor.UserSGPRCount()
	for _, u := range r.kernel.Descriptor.UserSGPRs() {
		var v uint64
		switch u.Name {
		case "dispatch_ptr":
			v = r.packet.Addr
		case "queue_ptr":
			v = r.dev.queue.Addr
		case "kernarg_segment_ptr":
			v = r.Args.Addr
		case "dispatch_id":
			v = 0
		case "private_segment_size":
			v = uint64(r.Scratch)
		case "flat_scratch_init", "private_segment_buffer":
			// The architected scratch of gfx11 needs neither; compilers for it
			// ask for neither.
			v = 0
		default:
			return &LaunchError{r.kernel.Name, hsaco.BadDescriptor, fmt.Sprintf("user SGPRs for %s", u.Name)}
		}
		for i := range u.Count {
			if u.First+i < count {
				r.user = append(r.user, userValue{u.First + i, uint32(v)})
			}
			v >>= 32
		}
	}
	return nil
}

// initialMode is MODE as the descriptor has it.
func initialMode(d *hsaco.Descriptor) uint32 {
	m := uint32(d.FloatMode())
	if d.DX10Clamp() {
		m |= modeDX10
	}
	if d.IEEEMode() {
		m |= modeIEEE
	}
	m |= uint32(d.Exceptions()) << modeExceptionsShift
	if d.FP16Overflow() {
		m |= modeFP16Overflow
	}
	return m
}

// Fields of MODE that the vector ALU does not need.
const (
	modeExceptionsShift = 12
	modeFP16Overflow    = 1 << 23
)
