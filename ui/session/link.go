package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/keys"
	"mayfly/registry"
	"mayfly/render"
	"mayfly/ui/clock"
	"mayfly/ui/intent"
)

// maxRetryDelay is the longest wait between two attempts to connect.
const maxRetryDelay = 30 * time.Second

// Options are the services that there are.
type Options struct {
	// Connect makes the connection. It is called beside the first frame, and again when the user
	// connects to something else or tries again. An error that is keys.ErrNone leads to the dialog
	// that asks for a key.
	Connect func(ctx context.Context, t Target) (*Connection, error)
	// Profiles are the services to switch between.
	Profiles []Profile
	// SaveProfile keeps a profile, and its key in the keyring; nil where that is not possible.
	SaveProfile func(ctx context.Context, p Profile, key string) error
}

// Link is how the connection to the service is: made, being made, failing, lost. It connects again
// by itself.
type Link struct {
	Session *Session // nil until the first connection is made
	Target  Target   // what the session is a session with
	Err     error    // nil while all is well
	RetryAt time.Time
	Mode    watch.Mode
	Since   time.Time // when connecting began

	options  Options
	ctx      context.Context
	log      *slog.Logger
	owner    sessions
	wanted   Target // what is being connected to
	attempt  uint64
	trying   bool // an attempt is under way
	lost     bool // the service of the session is gone for good
	failures int  // attempts to connect that failed in a row
}

// NewLink returns a link that is not connected yet.
func NewLink(ctx context.Context, o Options, log *slog.Logger, now time.Time) *Link {
	return &Link{options: o, ctx: ctx, log: log, Since: now}
}

// Close ends every session, also those that are being made, and waits for them.
func (l *Link) Close() { l.owner.close() }

// Connected is the outcome of connecting.
type Connected struct {
	Session *Session // nil when no connection was made
	Inboxes []api.Inbox
	Known   []registry.Inbox // those of the registry
	Err     error
	attempt uint64
}

// Connect makes a connection; an attempt that was overtaken by another is dropped when it ends.
func (l *Link) Connect(t Target, now time.Time) tea.Cmd {
	l.attempt++
	l.wanted, l.trying = t, true
	if l.Session == nil {
		l.Since, l.Err = now, nil
	}
	attempt := l.attempt
	return func() tea.Msg {
		if !l.owner.begin() {
			return nil
		}
		defer l.owner.making.Done()
		m := l.connect(t, attempt)
		if m.Session != nil {
			l.owner.add(m.Session)
		}
		return m
	}
}

// ConnectTo connects to what the user chose, and keeps it as a profile where that is wanted.
func (l *Link) ConnectTo(c intent.Connect, now time.Time) tea.Cmd {
	cmd := l.Connect(Target{Profile: c.Profile, BaseURL: c.BaseURL, Key: c.Key}, now)
	if !c.Keep {
		return cmd
	}
	p, save, ctx := Profile{Name: c.Profile, BaseURL: c.BaseURL}, l.options.SaveProfile, l.ctx
	others := slices.DeleteFunc(slices.Clone(l.options.Profiles), func(x Profile) bool { return x.Name == p.Name })
	l.options.Profiles = append(others, p)
	return tea.Batch(cmd, func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return Done{Text: "saved profile " + p.Name, Err: save(ctx, p, c.Key)}
	})
}

// connect makes a session and lists the inboxes there are.
func (l *Link) connect(t Target, attempt uint64) Connected {
	m := Connected{attempt: attempt}
	conn, err := l.options.Connect(l.ctx, t)
	if err != nil {
		m.Err = err
		return m
	}
	m.Session = newSession(l.ctx, conn)
	if conn.Registry != nil {
		if m.Known, err = conn.Registry.List(); err != nil {
			l.log.Warn("read the registry", "error", err)
		}
	}
	list, err := conn.Client.Inboxes(l.ctx)
	if err != nil && !errors.Is(err, api.ErrUnsupported) {
		m.Err = err
	}
	m.Inboxes = list.Inboxes
	return m
}

// Change is what a connection that was made means for what is on the screen.
type Change int

const (
	None  Change = iota // nothing: it failed, or came too late
	First               // there was no session before
	Again               // the service is the one before
	Other               // the service is another one
)

