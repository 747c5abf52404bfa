// Package mayflytest gives a test a mail service of its own:
//
//	func TestSignUp(t *testing.T) {
//		m := mayflytest.Start(t)
//		app := newApp(m.SMTPAddr) // the application under test sends its mail there
//		ada := m.Inbox(t)
//		app.SignUp(ada.Email)
//		app.Confirm(ada.Email, ada.Code(t))
//	}
//
// The service accepts mail to any address, with any login or none, on a free port of loopback. It keeps
// mail in memory and ends with the test, so that any number of tests can run in parallel. When the test
// has failed, its messages are written to [testing.T.ArtifactDir], which `go test -artifacts` keeps.
//
// A method that waits for mail fails the test if none arrives in time, and shows what arrived instead. Like
// [testing.T.FailNow] it must be called from the test's goroutine.
package mayflytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/mail"
	"mayfly/internal/message"
	"mayfly/internal/server"
	"mayfly/internal/snapshot"
	"mayfly/render"
)

// Service is a running mail service.
type Service struct {
	SMTPAddr string // where it accepts mail, host:port
	BaseURL  string // of its REST API, for package api and other clients
	Key      string // the API key for it

	// Timeout is how long a wait for mail may take. Start sets it to ten seconds; change it before the
	// first wait. A wait ends sooner if the deadline of the test is near.
	Timeout time.Duration

	server  *server.Server
	client  *api.Client
	inboxes sync.Map // *Inbox by ID
}

// Option changes how a service behaves.
type Option func(*server.Config)

// Chaos injects faults into SMTP, by rules such as "data=451:1x", which refuses the first message.
// They are those of `mayfly serve --chaos`.
func Chaos(rules string) Option { return func(c *server.Config) { c.Chaos = rules } }

// Start starts a service, which ends with the test.
func Start(t testing.TB, options ...Option) *Service {
	t.Helper()
	config := server.InMemoryConfig()
	for _, option := range options {
		option(&config)
	}
	running, err := server.Start(t.Context(), config)
	if err != nil {
		t.Fatalf("starting a mail service: %v", err)
	}
	s := &Service{
		SMTPAddr: running.SMTPAddr(), BaseURL: "http://" + running.HTTPAddr(), Key: running.Key(), Timeout: 10 * time.Second, server: running,
	}
	t.Cleanup(func() {
		if s.client != nil {
			if t.Failed() {
				s.keepMails(t)
				s.sayLate(t)
			}
			s.client.CloseIdleConnections()
		}
		cut, cancel := context.WithCancel(context.Background())
		cancel() // nobody is left to wait for
		_ = running.Shutdown(cut)
	})
	if s.client, err = api.New(s.BaseURL, s.Key, api.Options{}); err != nil {
		t.Fatalf("connecting to the mail service: %v", err)
	}
	return s
}

// keepMails writes every mail to files, as far as it can be read: the test has failed anyway.
func (s *Service) keepMails(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	saved := func(*message.Message, []message.Saved) error { return nil }
	if err := message.SaveAll(ctx, s.client, t.ArtifactDir(), saved); err != nil {
		t.Logf("keeping the messages: %v", err)
	}
}

// sayLate names the messages that arrived soon after a wait for them had timed out.
func (s *Service) sayLate(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, in := range s.inboxes.Range {
		in := in.(*Inbox)
		list, _ := s.client.Messages(ctx, in.id) // none is late where they cannot be listed
		for _, m := range list.Messages {
			if late := watch.Late(ctx, s.client, in.id, m, in.delivered.Vain); late != "" {
				t.Log(late)
			}
		}
	}
}

// Inbox is where the mail to an address arrives.
//
// Code, Link and Next each return a message once: the oldest that they have not, starting with the message
// returned last. So a second Code returns the next code, and Link after Code the link of the same mail.
type Inbox struct {
	Email string // the address

	id      string
	service *Service

	mu        sync.Mutex
	delivered watch.Consumed
}

