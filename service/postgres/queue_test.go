package postgres

import (
	"fmt"
	"testing"

	"mayfly/service"
)

// Mail for keys on two shards does not wait for ever, though each shard always has some of its own.
func TestMailForTwoShardsIsNotOvertaken(t *testing.T) {
	t.Parallel()
	q := newQueue()
	put := func(keys ...int) *delivery {
		d := &delivery{}
		for _, n := range keys { // of shard 1 or 2
			d.Messages = append(d.Messages, service.NewMessage{KeyID: fmt.Sprint(n)})
			d.shards = append(d.shards, shard(n/10))
		}
		q.put(d)
		return d
	}
	put(10)
	one := q.take()
	put(20)
	other := q.take()
	both := put(11, 21)
	put(12)
	put(22)
	for _, group := range [][]*delivery{one, other} {
		if overtaking := q.take(); overtaking != nil {
			t.Fatalf("%+v overtakes", overtaking[0].Messages)
		}
		q.release(group)
		q.stored(group)
	}
	if group := q.take(); len(group) != 3 || group[0] != both {
		t.Errorf("%d deliveries are taken together", len(group))
	}
}