// Use begins to work with a connection that was made, and ends the session before it. A connection
// that failed is tried again, less and less often, unless there is a session that works.
func (l *Link) Use(m Connected, now time.Time) (Change, tea.Cmd) {
	if m.attempt != l.attempt {
		return None, l.owner.end(m.Session)
	}
	l.trying = false
	if m.Session == nil {
		l.log.Warn("not connected", "error", m.Err)
		if l.Session == nil || l.lost {
			l.Err = m.Err
			l.failures++
			l.RetryAt = now.Add(min(time.Second<<min(l.failures, 5), maxRetryDelay))
		}
		return None, nil
	}
	change, before := First, l.Session
	switch {
	case before == nil:
	case m.Session.sameService(before):
		change = Again
	default:
		change = Other
	}
	l.log.Info("connected", "to", m.Session.Name, "after", now.Sub(l.Since), "error", m.Err)
	l.Session, l.Target, l.Since, l.Err = m.Session, l.wanted, now, m.Err
	l.RetryAt, l.Mode, l.lost, l.failures = time.Time{}, watch.Unknown, false, 0
	return change, tea.Batch(l.owner.end(before), m.Session.Listen, m.Session.wait)
}

// Working reports whether there is a session that is not lost.
func (l *Link) Working() bool { return l.Session != nil && !l.lost }

// NoRaw reports that the service is known to give no raw messages.
func (l *Link) NoRaw() bool { return l.Session != nil && l.Session.NoRaw }

// Lose connects again: whoever comes first becomes the owner of the local service.
func (l *Link) Lose(now time.Time) tea.Cmd {
	l.lost = true
	return l.Connect(l.Target, now)
}

// Retry connects again when it is time to.
func (l *Link) Retry(now time.Time) tea.Cmd {
	if l.trying || l.Working() || !l.Trouble().Temporary() || now.Before(l.RetryAt) {
		return nil
	}
	return l.Reconnect(now)
}

// Reconnect tries once more what was tried last.
func (l *Link) Reconnect(now time.Time) tea.Cmd {
	l.RetryAt = time.Time{}
	return l.Connect(l.wanted, now)
}

// Apply takes an event of the watcher that is about the service.
func (l *Link) Apply(e watch.Event) {
	switch e.Kind {
	case watch.ModeChanged:
		l.Mode = e.Mode
	case watch.Failed:
		l.Err, l.RetryAt = e.Err, e.RetryAt
	case watch.Recovered:
		l.Err = nil
	}
}

// Countdown says in how long the next attempt is made; empty when none is.
func (l *Link) Countdown(now time.Time) string {
	if !l.RetryAt.After(now) {
		return ""
	}
	left, _ := clock.Remaining(l.RetryAt.Sub(now))
	return left
}

// Wake notes the next second of the countdown.
func (l *Link) Wake(now time.Time, a *clock.Alarm) {
	if l.Err != nil && l.RetryAt.After(now) {
		_, next := clock.Remaining(l.RetryAt.Sub(now))
		a.In(next)
	}
}

// Trouble names what is wrong with the connection.
type Trouble int

const (
	NoTrouble   Trouble = iota
	NoKey               // there is no key
	KeyRefused          // 401
	NotInPlan           // 403
	Limited             // 429
	Unavailable         // cannot be reached, or fails
)

// Passes reports whether trying again by itself can mend it.
func (t Trouble) Temporary() bool { return t == Limited || t == Unavailable }

// Trouble is what is wrong with the connection.
func (l *Link) Trouble() Trouble { return TroubleOf(l.Err) }

// TroubleOf sorts an error of the service.
func TroubleOf(err error) Trouble {
	switch {
	case err == nil:
		return NoTrouble
	case errors.Is(err, keys.ErrNone):
		return NoKey
	case errors.Is(err, api.ErrUnauthorized):
		return KeyRefused
	case errors.Is(err, api.ErrForbidden):
		return NotInPlan
	case errors.Is(err, api.ErrRateLimited):
		return Limited
	}
	return Unavailable
}

// Explain is one line that can be shown, whoever wrote the error.
func Explain(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "The service did not answer in time"
	}
	return render.Clean(err.Error())
}
