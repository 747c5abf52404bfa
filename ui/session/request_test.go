package session

import (
	"context"
	"errors"
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
	"mayfly/internal/fortest"
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
		server := apitest.New(t, o)
		client := server.Client(api.Options{})
		service := &Service{Client: client, Registry: registry.Open(dir, "test", client.BaseURL())}
		do(&Session{Service: service, Watcher: watch.New(client, watch.Options{}), ctx: t.Context()}, server, dir)
	})
}

// do carries a request out, and shows what it brought.
func do(r *Request) error {
	answer := r.Start()().(Answer)
	if answer.Apply != nil {
		answer.Apply()
	}
	return answer.Err
}

// take runs a command, and returns what it brings to apply.
func take[T any](command func(apply func(T) tea.Cmd) tea.Cmd) (got T) {
	command(func(x T) tea.Cmd { got = x; return nil })().(Answer).Apply()
	return got
}

// known are the names of the inboxes in the registry.
func (s *Session) known(t *testing.T) string {
	t.Helper()
	list, err := s.Registry.List()
	fortest.Must(t, err)
	var names []string
	for _, k := range list {
		names = append(names, strings.TrimSpace(strings.Split(k.Email, "@")[0]+" "+k.Label))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func TestInboxesAreRemembered(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, server *apitest.Server, _ string) {
		made, err := s.Create(s.ctx, api.CreateInbox{Username: "ada", TTL: 600})
		if err != nil || s.known(t) != "ada" {
			t.Errorf("made %+v, %v, known are %s", made, err, s.known(t))
		}
		other, err := server.Create("bob", time.Hour)
		fortest.Must(t, err)
		if got, err := s.Adopt(s.ctx, other.ID); err != nil || got.Email != other.Email {
			t.Errorf("adopted %+v, %v", got, err)
		}
		if got, err := s.Adopt(s.ctx, "none"); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("adopted %+v, %v", got, err)
		}
		s.Label(&store.Inbox{ID: other.ID, Email: other.Email, Label: "signup"})()
		if got := s.known(t); got != "ada, bob signup" {
			t.Errorf("known are %s", got)
		}
		s.Forget(made.ID)()
		if got := s.known(t); got != "bob signup" {
			t.Errorf("known are %s", got)
		}
		gone, err := s.DeleteInbox(s.ctx, other.ID)
		again, failed := s.DeleteInbox(s.ctx, other.ID)
		if gone || err != nil || !again || failed != nil || s.known(t) != "" {
			t.Errorf("deleted twice: %v, %v, %v, %v, known are %q", gone, err, again, failed, s.known(t))
		}
	})
}

// What was asked of the service is done though the registry cannot be written, and the screen says what that means.
func TestAFailureOfTheRegistryIsSaid(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, _ *apitest.Server, dir string) {
		blocked := filepath.Join(dir, "file")
		fortest.Must(t, os.WriteFile(blocked, nil, 0o600))
		s.Registry = registry.Open(blocked, "test", s.Client.BaseURL())
		s.seen = s.Registry.SeenReader()
		if _, err := s.Create(s.ctx, api.CreateInbox{Username: "ada", TTL: 600}); err != nil {
			t.Error(err)
		}
		var said error
		s.awaitSeen(func(_ map[string]registry.ReadState, err error) tea.Cmd { said = err; return nil })().(Answer).Apply()
		if said == nil || !strings.HasPrefix(said.Error(), "could not record the inbox on this machine: ") {
			t.Errorf("said %v", said)
		}
	})
}

