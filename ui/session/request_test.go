package session

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/internal/registry"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/ui/host"
	"mayfly/ui/store"
)

// ask runs requests of a session with a server, in a bubble of faked time. The watcher does not run.
func ask(t *testing.T, o apitest.Options, do func(s *Session, server *apitest.Server, dir string)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(o)
		defer server.Close()
		client := server.Client(api.Options{})
		service := &Service{Client: client, Registry: registry.Open(dir, "test", client.BaseURL())}
		do(&Session{Service: service, Watcher: watch.New(client, watch.Options{}), ctx: t.Context()}, server, dir)
	})
}

// do carries a request out.
func do(r Request) tea.Msg { return r.Start()() }

// known are the names of the inboxes in the registry.
func (s *Session) known(t *testing.T) string {
	t.Helper()
	list, err := s.Registry.List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range list {
		names = append(names, strings.TrimSpace(strings.Split(k.Email, "@")[0]+" "+k.Label))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func TestInboxesAreRemembered(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, server *apitest.Server, _ string) {
		made := do(s.Create(api.CreateInbox{Username: "ada", TTL: 600}, true)).(Created)
		if made.Err != nil || !made.Copy || made.Session() != s || s.known(t) != "ada" {
			t.Errorf("made %+v, known are %s", made, s.known(t))
		}
		other, err := server.Create("bob", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := do(s.Adopt(other.ID)).(Created); got.Err != nil || got.Inbox.Email != other.Email {
			t.Errorf("adopted %+v", got)
		}
		if got := do(s.Adopt("none")).(Created); !errors.Is(got.Err, api.ErrNotFound) {
			t.Errorf("adopted %+v", got)
		}
		s.Label(&store.Inbox{ID: other.ID, Email: other.Email, Label: "signup"})()
		if got := s.known(t); got != "ada, bob signup" {
			t.Errorf("known are %s", got)
		}
		s.Forget(made.Inbox.ID)()
		if got := s.known(t); got != "bob signup" {
			t.Errorf("known are %s", got)
		}
	})
}

func TestDeletingOneAfterTheOther(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, server *apitest.Server, _ string) {
		var ids []string
		for _, name := range []string{"gone", "refused", "ada"} {
			ids = append(ids, do(s.Create(api.CreateInbox{Username: name}, false)).(Created).Inbox.ID)
		}
		server.Delete(ids[0])
		server.FailIf(apitest.Forbidden, -1, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ids[1]) })
		var steps []string
		for d := s.Delete(ids, "3 inboxes"); ; {
			m := do(d).(Deleted)
			steps = append(steps, fmt.Sprintf("%d left, %d failed, gone %v, %v", len(m.Rest), m.Failed, m.Gone, m.Err != nil))
			if len(m.Rest) == 0 {
				break
			}
			if d = m.Next(); d.What != "deleting 3 inboxes" || d.Done != len(steps) || d.Total != 3 {
				t.Errorf("the next is %+v", d)
			}
		}
		if got := strings.Join(steps, "; "); got != "2 left, 0 failed, gone true, false; 1 left, 1 failed, gone false, true; 0 left, 1 failed, gone false, false" || s.known(t) != "refused" {
			t.Errorf("deleting went %s; known are %s", got, s.known(t))
		}
	})
}

func TestMessagesLessAndMoreTime(t *testing.T) {
	for _, extensions := range []bool{true, false} {
		ask(t, apitest.Options{Extensions: extensions}, func(s *Session, server *apitest.Server, _ string) {
			rows := []*store.Message{deliver(t, server, apitest.Mail{Subject: "a"}), deliver(t, server, apitest.Mail{Subject: "b"})}
			left := func(m *store.Message) int {
				list, err := s.Client.Messages(s.ctx, m.InboxID)
				if err != nil {
					t.Fatal(err)
				}
				return len(list.Messages)
			}
			deleted := do(s.DeleteMessages(rows[:1], "“a”")).(Deleted)
			box := &store.Inbox{ID: rows[1].InboxID, Keys: []string{rows[1].Key}}
			emptied := do(s.Empty(box)).(Deleted)
			for n, d := range []Deleted{deleted, emptied} {
				lacks := errors.Is(d.Err, api.ErrUnsupported)
				if d.ID != rows[n].InboxID || !slices.Equal(d.Keys, []string{rows[n].Key}) || lacks == extensions || lacks != (left(rows[n]) == 1) {
					t.Errorf("extensions %v: %d left after %+v", extensions, left(rows[n]), d)
				}
			}
			if got := do(s.DeleteMessages(rows, "2 messages")).(Deleted); (len(got.Rest) == 1) != extensions || got.Gone != extensions || s.Client.CannotDeleteMessages() == extensions {
				t.Errorf("extensions %v: once more %+v", extensions, got)
			}
			got := do(s.Extend(box.ID, 48*time.Hour)).(Extended)
			if known, _ := s.Registry.List(); got.Inbox.ID != box.ID || (got.Err == nil) != extensions ||
				extensions && (len(known) != 1 || time.Until(known[0].ExpiresAt) != 48*time.Hour || !got.Inbox.ExpiresAt.Equal(known[0].ExpiresAt)) {
				t.Errorf("extensions %v: %+v, known are %+v", extensions, got, known)
			}
		})
	}
}

