//go:build !unix

package process

import "os/exec"

func group(*exec.Cmd) {}

func kill(c *exec.Cmd) { _ = c.Process.Kill() }

func alive(*exec.Cmd) bool { return false }

func memory(*exec.Cmd) (int64, bool) { return 0, false }
