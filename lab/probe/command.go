package probe

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// runCommand runs a process and takes its standard output as the answer.
func runCommand(ctx context.Context, o *Options, args []string, a *Answer) {
	limit, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c := exec.CommandContext(limit, args[0], args[1:]...)
	c.WaitDelay = time.Second // for grandchildren that keep the output open
	out, errs := &capped{limit: maxBody}, &capped{limit: 1 << 16}
	c.Stdout, c.Stderr = out, errs
	err := c.Run()
	b := out.b.Bytes()
	var exit *exec.ExitError
	switch {
	case limit.Err() != nil && ctx.Err() == nil:
		a.fail("timeout", "still running after %s", o.Timeout)
		return
	case ctx.Err() != nil:
		a.fail("interrupted", "the probe ended")
		return
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		a.fail("signal", "%s: %s", exit, short(lastLine(errs.b.Bytes())))
	case errors.As(err, &exit):
		a.fail("exit-"+itoa(exit.ExitCode()), "%s", short(lastLine(errs.b.Bytes())))
	case err != nil:
		a.fail("start", "%v", err)
		return
	}
	if out.more {
		a.fail("too-large", "an output of more than %d MiB", maxBody>>20)
		return
	}
	if !utf8.Valid(b) {
		a.fail("invalid-utf8", "the output is not UTF-8")
	}
	a.Text = string(b)
	if a.Text == "" && len(a.Faces) == 0 {
		a.fail("empty", "no output")
	}
}

// lastLine is the last line that has something.
func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

// capped is a buffer that throws away what is too much.
type capped struct {
	b     bytes.Buffer // not embedded: its ReadFrom would take everything
	limit int
	more  bool
}

func (c *capped) Write(b []byte) (int, error) {
	room := c.limit - c.b.Len()
	if len(b) > room {
		c.more = true
		c.b.Write(b[:room])
		return len(b), nil
	}
	return c.b.Write(b)
}