func TestWhatIsSaidOfADeletion(t *testing.T) {
	for _, c := range []struct {
		d    Deleted
		want string
	}{
		{Deleted{kind: ofInboxes, Total: 1, What: "ada@b.example"}, "deleted ada@b.example"},
		{Deleted{kind: ofInboxes, Total: 1, What: "ada@b.example", Gone: true}, "ada@b.example is off the list: it was already gone"},
		{Deleted{kind: ofInboxes, Total: 1, What: "ada@b.example", Failed: 1, Err: api.ErrForbidden}, "! " + api.ErrForbidden.Error()},
		{Deleted{kind: ofInboxes, Total: 3, What: "3 inboxes", Gone: true}, "deleted 3 inboxes"},
		{Deleted{kind: ofInboxes, Total: 3, What: "3 inboxes", Failed: 2}, "! 2 of 3 inboxes could not be deleted: D tries again"},
		{Deleted{kind: ofMessages, Total: 3, What: "3 messages", Failed: 2}, "! 2 of 3 messages could not be deleted: D tries again"},
		{Deleted{kind: ofMessages, Total: 1, What: "“Hello”", Gone: true, Keys: []string{"a"}}, "deleted “Hello”"},
		{Deleted{kind: ofMessages, Total: 3, What: "3 messages", Err: api.ErrUnsupported}, "! this service cannot delete single messages"},
		{Deleted{kind: ofContents, Total: 1, What: "ada@b.example", Keys: []string{}}, "emptied ada@b.example"},
	} {
		got := c.d.Outcome("D")
		if got.Err != nil {
			got.Text = "! " + got.Err.Error()
		}
		if got.Text != c.want {
			t.Errorf("%q, want %q", got.Text, c.want)
		}
	}
}

// deliver puts a message into an inbox and returns its row.
func deliver(t *testing.T, server *apitest.Server, m apitest.Mail) *store.Message {
	t.Helper()
	in, err := server.Create("", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	m.From = "a@b.example"
	got, err := server.Deliver(in.Email, m)
	if err != nil {
		t.Fatal(err)
	}
	return &store.Message{Key: "key", ID: got.ID, InboxID: in.ID, Subject: m.Subject, Summary: api.Summary{ID: got.ID, Subject: m.Subject}}
}

func TestOpeningTakesOneRequest(t *testing.T) {
	code := apitest.Mail{Subject: "Your code", Text: "Your verification code is 482913"}
	for _, c := range []struct {
		name   string
		local  bool
		size   int64 // as the list of messages has it
		hasRaw bool
	}{
		{"elsewhere", false, maxEagerRaw, false},
		{"on this machine", true, maxEagerRaw, true},
		{"large, on this machine", true, maxEagerRaw + 1, false},
	} {
		ask(t, apitest.Options{Extensions: true}, func(s *Session, server *apitest.Server, _ string) {
			s.Local, s.Rules = c.local, check.Rules{Local: true}
			m := deliver(t, server, code)
			m.Summary.Size = c.size
			prepared := false
			got := s.Open(m, 7, func(*render.Mail) { prepared = true })().(Opened)
			requests := server.Requests()
			if got.Err != nil || got.Generation != 7 || got.Key != "key" || !prepared || got.Message.Subject != code.Subject || (got.Message.Raw != nil) != c.hasRaw || !got.Message.Rules.Local {
				t.Errorf("%s: opened %+v", c.name, got)
			}
			if len(requests) != 1 {
				t.Errorf("%s: %+v", c.name, requests)
			}
			if got.Findings.Code != "482913" {
				t.Errorf("%s: found %+v", c.name, got.Findings)
			}
			if got := s.Prefetch(m)().(Opened); got.Err != nil || got.Generation != 0 {
				t.Errorf("%s: prefetched %+v", c.name, got)
			}
			server.Fail(apitest.Forbidden, -1)
			if got := s.Open(m, 8, func(*render.Mail) { t.Error("nothing came, and it is laid out") })().(Opened); !errors.Is(got.Err, api.ErrForbidden) || got.Message != nil || got.Findings != nil {
				t.Errorf("%s: refused, it is %+v", c.name, got)
			}
		})
	}
}

func TestAPrefetchWaitsForRoomInTheBudget(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, server *apitest.Server, _ string) {
		m := deliver(t, server, apitest.Mail{Subject: "Code", Text: "Your verification code is 482913"})
		for {
			if c, _ := s.Client.Reserve(); c == nil {
				break
			}
		}
		if got := s.Prefetch(m)().(Opened); got.Err != nil || got.Findings.Code != "482913" {
			t.Errorf("%+v", got)
		}
	})
}

