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
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		pending := make(chan chan R, runtime.GOMAXPROCS(0))
		running.Go(func() {
			defer close(pending)
			for _, item := range items {
				result := make(chan R, 1)
				select {
				case pending <- result:
				case <-ctx.Done():
					return
				}
				running.Go(func() { result <- work(item) })
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