// Inbox creates an inbox with an address of its own.
func (s *Service) Inbox(t testing.TB) *Inbox {
	t.Helper()
	made, err := s.client.CreateInbox(t.Context(), api.CreateInbox{TTL: int(24 * time.Hour / time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	return s.inbox(made.ID, made.Email)
}

// InboxFor returns the inbox of an address that the application under test already uses, such as its
// administrator's, whatever its domain. It creates the inbox if there is none; the same address gives the
// same Inbox.
func (s *Service) InboxFor(t testing.TB, address string) *Inbox {
	t.Helper()
	r, err := s.server.Service().Recipient(t.Context(), "", address)
	if err == nil {
		r, err = s.server.Service().WithInbox(t.Context(), r) // as for a mail to a new address
	}
	if err != nil {
		t.Fatalf("creating an inbox for %q: %v", address, err)
	}
	return s.inbox(r.InboxID, r.Address)
}

func (s *Service) inbox(id, address string) *Inbox {
	in, _ := s.inboxes.LoadOrStore(id, &Inbox{Email: address, id: id, service: s})
	return in.(*Inbox)
}

// Mail is a message that has arrived.
type Mail struct {
	mail.Message
	Code string // the one-time code, or empty
	Link string // the link to follow, or empty
}

// Code returns the one-time code of the next mail that has one.
func (in *Inbox) Code(t testing.TB) string {
	t.Helper()
	return in.await(t, watch.Code).Code
}

// Link returns the link to follow in the next mail that has one: to confirm, log in or reset a
// password.
func (in *Inbox) Link(t testing.TB) string {
	t.Helper()
	return in.await(t, watch.Link).Link
}

// Next returns the next mail.
func (in *Inbox) Next(t testing.TB) Mail {
	t.Helper()
	return in.await(t, watch.Message)
}

// All returns the messages that are there now, returned before or not, the oldest first. It does not wait.
func (in *Inbox) All(t testing.TB) []Mail {
	t.Helper()
	list, err := in.service.client.Messages(t.Context(), in.id)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]Mail, len(list.Messages))
	for i, summary := range list.Messages {
		object, err := in.service.client.Message(t.Context(), in.id, summary.ID)
		if err == nil {
			all[len(all)-1-i], err = in.open(t.Context(), object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Snapshot compares the next message with mails/NAME.txt next to the test, and fails the test if it differs. A snapshot that does not
// exist is written, which fails where the variable CI is set. With the variable MAYFLY_UPDATE it is replaced.
func (in *Inbox) Snapshot(t testing.TB, name string) {
	t.Helper()
	timeout := in.service.timeout(t)
	found, err := in.find(t, snapshots, timeout)
	if err != nil {
		in.fail(t, snapshots, timeout, err)
	}
	m, err := message.New(in.id, found).WithRaw(t.Context(), in.service.client)
	if err != nil {
		t.Fatal(err)
	}
	m.Rules.Local = true
	file, written, err := snapshot.Check(name, snapshot.Text(m, in.Email), snapshot.Options{
		CI: os.Getenv("CI") != "", Update: os.Getenv("MAYFLY_UPDATE") != "", State: os.Getenv("MAYFLY_STATE_DIR"),
	})
	switch differs := (*snapshot.Mismatch)(nil); {
	case errors.As(err, &differs):
		t.Fatalf("%v\nMAYFLY_UPDATE=1 accepts it", err)
	case err != nil:
		t.Fatal(err)
	case written:
		t.Logf("wrote %s", file)
	}
}

// snapshots are what [Inbox.Snapshot] waits for: messages, each once.
const snapshots watch.Target = "snapshot"

// open finds the code and the link as the waits do: in the API's object. The rest is from the raw mail.
func (in *Inbox) open(ctx context.Context, object api.Message) (Mail, error) {
	m := message.New(in.id, object)
	code, _ := m.Mail().Code()
	link, _ := m.Mail().Confirm()
	m, err := m.WithRaw(ctx, in.service.client)
	if err != nil {
		return Mail{}, err
	}
	return Mail{m.Message, code.Value, link.URL}, nil
}

// Times of waits for no mail, at most [Service.Timeout].
const (
	noneTime   = 5 * time.Second
	settleTime = 2 * time.Second // after the last of so many
)

// ExpectNone fails the test if a message arrives that was not returned before. It waits for five seconds, or for the
// service's Timeout if that is shorter.
func (in *Inbox) ExpectNone(t testing.TB) {
	t.Helper()
	in.none(t, noneTime, "no mail")
}

// Messages returns the next n messages, and fails the test if one more arrives within two seconds, or within the service's
// Timeout if that is shorter.
func (in *Inbox) Messages(t testing.TB, n int) []Mail {
	t.Helper()
	all := make([]Mail, n)
	for i := range all {
		all[i] = in.Next(t)
	}
	in.none(t, settleTime, "only "+english.Plural(n, "message", ""))
	return all
}

func (in *Inbox) none(t testing.TB, timeout time.Duration, expected string) {
	t.Helper()
	found, err := in.find(t, watch.Message, min(timeout, in.service.timeout(t)))
	switch {
	case err == nil:
		var text strings.Builder
		in.describeMail(&text, message.New(in.id, found))
		t.Fatalf("%s expected at %s, but these arrived:%s", expected, in.Email, text.String())
	case !errors.Is(err, context.DeadlineExceeded):
		t.Fatalf("waiting for mail to %s: %v", in.Email, err)
	}
}

// find waits for the next mail that has what is asked for.
func (in *Inbox) find(t testing.TB, target watch.Target, timeout time.Duration) (api.Message, error) {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return watch.WaitForMessage(ctx, in.service.client, in.id, in.after(target), watch.Match{
		Fits: func(m api.Message) bool { return answers(target, message.New(in.id, m)) },
		Take: func(f watch.Found) bool { // unless another goroutine was faster
			in.mu.Lock()
			defer in.mu.Unlock()
			return in.delivered.Take(target, f)
		},
	})
}

// await returns the next mail that has what is asked for.
func (in *Inbox) await(t testing.TB, target watch.Target) Mail {
	t.Helper()
	timeout := in.service.timeout(t)
	found, err := in.find(t, target, timeout)
	if err != nil {
		in.fail(t, target, timeout, err)
	}
	m, err := in.open(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fail fails the test for a wait that ended with an error.
func (in *Inbox) fail(t testing.TB, target watch.Target, timeout time.Duration, err error) {
	t.Helper()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("waiting for mail to %s: %v", in.Email, err)
	}
	in.mu.Lock()
	in.delivered.InVain(in.service.client)
	in.mu.Unlock()
	t.Fatal(in.missing(t, target, timeout, err))
}

// answers reports whether a message has what is asked for.
func answers(target watch.Target, m *message.Message) bool {
	ok := true
	switch target {
	case watch.Code:
		_, ok = m.Mail().Code()
	case watch.Link:
		_, ok = m.Mail().Confirm()
	}
	return ok
}

// after says which messages are considered: at first all, since the test or its application caused
// them.
func (in *Inbox) after(target watch.Target) watch.Cursor {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.delivered.For) == 0 {
		return in.delivered.Since(target, time.Time{})
	}
	return in.delivered.Cursor(target)
}

// beforeDeadline is how long before the deadline of a test a wait gives up: after it, `go test` ends
// the process without a word on mail.
const beforeDeadline = time.Second

func (s *Service) timeout(t testing.TB) time.Duration {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			return min(s.Timeout, max(0, time.Until(deadline)-beforeDeadline))
		}
	}
	return s.Timeout
}

// Bounds of what a failure shows.
const (
	shownMails = 5
	shownLines = 3  // of a message's text
	shownWidth = 76 // columns of these
)

// missing describes what did not arrive, and what did.
func (in *Inbox) missing(t testing.TB, target watch.Target, timeout time.Duration, vain error) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), beforeDeadline)
	defer cancel()
	what := "no mail to " + in.Email
	if target == watch.Code || target == watch.Link {
		what += " with a " + string(target)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s within %s; %s", what, timeout.Round(10*time.Millisecond), watch.Explain(ctx, in.service.client, watch.Vain{
		Address: in.Email, SMTP: in.service.SMTPAddr, Took: timeout, Err: vain, Again: "All returns it again",
	}))
	if err := in.describe(ctx, &text); err != nil {
		fmt.Fprintf(&text, "; what did arrive cannot be read: %v", err)
	}
	return text.String()
}

