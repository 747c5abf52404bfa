package lists

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

// inboxScene is the pane over a store of its own.
type inboxScene struct {
	*Inboxes
	t     testing.TB
	store *store.Store
	now   time.Time
}

// open opens the pane with inboxes of an hour, the last one the newest.
func openInboxes(t testing.TB, w, h int, ids ...string) *inboxScene {
	s := &inboxScene{t: t, store: store.New(start), now: start}
	for _, id := range ids {
		s.put(id, "b.example")
	}
	s.Inboxes = NewInboxes(s.store)
	s.Fit(theme.Rect{W: w, H: h})
	return s
}

func (s *inboxScene) put(id, domain string) *store.Inbox {
	created := start.Add(time.Duration(len(s.store.Order)) * time.Second)
	i, _ := s.store.Put(api.Inbox{ID: id, Email: id + "@" + domain, CreatedAt: created, ExpiresAt: start.Add(time.Hour)}, start)
	return i
}

// mail brings an inbox messages that were read by an earlier run, and unread ones.
func (s *inboxScene) mail(id string, old, unread int) {
	var list []api.Summary
	if old > 0 {
		s.store.Merge(map[string]registry.ReadState{id: {Until: start.Unix()}})
	}
	for n := range old + unread {
		list = append(list, api.Summary{ID: fmt.Sprint(n), ReceivedAt: start.Add(time.Duration(n-old+1) * time.Second)})
	}
	s.store.Apply(watch.Event{Kind: watch.Listed, InboxID: id, Messages: list}, s.now)
}

// send does things to the pane, and takes what changed from the store, as the root does.
func (s *inboxScene) send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		s.do(msg)
		s.Refresh()
		s.Fit(s.Rect)
	}
}

func (s *inboxScene) press(names ...string) {
	for _, k := range uitest.Keys(names...) {
		s.send(k)
	}
}

func (s *inboxScene) draw() uitest.Screen {
	s.t.Helper()
	return uitest.Draw(s.t, s.Draw(uitest.Theme(s.t), s.now, true), s.Rect.W)
}

// What the service has besides the inboxes it lists is said below them.
func TestMoreInboxesThanListed(t *testing.T) {
	s := openInboxes(t, 30, 6, "a", "b", "c", "d")
	s.store.Apply(watch.Event{Kind: watch.Inboxes, Inboxes: make([]api.Inbox, 4), Total: 99_004}, s.now)
	s.Fit(s.Rect)
	s.send(nil, uitest.Move(4))
	s.draw().Is(`
 Inboxes
   d                        …
   c                        …
   b                        …
▌  a                        …
  99,000 more
`)
	for _, id := range []string{"e", "f", "g"} {
		s.put(id, "b.example")
	}
	s.Rect.H = 9 // the lowest with an empty line below the title
	s.Refresh()
	s.Fit(s.Rect)
	s.draw().Is(`
 Inboxes

   f                        …
   e                        …
   d                        …
   c                        …
   b                        …
▌  a                        …
  99,000 more
`)
}

func TestTheListOfInboxes(t *testing.T) {
	s := openInboxes(t, 30, 11, "old", "ci-run-881", "ada")
	s.put("eve", "other.example").Label = "signup ✓"
	s.mail("old", 3, 0)
	s.mail("ada", 2, 2)
	s.store.Inboxes["ci-run-881"].Paused = true
	s.store.Inboxes["eve"].Expires = start.Add(4 * time.Minute)
	s.send(nil, uitest.Move(2), uitest.Mark)
	s.draw().Is(`
 Inboxes             1 marked

   All inboxes  2 of 7 unread
   signup ✓                 …
   ○ expires in 4 min
 ✓ ada@b.example          2/4
   ● 60 min left
▌  ci-run-881@b.example
▌  ○ paused · 60 min left
   old@b.example          0/3
   ● 60 min left
`)
	s.store.Inboxes["ci-run-881"].Paused, s.store.Inboxes["ci-run-881"].State = false, store.Failing
	s.Fit(theme.Rect{W: 26, H: 11})
	s.draw().Is(`
 Inboxes         1 marked

   All inboxes        2/7
   signup ✓             …
   ○ expires in 4 min
 ✓ ada@b.example      2/4
   ● 60 min left
▌  ci-run-881
▌  ! failing
   old@b.example      0/3
   ● 60 min left
`)
	s.store.Inboxes["ci-run-881"].Paused, s.store.Inboxes["ci-run-881"].State = true, store.Unlisted
	s.Fit(theme.Rect{W: 18, H: 5})
	s.draw().Is(`
 Inboxes 1 marked
   All inbox… 2/7
   sig… ✓ 4 min …
 ✓ ada        2/4
▌  ci-…881 paused
`)
	uitest.Draw(t, s.Draw(uitest.Theme(t), s.now, false), 18).See("▌  ci-…881 paused")
}

