package pebble

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What is put is taken once, in order, unless it is withdrawn; closing returns what is left.
func TestQueue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	q := newQueue()
	var want, all []*op
	took := func(o *op) {
		t.Helper()
		switch {
		case len(want) == 0 && o == nil:
		case len(want) == 0 || o != want[0]:
			t.Fatal("took another than the first")
		default:
			want = want[1:]
			o.preparing.Unlock()
		}
	}
	for range 10_000 {
		switch r.IntN(8) {
		default:
			o := &op{}
			if !q.put(o) {
				t.Fatal("not put")
			}
			want, all = append(want, o), append(all, o)
		case 0, 1, 2:
			took(q.take())
		case 3:
			if len(all) == 0 {
				continue
			}
			o := all[r.IntN(len(all))]
			i := slices.Index(want, o)
			if got := q.withdraw(o); got != (i >= 0) {
				t.Fatalf("withdrawn: %v, waiting: %v", got, i >= 0)
			}
			if i >= 0 {
				want = slices.Delete(want, i, i+1)
			}
		}
	}
	for len(want) > 10 {
		took(q.take())
	}
	if left := q.close(); !slices.Equal(left, want) {
		t.Errorf("%d left, want %d", len(left), len(want))
	}
	if q.put(&op{}) {
		t.Error("put into a closed queue")
	}
	if q.take() != nil {
		t.Error("took from a closed queue")
	}
}
