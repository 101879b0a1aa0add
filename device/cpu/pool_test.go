package cpu

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

func TestPoolRunsTheJobOnceOnEveryWorker(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			p := newPool(workers)
			defer p.close()
			for range 200 {
				ran := make([]atomic.Int32, workers)
				p.run(func(id int) { ran[id].Add(1) })
				for id := range ran {
					if n := ran[id].Load(); n != 1 {
						t.Fatalf("worker %d ran the job %d times", id, n)
					}
				}
			}
		})
	}
}

// TestBarrierSeparatesPhases lets every worker write its cell in each phase
// and read all others' after the barrier.
func TestBarrierSeparatesPhases(t *testing.T) {
	const phases = 150
	for _, workers := range []int{2, 3, 8} {
		p := newPool(workers)
		cells := make([]atomic.Int32, workers)
		var late atomic.Int32
		p.run(func(id int) {
			for phase := int32(1); phase <= phases; phase++ {
				cells[id].Store(phase)
				p.barrier()
				for i := range cells {
					if cells[i].Load() < phase {
						late.Add(1)
					}
				}
				p.barrier()
			}
		})
		p.close()
		if n := late.Load(); n != 0 {
			t.Errorf("%d workers: %d reads before the write they should follow", workers, n)
		}
	}
}

func TestParkedWorkersWakeUp(t *testing.T) {
	p := newPool(3)
	defer p.close()
	for range 5 {
		time.Sleep(4 * parkAfter) // long enough for every worker to park
		var ran atomic.Int32
		p.run(func(int) { ran.Add(1) })
		if ran.Load() != 3 {
			t.Fatalf("%d of 3 workers ran", ran.Load())
		}
	}
}

func TestABrokenJobLetsTheOthersThroughTheBarrier(t *testing.T) {
	p := newPool(3)
	defer p.close()
	done := make(chan struct{})
	go func() {
		p.run(func(id int) {
			if id == 1 {
				p.broken.Store(true) // leaves without arriving
				return
			}
			p.barrier()
		})
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("workers still wait for one that left")
	}
	var ran atomic.Int32
	p.run(func(int) { p.barrier(); ran.Add(1) })
	if ran.Load() != 3 {
		t.Fatalf("after a broken job %d of 3 workers ran", ran.Load())
	}
}

func BenchmarkBarrier(b *testing.B) {
	p := newPool(2)
	defer p.close()
	n := b.N
	b.ResetTimer()
	p.run(func(int) {
		for range n {
			p.barrier()
		}
	})
}
