package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"mayfly/service/postgres/pgtest"
)

// ear is what a process hears of the others.
type ear struct {
	t      *testing.T
	topics chan string
}

// listen has a store hear until the end of the test, from the moment on at which it returns.
func listen(t *testing.T, s *Store) *ear {
	t.Helper()
	e := &ear{t, make(chan string, 100_000)}
	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() {
		if err := s.Listen(ctx, func(topic string) { e.topics <- topic }); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { // before the store is closed
		cancel()
		listening.Wait()
	})
	e.wants("")
	return e
}

// wants fails the test unless the topics are what is heard next, in any order, and as often as it likes.
func (e *ear) wants(topics ...string) {
	e.t.Helper()
	missing := make(map[string]bool)
	for _, topic := range topics {
		missing[topic] = true
	}
	known := len(missing)
	deadline := time.After(time.Minute)
	for n := 0; n < known; {
		select {
		case topic := <-e.topics:
			first, ok := missing[topic]
			if !ok {
				e.t.Fatalf("heard %q, want %q", topic, topics)
			}
			if first {
				n++
			}
			missing[topic] = false
		case <-deadline:
			e.t.Fatalf("some of %q was not heard", topics)
		}
	}
}

func TestWhatOneProcessChangesTheOthersHear(t *testing.T) {
	url := pgtest.Database(t)
	here, there := open(t, url, Options{}), open(t, url, Options{})
	heard, echo := listen(t, here), listen(t, there)

	in := create(t, there, 1, time.Hour)
	heard.wants(in.KeyID)
	if err := deliver(t.Context(), there, in, "x"); err != nil {
		t.Fatal(err)
	}
	heard.wants(in.ID, in.KeyID)
	if err := there.DeleteInbox(t.Context(), in.KeyID, in.ID); err != nil {
		t.Fatal(err)
	}
	heard.wants(in.ID, in.KeyID)
	in = create(t, there, 2, time.Minute)
	heard.wants(in.KeyID)
	if _, err := there.Sweep(t.Context(), in.ExpiresAt, 10); err != nil {
		t.Fatal(err)
	}
	heard.wants(in.ID, in.KeyID)

	// However it is told, all of it is heard, and no more; what a process changes itself it does not hear.
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("inbox_with_a_long_name_%d", i))
	}
	there.Announce("one")
	there.told.tell(many...)
	heard.wants(append(many, "one")...)
	here.Announce("other")
	echo.wants("other")
	there.Announce("end")
	heard.wants("end")

	// What is too much is told as everything.
	for i := range maxTopics {
		many = append(many, fmt.Sprint(i))
	}
	there.told.tell(many...)
	heard.wants("")
}

func TestAnnouncementsAreHeardAgain(t *testing.T) {
	url := pgtest.Database(t)
	here, there := open(t, url, Options{}), open(t, url, Options{})
	heard := listen(t, here)
	for range 2 {
		if n := count(t, there, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND query = 'LISTEN mayfly'`); n != 1 {
			t.Fatalf("%d connections listened", n)
		}
		heard.wants("") // nobody knows what happened meanwhile
		there.Announce("again")
		heard.wants("again")
	}
}

// An announcement that took with it what came while it was gathered leaves nothing to be told, not even that.
func TestNothingIsNotTold(t *testing.T) {
	var a announcer
	a.init()
	a.tell("one")
	a.tell("other")
	if n := len(a.payloads()); n != 1 {
		t.Errorf("%d payloads, want 1", n)
	}
	if list := a.payloads(); len(list) != 0 {
		t.Errorf("nothing is told as %q", list)
	}
}
