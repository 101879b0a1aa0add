package emu

import (
	"context"
	"fmt"
)

// The host's view of a buffer. Of coherent memory it is the buffer's bytes
// (Buffer.Data). Of memory that is not coherent the host has a copy of its own,
// as a processor's cache is: it sees what the device wrote after Invalidate, and
// the device what the host wrote after Flush. The worst case is modelled: a host
// read without Invalidate always sees old bytes.

// HostOp is what the host does with a buffer.
type HostOp uint8

// What the host does.
const (
	HostReads HostOp = iota
	HostWrites
	HostInvalidates // drops what it has cached
	HostFlushes     // makes what it wrote visible
)

func (o HostOp) String() string {
	return [...]string{"read", "write", "invalidate", "flush"}[o]
}

// HostObserver is an observer that also sees what the host does, and what it has
// queued meanwhile.
type HostObserver interface {
	Observer
	// Submitted is called when a dispatch is queued, and Host when the host touches
	// bytes of a buffer through its methods.
	Submitted(*Dispatch)
	Host(b *Buffer, op HostOp, offset, n int)
}

// Submit queues a dispatch, which Finish runs: the host goes on meanwhile, as it
// does with a GPU.
func (d *Device) Submit(l Dispatch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queued = append(d.queued, l)
	if o, ok := d.config.Observer.(HostObserver); ok {
		o.Submitted(&l)
	}
}

// Finish runs what is queued, in order, up to the first that fails.
func (d *Device) Finish(ctx context.Context) ([]*Report, error) {
	d.mu.Lock()
	queued := d.queued
	d.queued = nil
	d.mu.Unlock()
	var reports []*Report
	for _, l := range queued {
		r, err := d.Run(ctx, l)
		if err != nil {
			return reports, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// Coherent says whether host and device see each other's writes at once.
func (b *Buffer) Coherent() bool { return b.host == nil }

// seen tells the observer what the host does.
func (b *Buffer) seen(op HostOp, offset, n int) {
	if b.dev == nil {
		return
	}
	if o, ok := b.dev.config.Observer.(HostObserver); ok {
		o.Host(b, op, offset, n)
	}
}

// HostRead copies what the host sees at an offset of a buffer.
func (b *Buffer) HostRead(dst []byte, offset int) error {
	src, err := b.hostBytes(offset, len(dst))
	if err == nil {
		b.seen(HostReads, offset, len(dst))
	}
	copy(dst, src)
	return err
}

// HostWrite writes as the host does.
func (b *Buffer) HostWrite(offset int, src []byte) error {
	dst, err := b.hostBytes(offset, len(src))
	if err == nil {
		b.seen(HostWrites, offset, len(src))
	}
	copy(dst, src)
	return err
}

// Invalidate drops what the host has cached of a buffer: it sees the device's
// writes. What the host wrote since Flush is lost.
func (b *Buffer) Invalidate() {
	b.seen(HostInvalidates, 0, len(b.Data))
	if b.host != nil {
		copy(b.host, b.Data)
	}
}

// Flush makes the host's writes visible to the device.
func (b *Buffer) Flush() {
	b.seen(HostFlushes, 0, len(b.Data))
	if b.host != nil {
		copy(b.Data, b.host)
	}
}

// hostBytes is the host's bytes of a range.
func (b *Buffer) hostBytes(offset, n int) ([]byte, error) {
	if offset < 0 || n < 0 || offset > len(b.Data) || n > len(b.Data)-offset {
		return nil, fmt.Errorf("emu: buffer %q: host access to bytes %d to %d of %d", b.Name, offset, offset+n, len(b.Data))
	}
	if b.host != nil {
		return b.host[offset : offset+n], nil
	}
	return b.Data[offset : offset+n], nil
}
