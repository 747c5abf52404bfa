package registry_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/registry"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// mails are n messages a second apart, the newest first, unread where a function says so.
func mails(n int, unread func(n int) bool) []registry.Mail {
	var all []registry.Mail
	for k := n - 1; k >= 0; k-- {
		all = append(all, registry.Mail{ID: fmt.Sprint("message_", k), Received: noon.Add(time.Duration(k) * time.Second), Unread: unread(k)})
	}
	return all
}

func save(t *testing.T, r *registry.Registry, mail []registry.Mail, marked ...string) {
	t.Helper()
	c := registry.Change{InboxID: "a", Mail: mail, Marked: map[string]bool{}}
	for _, id := range marked {
		c.Marked[id] = true
	}
	if err := r.SaveSeen(c); err != nil {
		t.Fatal(err)
	}
}

func seen(t *testing.T, r *registry.Registry) registry.Seen {
	t.Helper()
	all, err := r.Seen()
	if err != nil {
		t.Fatal(err)
	}
	return all["a"]
}

func TestWhatWasSeenIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name       string
		unread     func(n int) bool
		exceptions int // at most, of 1,000
	}{
		{"nothing", func(int) bool { return true }, 0},
		{"everything", func(int) bool { return false }, 0},
		{"the newest", func(n int) bool { return n < 999 }, 1},
		{"all but the newest", func(n int) bool { return n == 999 }, 0},
		{"the older half", func(n int) bool { return n >= 500 }, 0},
		{"a few in between", func(n int) bool { return n%100 != 5 }, 10},
		{"anything", func(int) bool { return r.IntN(3) == 0 }, 400},
	} {
		reg := registry.Open(t.TempDir(), "default", base)
		all := mails(1000, c.unread)
		save(t, reg, all)
		s := seen(t, reg)
		for _, m := range all {
			if s.Unread(m.ID, m.Received) != m.Unread {
				t.Fatalf("%s was seen: %s is not as it was", c.name, m.ID)
			}
		}
		if !s.Unread("later", noon.Add(time.Hour)) {
			t.Errorf("%s was seen: what came later is read", c.name)
		}
		if len(s.Exceptions) > c.exceptions {
			t.Errorf("%s was seen: %d exceptions", c.name, len(s.Exceptions))
		}
	}
}

func TestMessagesOfTheSameSecond(t *testing.T) {
	for n := range 64 {
		reg := registry.Open(t.TempDir(), "default", base)
		all := mails(6, func(k int) bool { return n>>k&1 == 1 })
		for k := range all {
			all[k].Received = noon.Add(time.Duration(k/-2) * time.Second)
		}
		all[5].Received = time.Time{} // as a service that says none
		save(t, reg, all)
		for _, m := range all {
			if seen(t, reg).Unread(m.ID, m.Received) != m.Unread {
				t.Errorf("of %+v %s is not as it was", all, m.ID)
			}
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
	for n, unread := range []bool{false, true, false} {
		if got := seen(t, reg).Unread(fmt.Sprint("message_", n), noon.Add(time.Duration(n)*time.Second)); got != unread {
			t.Errorf("message %d is unread: %v", n, got)
		}
	}
	var both sync.WaitGroup
	for n := range 2 {
		both.Go(func() {
			for k := range 100 {
				mail := mails(200, func(m int) bool { return m != k*2+n })
				if err := reg.SaveSeen(registry.Change{InboxID: "a", Mail: mail, Marked: map[string]bool{fmt.Sprint("message_", k*2+n): true}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	if s := seen(t, reg); s.InboxID != "a" {
		t.Errorf("after writing at once: %+v", s)
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
	for _, m := range all[:3000] {
		if s.Unread(m.ID, m.Received) != m.Unread {
			t.Fatalf("%s, one of the newest, is not as it was", m.ID)
		}
	}
}

func TestWhatWasSeenAndDamage(t *testing.T) {
	dir := t.TempDir()
	reg := registry.Open(dir, "default", base)
	all := mails(3, func(int) bool { return true })
	for _, content := range []string{"", "{", "null", `{"id":"b"}`, "\x00\xff", `{"id":"a","exceptions":7}`, strings.Repeat("x", 1<<20)} {
		save(t, reg, all)
		path := files(t, dir)[0]
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := reg.Seen(); err != nil || len(s) != 0 {
			t.Errorf("%.20q is read as %+v, %v", content, s, err)
		}
		save(t, reg, all)
		if len(seen(t, reg).InboxID) == 0 {
			t.Errorf("%.20q is not replaced", content)
		}
	}
	if known := list(t, reg); len(known) != 0 {
		t.Errorf("the inboxes are %+v", known)
	}
	if err := reg.Remove("a"); err != nil || len(files(t, dir)) != 0 {
		t.Errorf("removed: %v, left %v", err, files(t, dir))
	}
}

func TestWhatWasSeenWhereNothingCanBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reg := registry.Open(dir, "default", base)
	if err := reg.SaveSeen(registry.Change{InboxID: "a"}); err == nil || !strings.Contains(err.Error(), "keep what was seen") {
		t.Errorf("saved: %v", err)
	}
}

func TestWhatWasSeenIsForgotten(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		reg := registry.Open(dir, "default", base)
		save(t, reg, mails(3, func(int) bool { return true }))
		path := files(t, dir)[0]
		for _, c := range []struct {
			age  time.Duration
			left int
		}{{30 * 24 * time.Hour, 1}, {32 * 24 * time.Hour, 0}} {
			then := time.Now().Add(-c.age)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
			if err := reg.Put(inbox(fmt.Sprint(c.age))); err != nil { // which prunes
				t.Fatal(err)
			}
			if all, err := reg.Seen(); err != nil || len(all) != c.left {
				t.Errorf("after %v: %v, %v", c.age, all, err)
			}
		}
	})
}

func BenchmarkSaveSeen(b *testing.B) {
	reg := registry.Open(b.TempDir(), "default", base)
	all := mails(10_000, func(n int) bool { return n%10 == 0 })
	for n := 0; b.Loop(); n++ {
		m := &all[n%len(all)]
		m.Unread = !m.Unread
		if err := reg.SaveSeen(registry.Change{InboxID: "a", Mail: all, Marked: map[string]bool{m.ID: true}}); err != nil {
			b.Fatal(err)
		}
	}
}
