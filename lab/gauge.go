package lab

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// gauge reads a number: "file:PATH" the first one in a file, such as those of
// /sys, "meminfo:KEY" a line of /proc/meminfo in bytes, "command:PROGRAM ARG ..."
// the first one that a program prints.
type gauge struct{ kind, what string }

func parseGauge(s string) (gauge, error) {
	kind, what, _ := strings.Cut(s, ":")
	switch kind {
	case "file", "meminfo", "command":
		if what != "" {
			return gauge{kind, what}, nil
		}
	}
	return gauge{}, fmt.Errorf("gauge %q: want file:PATH, meminfo:KEY or command:PROGRAM ARGUMENTS", s)
}

// read is what the gauge shows.
func (g gauge) read() (float64, error) {
	var text []byte
	var err error
	switch g.kind {
	case "file":
		text, err = os.ReadFile(g.what)
	case "meminfo":
		return meminfo(g.what)
	case "command":
		words := strings.Fields(g.what)
		text, err = exec.Command(words[0], words[1:]...).Output()
	}
	if err != nil {
		return 0, fmt.Errorf("gauge %s:%s: %w", g.kind, g.what, err)
	}
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return 0, fmt.Errorf("gauge %s:%s: it shows nothing", g.kind, g.what)
	}
	v, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		return 0, fmt.Errorf("gauge %s:%s: %q is no number", g.kind, g.what, words[0])
	}
	return v, nil
}

func meminfo(key string) (float64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("gauge meminfo:%s: %w", key, err)
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != key {
			continue
		}
		v, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		if err != nil {
			return 0, fmt.Errorf("gauge meminfo:%s: %w", key, err)
		}
		return v * 1024, nil
	}
	return 0, fmt.Errorf("gauge meminfo:%s: there is no such line", key)
}

// in says whether a band's gauge is in it, and if not what it shows.
func (b *Band) in() (ok bool, shows string, err error) {
	g, err := parseGauge(b.Gauge)
	if err != nil {
		return false, "", err
	}
	v, err := g.read()
	if err != nil {
		return false, "", err
	}
	return (b.Low == 0 || v >= b.Low) && (b.High == 0 || v <= b.High), fmt.Sprintf("%s shows %g, want %s", b.Gauge, v, b.want()), nil
}

func (b *Band) want() string {
	switch {
	case b.Low == 0:
		return fmt.Sprintf("at most %g", b.High)
	case b.High == 0:
		return fmt.Sprintf("at least %g", b.Low)
	}
	return fmt.Sprintf("%g to %g", b.Low, b.High)
}