func TestTheRawFormIsAdded(t *testing.T) {
	for _, extensions := range []bool{true, false} {
		ask(t, apitest.Options{Extensions: extensions}, func(s *Session, server *apitest.Server, _ string) {
			opened := s.Open(deliver(t, server, apitest.Mail{Subject: "One", Text: "Text"}), 1, func(*render.Mail) {})().(Opened)
			got := s.FetchRaw("key", opened.Message)().(RawFetched)
			if extensions && (got.Err != nil || got.Message.Raw == nil) || !extensions && !errors.Is(got.Err, api.ErrUnsupported) {
				t.Errorf("with extensions %v: %+v", extensions, got)
			}
			if extensions && len(got.Message.Delivery) == 0 {
				t.Errorf("without how it came: %+v", got)
			}
		})
	}
}

func TestFilesOfAMessage(t *testing.T) {
	ask(t, apitest.Options{Extensions: true}, func(s *Session, server *apitest.Server, dir string) {
		older := deliver(t, server, apitest.Mail{Subject: "Older", Text: "Hello Ada"})
		m := deliver(t, server, apitest.Mail{Subject: "Files", Text: "Hello Bob", Attachments: []api.Attachment{
			{Filename: "../evil.sh", ContentType: "text/plain", Content: []byte("echo")}, {Filename: "b.pdf", ContentType: "application/pdf", Content: []byte("%PDF")},
		}})
		if got := do(s.SaveMessage(Source{m.InboxID, m.ID, nil}, dir)).(host.Done); got.Err != nil || !strings.HasSuffix(got.Text, "Files.eml") {
			t.Errorf("saved %+v", got)
		}
		opened := s.Open(m, 1, func(*render.Mail) {})().(Opened)
		for _, c := range []struct {
			files []int
			says  string
		}{{[]int{1}, "saved "}, {[]int{1}, "already there: "}, {[]int{0, 1}, "saved 1 file in "}, {[]int{0, 1}, "saved 0 files in "}} {
			if got := do(s.SaveAttachments(opened.Message, c.files, dir)).(host.Done); got.Err != nil || !strings.HasPrefix(got.Text, c.says) {
				t.Errorf("%v: said %+v, want %q", c.files, got, c.says)
			}
		}
		for _, name := range []string{"_evil.sh", "b.pdf"} {
			if found, err := filepath.Glob(filepath.Join(dir, "*"+name)); len(found) != 1 {
				t.Errorf("%s: %v, %v", name, found, err)
			}
		}
		if got := do(s.SaveMessage(Source{m.InboxID, m.ID, nil}, filepath.Join(dir, "b.pdf"))).(host.Done); got.Err == nil {
			t.Error("a message is saved in a file")
		}
		var subjects []string
		prepare := func(read ...*message.Message) func() tea.Cmd {
			for _, m := range read {
				subjects = append(subjects, m.Subject)
			}
			return func() tea.Cmd { return nil }
		}
		read := do(s.Read("reading", prepare, Source{older.InboxID, older.ID, nil}, Source{m.InboxID, m.ID, opened.Message})).(Read)
		if read.Err != nil || read.Do == nil || !slices.Equal(subjects, []string{"Older", "Files"}) {
			t.Errorf("read %q: %+v", subjects, read)
		}
		copies, page := &host.Copies{}, ""
		got := do(s.OpenCopy(m, nil, copies, func(path string) tea.Cmd {
			text, err := os.ReadFile(path)
			page = string(text)
			return func() tea.Msg { return host.Done{Err: err} }
		})).(host.Done)
		if got.Err != nil || !strings.Contains(page, "Hello Bob") || !strings.Contains(page, "default-src 'none'") {
			t.Errorf("a copy: %+v, %q", got, page)
		}
		if err := copies.Remove(); err != nil {
			t.Error(err)
		}
	})
}

