//go:build unix

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

func alive(c *exec.Cmd) bool { return syscall.Kill(-c.Process.Pid, 0) == nil }

// memory adds up what /proc says of the processes of the group.
func memory(c *exec.Cmd) (int64, bool) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return 0, false
	}
	total := int64(0)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, ok := strings.Cut(string(text), ") ") // behind the program's name
		fields := strings.Fields(rest)
		if !ok || len(fields) < 22 || fields[2] != strconv.Itoa(c.Process.Pid) {
			continue
		}
		pages, err := strconv.ParseInt(fields[21], 10, 64)
		if err == nil {
			total += pages * int64(os.Getpagesize())
		}
	}
	return total, true
}
