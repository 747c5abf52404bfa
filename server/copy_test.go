package server_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/server"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// contents is all that a key can see of its inboxes, by their IDs.
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

// A store is moved while it is served: copied, served on, stopped, copied again, and served from the database.
func TestCopyOfALiveStore(t *testing.T) {
	database := pgtest.Database(t)
	c := config(t)
	s := start(t, c)
	k, in := newInbox(t, s)
	foreign, _ := newInbox(t, s)
	ctx := t.Context()
	doomed, err := s.Service().CreateInbox(ctx, k, service.NewInbox{Username: "doomed"})
	if err != nil {
		t.Fatal(err)
	}
	freed, err := s.Service().CreateInbox(ctx, k, service.NewInbox{Username: "freed"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Service().DeleteInbox(ctx, k, freed.ID); err != nil {
		t.Fatal(err)
	}
	for n := range 30 {
		for _, to := range []string{in.Address, doomed.Address} {
			if err := send(s.SMTPAddr(), to, fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
		}
	}

	// Mail comes all the time.
	ctx, cancel := context.WithCancel(ctx)
	var load sync.WaitGroup
	load.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if err := send(s.SMTPAddr(), in.Address, fmt.Sprint("meanwhile ", n)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	copied, err := server.CopyStore(t.Context(), c.Store, database, nil)
	cancel()
	load.Wait()
	if err != nil || copied.Keys != 2 || copied.Inboxes != 3 || copied.Messages < 60 {
		t.Fatalf("copied %+v, %v", copied, err)
	}
	if err := s.Service().DeleteInbox(t.Context(), k, doomed.ID); err != nil {
		t.Fatal(err)
	}
	if err := send(s.SMTPAddr(), in.Address, "last"); err != nil {
		t.Fatal(err)
	}
	want := contents(t, s, k)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if copied, err = server.CopyStore(t.Context(), c.Store, database, nil); err != nil || copied.Removed != 1 || copied.Messages == 0 {
		t.Fatalf("copied again %+v, %v", copied, err)
	}
	if copied, err = server.CopyStore(t.Context(), c.Store, database, nil); err != nil || copied.Removed != 0 || copied.Messages != 0 {
		t.Fatalf("copied once more %+v, %v", copied, err)
	}
	if _, err := os.Stat(filepath.Join(c.Store, "copying")); err == nil {
		t.Error("what was copied from is left behind")
	}

	old := c.Store
	c.Store = database
	moved := start(t, c)
	got := contents(t, moved, k)
	if len(got) != len(want) {
		t.Errorf("%d inboxes are there, want %d", len(got), len(want))
	}
	for id, messages := range want {
		if !sameMessages(got[id], messages) {
			t.Errorf("%s has %d messages that are not the %d it had", id, len(got[id]), len(messages))
		}
	}
	if err := send(moved.SMTPAddr(), in.Address, "after"); err != nil {
		t.Fatal(err)
	}
	if now := contents(t, moved, k)[in.ID]; len(now) != len(want[in.ID])+1 || !sameMessages(now[1:], want[in.ID]) {
		t.Errorf("after another mail there are %d messages, want %d", len(now), len(want[in.ID])+1)
	}
	if _, err := moved.Service().CreateInbox(t.Context(), foreign, service.NewInbox{Username: "freed"}); service.ErrorCode(err) != service.Taken {
		t.Errorf("another key takes an address that was had: %v", err)
	}
	if _, err := moved.Service().CreateInbox(t.Context(), k, service.NewInbox{Username: "freed"}); err != nil {
		t.Errorf("its owner makes it anew: %v", err)
	}
	if _, err := server.CopyStore(t.Context(), old, database, nil); err == nil || !strings.Contains(err.Error(), "has been served") {
		t.Errorf("copied over a database that is served: %v", err)
	}
}

func TestCopyGoesOnlyWhereNothingIsLost(t *testing.T) {
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
	if made, err := os.ReadDir(empty); err != nil || len(made) > 0 {
		t.Errorf("made where there was no store: %v, %v", made, err)
	}
}

// The day's messages come along: the quota is not had twice.
func TestCopyTakesTheCountOfTheDay(t *testing.T) {
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
	most := k.Plan.Limits().EmailsPerDay
	for range most - 1 {
		if err := deliver(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := server.CopyStore(t.Context(), c.Store, database, nil); err != nil {
		t.Fatal(err)
	}
	c.Store = database
	moved := start(t, c)
	first, second := deliver(moved), deliver(moved)
	if service.DayOf(time.Now()) != day {
		t.Skip("the day has changed meanwhile")
	}
	if first != nil || service.ErrorCode(second) != service.OverQuota {
		t.Errorf("after %d messages: %v, then %v", most-1, first, second)
	}
}