func TestManyInboxesHaveOneLineEach(t *testing.T) {
	s := openInboxes(t, 30, 10, "old", "ci-run-881", "ada", "a-name-that-is-too-long-for-a-row", "gone")
	s.mail("ada", 2, 2)
	s.mail("a-name-that-is-too-long-for-a-row", 18, 3)
	s.store.Inboxes["ada"].Expires = start.Add(4 * time.Minute)
	s.store.Inboxes["a-name-that-is-too-long-for-a-row"].Paused = true
	s.store.Apply(watch.Event{Kind: watch.Failed, InboxID: "old"}, start)
	s.store.Apply(watch.Event{Kind: watch.Gone, InboxID: "gone"}, start)
	s.send(nil)
	s.draw().Is(`
 Inboxes           unread/all

▌  All inboxes           5/25
   gone               deleted
   a-name-…-a-row paused 3/21
   ada              4 min 2/4
   ci-run-881               …
   old                failing
`)
	s.put("amber-otter-4kq7", "b.example")
	s.mail("amber-otter-4kq7", 9, 500)
	s.send(nil)
	s.Fit(theme.Rect{W: 26, H: 10})
	s.draw().See("  amber-otter-4kq7   500")
	s.Fit(theme.Rect{W: 30, H: 10})
	s.send(uitest.Search)
	s.press("ada", "enter") // the rows keep their height
	s.draw().Is(`
 /ada  esc

▌  ada              4 min 2/4
`)
}

func TestTheFilterOfInboxes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "* eve ci ada"},
		{"V", "eve"}, // EVA
		{"A", "eve ci ada"},
		{"b.exa", "ci ada"},
		{"eva other", "eve"},
		{"zzz", ""},
	} {
		s := openInboxes(t, 30, 20, "ada", "ci")
		s.put("eve", "other.test").Label = "EVA"
		s.send(uitest.Search)
		s.press(c.text)
		if got := strings.Join(s.IDs(), " "); c.want != strings.ReplaceAll(got, store.All, "*") {
			t.Errorf("%q keeps %q, want %q", c.text, got, c.want)
		}
		if c.text != "" {
			s.draw().See("/" + c.text)
		}
	}
}

func TestStatus(t *testing.T) {
	end := start.Add(time.Hour)
	for _, c := range []struct {
		in   store.Inbox
		now  time.Time
		want string
	}{
		{store.Inbox{Expires: end}, start, "○ 60 min left"},
		{store.Inbox{}, start, "○"},
		{store.Inbox{Expires: end, State: store.Listed}, start, "● 60 min left"},
		{store.Inbox{State: store.Listed}, start, "●"},
		{store.Inbox{Expires: start.Add(49 * time.Hour), State: store.Listed}, start, "● 3 d left"},
		{store.Inbox{Expires: end, State: store.Listed}, end.Add(-NearEnd - 1), "● 6 min left"},
		{store.Inbox{Expires: end, State: store.Listed}, end.Add(-NearEnd), "● expires in 5 min"},
		{store.Inbox{Expires: end, State: store.Listed}, end.Add(-1), "● expires in 1 s"},
		{store.Inbox{Expires: end, State: store.Listed, Paused: true}, start, "○ paused · 60 min left"},
		{store.Inbox{State: store.Listed, Paused: true}, start, "○ paused"},
		{store.Inbox{Expires: end, State: store.Failing, Err: errors.New("x")}, start, "! failing · 60 min left"},
		{store.Inbox{State: store.Failing}, start, "! failing"},
		{store.Inbox{Expires: end, State: store.Listed}, end, "✕ expired just now"},
		{store.Inbox{Expires: end, State: store.Failing, Paused: true}, end.Add(time.Minute), "✕ expired 1 min ago"},
		{store.Inbox{Expires: end, State: store.Gone, EndedAt: end}, end.Add(3 * time.Hour), "✕ expired 3 h ago"},
		{store.Inbox{State: store.Gone, EndedAt: start}, start, "✕ deleted"},
		{store.Inbox{Expires: end, State: store.Gone, EndedAt: start}, start, "✕ deleted"},
		{store.Inbox{Expires: end, State: store.Gone, EndedAt: start}, end.Add(time.Hour), "✕ deleted"},
		// Clocks differ.
		{store.Inbox{Expires: end, State: store.Gone, EndedAt: end.Add(-time.Second)}, end, "✕ expired just now"},
	} {
		if got, _ := (&Inboxes{}).status(&c.in, c.now); got != c.want {
			t.Errorf("%+v at %v: %q, want %q", c.in, c.now, got, c.want)
		}
	}
}

func TestHostileNames(t *testing.T) {
	for _, w := range []int{16, 26, 60} {
		for _, h := range []int{4, 12} {
			s := openInboxes(t, w, h, "a")
			s.put("h", "h.example")
			i, _ := s.store.Put(api.Inbox{ID: uitest.Hostile, Email: uitest.Hostile + "@" + uitest.Hostile, ExpiresAt: start.Add(time.Hour)}, start)
			s.send(nil)
			s.draw()
			i.Label = i.Email
			s.draw()
		}
	}
}
