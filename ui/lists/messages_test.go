package lists

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/render"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// scene is the pane over a store of its own, which has the inboxes a and b.
type scene struct {
	*Messages
	t     testing.TB
	store *store.Store
	now   time.Time
}

func open(t testing.TB, w, h int) *scene {
	s := &scene{t: t, store: store.New(start), now: start}
	s.store.Merge(map[string]registry.ReadState{"a": {Until: start.Add(-time.Minute).Unix()}})
	for _, id := range []string{"a", "b"} {
		s.store.Put(api.Inbox{ID: id, Email: id + "da@x.example", ExpiresAt: start.Add(time.Hour)}, start)
	}
	s.Messages = NewMessages(s.store)
	s.Fit(theme.Rect{W: w, H: h})
	return s
}

// mail makes a message of a sender who wrote so many minutes ago.
func mail(id, sender string, minutes int) api.Summary {
	return api.Summary{ID: id, From: sender + "@s.example", FromName: sender, Subject: "Subject " + id, ReceivedAt: start.Add(time.Duration(-minutes) * time.Minute)}
}

// mails are n messages, the newest first.
func mails(n int) []api.Summary {
	list := make([]api.Summary, n)
	for k := range list {
		list[k] = mail(fmt.Sprint(n-k), fmt.Sprint("Sender ", k%97), k)
	}
	return list
}

// listed is the whole list of an inbox, as the watcher tells it.
func (s *scene) listed(inbox string, list ...api.Summary) {
	s.store.Apply(watch.Event{Kind: watch.Arrived, InboxID: inbox, Messages: list}, s.now)
	s.send(nil)
}

func (s *scene) send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		s.do(msg)
		s.Refresh()
		s.Fit(s.Rect)
	}
}

func (s *scene) press(names ...string) {
	for _, k := range uitest.Keys(names...) {
		s.send(k)
	}
}

func (s *scene) draw() uitest.Screen {
	s.t.Helper()
	empty := []string{"No mail in any inbox yet."}
	return uitest.Draw(s.t, s.Draw(uitest.Theme(s.t), s.now, true, empty), s.Rect.W)
}

// ids are the IDs of the rows that a filter keeps.
func (s *scene) ids() string {
	var ids []string
	for _, k := range s.IDs() {
		ids = append(ids, s.store.Messages[k].ID)
	}
	return strings.Join(ids, " ")
}

func (s *scene) selected() string {
	if m := s.Message(); m != nil {
		return m.ID
	}
	return ""
}

// find says what was found in a message of inbox a.
func (s *scene) find(id, code, link string) {
	f := &store.Extracted{Code: code}
	if link != "" {
		f.Link = render.Link{URL: "https://x.example/", Text: link}
	}
	s.store.SetFindings(s.store.Keys("a")[strings.Index(strings.ReplaceAll(s.ids(), " ", ""), id)], f, nil)
	s.send(nil)
}

func TestTheList(t *testing.T) {
	s := open(t, 34, 14)
	s.draw().Is(" All inboxes\n\n  No mail in any inbox yet.")
	s.Show("a")
	s.listed("a", mail("1", "GitHub", 300), mail("2", "Acme", 5))
	s.listed("a", mail("4", "Acme", 0), mail("3", "Acme", 0), mail("2", "Acme", 5), mail("1", "GitHub", 300))
	s.find("3", "482913", "Confirm e-mail")
	s.find("2", "", "Reset the password of the account")
	s.find("1", "", "")
	s.store.Messages[s.IDs()[2]].Extracted.Files = 1
	s.store.Messages[s.IDs()[3]].Extracted.Files = 12
	s.send(uitest.First, uitest.Move(1))
	s.draw().Is(`
 ada@x.example

 ● Acme                       now
   Subject 4
▌● Acme                       now
▌  482913 ↗  Subject 3
   Acme                     5 min
   ↗ Reset th…  Subject 2  1 file
   GitHub                     5 h
   Subject 1             12 files
`)
	s.send(uitest.Mark)
	s.Fit(theme.Rect{W: 34, H: 5})
	s.draw().Is(`
 ada@x.example           1 marked
 ● Acme  Subject 4            now
 ✓ 482913 ↗  Acme  Subject 3  now
▌  ↗ Reset t…  Acme  Subje… 5 min
   GitHub  Subjec… 12 files · 5 h
`)
}

