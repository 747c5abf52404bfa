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
func mails(n int, unread func(n int) bool) []registry.Mark {
	var all []registry.Mark
	for k := n - 1; k >= 0; k-- {
		all = append(all, registry.Mark{ID: fmt.Sprint("message_", k), Received: noon.Add(time.Duration(k) * time.Second), Unread: unread(k)})
	}
	return all
}

func seen(t *testing.T, r *registry.Registry) registry.ReadState {
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
		must(t, reg.SaveSeen("a", all))
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
	all := mails(40, func(n int) bool { return n%10 == 7 })
	var both sync.WaitGroup
	for n := range 2 {
		both.Go(func() {
			for k := n; k < len(all); k += 2 { // neither knows what the other marks
				if err := reg.SaveSeen("a", all[k:k+1]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	for n, m := range all {
		if seen(t, reg).Unread(m.ID, m.Received) != m.Unread {
			t.Errorf("after writing at once, %s, number %d, is unread: %v", m.ID, n, !m.Unread)
		}
	}
	must(t, reg.SaveSeen("a", []registry.Mark{{ID: "message_1", Received: noon, Unread: true}, {ID: "message_2"}, {ID: "message_2", Unread: true}}))
	for _, id := range []string{"message_1", "message_2"} {
		if !seen(t, reg).Unread(id, noon) {
			t.Errorf("%s, marked unread, is read", id)
		}
	}
}

func TestWhatWasSeenIsBounded(t *testing.T) {
	dir := t.TempDir()
	reg := registry.Open(dir, "default", base)
	all := mails(20_000, func(n int) bool { return n%2 == 0 })
	must(t, reg.SaveSeen("a", all))
	for _, path := range files(t, dir) {
		if info, err := os.Stat(path); err != nil || info.Size() > 64<<10 {
			t.Errorf("%s has %d bytes, %v", path, info.Size(), err)
		}
	}
	s := seen(t, reg)
	for n, m := range all {
		if unread := m.Unread && n < 4000; s.Unread(m.ID, m.Received) != unread {
			t.Fatalf("%s, number %d, is unread: %v", m.ID, n, !unread)
		}
	}
}
