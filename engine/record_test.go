package engine

import "testing"

func TestAnEngineCountsAllFaultsAndDescribesTheLatest(t *testing.T) {
	e := &Engine{past: newTally()}
	for i := range keptFaults + 5 {
		e.note(FaultRecord{Step: i})
	}
	r := e.Record()
	if r.Faulted != keptFaults+5 || len(r.Faults) != keptFaults || r.Faults[0].Step != 5 || r.Faults[keptFaults-1].Step != keptFaults+4 {
		t.Errorf("%d faults, %d described, from step %d to %d", r.Faulted, len(r.Faults), r.Faults[0].Step, r.Faults[len(r.Faults)-1].Step)
	}
}
