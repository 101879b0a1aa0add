package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

// greedy decodes n tokens of the embedded model, each the likeliest after the
// last.
func greedy(t *testing.T, cfg engine.Config, n int) ([]int32, engine.Record) {
	t.Helper()
	f, err := gguf.Parse(embedded.Name, embedded.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, f, cfg)
	s := sequence(t, e)
	id := int32(1)
	var out []int32
	for range n {
		logits, err := s.Decode(context.Background(), id)
		if err != nil {
			t.Fatalf("token %d: %v", len(out), err)
		}
		id = best(logits)
		out = append(out, id)
	}
	return out, e.Record()
}

// A thousand tokens with a fault in every tenth step are the thousand tokens
// without one.
func TestAThousandTokensSurviveAHundredFaults(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 300 // past the first change of reducer
	}
	want, _ := greedy(t, engine.Config{Context: 2048}, n)

	r := rand.New(rand.NewPCG(1, 2))
	lanes := []string{"attention", "attention", "mul_mat", "mul_mat.swiglu", "rms_norm", "add", "get_rows"}
	kinds := []device.FaultKind{device.FaultMemory, device.FaultNaN, device.FaultPanic, device.FaultCanary}
	var inject []device.Injection
	for step := 5; step < 2*n; step += 10 {
		inject = append(inject, device.Injection{Lane: lanes[r.IntN(len(lanes))], Step: step, Kind: kinds[r.IntN(len(kinds))]})
	}
	got, rec := greedy(t, engine.Config{Context: 2048, Experiment: engine.Experiment{Inject: inject, Arena: device.Arena{Guard: 64}}}, n)
	equal := 0
	for i := range want {
		if got[i] == want[i] {
			equal++
		}
	}
	if equal != n {
		t.Errorf("%d of %d tokens are equal", equal, n)
	}
	then := map[string]int{}
	for _, f := range rec.Faults {
		then[f.Then]++
	}
	if len(rec.Faults) < n/15 || then["quarantined"] < 5 || then["given up"] > 0 {
		t.Errorf("%d faults for %d steps: %v", len(rec.Faults), n, then)
	}
	t.Logf("%d tokens, %d faults: %v", n, len(rec.Faults), then)
}

func TestAFaultIsOnRecordAndQuarantinesItsLaneForItsShape(t *testing.T) {
	inject, err := engine.ParseInject("attention.decode_split:step=3:kind=oob")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := greedy(t, engine.Config{}, 10)
	got, rec := greedy(t, engine.Config{Experiment: engine.Experiment{Inject: inject}}, 10)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tokens %v, want %v", got, want)
	}
	if len(rec.Faults) != 1 {
		t.Fatalf("faults %+v, want one", rec.Faults)
	}
	f := rec.Faults[0]
	if f.Step != 3 || f.Lane != "attention.decode_split.direct.next_q8" || f.Kind != device.FaultMemory || f.Keys != 256 || f.Then != "quarantined" {
		t.Errorf("fault %+v", f)
	}
	lanes := map[string]int{}
	for _, l := range rec.Lanes {
		lanes[l.Lane] = l.Count
	}
	// The last layer's rows are selected before the projection: not fused.
	layers := lanes["rms_norm.rope.kv_store"]/10 - 1
	if lanes["attention.decode_split.direct.next_q8"] != 3*layers || lanes["attention.decode_split.direct"] != 7*layers+10 {
		t.Errorf("lanes %v of %d layers", lanes, layers)
	}
	for _, d := range rec.Declines {
		if d.Reason == device.ReasonQuarantined && d.Lane == f.Lane && d.Count == 7*(layers+1) && strings.Contains(d.Detail, "oob fault in step 3") {
			return
		}
	}
	t.Errorf("declines %+v have no quarantine", rec.Declines)
}

func TestStrictMakesAFaultAnError(t *testing.T) {
	f, err := gguf.Parse(embedded.Name, embedded.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, f, engine.Config{Strict: true, Experiment: engine.Experiment{
		Inject: []device.Injection{{Lane: "mul_mat.swiglu", Step: 1, Kind: device.FaultPanic}},
	}})
	s := sequence(t, e)
	decode(t, s, 1)
	var fault *device.Fault
	if _, err := s.Decode(context.Background(), 2); !errors.As(err, &fault) || fault.Kind != device.FaultPanic {
		t.Errorf("error %v, want the fault", err)
	}
	if s.Len() != 1 {
		t.Errorf("the sequence has %d tokens, want 1", s.Len())
	}
	decode(t, s, 2)
}

// A NaN that nobody can be blamed for is on record, and the step's second run
// is its answer.
func TestAnUnexplainedNaNIsRunAgain(t *testing.T) {
	want, _ := greedy(t, engine.Config{}, 5)
	got, rec := greedy(t, engine.Config{Experiment: engine.Experiment{
		Inject: []device.Injection{{Lane: "mul_mat.swiglu", Step: 2, Kind: device.FaultNaN}},
	}}, 5)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tokens %v, want %v", got, want)
	}
	if len(rec.Faults) != 1 || rec.Faults[0].Lane != "" || rec.Faults[0].Step != 2 {
		t.Errorf("faults %+v", rec.Faults)
	}
}

func TestInjectionsThatDoNotParseSayWhatIsWrong(t *testing.T) {
	for s, want := range map[string]string{
		"attention":                          "want LANE:step=N:kind=KIND",
		"attention:step=x:kind=oob":          `step "x"`,
		"attention:step=-1:kind=oob":         `step "-1"`,
		"attention:step=1:kind=odd":          `kind "odd"`,
		"attention:step=1:kind=oob:when=now": `"when=now"`,
		":step=1:kind=oob":                   "want LANE",
		"a:step=1:kind=oob,b":                `injection "b"`,
	} {
		if _, err := engine.ParseInject(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", s, err, want)
		}
	}
	got, err := engine.ParseInject(" a:step=1:kind=oob, b.c:kind=nan:step=0 ,")
	want := []device.Injection{{Lane: "a", Step: 1, Kind: "oob"}, {Lane: "b.c", Step: 0, Kind: "nan"}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}
