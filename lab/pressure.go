package lab

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/holdfast-llm/holdfast/internal/process"
)

// pressing is pressure under way.
type pressing struct {
	p        *Pressure
	commands []*exec.Cmd
	ended    []chan error
}

// start starts a pressure's programs one by one until the gauge is in its band, or
// all are there. The reason says why a trial under it would not count, if so.
func (p *Pressure) start(ctx context.Context, values map[string]string) (x *pressing, reason string, err error) {
	x = &pressing{p: p}
	for n := range p.Most {
		if p.Gauge != "" {
			low, _, err := (&Band{Gauge: p.Gauge, Low: p.Low}).in()
			if err != nil {
				return x, "", err
			}
			if low {
				break
			}
		}
		with := map[string]string{"n": strconv.Itoa(n)}
		for k, v := range values {
			with[k] = v
		}
		c := command(p.Command, nil, "", with)
		if err := c.Start(); err != nil {
			return x, "", fmt.Errorf("pressure %q: %w", p.Name, err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		x.commands, x.ended = append(x.commands, c), append(x.ended, ended)
		if err := p.wait(ctx); err != nil {
			return x, "", err
		}
	}
	if p.Gauge == "" {
		return x, "", nil
	}
	ok, shows, err := p.in()
	if err == nil && !ok {
		reason = "pressure " + p.Name + ": " + shows
	}
	return x, reason, err
}

// wait gives a program that has started its time, less if the gauge is there.
func (p *Pressure) wait(ctx context.Context) error {
	end := time.Now().Add(time.Duration(p.Settle))
	for time.Now().Before(end) {
		if p.Gauge != "" {
			if ok, _, err := p.in(); err != nil || ok {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(50*time.Millisecond, time.Until(end))):
		}
	}
	return nil
}

// stop ends the programs and makes sure that they are gone.
func (x *pressing) stop() error {
	const patience = 10 * time.Second
	for i, c := range x.commands {
		process.Kill(c)
		select {
		case <-x.ended[i]:
		case <-time.After(patience):
			return fmt.Errorf("pressure %q: process %d is still there %v after it was killed", x.p.Name, c.Process.Pid, patience)
		}
		for end := time.Now().Add(patience); process.Alive(c); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				return fmt.Errorf("pressure %q: what process %d started is still there %v after it was killed", x.p.Name, c.Process.Pid, patience)
			}
		}
	}
	return nil
}
