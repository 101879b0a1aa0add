package report

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/holdfast-llm/holdfast/lab"
)

// flaky is what testdata/flaky.sh does.
func flaky(rate, trial uint32) bool {
	x := trial
	x = (x ^ x>>16) * 73244475
	x = (x ^ x>>16) * 73244475
	return (x^x>>16)%1000 < rate
}

// runFlaky runs testdata/flaky.sh as a process.
func runFlaky(t *testing.T, sh string, rate, trial uint32) bool {
	t.Helper()
	err := exec.Command(sh, "testdata/flaky.sh", fmt.Sprint(rate), fmt.Sprint(trial)).Run()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	return err != nil
}

// TestIntervalsCoverTheTruth makes 1,000 experiments with a flaky command, each
// of another true rate, and counts how often the report's intervals have it: the
// exact ones in 95 % at the least, Wilson's in about as many. With HOLDFAST_LONG
// every trial is a process; otherwise the command's outcome is computed, after a
// look that it is what the command does.
func TestIntervalsCoverTheTruth(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for trial := range uint32(60) {
		rate := trial * 17 % 1000
		if got := runFlaky(t, sh, rate, trial); got != flaky(rate, trial) {
			t.Fatalf("trial %d at rate %d: the command fails: %v", trial, rate, got)
		}
	}
	long := os.Getenv("HOLDFAST_LONG") != ""
	const experiments, trials = 1000, 30
	var exact, score, upper int
	for e := range uint32(experiments) {
		rate := 1 + e*997%999 // of a thousand, each once
		r := of(lab.Header{Name: "flaky", Arms: []string{"command"}})
		for i := range uint32(trials) {
			n := e*trials + i + 1
			fails := flaky(rate, n)
			if long {
				fails = runFlaky(t, sh, rate, n)
			}
			outcome := lab.Clean
			if fails {
				outcome = lab.Fault
			}
			r.addTrial(lab.Trial{Arm: "command", Outcome: outcome})
		}
		c, truth := New(&r.Journal).Cells[0], float64(rate)/1000
		if c.ClopperPearson.Contains(truth) {
			exact++
		}
		if c.Wilson.Contains(truth) {
			score++
		}
		if truth <= c.Upper {
			upper++
		}
	}
	t.Logf("of %d intervals at 95 %%, %d exact and %d of Wilson's have the true rate; %d one-sided bounds are above it", experiments, exact, score, upper)
	// The standard deviation of a count of 950 is 7.
	if exact < 950 || upper < 950 {
		t.Errorf("%d exact intervals and %d one-sided bounds of %d hold; 950 are promised", exact, upper, experiments)
	}
	if score < 929 || score > 971 {
		t.Errorf("%d of Wilson's intervals of %d hold; 950, give or take 21, are promised", score, experiments)
	}
}
