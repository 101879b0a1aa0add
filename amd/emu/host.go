package emu

import "fmt"

// The host's view of a buffer. Of coherent memory it is the buffer's bytes
// (Buffer.Data). Of memory that is not coherent the host has a copy of its own,
// as a processor's cache is: it sees what the device wrote after Invalidate, and
// the device what the host wrote after Flush. The worst case is modelled: a host
// read without Invalidate always sees old bytes.

// HostRead copies what the host sees at an offset of a buffer.
func (b *Buffer) HostRead(dst []byte, offset int) error {
	src, err := b.hostBytes(offset, len(dst))
	copy(dst, src)
	return err
}

// HostWrite writes as the host does.
func (b *Buffer) HostWrite(offset int, src []byte) error {
	dst, err := b.hostBytes(offset, len(src))
	copy(dst, src)
	return err
}

// Invalidate drops what the host has cached of a buffer: it sees the device's
// writes. What the host wrote since Flush is lost.
func (b *Buffer) Invalidate() {
	if b.host != nil {
		copy(b.host, b.Data)
	}
}

// Flush makes the host's writes visible to the device.
func (b *Buffer) Flush() {
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
