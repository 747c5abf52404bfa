package lists

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/uitest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// listing is a store with an inbox for each list of messages.
func listing(inboxes ...[]api.Summary) *store.Store {
	s := store.New(start)
	for n, list := range inboxes {
		i, _ := s.Put(api.Inbox{ID: fmt.Sprint("inbox", n), Email: fmt.Sprintf("box-%d@a.example", n)}, start)
		s.Apply(watch.Event{Kind: watch.Listed, InboxID: i.ID, Messages: list}, start)
	}
	return s
}

func summary(id, subject string) api.Summary {
	return api.Summary{ID: id, From: id + "@b.example", FromName: "Sender " + id, Subject: subject, ReceivedAt: start}
}

// read makes the body of the message with that subject known.
func read(s *store.Store, subject, body string) {
	for key, m := range s.Messages {
		if m.Subject == subject {
			opened := message.New(m.InboxID, api.Message{ID: m.ID, Text: body})
			s.SetFindings(key, store.Find(opened), store.TextOf(opened.Mail()))
		}
	}
}

func (s *Search) press(names ...string) (last dialog.Result) {
	for _, k := range uitest.Keys(names...) {
		last = s.Update(k)
	}
	return last
}

func TestWhatIsFound(t *testing.T) {
	st := listing([]api.Summary{summary("1", "Welcome"), summary("2", "Crème brûlée")}, []api.Summary{summary("3", "Your code")})
	read(st, "Your code", "Your verification code is 482913.\n\nSincerely, Zoë of ACME")
	read(st, "Welcome", strings.Repeat("Nothing here. ", 40)+"A needle in the haystack.")
	for _, c := range []struct {
		text string
		want []string
	}{
		{"WELCOME", []string{"Welcome"}}, {"sender 2@", []string{"Crème brûlée"}}, {"2@b.ex", []string{"Crème brûlée"}},
		{"creme BRULEE", []string{"Crème brûlée"}}, {"482913", []string{"Your code"}}, {"zoe acme", []string{"Your code"}},
		{"box-1", []string{"Your code"}}, {"needle", []string{"Welcome"}}, {"needle zoe", nil}, {"sender", []string{"Welcome", "Crème brûlée", "Your code"}},
		{"  ", nil}, {".*", nil}, {"[", nil}, {`\`, nil},
	} {
		s := NewSearch(st, nil)
		s.press(c.text)
		uitest.DrawDialog(t, s.Dialog, 80, 24)
		var got []string
		for _, key := range s.hits.IDs() {
			got = append(got, st.Messages[key].Subject)
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%q finds %q, want %q", c.text, got, c.want)
		}
	}
}

func TestTypingOnAndBackFindsTheSame(t *testing.T) {
	st := listing([]api.Summary{summary("1", "ab"), summary("2", "abc"), summary("3", "b ab")})
	s := NewSearch(st, nil)
	for _, key := range append(uitest.Keys("abc"), slices.Concat(slices.Repeat(uitest.Keys("backspace"), 2), uitest.Keys(" b a", "backspace", "backspace", "b"))...) {
		s.Update(key)
		fresh := NewSearch(st, nil)
		fresh.press(s.line.Value())
		if !slices.Equal(s.hits.IDs(), fresh.hits.IDs()) {
			t.Errorf("%q finds %q, at once %q", s.line.Value(), s.hits.IDs(), fresh.hits.IDs())
		}
	}
}

func TestTheHitIsShownAndOpened(t *testing.T) {
	st := listing([]api.Summary{summary("1", "Welcome to a subject that is as long as they come")})
	read(st, st.Messages[st.Keys(store.All)[0]].Subject, strings.Repeat("Nothing here. ", 40)+"A Needle in the haystack.")
	var shown []string
	s := NewSearch(st, func(key string, find []string) tea.Cmd { shown = append([]string{key}, find...); return nil })
	s.press("needle")
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		uitest.DrawDialog(t, s.Dialog, size[0], size[1]).See("1 found", "Sender 1 · box-0", "Welcome to", "Needle")
	}
	uitest.DrawDialog(t, s.Dialog, 120, 36).See("│ Nothing here. Nothing here.", "A Needle in the haystack.")
	s.press("enter").Do()
	if !slices.Equal(shown, []string{st.Keys(store.All)[0], "needle", "needle"}) {
		t.Errorf("enter shows %q", shown)
	}
	s.Open().Update(dialog.Answered{Err: "the username ada is taken"}) // by a form that was left
	uitest.DrawDialog(t, s.Dialog, 80, 24).See("› needle", "1 found")
	s.press("zz")
	uitest.DrawDialog(t, s.Dialog, 80, 24).See("› zz", "0 found   enter opens   ↑↓ move   esc back")
	s.Open()
	s.press("backspace", "backspace", "enter")
	uitest.DrawDialog(t, s.Dialog, 80, 24).See("address, code and text")
}

func TestMoreHitsMoveNothing(t *testing.T) {
	var list []api.Summary
	for n := range 60 {
		m := summary(fmt.Sprintf("%02d", n), fmt.Sprintf("Mail %02d", n))
		m.ReceivedAt = start.Add(-time.Duration(n) * time.Minute)
		list = append(list, m)
	}
	st := listing(list)
	for n := 1; n < 60; n += 2 {
		read(st, fmt.Sprintf("Mail %02d", n), "A needle.")
	}
	s := NewSearch(st, nil)
	s.press("needle")
	uitest.DrawDialog(t, s.Dialog, 80, 24)
	s.press(slices.Repeat([]string{"down"}, 12)...)
	before := uitest.DrawDialog(t, s.Dialog, 80, 24)
	for n := 0; n < 60; n += 2 {
		read(st, fmt.Sprintf("Mail %02d", n), "A needle.")
		after := uitest.DrawDialog(t, s.Dialog, 80, 24)
		if at := slices.IndexFunc(before.Rows, selected); at != slices.IndexFunc(after.Rows, selected) || before.Rows[at] != after.Rows[at] {
			t.Fatalf("when %d was found too the selection moved:\n%s\n%s", n, before, after)
		}
	}
	if !slices.IsSortedFunc(s.hits.IDs(), func(a, b string) int {
		return st.Messages[b].Received.Compare(st.Messages[a].Received)
	}) || s.hits.Len() != 60 {
		t.Errorf("%d hits are not in the order of their time", s.hits.Len())
	}
}

func selected(row string) bool { return strings.Contains(row, "▌") }

func TestHostileMailInSearch(t *testing.T) {
	hostile := summary("1", uitest.Hostile+" needle "+uitest.Joined)
	hostile.FromName = uitest.Hostile
	st := listing([]api.Summary{hostile})
	m := st.Messages[st.Keys(store.All)[0]]
	read(st, m.Subject, strings.Repeat(uitest.Hostile, 3000)+"\n\nneedle "+strings.Repeat("日本", 5000))
	if n := len(m.Text.Lines); n == 0 || n > 32<<10 {
		t.Errorf("%d bytes of the body are kept", n)
	}
	s := NewSearch(st, nil)
	for _, text := range []string{"needle", uitest.Joined, "end", "日本", "owned"} {
		s.press("ctrl+u", text)
		for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}, {20, 6}, {3, 3}} {
			uitest.DrawDialog(t, s.Dialog, size[0], size[1])
		}
	}
}
