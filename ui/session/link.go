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
	"mayfly/internal/registry"
	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/theme"
)

// maxRetryDelay is the longest wait between two attempts to connect.
const maxRetryDelay = 30 * time.Second

// MaxWait is how long a request of the user may wait for a limit of the service. The user is told of
// a longer wait, and decides.
const MaxWait = time.Second

// Options say how to connect, and to which services.
type Options struct {
	// Start is the service that the program was started for. It is named while there is no
	// connection.
	Start Profile
	// Connect makes a connection. It is called at the start, and again when the user connects to
	// another service or retries. On [keys.ErrNone] the user is asked for a key.
	Connect func(ctx context.Context, t Target) (*Connection, error)
	// Profiles are the services to switch between.
	Profiles []Profile
	// SaveProfile saves a profile, and its key in the keyring.
	SaveProfile func(ctx context.Context, p Profile, key string) error
}

// Link is the state of the connection to the service: connecting, connected, failing or lost. It
// reconnects by itself.
type Link struct {
	Session *Session // nil until the first connection
	Target  Target   // of the session
	Err     error    // nil while all is well
	RetryAt time.Time
	Mode    watch.Mode
	Behind  time.Time // since when what is on the screen has been out of date; zero if it is not
	Since   time.Time // when connecting began

	options  Options
	ctx      context.Context
	log      *slog.Logger
	owner    sessions
	wanted   Target // what is being connected to
	attempt  uint64
	trying   bool // an attempt is under way
	lost     bool // the service has ended
	failures int  // consecutive failed attempts
}

// NewLink returns a link that is not connected yet.
func NewLink(ctx context.Context, o Options, log *slog.Logger, now time.Time) *Link {
	return &Link{options: o, ctx: ctx, log: log, Since: now}
}

// Close ends every session, including those still connecting, and waits for them.
func (l *Link) Close() { l.owner.close() }

// Connected is the outcome of connecting.
type Connected struct {
	Session *Session // nil if the connection failed
	Inboxes []api.Inbox
	Known   []registry.Inbox // from the registry
	Seen    map[string]registry.Seen
	Err     error
	attempt uint64
	saved   string // the profile that was saved
	saveErr error
}

// Connect starts connecting. An attempt overtaken by a later one is dropped when it ends.
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

// ask is the request of the user to connect.
func (l *Link) ask(t Target, now time.Time) Request {
	return Request{What: "connecting to " + l.profile(t).title(), Start: func() tea.Cmd { return l.Connect(t, now) }}
}

