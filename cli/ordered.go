package cli

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// inOrder runs work on items in parallel and yields the results in the order of the items, with
// only a few in memory at a time. It stops early when ctx ends or the consumer stops.
func inOrder[T, R any](ctx context.Context, items []T, work func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		type job struct {
			item   T
			result chan R
		}
		workers := min(runtime.GOMAXPROCS(0), len(items))
		jobs := make(chan job)
		pending := make(chan chan R, 2*workers)
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		for range workers {
			running.Go(func() {
				for j := range jobs {
					j.result <- work(j.item)
				}
			})
		}
		running.Go(func() {
			defer close(pending)
			defer close(jobs)
			for _, item := range items {
				j := job{item, make(chan R, 1)}
				select {
				case pending <- j.result:
				case <-ctx.Done():
					return
				}
				select {
				case jobs <- j:
				case <-ctx.Done():
					return
				}
			}
		})
		for result := range pending {
			select {
			case r := <-result:
				if !yield(r) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
