package server_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"mayfly/internal/server"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// contents returns all messages of a key, by the IDs of its inboxes.
func contents(t *testing.T, s *server.Server, k service.Key) map[string][]service.Message {
	t.Helper()
	list, _, err := s.Service().Inboxes(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]service.Message)
	for _, in := range list {
		l, err := s.Service().Messages(t.Context(), k, in.ID, service.Page{})
		if err != nil {
			t.Fatal(err)
		}
		all[in.ID] = nil
		for _, sum := range l.Messages {
			m, err := s.Service().Message(t.Context(), k, in.ID, sum.ID)
			if err != nil {
				t.Fatal(err)
			}
			all[in.ID] = append(all[in.ID], m)
		}
	}
	return all
}

func sameMessages(a, b []service.Message) bool {
	return slices.EqualFunc(a, b, func(a, b service.Message) bool {
		return a.Summary == b.Summary && a.To == b.To && bytes.Equal(a.Raw, b.Raw)
	})
}

// A live store is moved: it is copied while it is in use, stopped, copied again, and served from
// the database.
func TestCopyOfALiveStore(t *testing.T) {
	t.Parallel()
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		copyLiveStore(t, pgtest.Database(t))
	})
	t.Run("Citus", func(t *testing.T) {
		t.Parallel()
		database := pgtest.CitusDatabase(t)[0]
		must(t, server.DistributeStore(t.Context(), database, 4, slog.New(slog.DiscardHandler)))
		copyLiveStore(t, database)
	})
}

