package check

import (
	"fmt"
	"slices"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// Step is something that the host does with a buffer.
type Step struct {
	When   string `toml:"when"` // before, queued or after
	Do     string `toml:"do"`   // read, write, flush or invalidate
	Arg    string `toml:"arg"`
	Offset int64  `toml:"offset"` // elements
	Count  int64  `toml:"count"`  // 0 for all from there on
}

// check says what is wrong with a step of a case.
func (s *Step) check(c *Case) error {
	switch {
	case !slices.Contains([]string{"before", "queued", "after"}, s.When):
		return fmt.Errorf("when %q: want before, queued or after", s.When)
	case !slices.Contains([]string{"read", "write", "flush", "invalidate"}, s.Do):
		return fmt.Errorf("do %q: want read, write, flush or invalidate", s.Do)
	}
	i := slices.IndexFunc(c.Args, func(a Arg) bool { return a.Name == s.Arg })
	if i < 0 || c.Args[i].Count == 0 {
		return fmt.Errorf("arg %q: no buffer is named so", s.Arg)
	}
	if n := c.Args[i].Count; s.Offset < 0 || s.Count < 0 || s.Offset > n || s.Count > n-s.Offset {
		return fmt.Errorf("elements %d to %d of %q, which has %d", s.Offset, s.Offset+s.Count, s.Arg, n)
	}
	return nil
}

// host does the steps of a time. The host writes what is there.
func (c *Case) host(when string, buffers []*emu.Buffer) error {
	for _, s := range c.Host {
		if s.When != when {
			continue
		}
		i := slices.IndexFunc(c.Args, func(a Arg) bool { return a.Name == s.Arg })
		b, a := buffers[i], &c.Args[i]
		size := len(b.Data) / int(a.Count)
		from, to := int(s.Offset)*size, len(b.Data)
		if s.Count > 0 {
			to = from + int(s.Count)*size
		}
		var err error
		data := make([]byte, to-from)
		switch s.Do {
		case "read":
			err = b.HostRead(data, from)
		case "write":
			copy(data, b.Data[from:to])
			err = b.HostWrite(from, data)
		case "flush":
			b.Flush()
		case "invalidate":
			b.Invalidate()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
