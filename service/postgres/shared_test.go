package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// serve starts a process for each URL of a database.
func serve(t *testing.T, urls ...string) (services []*service.Service) {
	t.Helper()
	for _, url := range urls {
		s := open(t, url, Options{})
		v := service.New(s, service.Options{Domains: []string{"x.test"}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := v.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(func() { // before the store is closed
			cancel()
			running.Wait()
		})
		services = append(services, v)
	}
	return services
}

// countAll returns the result of a query to the server that all processes listen to.
func countAll(t *testing.T, s *Store, sql string) int {
	t.Helper()
	var n int
	check(t, s.coordinator.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// everywhere runs a test with the URLs for three processes: on one server and, where Citus is
// installed, at each node of a cluster.
func everywhere(t *testing.T, test func(t *testing.T, urls []string)) {
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, slices.Repeat([]string{pgtest.Database(t)}, 3))
	})
	t.Run("Citus", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.CitusDatabase(t))
	})
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// awaitLock waits until a connection to the server of a store waits for a lock.
func awaitLock(t *testing.T, s *Store, what string) {
	t.Helper()
	await(t, what, func() bool {
		return count(t, s, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	})
}

func execute(t *testing.T, on interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
}, sql string, args ...any) {
	t.Helper()
	_, err := on.Exec(t.Context(), sql, args...)
	check(t, err)
}

// What one process has answered holds at another at once: an address belongs to the key that had it
// first, and so does mail for it, with any tag.
func TestTagsDoNotCrossKeysAtAnotherProcess(t *testing.T) {
	t.Parallel()
	everywhere(t, tagsDoNotCross)
}

func tagsDoNotCross(t *testing.T, urls []string) {
	services := serve(t, urls[1], urls[2])
	ctx := t.Context()
	var keys []service.Key
	for range 2 {
		_, k, err := services[0].CreateKey(ctx, "", service.Enterprise)
		check(t, err)
		keys = append(keys, k)
	}
	create := func(process, key int, username string) (service.Inbox, error) {
		return services[process].CreateInbox(ctx, keys[key], service.NewInbox{Username: username})
	}
	for n := range 20 {
		name := fmt.Sprintf("n%d", n)
		var base, tagged service.Inbox
		var baseErr, taggedErr error
		var both sync.WaitGroup
		both.Go(func() { base, baseErr = create(0, 0, name) })
		both.Go(func() { tagged, taggedErr = create(1, 1, name+"+x") })
		both.Wait()
		if baseErr != nil || taggedErr != nil && service.ErrorCode(taggedErr) != service.Taken {
			t.Fatalf("creating at the same time: %v, %v", baseErr, taggedErr)
		}
		if _, err := create(1, 1, name+"+late"); service.ErrorCode(err) != service.Taken {
			t.Fatalf("a tag of another key's address: %v", err)
		}
		want := base.ID
		if taggedErr == nil {
			want = tagged.ID
		}
		for process := range services {
			if r, err := services[process].Recipient(ctx, "", name+"+x@x.test"); err != nil || r.InboxID != want {
				t.Fatalf("mail for the tag goes to %+v, %v, want %s", r, err, want)
			}
		}
		if taggedErr != nil {
			continue
		}
		check(t, services[0].DeleteInbox(ctx, keys[1], tagged.ID))
		if r, err := services[1].Recipient(ctx, "", name+"+x@x.test"); service.ErrorCode(err) != service.NotFound {
			t.Fatalf("after its deletion mail for the tag goes to %+v, %v", r, err)
		}
	}
}
