// Package process runs a program and all that it starts as one thing, which can be
// killed as one and whose memory can be counted.
package process

import "os/exec"

// Group prepares a command that has not started to have a group of its own, so
// that Kill reaches what it starts too. Where systems have no groups, it does
// nothing.
func Group(c *exec.Cmd) { group(c) }

// Kill ends a started command's group at once.
func Kill(c *exec.Cmd) {
	if c.Process != nil {
		kill(c)
	}
}

// Alive reports whether a process of a started command's group is still there. It
// is false where systems have no groups.
func Alive(c *exec.Cmd) bool { return c.Process != nil && alive(c) }

// Memory is the resident memory of a started command's group in bytes, and false
// where it cannot be told.
func Memory(c *exec.Cmd) (int64, bool) {
	if c.Process == nil {
		return 0, false
	}
	return memory(c)
}
