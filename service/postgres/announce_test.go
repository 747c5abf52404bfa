package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"mayfly/internal/fortest"
)

type listener struct {
	t      *testing.T
	topics chan string
}

// listen returns a listener that listens until the end of the test.
func listen(t *testing.T, s *Store) *listener {
	t.Helper()
	e := &listener{t, make(chan string, 100_000)}
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

// wants fails the test unless the topics are announced next, in any order, and nothing else. Each
// may be announced several times.
func (e *listener) wants(topics ...string) {
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
				e.t.Fatalf("%q was announced, want %q", topic, topics)
			}
			if first {
				n++
			}
			missing[topic] = false
		case <-deadline:
			e.t.Fatalf("some of %q were not announced", topics)
		}
	}
}

func TestChangesAreAnnounced(t *testing.T) {
	t.Parallel()
	everywhere(t, changesAreAnnounced)
}

func changesAreAnnounced(t *testing.T, urls []string) {
	here, there := open(t, urls[0], Options{}), open(t, urls[1], Options{})
	heard, echo := listen(t, here), listen(t, there)

	in := create(t, there, 1, time.Hour)
	heard.wants(in.KeyID)
	check(t, deliver(t.Context(), there, in, "x"))
	heard.wants(in.ID)
	check(t, fortest.Failure(there.ExtendInbox(t.Context(), in.KeyID, in.ID, day, day.Add(2*time.Hour))))
	heard.wants(in.ID)
	check(t, there.DeleteMessages(t.Context(), in, ""))
	heard.wants(in.ID)
	check(t, there.DeleteInbox(t.Context(), in.KeyID, in.ID))
	heard.wants(in.ID)
	in = create(t, there, 2, time.Minute)
	heard.wants(in.KeyID)
	check(t, fortest.Failure(there.Sweep(t.Context(), in.ExpiresAt, 10)))
	heard.wants(in.ID)

	// The connections that listen are cut, and established again.
	if n := countAll(t, here, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND (query = 'LISTEN mayfly' OR query = '-- ping')`); n < 2 {
		t.Fatalf("%d connections listened", n)
	}
	heard.wants("")
	echo.wants("")
	create(t, there, 3, time.Hour)
	heard.wants("key_a")

	// Announcements of any number arrive, but only at other processes.
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("inbox_with_a_long_name_%d", i))
	}
	there.announcer.announce("one")
	there.announcer.announce(many...)
	heard.wants(append(many, "one")...)
	here.announcer.announce("other")
	echo.wants("other")
	there.announcer.announce("end")
	heard.wants("end")

	// Too many are announced as everything.
	for i := range maxTopics {
		many = append(many, fmt.Sprint(i))
	}
	there.announcer.announce(many...)
	heard.wants("")
}
