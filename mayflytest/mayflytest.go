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
// has failed, its mails are written to [testing.T.ArtifactDir], which `go test -artifacts` keeps.
//
// A method that waits for mail fails the test if none comes in time, and shows what came instead. Like
// [testing.T.FailNow] it must be called from the test's goroutine.
package mayflytest

import (
	"context"
	"sync"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/internal/server"
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

// Chaos makes SMTP misbehave on purpose, by rules such as "data=451:1x", which refuses the first mail.
// They are those of `mayfly serve --chaos`.
func Chaos(rules string) Option { return func(c *server.Config) { c.Chaos = rules } }

// Start starts a service, which ends with the test.
func Start(t testing.TB, options ...Option) *Service {
	t.Helper()
	config := server.Private()
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
		t.Logf("keeping the mails: %v", err)
	}
}