// deliver puts a message into an inbox and returns its row.
func deliver(t *testing.T, server *apitest.Server, m apitest.Mail) *store.Message {
	t.Helper()
	in, err := server.Create("", time.Hour)
	fortest.Must(t, err)
	m.From = "a@b.example"
	got, err := server.Deliver(in.Email, m)
	fortest.Must(t, err)
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
			got := take(func(apply func(Opened) tea.Cmd) tea.Cmd {
				return s.Open(m, 7, func(*render.Mail) { prepared = true }, apply)
			})
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
			if got := take(func(apply func([]Opened) tea.Cmd) tea.Cmd { return s.Prefetch([]*store.Message{m, m}, apply) }); len(got) != 2 || got[1].Err != nil || got[1].Generation != 0 || got[1].Text.Line("482913") == "" {
				t.Errorf("%s: prefetched %+v", c.name, got)
			}
			server.Fail(apitest.Forbidden, -1)
			if got := take(func(apply func(Opened) tea.Cmd) tea.Cmd {
				return s.Open(m, 8, func(*render.Mail) { t.Error("nothing came, and it is laid out") }, apply)
			}); !errors.Is(got.Err, api.ErrForbidden) || got.Message != nil || got.Findings != nil {
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
		if got := take(func(apply func([]Opened) tea.Cmd) tea.Cmd { return s.Prefetch([]*store.Message{m}, apply) }); got[0].Err != nil || got[0].Findings.Code != "482913" {
			t.Errorf("%+v", got)
		}
	})
}

func TestFilesOfAMessage(t *testing.T) {
	ask(t, apitest.Options{Extensions: true}, func(s *Session, server *apitest.Server, dir string) {
		older := deliver(t, server, apitest.Mail{Subject: "Older", Text: "Hello Ada"})
		m := deliver(t, server, apitest.Mail{Subject: "Files", Text: "Hello Bob", Attachments: []api.Attachment{
			{Filename: "../evil.sh", ContentType: "text/plain", Content: []byte("echo")}, {Filename: "b.pdf", ContentType: "application/pdf", Content: []byte("%PDF")},
		}})
		if got, err := s.SaveMessage(s.ctx, Source{m.InboxID, m.ID, nil}, dir); err != nil || !strings.HasSuffix(got.Text, "Files.eml") {
			t.Errorf("saved %+v", got)
		}
		opened := take(func(apply func(Opened) tea.Cmd) tea.Cmd { return s.Open(m, 1, func(*render.Mail) {}, apply) })
		for _, c := range []struct {
			files []int
			says  string
		}{{[]int{1}, "saved "}, {[]int{1}, "already there: "}, {[]int{0, 1}, "saved 1 file in "}, {[]int{0, 1}, "saved 0 files in "}} {
			if got, err := s.SaveAttachments(s.ctx, opened.Message, c.files, dir); err != nil || !strings.HasPrefix(got.Text, c.says) {
				t.Errorf("%v: said %+v, want %q", c.files, got, c.says)
			}
		}
		for _, name := range []string{"_evil.sh", "b.pdf"} {
			if found, err := filepath.Glob(filepath.Join(dir, "*"+name)); len(found) != 1 {
				t.Errorf("%s: %v, %v", name, found, err)
			}
		}
		if _, err := s.SaveMessage(s.ctx, Source{m.InboxID, m.ID, nil}, filepath.Join(dir, "b.pdf")); err == nil {
			t.Error("a message is saved in a file")
		}
		for want, from := range map[string]Source{"Older": {older.InboxID, older.ID, nil}, "Files": {m.InboxID, m.ID, opened.Message}} {
			if read, err := s.Read(s.ctx, from); err != nil || read.Subject != want {
				t.Errorf("read %+v, %v", read, err)
			}
		}
		copies := &host.Copies{}
		path, err := s.WriteCopy(s.ctx, *m, nil, copies)
		page, _ := os.ReadFile(path)
		if err != nil || !strings.Contains(string(page), "Hello Bob") || !strings.Contains(string(page), "default-src 'none'") {
			t.Errorf("a copy: %v, %q", err, page)
		}
		if err := copies.Remove(); err != nil {
			t.Error(err)
		}
	})
}

func TestARequestIsBoundedInTime(t *testing.T) {
	ask(t, apitest.Options{}, func(s *Session, server *apitest.Server, _ string) {
		server.Fail(apitest.Silent, -1)
		began := time.Now()
		err := do(Ask(s, "adding an inbox", "", func(ctx context.Context) (api.Inbox, error) { return s.Adopt(ctx, "inbox") }, nil))
		if d := time.Since(began); d != requestTimeout || Explain(err) != "The service did not answer in time" {
			t.Errorf("after %v: %v", d, err)
		}
	})
}