func (in *Inbox) describe(ctx context.Context, text *strings.Builder) error {
	list, err := in.service.client.Messages(ctx, in.id)
	if err != nil {
		return err
	}
	if n := len(list.Messages); n > 0 {
		fmt.Fprintf(text, "; %s arrived:", english.Plural(n, "message", ""))
		for _, summary := range list.Messages[:min(n, shownMails)] {
			object, err := in.service.client.Message(ctx, in.id, summary.ID)
			if err != nil {
				return err
			}
			in.describeMail(text, message.New(in.id, object))
		}
		if n > shownMails {
			fmt.Fprintf(text, "\n  and %d before", n-shownMails)
		}
	}
	return nil
}

// describeMail writes what a mail is and what was returned of it.
func (in *Inbox) describeMail(text *strings.Builder, m *message.Message) {
	from := m.From.Addr
	if m.From.Name != "" {
		from = m.From.Name + " <" + from + ">"
	}
	fmt.Fprintf(text, "\n  %s\n    from %s, %s ago%s", render.Clean(m.Subject), render.Clean(from),
		time.Since(m.ReceivedAt).Round(10*time.Millisecond), in.noted(watch.Message, m.ID))
	if code, ok := m.Mail().Code(); ok {
		fmt.Fprintf(text, "\n    code %s%s", render.Clean(code.Value), in.noted(watch.Code, m.ID))
	}
	if link, ok := m.Mail().Confirm(); ok {
		fmt.Fprintf(text, "\n    link %s%s", render.Clean(link.URL), in.noted(watch.Link, m.ID))
	}
	shown := 0
	for line := range strings.Lines(m.Plain(render.Options{Width: shownWidth})) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if shown++; shown > shownLines {
			text.WriteString("\n    | …")
			return
		}
		text.WriteString("\n    | " + line)
	}
}

func (in *Inbox) noted(target watch.Target, id string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.delivered.Has(target, id) {
		return " (was returned before)"
	}
	return ""
}
