package registry_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"mayfly/internal/registry"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// mails are n messages a second apart, the newest first, unread where a function says so.
func mails(n int, unread func(n int) bool) []registry.Mail {
	var all []registry.Mail
	for k := n - 1; k >= 0; k-- {
		all = append(all, registry.Mail{ID: fmt.Sprint("message_", k), Received: noon.Add(time.Duration(k) * time.Second), Unread: unread != nil && unread(k)})
	}
	return all
}

func save(t *testing.T, r *registry.Registry, mail []registry.Mail, marked ...string) {
	t.Helper()
	c := registry.Change{InboxID: "a", Mail: mail, Marked: map[string]bool{}}
	for _, id := range marked {
		c.Marked[id] = true
	}
	must(t, r.SaveSeen(c))
}

func seen(t *testing.T, r *registry.Registry) registry.Seen {
	t.Helper()
	all, err := r.SeenReader().Read()
	must(t, err)
	return all["a"]
}

func TestWhatWasSeenIsKept(t *testing.T) {
	for name, unread := range map[string]func(n int) bool{
		"nothing":          func(int) bool { return true },
		"everything":       func(int) bool { return false },
		"the newest":       func(n int) bool { return n < 999 },
		"the older half":   func(n int) bool { return n >= 500 },
		"a few in between": func(n int) bool { return n%100 != 5 },
	} {
		reg := registry.Open(t.TempDir(), "default", base)
		all := mails(1000, unread)
		all[999].Received = time.Time{} // as a service that says none
		save(t, reg, all)
		s := seen(t, reg)
		for _, m := range all {
			if s.Unread(m.ID, m.Received) != m.Unread {
				t.Fatalf("%s was seen: %s is not as it was", name, m.ID)
			}
		}
		if !s.Unread("later", noon.Add(time.Hour)) {
			t.Errorf("%s was seen: what came later is read", name)
		}
	}
}

func TestTwoApplicationsMarkMessagesOfAnInbox(t *testing.T) {
	reg := registry.Open(t.TempDir(), "default", base)
	all := mails(3, func(int) bool { return true })
	save(t, reg, all)
	read := func(n int) []registry.Mail {
		mail := mails(3, func(k int) bool { return k != n })
		save(t, reg, mail, fmt.Sprint("message_", n))
		return mail
	}
	read(0)
	read(2) // its application does not know that message 0 was read
	save(t, reg, mails(4, func(k int) bool { return k < 3 }), "message_3")
	read(2) // nor that there is a newer message, which was read
	for n, unread := range []bool{false, true, false, false} {
		if got := seen(t, reg).Unread(fmt.Sprint("message_", n), noon.Add(time.Duration(n)*time.Second)); got != unread {
			t.Errorf("message %d is unread: %v", n, got)
		}
	}
	var both sync.WaitGroup
	for n := range 2 {
		both.Go(func() {
			for k := range 20 {
				mail := mails(40, func(m int) bool { return m != k*2+n })
				if err := reg.SaveSeen(registry.Change{InboxID: "a", Mail: mail, Marked: map[string]bool{fmt.Sprint("message_", k*2+n): true}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	for n, m := range mails(40, nil) {
		if seen(t, reg).Unread(m.ID, m.Received) {
			t.Errorf("after writing at once, %s, number %d, is unread", m.ID, n)
		}
	}
}

func TestWhatWasSeenIsBounded(t *testing.T) {
	dir := t.TempDir()
	reg := registry.Open(dir, "default", base)
	all := mails(20_000, func(n int) bool { return n%2 == 0 })
	save(t, reg, all)
	for _, path := range files(t, dir) {
		if info, err := os.Stat(path); err != nil || info.Size() > 64<<10 {
			t.Errorf("%s has %d bytes, %v", path, info.Size(), err)
		}
	}
	s := seen(t, reg)
	for n, m := range all {
		if unread := m.Unread && n < 6000; s.Unread(m.ID, m.Received) != unread {
			t.Fatalf("%s, number %d, is unread: %v", m.ID, n, !unread)
		}
	}
}
