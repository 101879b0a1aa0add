//go:build unix

package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("LAB_STORM"); path != "" {
		storm(path)
	}
	os.Exit(m.Run())
}

// storm is what the kill storm kills: it makes the trials of an experiment.
func storm(path string) {
	e, err := ReadExperiment(path)
	if err == nil {
		err = (&Runner{Experiment: e, Journal: path + ".jsonl"}).Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// experiment is one with arms of shell scripts, "name: script" a line, behind what
// else there is.
func experiment(t *testing.T, head string, arms ...string) *Experiment {
	t.Helper()
	text := "name = \"test\"\n" + head
	for _, a := range arms {
		name, script, _ := strings.Cut(a, ": ")
		text += fmt.Sprintf("\n[[arm]]\nname = %q\ncommand = [\"sh\", \"-c\", '''%s''']\n", name, script)
	}
	e, err := ParseExperiment("test.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// runAll makes the trials and reads the journal.
func runAll(t *testing.T, e *Experiment) (*Journal, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	err := (&Runner{Experiment: e, Journal: path}).Run(context.Background())
	return journalAt(t, path), err
}

// journalAt reads the journal at path.
func journalAt(t *testing.T, path string) *Journal {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j, err := ReadJournal(path, f)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestATrialIsKnownByItsFaces(t *testing.T) {
	cases := []struct {
		name, head, script string
		outcome            Outcome
		faces              []string
		reason             string
	}{
		{name: "a clean end", script: "echo ok", outcome: Clean},
		{name: "a status that no face is for", script: "exit 7", outcome: Fault, faces: []string{"exit 7"}},
		{name: "a status that is a face", head: "[[face]]\nkind = \"exit\"\ncodes = [7]", script: "exit 7", outcome: Fault, faces: []string{"exit"}},
		{name: "a signal", script: "kill -SEGV $$", outcome: Fault, faces: []string{"signal: segmentation fault"}},
		{name: "a pattern", head: "[[face]]\nname = \"page fault\"\nkind = \"match\"\npattern = \"Memory access fault\"", script: "echo 'Memory access fault by GPU' >&2", outcome: Fault, faces: []string{"page fault"}},
		{name: "a pattern that is not there", head: "[[face]]\nkind = \"match\"\npattern = \"fault\"", script: "echo ok", outcome: Clean},
		{name: "missing answers", head: "[[face]]\nname = \"requests\"\nkind = \"missing\"\npattern = \"(?m)^answer\"\ncount = 3", script: "echo answer; echo answer", outcome: Incomplete, faces: []string{"requests"}, reason: "requests"},
		{name: "all answers", head: "[[face]]\nkind = \"missing\"\npattern = \"(?m)^answer\"\ncount = 2", script: "echo answer; echo answer", outcome: Clean},
		{name: "a NaN", head: "[[face]]\nkind = \"nan\"", script: "echo 'logit -nan'", outcome: Fault, faces: []string{"nan"}},
		{name: "a word with nan in it", head: "[[face]]\nkind = \"nan\"", script: "echo 'banana info nano'", outcome: Clean},
		{name: "invalid UTF-8", head: "[[face]]\nkind = \"utf8\"", script: `printf '\377'`, outcome: Fault, faces: []string{"utf8"}},
		{name: "a fault over incomplete", head: "[[face]]\nkind = \"nan\"\n[[face]]\nkind = \"missing\"\npattern = \"answer\"\ncount = 1", script: "echo nan", outcome: Fault, faces: []string{"nan", "missing"}},
		{name: "a trial that hangs", head: "timeout = \"200ms\"", script: "sleep 30", outcome: Fault, faces: []string{"longer than 200ms"}},
		{name: "a trial that hangs, as a face", head: "timeout = \"200ms\"\n[[face]]\nname = \"hang\"\nkind = \"timeout\"\noutcome = \"incomplete\"", script: "sleep 30", outcome: Incomplete, faces: []string{"hang"}, reason: "hang"},
		{name: "a child that is left running", script: "sleep 30 & echo ok", outcome: Clean},
		{name: "an answer that differs", head: "[reference]\narm = \"a\"\n[[face]]\nkind = \"differs\"", script: "echo $$", outcome: Fault, faces: []string{"differs"}},
		{name: "an answer that does not", head: "[reference]\narm = \"a\"\nruns = 3\n[[face]]\nkind = \"differs\"", script: "echo same", outcome: Clean},
		{name: "out of regime", head: "[regime]\ngauge = \"command:echo 95\"\nhigh = 90", script: "echo ok", outcome: OutOfRegime, reason: "command:echo 95 shows 95, want at most 90"},
		{name: "in regime", head: "[regime]\ngauge = \"command:echo 85\"\nhigh = 90\nlow = 80", script: "echo ok", outcome: Clean},
		{name: "a limit", head: "[[limit]]\ngauge = \"command:echo 120\"\nhigh = 100", script: "sleep 30", outcome: Invalid, reason: "stopped: command:echo 120 shows 120, want at most 100"},
		{name: "a regime that cannot be told", head: "[regime]\ngauge = \"file:/nowhere\"", script: "echo ok", outcome: Invalid, reason: "gauge file:/nowhere: open /nowhere: no such file or directory"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			j, err := runAll(t, experiment(t, "trials = 1\n"+c.head, "a: "+c.script))
			if err != nil {
				t.Fatal(err)
			}
			got := j.Trials[0]
			if got.Outcome != c.outcome || !slices.Equal(got.Faces, c.faces) || got.Reason != c.reason {
				t.Errorf("%s %q %q, want %s %q %q", got.Outcome, got.Faces, got.Reason, c.outcome, c.faces, c.reason)
			}
			if d := time.Since(began); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func TestAnAnswerThatIsNotTheModalOneIsAFault(t *testing.T) {
	head := "trials = 5\n[[face]]\nname = \"another answer\"\nkind = \"unusual\"\n"
	j, err := runAll(t, experiment(t, head, "a: [ {trial} = 2 ] && echo odd || echo even", "b: echo {arm}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range j.Trials {
		want := Clean
		if x.ID == "a//2" {
			want = Fault
		}
		if x.Outcome != want || (want == Fault) != slices.Contains(x.Faces, "another answer") {
			t.Errorf("%s: %s %q", x.ID, x.Outcome, x.Faces)
		}
	}
}

// TestAFullDiskStopsTheRun lets a run write no more than a block of its journal.
func TestAFullDiskStopsTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "storm.toml")
	if err := os.WriteFile(path, []byte("name = \"full\"\ntrials = 1000\n[[arm]]\nname = \"a\"\ncommand = [\"true\"]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", "trap '' XFSZ; ulimit -f 8; exec "+os.Args[0])
	c.Env = append(os.Environ(), "LAB_STORM="+path)
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "file too large") {
		t.Fatalf("%v: %s", err, out)
	}
	j := journalAt(t, path+".jsonl")
	if len(j.Trials) == 0 || len(j.Open) > 1 {
		t.Errorf("%d trials, %d open", len(j.Trials), len(j.Open))
	}
}

func TestTrialsOfAllArmsAndPointsInterleave(t *testing.T) {
	head := "trials = 2\n[[axis]]\nname = \"depth\"\nvalues = [\"1\", \"2\"]\n"
	j, err := runAll(t, experiment(t, head, "a: echo {depth} {trial} {arm}", "b: echo"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, x := range j.Trials {
		ids = append(ids, x.ID)
	}
	want := "a/1/1 b/1/1 a/2/1 b/2/1 a/1/2 b/1/2 a/2/2 b/2/2"
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	random := experiment(t, "order = \"random\"\nseed = 4\n"+head, "a: echo", "b: echo").plan()
	again := experiment(t, "order = \"random\"\nseed = 4\n"+head, "a: echo", "b: echo").plan()
	same := 0
	for i := range random {
		if random[i].id() != again[i].id() {
			t.Fatal("a seed gives two orders")
		}
		if random[i].id() == ids[i] {
			same++
		}
	}
	if same == len(ids) {
		t.Error("the random order is none")
	}
}

func TestACommandThatCannotStartStopsTheRunAfterThree(t *testing.T) {
	e, err := ParseExperiment("x.toml", "name = \"x\"\ntrials = 9\n[[arm]]\nname = \"a\"\ncommand = [\"/no/such/program\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	j, err := runAll(t, e)
	if err == nil || !strings.Contains(err.Error(), "three trials in a row could not start") {
		t.Errorf("error %v", err)
	}
	if len(j.Trials) != 3 || j.Trials[2].Outcome != Invalid || !strings.Contains(j.Trials[2].Reason, "/no/such/program") {
		t.Errorf("%+v", j.Trials)
	}
}

func TestNoMoreTrialsWhereThereAreFaultsEnough(t *testing.T) {
	j, err := runAll(t, experiment(t, "trials = 9\nstop_faults = 2", "bad: exit 1", "good: exit 0"))
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Trials) != 2+9 {
		t.Errorf("%d trials, want 2 of bad and 9 of good", len(j.Trials))
	}
}

func TestPressureIsStartedUntilTheGaugeIsThereAndGoneAfterwards(t *testing.T) {
	dir := t.TempDir()
	head := fmt.Sprintf("trials = 2\n[[pressure]]\nname = \"load\"\ncommand = [\"sh\", \"-c\", \"touch %[1]s/p{n}; sleep 60 & wait\"]\nmost = 5\nsettle = \"2s\"\ngauge = \"command:sh %[1]s/count\"\nlow = 3\nhigh = 4\n", dir)
	if err := os.WriteFile(filepath.Join(dir, "count"), []byte(fmt.Sprintf("ls %s | grep -c ^p; true", dir)), 0o666); err != nil {
		t.Fatal(err)
	}
	e := experiment(t, head, fmt.Sprintf("a: ls %s/p* | wc -l", dir))
	e.Arms[0].Pressure = "load"
	j, err := runAll(t, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range j.Trials {
		if x.Outcome != Clean {
			t.Errorf("%+v", x)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "p*"))
	if len(left) != 3 {
		t.Errorf("%d programs were started, want 3", len(left))
	}
	if out, _ := exec.Command("pgrep", "-f", dir+"/p").Output(); len(out) > 0 {
		t.Errorf("still there: %s", out)
	}
}

// TestAKillStormLosesNoTrialAndCountsNoneTwice kills a run of fast trials with
// SIGKILL at random moments, and starts it again each time.
func TestAKillStormLosesNoTrialAndCountsNoneTwice(t *testing.T) {
	kills := 12
	if os.Getenv("HOLDFAST_LONG") != "" {
		kills = 200
	}
	path := filepath.Join(t.TempDir(), "storm.toml")
	trials := 5 * kills
	text := fmt.Sprintf("name = \"storm\"\ntrials = %d\n[[arm]]\nname = \"a\"\ncommand = [\"true\"]\n[[arm]]\nname = \"b\"\ncommand = [\"false\"]\n", trials)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	killed := 0
	start := func() *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "LAB_STORM="+path)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for killed < kills {
		c := start()
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		_ = c.Process.Kill()
		if err := c.Wait(); err == nil {
			break // it was done
		}
		killed++
	}
	if killed < kills/4 {
		t.Fatalf("%d kills: the run was over too soon", killed)
	}
	if err := start().Wait(); err != nil { // the rest, undisturbed
		t.Fatal(err)
	}
	j := journalAt(t, path+".jsonl")
	// Trials end in their order, each once; one that was killed ends under another
	// number.
	plan := (&Experiment{Trials: trials, Arms: []Arm{{Name: "a"}, {Name: "b"}}}).plan()
	if len(j.Trials) != len(plan) {
		t.Fatalf("%d trials ended, want %d", len(j.Trials), len(plan))
	}
	for i, x := range j.Trials {
		id, _, _ := strings.Cut(x.ID, "#")
		if id != plan[i].id() {
			t.Fatalf("trial %d is %s, want %s", i, x.ID, plan[i].id())
		}
		if want := map[string]Outcome{"a": Clean, "b": Fault}[x.Arm]; x.Outcome != want {
			t.Errorf("%s: %s", x.ID, x.Outcome)
		}
	}
	t.Logf("%d kills, %d trials, %d killed while they ran", killed, len(j.Trials), len(j.Open))
}

func TestAFileThatChangedIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	for i, head := range []string{"trials = 1", "trials = 2"} {
		err := (&Runner{Experiment: experiment(t, head, "a: true"), Journal: path}).Run(context.Background())
		if got := errors.Is(err, ErrChanged); got != (i == 1) {
			t.Errorf("run %d: %v", i, err)
		}
	}
}

func TestAnExperimentsMistakesAreNamed(t *testing.T) {
	arm := "\n[[arm]]\nname = \"a\"\ncommand = [\"true\"]\n"
	for text, want := range map[string]string{
		"name = \"x\"\ntrails = 3" + arm:                                                            `x.toml:2: unknown key "trails" (did you mean "trials"?)`,
		"name = \"x\"\ntrials = 0" + arm:                                                            "trials = 0, want 1 to",
		"trials = 1" + arm:                                                                          "no name",
		"name = \"x\"\ntrials = 1":                                                                  "without arms",
		"name = \"x\"\ntrials = 1\norder = \"best\"" + arm:                                          `order = "best"`,
		"name = \"x\"\ntrials = 1\ntimeout = \"5 minutes\"" + arm:                                   "x.toml:3:",
		"name = \"x\"\ntrials = 1\nmemory = \"4\"" + arm:                                            "no size",
		"name = \"x\"\ntrials = 1" + arm + arm:                                                      `two arms are named "a"`,
		"name = \"x\"\ntrials = 1" + arm + "pressure = \"p\"":                                       `no pressure "p"`,
		"name = \"x\"\ntrials = 1" + arm + "[[face]]\nkind = \"mach\"":                              `kind "mach" (did you mean "match"?)`,
		"name = \"x\"\ntrials = 1" + arm + "[[face]]\nkind = \"match\"":                             "need one",
		"name = \"x\"\ntrials = 1" + arm + "[[face]]\nkind = \"differs\"":                           "needs a [reference]",
		"name = \"x\"\ntrials = 1" + arm + "[regime]\ngauge = \"heat\"":                             `gauge "heat": want file:PATH`,
		"name = \"x\"\ntrials = 1" + arm + "[[axis]]\nname = \"d\"\nvalues=[]":                      `axis "d" has no values`,
		"name = \"x\"\ntrials = 1" + arm + "[[claim]]\nkind = \"at most\"\narm = \"b\"\nrate = 0.1": `no arm "b"`,
	} {
		if _, err := ParseExperiment("x.toml", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzParseExperiment(f *testing.F) {
	f.Add("name = \"x\"\ntrials = 1\n[[arm]]\nname = \"a\"\ncommand = [\"true\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := ParseExperiment("x", text); err == nil && len(e.Arms)*len(Points(e.header().Axes))*e.Trials < 1000 {
			e.plan()
		}
	})
}
