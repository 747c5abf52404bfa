package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/internal/registry"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// inbox is an inbox made the given minutes after the start.
func inbox(id string, minutes int) api.Inbox {
	at := start.Add(time.Duration(minutes) * time.Minute)
	return api.Inbox{ID: id, Email: id + "@a.example", CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
}

// at is a message that came the given seconds after the start.
func at(id string, seconds int) api.Summary {
	return api.Summary{ID: id, From: "x@b.example", Subject: id, ReceivedAt: start.Add(time.Duration(seconds) * time.Second)}
}

// list applies the whole list of an inbox and returns what is new with it.
func (s *Store) listed(id string, now time.Time, list ...api.Summary) []*Message {
	_, arrived := s.Apply(watch.Event{Kind: watch.Arrived, InboxID: id, Generation: s.Inboxes[id].Generation, Messages: list}, now)
	return arrived
}

// ids are the IDs of messages in the order of the screen.
func (s *Store) ids(inboxID string) string {
	var ids []string
	for _, k := range s.Keys(inboxID) {
		ids = append(ids, s.Messages[k].ID)
	}
	return strings.Join(ids, " ")
}

func TestInboxesComeAndGo(t *testing.T) {
	s := New(start)
	for _, in := range []api.Inbox{inbox("b", 2), inbox("a", 1), inbox("c", 3)} {
		if i, isNew := s.Put(in, start); i == nil || !isNew {
			t.Fatalf("%s is not new", in.ID)
		}
	}
	if i, isNew := s.Put(api.Inbox{ID: "b", Email: "new\x1b[31m@b.example", CreatedAt: start.Add(time.Hour)}, start.Add(time.Hour)); isNew || i.Email != "new@b.example" || !i.Created.Equal(start.Add(2*time.Minute)) {
		t.Errorf("put again it is %+v", i)
	}
	s.PutKnown(registry.Inbox{ID: "c", Email: "c@b.example", Label: "sign\x07up"}, start)
	if got := strings.Join(s.Order, " "); got != "c b a" || s.Inboxes["c"].Label != "signup" {
		t.Errorf("the order is %s, the label %q", got, s.Inboxes["c"].Label)
	}
	if got := strings.Join(s.Domains(), " "); got != "b.example a.example" {
		t.Errorf("the domains are %s", got)
	}
	s.listed("a", start, at("1", 1))
	s.listed("b", start, at("2", 2))
	s.Drop("b")
	if i, isNew := s.Put(inbox("b", 2), start); i != nil || isNew || s.ids(All) != "1" || len(s.Messages) != 1 {
		t.Errorf("an inbox deleted here is put again: %+v, messages %s", i, s.ids(All))
	}
	s.Restore("b")
	s.Forget("a")
	s.Forget("none")
	if _, isNew := s.Put(inbox("b", 2), start); !isNew || strings.Join(s.Order, " ") != "c b" || s.Keys("a") != nil || s.ids(All) != "" {
		t.Errorf("restored, the order is %s", s.Order)
	}
}

// A list that was on its way while a message was deleted does not bring it back.
func TestDeletedMessagesAreGoneAtOnce(t *testing.T) {
	s := New(start)
	s.Put(inbox("a", 1), start)
	s.Put(inbox("b", 2), start)
	s.listed("a", start.Add(time.Minute), at("1", 1), at("2", 2), at("3", 3))
	s.listed("b", start.Add(time.Minute), at("4", 4))
	s.DropMessages(messageKey("a", "2"), messageKey("b", "4"), messageKey("b", "none"))
	s.listed("a", start.Add(time.Minute), at("1", 1), at("2", 2), at("3", 3), at("5", 5))
	if got := s.ids(All); got != "5 3 1" || s.ids("b") != "" || s.Inboxes["a"].Unread != 3 || s.Inboxes["b"].Unread != 0 || s.Keys("b") == nil {
		t.Errorf("left are %s, unread %d and %d", got, s.Inboxes["a"].Unread, s.Inboxes["b"].Unread)
	}
}

func TestEvents(t *testing.T) {
	failure := errors.New("no")
	for _, c := range []struct {
		name  string
		event watch.Event
		state State
		err   error
		stale bool
	}{
		{"listed", watch.Event{Kind: watch.Listed, Generation: 7}, Listed, nil, false},
		{"failed", watch.Event{Kind: watch.Failed, Generation: 7, Err: failure}, Failing, failure, false},
		{"recovered", watch.Event{Kind: watch.Recovered, Generation: 7}, Listed, nil, false},
		{"gone", watch.Event{Kind: watch.Gone, Generation: 7}, Gone, nil, false},
		{"earlier follower", watch.Event{Kind: watch.Gone, Generation: 6}, Unlisted, nil, true},
		{"other inbox", watch.Event{Kind: watch.Gone, InboxID: "b", Generation: 7}, Unlisted, nil, true},
	} {
		s := New(start)
		i, _ := s.Put(inbox("a", 0), start)
		i.Generation = 7
		if c.event.InboxID == "" {
			c.event.InboxID = "a"
		}
		if got, _ := s.Apply(c.event, start); (got == nil) != c.stale || i.State != c.state || !errors.Is(i.Err, c.err) {
			t.Errorf("%s: %+v", c.name, i)
		}
	}
}

func TestARowIsMadeOfCleanText(t *testing.T) {
	s := New(start)
	i, _ := s.Put(inbox("a", 0), start)
	i.CopiedAt = start
	hostile := api.Summary{ID: "1", From: "X\x1b]0;evil\x07@b.example", FromName: "A\u202eB", Subject: "one\r\ntwo", Raw: []byte("{}")}
	now := start.Add(3200 * time.Millisecond)
	m := s.listed("a", start, at("0", -9), at("9", 1))[0]
	if m.Delay != 0 {
		t.Errorf("listed at once, its delay is %v", m.Delay)
	}
	m = s.listed("a", now, hostile, api.Summary{ID: "2"})[0]
	if m.Sender != "AB" || m.Address != "X@b.example" || m.Subject != "one two" || m.Words != "ab\nx@b.example\none two" || m.Summary.Raw != nil {
		t.Errorf("the row is %+v", m)
	}
	oldest := s.Messages[messageKey("a", "2")] // as listed: neither has a time
	if !m.Received.Equal(now) || m.Delay != 0 || oldest.Delay != 3200*time.Millisecond || s.Inboxes["a"].Keys[1] != oldest.Key {
		t.Errorf("without a time it came at %v, after %v; the other one after %v: %q", m.Received, m.Delay, oldest.Delay, s.Inboxes["a"].Keys)
	}
	if m = oldest; m.Sender != "(no sender)" || m.Subject != "(no subject)" {
		t.Errorf("an empty row is %+v", m)
	}
}

func TestNamesOfAnInbox(t *testing.T) {
	for _, c := range []struct {
		in           Inbox
		name, domain string
	}{
		{Inbox{ID: "1", Email: "ada@b.example", Label: "signup"}, "signup", "b.example"},
		{Inbox{ID: "1", Email: "ada@b.example"}, "ada", "b.example"},
		{Inbox{ID: "1", Email: "@b.example"}, "1", "b.example"},
		{Inbox{ID: "1"}, "1", ""},
	} {
		if c.in.Name() != c.name || c.in.Domain() != c.domain {
			t.Errorf("%+v is %q at %q", c.in, c.in.Name(), c.in.Domain())
		}
	}
	i := Inbox{Expires: start}
	if i.Gone(start.Add(-1)) || !i.Gone(start) || (&Inbox{}).Gone(start) || !(&Inbox{State: Gone}).Gone(start) {
		t.Error("an inbox is gone when it was found so, and from its end on")
	}
}

func TestPrefetchingAgain(t *testing.T) {
	s := New(start)
	s.Put(inbox("a", 0), start)
	list := []api.Summary{at("2", 2), at("3", 1), at("1", 0)}
	next := func() string {
		var ids []string
		for _, m := range s.NextPrefetch([]string{"none", messageKey("a", "1")}, s.Keys("a")) {
			ids = append(ids, m.ID)
		}
		return strings.Join(ids, " ")
	}
	key := func(id string) string { return messageKey("a", id) }
	s.listed("a", start, list...)
	for _, c := range []struct {
		what string
		do   func()
		want string
	}{
		{"at first", func() { s.SkipPrefetch(key("3")) }, "1 2"},
		{"all under way", func() {}, ""},
		{"one was found, one failed", func() { s.EndPrefetch(); s.SetFindings(key("2"), &Extracted{}, &Text{}); s.SkipPrefetch(key("1")) }, ""},
		{"a list came", func() { s.listed("a", start, list...) }, "1 3"},
		{"their results will not come", func() { s.ResetPrefetches() }, "1 3"},
		{"as many bodies are kept as may be", func() { s.EndPrefetch(); s.Messages[key("2")].Text.Folded = strings.Repeat("x", maxTexts) }, "1"},
		{"the inbox is forgotten", func() { s.EndPrefetch(); s.Forget("a"); s.SetFindings(key("3"), &Extracted{}, &Text{}) }, ""},
	} {
		c.do()
		if got := next(); got != c.want {
			t.Errorf("%s: %q is prefetched, want %q", c.what, got, c.want)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name            string
		mail            api.Message
		code, url, text string
	}{
		{"nothing", api.Message{Subject: "Hello", Text: "Hello"}, "", "", ""},
		{"a code", api.Message{Subject: "Your code", Text: "Your verification code is 482913"}, "482913", "", ""},
		{"a link", api.Message{Subject: "Welcome", HTML: "<p>Welcome</p><a href=\"https://x.example/confirm?t=1\"> Confirm\n\x1b[31m <b>e-mail</b>\u202e </a>"}, "", "https://x.example/confirm?t=1", "Confirm e-mail"},
	} {
		f := Find(message.New("a", c.mail))
		if f.Code != c.code || f.Link.URL != c.url || f.Link.Text != c.text || f.Any() != (c.code != "" || c.url != "") {
			t.Errorf("%s: %+v", c.name, f)
		}
		if c.url != "" && f.Link.Host != "x.example" {
			t.Errorf("%s: the link that is opened lacks what is known of it: %+v", c.name, f.Link)
		}
	}
	files := api.Message{HTML: `<img src="cid:1">`, Attachments: []api.Attachment{{ID: "a"}, {ID: "b", ContentType: "image/png", Inline: true, ContentID: "1"}, {ID: "c", Inline: true}}}
	if f := Find(message.New("a", files)); f.FilesText() != "2 files" {
		t.Errorf("of two attachments and an image there are %q", f.FilesText())
	}
	if (*Extracted)(nil).Any() || (*Extracted)(nil).FilesText() != "" {
		t.Error("a message that was not prefetched has findings")
	}
}

func TestTheLastOfTheSameKind(t *testing.T) {
	for _, c := range []struct{ older, newer string }{
		{"Your code", "Your code"},
		{"482913 is your code", "731 002 is your code"},
		{"Your code: A1-B2", "Your code: C3-D4."},
		{"Order #12 for ada@b.example", "Order #345 for bob@c.example"},
		{"Ada, confirm your address", "Bob, confirm your address"},
		{"Confirm your email", "Confirm your e-mail"},
		{"確認コード：1234", "確認コード：5678"},
		{"", ""},
	} {
		s := New(start)
		for n, id := range []string{"a", "b", "gone"} {
			s.Put(inbox(id, n), start)
		}
		mail := func(id, from, subject string, seconds int) api.Summary {
			m := at(id, seconds)
			m.From, m.Subject = from, subject
			return m
		}
		s.listed("a", start, mail("oldest", "x@b.example", c.older, 1), mail("older", "X@b.example", c.older, 2), mail("later", "x@b.example", c.older, 9))
		s.listed("b", start, mail("another sender", "y@b.example", c.newer, 3), mail("another kind", "x@b.example", "Something else entirely has happened", 4), mail("newer", "x@b.example", c.newer, 5))
		s.listed("gone", start, mail("deleted", "x@b.example", c.newer, 4))
		s.Inboxes["gone"].State = Gone
		newer := s.Messages[messageKey("b", "newer")]
		if got := s.PreviousSimilar(newer); got == nil || got.ID != "older" {
			t.Errorf("%q and %q: the last one before it is %+v", c.older, c.newer, got)
		}
		if got := s.PreviousSimilar(s.Messages[messageKey("a", "oldest")]); got != nil {
			t.Errorf("%q: before the oldest there was %+v", c.older, got)
		}
		if got := s.PreviousSimilar(s.Messages[messageKey("b", "another kind")]); got != nil {
			t.Errorf("%q is taken for something else", got.Subject)
		}
	}
}

func TestOpenedMessagesAreKeptWithinBounds(t *testing.T) {
	var c Cache
	for n := range 100 {
		m := message.New("inbox_1", api.Message{Text: strings.Repeat("a", n<<10), HTML: strings.Repeat("b", n<<13)})
		c.Put(fmt.Sprint(n), m)
		kept := 0
		for _, e := range c.entries {
			kept += e.message.MemorySize()
		}
		if last := c.Get(fmt.Sprint(n)); last != m || kept-last.MemorySize() > maxCachedBytes {
			t.Fatalf("after %d messages %d bytes are kept", n+1, kept)
		}
		if len(c.entries) > maxCached {
			t.Fatalf("%d messages are kept", len(c.entries))
		}
	}
}
