// Package kfd listens to AMD's compute driver on Linux: evictions of queues, migrations,
// faults, as lines of text (the system management interface, SMI).
package kfd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/holdfast-llm/holdfast/internal/ioctl"
)

// Paths of the driver; a test has others.
const (
	Device   = "/dev/kfd"
	Topology = "/sys/class/kfd/kfd/topology/nodes"
)

// GPU is a node of the driver that has a GPU.
type GPU struct {
	Node int
	ID   uint32
}

// ErrNoDriver says that the machine has no KFD: no AMD GPU, or another system than
// Linux.
var ErrNoDriver = errors.New("no KFD here")

// GPUs are the GPUs that a topology directory lists, by node. The error wraps
// ErrNoDriver if there is no such directory, or no GPU in it.
func GPUs(topology string) ([]GPU, error) {
	entries, err := os.ReadDir(topology)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("kfd: %w: no %s (%s)", ErrNoDriver, topology, runtime.GOOS)
	}
	if err != nil {
		return nil, fmt.Errorf("kfd: %w", err)
	}
	var gpus []GPU
	for _, e := range entries {
		node, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(topology, e.Name(), "gpu_id"))
		if err != nil {
			return nil, fmt.Errorf("kfd: node %d: %w", node, err)
		}
		id, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("kfd: node %d: gpu_id %q is no number", node, b)
		}
		if id != 0 { // 0 is a processor
			gpus = append(gpus, GPU{node, uint32(id)})
		}
	}
	if len(gpus) == 0 {
		return nil, fmt.Errorf("kfd: %w: none of %d nodes in %s is a GPU", ErrNoDriver, len(entries), topology)
	}
	slices.SortFunc(gpus, func(a, b GPU) int { return a.Node - b.Node })
	return gpus, nil
}

// Mask is the set of events with the numbers from 1 to 64. Number 64 asks for those of
// all processes, which the driver allows the superuser.
func Mask(ids ...int) uint64 {
	var m uint64
	for _, id := range ids {
		m |= 1 << (id - 1)
	}
	return m
}

// AllProcesses is the number in a mask that asks for the events of all processes.
const AllProcesses = 64

// Events is the mask of everything that the driver tells of one's own processes.
var Events = Mask(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)

// smiArgs are the argument of the request AMDKFD_IOC_SMI_EVENTS.
type smiArgs struct {
	gpu uint32
	fd  uint32 // out
}

// Open asks the driver for the events of a mask on a GPU. What is read from the result
// is lines; a read waits for the next. The error says if the driver is not there or
// does not let one.
func Open(device string, gpu GPU, mask uint64) (io.ReadCloser, error) {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("kfd: %w: no %s (%s)", ErrNoDriver, device, runtime.GOOS)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("kfd: %s: no right to open it: the user must be in the group that owns it, mostly render", device)
	case err != nil:
		return nil, fmt.Errorf("kfd: %w", err)
	}
	defer f.Close()
	args := smiArgs{gpu: gpu.ID}
	if err := ioctl.Call(f, ioctl.ReadWrite('K', 0x1f, unsafe.Sizeof(args)), unsafe.Pointer(&args)); err != nil {
		return nil, fmt.Errorf("kfd: %s: node %d does not give its events: %w", device, gpu.Node, err)
	}
	events, err := ioctl.File(args.fd, fmt.Sprintf("events of node %d", gpu.Node))
	if err != nil {
		return nil, fmt.Errorf("kfd: node %d: %w", gpu.Node, err)
	}
	b := binary.NativeEndian.AppendUint64(nil, mask)
	if _, err := events.Write(b); err != nil {
		events.Close()
		if errors.Is(err, fs.ErrPermission) && mask&Mask(AllProcesses) != 0 {
			return nil, fmt.Errorf("kfd: node %d: only the superuser gets the events of all processes", gpu.Node)
		}
		return nil, fmt.Errorf("kfd: node %d: the mask %#x: %w", gpu.Node, mask, err)
	}
	return events, nil
}

// Record copies whole lines from every source to w until ctx is done or all sources
// end, and closes them. Lines of different sources do not mix.
func Record(ctx context.Context, w io.Writer, sources []io.ReadCloser) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make([]error, len(sources))
	stop := context.AfterFunc(ctx, func() {
		for _, s := range sources {
			s.Close()
		}
	})
	defer stop()
	for i, s := range sources {
		wg.Go(func() {
			errs[i] = copyLines(&mu, w, s)
			s.Close()
		})
	}
	wg.Wait()
	if ctx.Err() != nil { // reading ended because it was told to
		return nil
	}
	return errors.Join(errs...)
}

// maxPending bounds a line: the driver's have 96 bytes.
const maxPending = 1 << 16

// copyLines copies what a driver writes, which may be several lines at a time, and
// the last of them in parts.
func copyLines(mu *sync.Mutex, w io.Writer, r io.Reader) error {
	buf := make([]byte, 1<<14)
	var pending []byte
	for {
		n, err := r.Read(buf)
		pending = append(pending, buf[:n]...)
		end := len(pending)
		if err == nil && end < maxPending {
			end = 0
			for i, c := range pending {
				if c == '\n' {
					end = i + 1
				}
			}
		}
		if end > 0 {
			mu.Lock()
			_, werr := w.Write(pending[:end])
			mu.Unlock()
			if werr != nil {
				return fmt.Errorf("kfd: recording: %w", werr)
			}
			pending = append(pending[:0], pending[end:]...)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("kfd: %w", err)
		}
	}
}