func TestARefreshIsAnsweredByItsOutcome(t *testing.T) {
	for _, c := range []struct {
		inboxID string // "" for all
		event   watch.Event
		answer  string
	}{
		{"a", watch.Event{Kind: watch.Arrived, InboxID: "b"}, "none"},
		{"a", watch.Event{Kind: watch.Failed, InboxID: "b", Err: api.ErrUnavailable}, "none"},
		{"a", watch.Event{Kind: watch.Inboxes}, "none"},
		{"a", watch.Event{Kind: watch.Recovered, InboxID: "a"}, "none"},
		{"a", watch.Event{Kind: watch.ModeChanged}, "none"},
		{"", watch.Event{Kind: watch.Behind}, "none"},
		{"a", watch.Event{Kind: watch.Listed, InboxID: "a"}, "refreshed just now"},
		{"a", watch.Event{Kind: watch.Arrived, InboxID: "a"}, "refreshed just now"},
		{"a", watch.Event{Kind: watch.Failed, InboxID: "a", Err: api.ErrForbidden}, api.ErrForbidden.Error()},
		{"a", watch.Event{Kind: watch.Failed, Err: api.ErrUnavailable}, api.ErrUnavailable.Error()},
		{"", watch.Event{Kind: watch.Listed, InboxID: "b"}, "refreshed just now"},
		{"", watch.Event{Kind: watch.Inboxes}, "refreshed just now"},
	} {
		ask(t, apitest.Options{}, func(s *Session, _ *apitest.Server, _ string) {
			cmd, told := s.Refresh(c.inboxID).Start(), make(chan host.Done, 1)
			go func() { told <- cmd().(host.Done) }()
			s.refreshed(c.event)
			synctest.Wait()
			answer := "none"
			if len(told) > 0 {
				d := <-told
				if answer = d.Text; d.Err != nil {
					answer = d.Err.Error()
				}
			}
			if answer != c.answer {
				t.Errorf("%q is refreshed, and %v of %q tells %q", c.inboxID, c.event.Kind, c.event.InboxID, answer)
			}
			time.Sleep(requestTimeout)
		})
	}
}

func TestARequestIsBoundedInTime(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, server *apitest.Server, _ string) {
		server.Fail(apitest.Silent, -1)
		began := time.Now()
		got := do(s.Adopt("inbox")).(Created)
		if d := time.Since(began); d != requestTimeout || Explain(got.Err) != "The service did not answer in time" {
			t.Errorf("after %v: %v", d, got.Err)
		}
	})
}

func TestListening(t *testing.T) {
	play(t, func(s *scene) {
		s.use(s.Connect(Target{BaseURL: "a"}, time.Now()))
		before := s.Session
		s.use(s.Connect(Target{BaseURL: "b"}, time.Now()))
		for range 100 { // what is left of an ended session
			if before.Listen() == nil {
				return
			}
		}
		t.Error("the events of an ended session do not end")
	})
	play(t, func(s *scene) {
		in, err := s.server.Create("ada", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Connect(Target{BaseURL: "a"}, time.Now())().(Connected)
		s.Use(m, time.Now()) // its commands do not run: this test listens
		m.Session.Watcher.Add(in.ID)
		m.Session.SetView([]string{in.ID})
		for {
			e := m.Session.Listen().(Events)
			if len(e.Events) == 0 || e.Session() != m.Session {
				t.Fatalf("heard %+v", e)
			}
			if slices.ContainsFunc(e.Events, func(e watch.Event) bool { return e.Kind == watch.Listed && e.InboxID == in.ID }) {
				return
			}
		}
	})
}
