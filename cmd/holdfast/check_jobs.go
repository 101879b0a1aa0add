package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/holdfast-llm/holdfast/check"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// doJobs does jobs, as many at a time as there are processors, and returns their
// results in order. If there are several and stderr is a terminal, it shows how
// far it is.
func doJobs(ctx context.Context, jobs []job, stderr io.Writer) []*check.Result {
	results := make([]*check.Result, len(jobs))
	var bar *cli.Progress
	if len(jobs) > 1 && cli.IsTerminal(stderr) {
		bar = cli.NewProgress(stderr, int64(len(jobs)))
		defer bar.Clear()
	}
	var (
		wg   sync.WaitGroup
		next = make(chan int)
		mu   sync.Mutex // protects bad
		bad  int
	)
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		wg.Go(func() {
			for i := range next {
				results[i] = jobs[i].do(ctx)
				mu.Lock()
				if results[i].Status() != check.Clean {
					bad++
				}
				label := fmt.Sprintf("%d not as they should be, %s", bad, jobs[i].name)
				mu.Unlock()
				bar.Label(label)
				bar.Add(1)
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}