// ConnectTo connects to the service the user chose, and then saves it as a profile if asked to.
func (l *Link) ConnectTo(c intent.Connect, now time.Time) Request {
	r := l.ask(Target{Profile: c.Profile, BaseURL: c.BaseURL, Key: c.Key}, now)
	if !c.Keep {
		return r
	}
	p, save, ctx := Profile{Name: c.Profile, BaseURL: c.BaseURL}, l.options.SaveProfile, l.ctx
	others := slices.DeleteFunc(slices.Clone(l.options.Profiles), func(x Profile) bool { return x.Name == p.Name })
	l.options.Profiles = append(others, p)
	connect := r.Start
	r.Start = func() tea.Cmd {
		cmd := connect()
		return func() tea.Msg {
			m, ok := cmd().(Connected)
			if !ok { // the application is quitting
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			m.saved, m.saveErr = p.Name, save(ctx, p, c.Key)
			return m
		}
	}
	return r
}

// connect opens a session and lists its inboxes.
func (l *Link) connect(t Target, attempt uint64) Connected {
	m := Connected{attempt: attempt}
	conn, err := l.options.Connect(l.ctx, t)
	if err != nil {
		m.Err = err
		return m
	}
	m.Session = newSession(l.ctx, conn)
	var failed error
	m.Known, err = conn.Registry.List()
	if m.Seen, failed = conn.Registry.Seen(); err != nil || failed != nil {
		l.log.Warn("read the registry", "error", errors.Join(err, failed))
	}
	list, err := conn.Client.Inboxes(l.ctx)
	if err != nil && !errors.Is(err, api.ErrUnsupported) {
		m.Err = err
	}
	m.Inboxes = list.Inboxes
	return m
}

// Change says what a connection attempt means for the screen.
type Change int

const (
	None  Change = iota // it failed, or came too late
	First               // there was no session before
	Again               // the same service as before
	Other               // a different service
)

// Use switches to a new connection and ends the previous session. A failed one is retried with
// exponential backoff, unless there is a working session.
func (l *Link) Use(m Connected, now time.Time) (Change, tea.Cmd) {
	if m.attempt != l.attempt {
		return None, l.owner.end(m.Session)
	}
	l.trying = false
	if m.Session == nil {
		l.log.Warn("not connected", "error", m.Err)
		if l.Working() {
			return None, func() tea.Msg { return host.Done{Err: m.Err} }
		}
		l.fail(m.Err, now)
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
	cmds := []tea.Cmd{l.owner.end(before), m.Session.Listen, m.Session.wait}
	switch {
	case m.Session.Notice != "":
		cmds = append(cmds, func() tea.Msg { return host.Done{Err: errors.New(m.Session.Notice)} })
	case l.lost && change == Again:
		cmds = append(cmds, func() tea.Msg { return host.Done{Text: "started the local service again"} })
	}
	l.RetryAt, l.Behind, l.Mode, l.lost, l.failures = time.Time{}, time.Time{}, watch.Unknown, false, 0
	return change, tea.Batch(cmds...)
}

// fail sets the time of the next attempt.
func (l *Link) fail(err error, now time.Time) {
	l.Err = err
	l.failures++
	l.RetryAt = now.Add(min(time.Second<<min(l.failures, 5), maxRetryDelay))
}

// Working reports whether there is a session whose service has not ended.
func (l *Link) Working() bool { return l.Session != nil && !l.lost }

// NoRaw reports whether the service is known not to provide raw messages.
func (l *Link) NoRaw() bool { return l.Session != nil && l.Session.NoRaw }

// errStopped means that the user has ended the local service.
var errStopped = errors.New("the local service was stopped by mayfly down")

// Lose connects again after the service has ended, or when it runs again if the user ended it. It does so later if
// the service has ended as soon as it was started.
func (l *Link) Lose(m Lost, now time.Time) tea.Cmd {
	l.lost, l.wanted = true, l.Target
	switch {
	case m.Stopped:
		l.Err, l.RetryAt = errStopped, time.Time{}
		return l.Session.waitForStart()
	case now.Sub(l.Since) < time.Second:
		l.fail(errors.New("the service ended as soon as it was started"), now)
		return nil
	}
	return l.Connect(l.wanted, now)
}

// Retry reconnects once the retry is due.
func (l *Link) Retry(now time.Time) tea.Cmd {
	if l.trying || l.Working() || !l.Trouble().Temporary() || now.Before(l.RetryAt) {
		return nil
	}
	return l.Connect(l.wanted, now)
}

// Refresh asks for the list of an inbox, or for all if id is empty. It connects again where that
// cannot help: without a connection, without inboxes, or with a key that is not accepted.
func (l *Link) Refresh(id string, inboxes int, now time.Time) Request {
	switch t := l.Trouble(); {
	case !l.Working(), inboxes == 0, t == KeyRefused, t == NotInPlan:
		return l.ask(l.wanted, now)
	case l.Err != nil:
		return l.Session.Refresh("")
	}
	return l.Session.Refresh(id)
}

// Outcome says how connecting ended, nothing for an attempt that was overtaken.
func (l *Link) Outcome(m Connected) host.Done {
	switch {
	case m.attempt != l.attempt:
		return host.Done{}
	case m.Err != nil:
		return host.Done{Err: m.Err}
	case m.saved != "":
		return host.Done{Text: "connected to " + m.Session.Name + ", saved as a profile", Err: m.saveErr}
	}
	return host.Done{Text: "connected to " + m.Session.Name}
}

// Apply applies an event of the watcher. What the watcher of a service that has ended finds out of
// it is known.
func (l *Link) Apply(e watch.Event) {
	l.Session.refreshed(e)
	switch {
	case l.lost, e.InboxID != "":
	case e.Kind == watch.ModeChanged:
		l.Mode = e.Mode
	case e.Kind == watch.Behind:
		l.Behind = e.Since
	case e.Kind == watch.Failed:
		l.Err, l.RetryAt = e.Err, e.RetryAt
	case e.Kind == watch.Recovered:
		l.Err = nil
	}
}

// NeedService is why the service cannot be asked for anything, "" if it can. The keys connect and
// refresh are those that help.
func (l *Link) NeedService(connect, refresh string, now time.Time) string {
	wait, kind := l.Countdown(now), l.Trouble()
	switch {
	case l.Session == nil && l.Err == nil:
		return "Not connected yet"
	case kind == NoKey:
		return "No API key: " + connect + " connects with one"
	case kind == Limited && wait != "":
		return limitReached + ": again in " + wait
	case kind == Unavailable && wait != "":
		return "Offline: next try in " + wait + ", " + refresh + " tries now"
	case l.Session == nil:
		return "Not connected: " + refresh + " tries again"
	}
	return ""
}

// Countdown is the time until the next attempt, such as "2 s"; "" if none is due.
func (l *Link) Countdown(now time.Time) string {
	if !l.RetryAt.After(now) {
		return ""
	}
	left, _ := theme.Remaining(l.RetryAt.Sub(now))
	return left
}

// Wake sets the alarm for the next second of the countdown, and of how far the screen is behind.
func (l *Link) Wake(now time.Time, a *theme.Alarm) {
	if l.Err != nil && l.RetryAt.After(now) {
		_, next := theme.Remaining(l.RetryAt.Sub(now))
		a.In(next)
	}
	if !l.Behind.IsZero() {
		_, next := theme.Waited(now.Sub(l.Behind))
		a.In(next)
	}
}

// Trouble is a kind of failure of the connection.
type Trouble int

const (
	NoTrouble   Trouble = iota
	Stopped             // the user has ended the local service
	NoKey               // there is no key
	KeyRefused          // 401
	NotInPlan           // 403
	Limited             // 429
	Unavailable         // unreachable or failing
)

// Temporary reports whether an automatic retry can help.
func (t Trouble) Temporary() bool { return t == Limited || t == Unavailable }

// Trouble is what is wrong with the connection.
func (l *Link) Trouble() Trouble {
	switch err := l.Err; {
	case err == nil:
		return NoTrouble
	case errors.Is(err, errStopped):
		return Stopped
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

const limitReached = "Request limit reached"

// Explain returns an error as one line that is safe to show.
func Explain(err error) string {
	var e *api.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "The service did not answer in time"
	case errors.Is(err, api.ErrRateLimited) && errors.As(err, &e) && e.RetryAfter > 0:
		wait, _ := theme.Remaining(e.RetryAfter)
		return limitReached + ": again in " + wait
	}
	return render.Clean(err.Error())
}
