package postgres

import (
	"fmt"
	"testing"

	"mayfly/service"
)

// Mail for two keys does not wait for ever, though each key always has some of its own.
func TestMailForTwoKeysIsNotOvertaken(t *testing.T) {
	t.Parallel()
	q := newQueue()
	put := func(keys ...int) *delivery {
		d := &delivery{}
		for _, n := range keys {
			d.Messages = append(d.Messages, service.NewMessage{KeyID: fmt.Sprint(n)})
		}
		q.put(d)
		return d
	}
	put(1)
	one := q.take()
	put(2)
	other := q.take()
	both := put(1, 2)
	put(1)
	put(2)
	for _, group := range [][]*delivery{one, other} {
		if overtaking := q.take(); overtaking != nil {
			t.Fatalf("%+v overtakes", overtaking[0].Messages)
		}
		q.stored(group)
	}
	if group := q.take(); len(group) != 3 || group[0] != both {
		t.Errorf("%d deliveries are taken together", len(group))
	}
}
