package cli

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
)

func TestInOrderKeepsTheOrderOfItsItems(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		got := slices.Collect(inOrder(t.Context(), items, func(i int) int { return i * i }))
		if len(got) != n {
			t.Fatalf("%d items gave %d results", n, len(got))
		}
		for i, v := range got {
			if v != i*i {
				t.Fatalf("result %d is %d, want %d", i, v, i*i)
			}
		}
	}
}

func TestInOrderWorksAheadOnlyAFewItems(t *testing.T) {
	var started atomic.Int64
	items := make([]int, 100_000)
	for range inOrder(t.Context(), items, func(int) struct{} { started.Add(1); return struct{}{} }) {
		break
	}
	if n := started.Load(); n > 1000 {
		t.Errorf("%d items were worked on for one result", n)
	}
}

func TestInOrderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range inOrder(ctx, make([]int, 1000), func(int) int { return 0 }) {
		if n++; n == 3 {
			cancel()
		}
	}
	if n == 1000 {
		t.Error("every item was worked on after the context had ended")
	}
}