func copyLiveStore(t *testing.T, database string) {
	c := config(t)
	s := start(t, c)
	k, in := newInbox(t, s)
	foreign, _ := newInbox(t, s)
	doomed, freed := newNamedInbox(t, s, k, "doomed"), newNamedInbox(t, s, k, "freed")
	deleteInbox(t, s, k, freed)
	for n := range 30 {
		for _, to := range []string{in.Address, doomed.Address} {
			must(t, send(s.SMTPAddr(), to, fmt.Sprint(n)))
		}
	}

	stop := sendUntil(t, s, in.Address)
	copied := copyStore(t, c.Store, database)
	stop()
	if copied.Keys != 2 || copied.Inboxes != 3 || copied.Messages < 60 {
		t.Fatalf("copied %+v", copied)
	}
	deleteInbox(t, s, k, doomed)
	must(t, send(s.SMTPAddr(), in.Address, "last"))
	want := contents(t, s, k)
	must(t, s.Shutdown(t.Context()))
	if copied = copyStore(t, c.Store, database); copied.Removed != 1 || copied.Messages == 0 {
		t.Fatalf("copied again %+v", copied)
	}
	if copied = copyStore(t, c.Store, database); copied.Removed != 0 || copied.Messages != 0 {
		t.Fatalf("copied once more %+v", copied)
	}
	if _, err := os.Stat(filepath.Join(c.Store, "copying")); err == nil {
		t.Error("the copied state of the store is left behind")
	}

	old := c.Store
	c.Store = database
	moved := start(t, c)
	wantContents(t, contents(t, moved, k), want)
	must(t, send(moved.SMTPAddr(), in.Address, "after"))
	if now := contents(t, moved, k)[in.ID]; len(now) != len(want[in.ID])+1 || !sameMessages(now[1:], want[in.ID]) {
		t.Errorf("after another mail there are %d messages, want %d", len(now), len(want[in.ID])+1)
	}
	if _, err := moved.Service().CreateInbox(t.Context(), foreign, service.NewInbox{Username: "freed"}); service.ErrorCode(err) != service.Taken {
		t.Errorf("another key gets an address that was in use: %v", err)
	}
	newNamedInbox(t, moved, k, "freed")
	if _, err := server.CopyStore(t.Context(), old, database, nil); err == nil || !strings.Contains(err.Error(), "has been served") {
		t.Errorf("copied over a database that is served: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newNamedInbox(t *testing.T, s *server.Server, k service.Key, username string) service.Inbox {
	t.Helper()
	in, err := s.Service().CreateInbox(t.Context(), k, service.NewInbox{Username: username})
	must(t, err)
	return in
}

func deleteInbox(t *testing.T, s *server.Server, k service.Key, in service.Inbox) {
	t.Helper()
	must(t, s.Service().DeleteInbox(t.Context(), k, in.ID))
}

func copyStore(t *testing.T, dir, database string) server.Copied {
	t.Helper()
	copied, err := server.CopyStore(t.Context(), dir, database, nil)
	must(t, err)
	return copied
}

// sendUntil sends mail to an address until the returned function is called.
func sendUntil(t *testing.T, s *server.Server, address string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sending.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if err := send(s.SMTPAddr(), address, fmt.Sprint("meanwhile ", n)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	stop = func() {
		cancel()
		sending.Wait()
	}
	t.Cleanup(stop)
	return stop
}

func wantContents(t *testing.T, got, want map[string][]service.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("there are %d inboxes, want %d", len(got), len(want))
	}
	for id, messages := range want {
		if !sameMessages(got[id], messages) {
			t.Errorf("%s has %d messages, not the %d that it had", id, len(got[id]), len(messages))
		}
	}
}

// A store that was repaired has inboxes in which messages are missing. The others are copied.
func TestCopyOfARepairedStore(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := config(t)
	s := start(t, c)
	_, in := newInbox(t, s)
	for n := range 40 {
		must(t, send(s.SMTPAddr(), in.Address, fmt.Sprint(n, strings.Repeat(" x", 1500))))
	}
	must(t, s.Shutdown(t.Context()))
	flipMiddleOfLog(t, c.Store)
	repaired := filepath.Join(t.TempDir(), "repaired")
	r, err := server.RepairStore(t.Context(), c.Store, repaired)
	must(t, err)
	if r.LostMessages == 0 || r.Messages == 0 {
		t.Fatalf("repaired %+v", r)
	}
	for _, want := range []int{r.Messages, 0} {
		if copied := copyStore(t, repaired, database); copied.Messages != want {
			t.Errorf("copied %+v, want %d messages", copied, want)
		}
	}
}

// flipMiddleOfLog damages the largest log of a store.
func flipMiddleOfLog(t *testing.T, dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	must(t, err)
	var name string
	var largest []byte
	for _, log := range logs {
		b, err := os.ReadFile(log)
		must(t, err)
		if len(b) > len(largest) {
			name, largest = log, b
		}
	}
	largest[len(largest)/2] ^= 0x10
	must(t, os.WriteFile(name, largest, 0o600))
}

func TestCopyRefusesToLoseAnything(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := config(t)
	s := start(t, c)
	newInbox(t, s)
	other := config(t)
	newInbox(t, start(t, other))
	if _, err := server.CopyStore(t.Context(), c.Store, database, nil); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	none := filepath.Join(empty, "none")
	for _, test := range []struct{ from, to, want string }{
		{other.Store, database, "not from this store"},
		{none, database, "no store"},
		{empty, database, "no store"},
		{c.Store, other.Store, "from a folder to a database"},
		{database, database, "from a folder to a database"},
	} {
		if _, err := server.CopyStore(t.Context(), test.from, test.to, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("from %s to %s: %v, want %q", test.from, test.to, err, test.want)
		}
	}
	if created, err := os.ReadDir(empty); err != nil || len(created) > 0 {
		t.Errorf("created where there was no store: %v, %v", created, err)
	}
}

// The count of the day's messages is copied, so that the limit is not granted twice.
func TestCopyIncludesTheCountOfTheDay(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := config(t)
	s := start(t, c)
	_, k, err := s.Service().CreateKey(t.Context(), "", service.Dev)
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Service().CreateInbox(t.Context(), k, service.NewInbox{})
	if err != nil {
		t.Fatal(err)
	}
	deliver := func(s *server.Server) error {
		r, err := s.Service().Recipient(t.Context(), in.Address)
		if err != nil {
			return err
		}
		return s.Service().Deliver(t.Context(), service.Delivery{To: []service.Recipient{r}, Raw: []byte("Subject: x\r\n\r\n")})
	}
	day := service.DayOf(time.Now())
	limit := k.Plan.Limits().EmailsPerDay
	var delivering errgroup.Group
	delivering.SetLimit(64)
	for range limit - 1 {
		delivering.Go(func() error { return deliver(s) })
	}
	must(t, delivering.Wait())
	if _, err := server.CopyStore(t.Context(), c.Store, database, nil); err != nil {
		t.Fatal(err)
	}
	c.Store = database
	moved := start(t, c)
	first, second := deliver(moved), deliver(moved)
	if service.DayOf(time.Now()) != day {
		t.Skip("midnight passed during the test")
	}
	if first != nil || service.ErrorCode(second) != service.OverQuota {
		t.Errorf("after %d messages: %v, then %v", limit-1, first, second)
	}
}
