package simd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	vectorRegister = regexp.MustCompile(`\b[XYZ]([0-9]|[12][0-9]|3[01])\b`)
	wideRegister   = regexp.MustCompile(`\b[YZ]([0-9]|[12][0-9]|3[01])\b`)
)

// What doc.go promises of the assembly: no legacy SSE instruction (they have no
// V in front), and VZEROUPPER right before every return of a function that uses
// wide registers.
func TestAssemblyKeepsToAVX(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly found: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range assemblyFaults(string(text)) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestAssemblyFaultsAreFound(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"clean", "TEXT ·f(SB), NOSPLIT, $0\n\tVADDPS Y0, Y1, Y1\n\tVZEROUPPER\n\tRET\n", 0},
		{"no wide registers", "TEXT ·f(SB), NOSPLIT, $0\n\tVADDPS X0, X1, X1\n\tRET\n", 0},
		{"legacy move", "TEXT ·f(SB), NOSPLIT, $0\n\tMOVUPS X0, X1\n\tRET\n", 1},
		{"no VZEROUPPER", "TEXT ·f(SB), NOSPLIT, $0\n\tVADDPS Z0, Z1, Z1\n\tRET\n", 1},
		{"VZEROUPPER on one return only", "TEXT ·f(SB), NOSPLIT, $0\n\tVADDPS Y0, Y1, Y1\n\tVZEROUPPER\n\tRET\nlast:\n\tRET\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := assemblyFaults(tt.text); len(got) != tt.want {
				t.Errorf("faults %q, want %d", got, tt.want)
			}
		})
	}
}

func assemblyFaults(text string) (faults []string) {
	var function, before string
	wide := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		switch op := fields[0]; {
		case op == "TEXT":
			function, wide = fields[1], false
		case op == "RET":
			if wide && before != "VZEROUPPER" {
				faults = append(faults, function+": RET without VZEROUPPER")
			}
		case vectorRegister.MatchString(line) && op[0] != 'V' && op[0] != 'K':
			faults = append(faults, function+": "+line)
		}
		wide = wide || wideRegister.MatchString(line)
		before = fields[0]
	}
	return faults
}