func TestEachInboxKeepsItsPlace(t *testing.T) {
	s := open(t, 34, 12)
	s.listed("a", mails(30)...)
	s.listed("b", mail("x", "X", 0), mail("y", "Y", 1))
	for _, c := range []struct {
		show string
		move int
		want string
	}{
		{"a", 20, "10"}, {"b", 1, "y"}, {store.All, 0, "x"}, {"a", 0, "10"}, {"a", -1, "11"}, {"b", 0, "y"}, {"none", 0, ""}, {"a", 0, "11"},
	} {
		s.Show(c.show)
		s.send(uitest.Move(c.move))
		if got := s.selected(); got != c.want {
			t.Errorf("in %s %q has the cursor, want %q", c.show, got, c.want)
		}
		if !s.Lists(c.show) || s.Lists("other") != (c.show == store.All) {
			t.Errorf("%s is shown, and lists other inboxes: %v", c.show, s.Lists("other"))
		}
		if c.want != "" {
			s.draw().See("Subject " + c.want)
		}
	}
	s.send(uitest.Mark, uitest.Search)
	s.press("subject")
	s.Show("b")
	if !s.Typing() || s.Filter.On() || len(s.Marks) > 0 {
		t.Error("another inbox is shown with the filter or the marks of the one before, or takes the keys from who types")
	}
}

func TestTheFilter(t *testing.T) {
	for _, c := range []struct{ inbox, text, want string }{
		{store.All, "acme", "2 1"},
		{store.All, "CODE", "2"},          // of the subject
		{store.All, "s.exam github", "3"}, // of the address
		{store.All, "4829", "2"},          // the code that was found
		{store.All, "signup", "1"},        // the label of the inbox
		{store.All, "bda@x", "1"},         // its address
		{"b", "bda@x", ""},                // which is that of every row
		{"a", "ada", ""},
		{store.All, "zzz", ""},
	} {
		s := open(t, 34, 20)
		s.store.Inboxes["b"].Label = "SignUp"
		coded := mail("2", "Acme", 2)
		coded.Subject = "Your code"
		s.listed("a", coded, mail("3", "GitHub", 1))
		s.Show("a")
		s.find("2", "482913", "")
		s.listed("b", mail("1", "Acme", 3))
		s.Show(c.inbox)
		s.send(uitest.Search)
		s.press(c.text)
		if got := s.ids(); got != c.want {
			t.Errorf("in %s %q keeps %q, want %q", c.inbox, c.text, got, c.want)
		}
		s.draw().See("/" + c.text)
	}
}

func TestHostileMail(t *testing.T) {
	for _, w := range []int{20, 38, 80} {
		for _, h := range []int{4, 14} {
			s := open(t, w, h)
			i, _ := s.store.Put(api.Inbox{ID: "h", Email: uitest.Hostile + "@" + uitest.Hostile}, start)
			s.listed("h", api.Summary{ID: uitest.Hostile, From: uitest.Hostile, Subject: uitest.Hostile}, api.Summary{ID: "2", FromName: uitest.Hostile})
			s.store.SetFindings(s.IDs()[0], &store.Extracted{Code: render.Clean(uitest.Hostile), Link: render.Link{URL: uitest.Hostile, Text: render.Clean(uitest.Hostile)}}, nil)
			s.send(nil)
			s.draw()
			s.Show("h")
			s.draw()
			i.Label = render.Clean(uitest.Hostile)
			s.draw()
		}
	}
}
