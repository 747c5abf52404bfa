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
	"mayfly/internal/local"
	"mayfly/internal/registry"
	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/theme"
)

// maxRetryDelay is the longest wait between two attempts to connect.
const maxRetryDelay = 30 * time.Second

// MaxWait is how long a request of the user may wait for a limit. The user is told of a longer wait.
const MaxWait = time.Second

// Options say how to connect, and to which services.
type Options struct {
	// Start is the service that the program was started for, named while there is no connection.
	Start Profile
	// Connect reaches a service. It is called at the start, and again when the user connects to
	// another service or retries. On [keys.ErrNone] the user is asked for a key.
	Connect func(ctx context.Context, t Target) (*Service, error)
	// Profiles are the services to switch between.
	Profiles []Profile
	// SaveProfile saves a profile, and its key if there is one.
	SaveProfile func(ctx context.Context, p Profile, key string, where keys.Place) error
}

// state is how a connection is. Without a session attempts to connect are repeated, see Retry; with one its watcher tries
// again by itself.
type state struct {
	Since    time.Time // when connecting began; once connected, when that was
	Err      error     // what is wrong; nil while nothing is known to be
	retryAt  time.Time // the next attempt; zero if none is due or one is under way
	failures int       // attempts to connect that have failed in a row
}

// Connection is the connection to a service.
type Connection struct {
	Session *Session // nil until the first connection
	Target  Target   // of the session
	Asked   Target   // what is being connected to, or was last

	// OnEvents gets what the watcher of the session has noticed.
	OnEvents func([]watch.Event) tea.Cmd
	// OnSeen gets what was seen of inboxes, as this application or another one has saved it, and an error of the registry, if
	// something could not be saved.
	OnSeen func(seen map[string]registry.ReadState, err error) tea.Cmd

	state
	options Options
	ctx     context.Context
	log     *slog.Logger
	owner   sessions
	attempt uint64
}

// NewConnection returns a connection that is not made yet.
func NewConnection(ctx context.Context, o Options, log *slog.Logger, now time.Time) *Connection {
	return &Connection{options: o, ctx: ctx, log: log, state: state{Since: now}, owner: sessions{open: map[*Session]bool{}}}
}

// Close ends every session, including those still connecting, and waits for them.
func (c *Connection) Close() { c.owner.close() }

// Connected is the outcome of connecting.
type Connected struct {
	Session *Session // nil if it failed
	Inboxes []api.Inbox
	Known   []registry.Inbox // from the registry
	Seen    map[string]registry.ReadState
	Err     error
	attempt uint64
	target  Target
	saved   Profile // the profile that was to be saved; the zero value for none
	saveErr error
}

// Connect starts connecting. An attempt overtaken by a later one is dropped when it ends.
func (c *Connection) Connect(t Target, now time.Time) tea.Cmd {
	c.attempt++
	c.Asked = t
	if c.Session == nil {
		c.state = state{Since: now, failures: c.failures}
	}
	attempt := c.attempt
	return func() tea.Msg {
		if !c.owner.begin() {
			return nil
		}
		defer c.owner.making.Done()
		m := c.open(t, attempt)
		if m.Session != nil && !c.owner.add(m.Session) {
			return nil // the application has exited
		}
		return m
	}
}

// open opens a session and lists its newest inboxes.
func (c *Connection) open(t Target, attempt uint64) Connected {
	m := Connected{attempt: attempt, target: t}
	service, err := c.options.Connect(c.ctx, t)
	if err != nil {
		m.Err = err
		return m
	}
	m.Session = newSession(c.ctx, service)
	var failed error
	m.Known, err = service.Registry.List()
	if m.Seen, failed = m.Session.seen.Read(); err != nil || failed != nil {
		c.log.Warn("read the registry", "error", errors.Join(err, failed))
	}
	list, err := service.Client.PollInboxes(c.ctx, api.Poll{})
	if err != nil && !errors.Is(err, api.ErrUnsupported) {
		m.Err = err
	}
	m.Inboxes = list.Inboxes
	return m
}

// ConnectTo connects to the service the user chose, and once that works saves it and its key as a profile if asked to.
// Apply gets the outcome, whatever it is.
func (c *Connection) ConnectTo(t Target, keep bool, now time.Time, apply func(Connected) tea.Cmd) *Request {
	r := &Request{What: "connecting to " + c.profile(t).title()}
	r.Start = func() tea.Cmd {
		connect := c.Connect(t, now)
		return func() tea.Msg {
			m, ok := connect().(Connected)
			if !ok { // the application is quitting
				return nil
			}
			if m.Err == nil && keep {
				m.saved = Profile{Name: t.Profile, BaseURL: t.BaseURL}
				m.saveErr = c.save(m, keys.Keyring)
			}
			return Answer{Request: r, Err: m.Err, Apply: func() tea.Cmd { return apply(m) }}
		}
	}
	return r
}

func (c *Connection) save(m Connected, where keys.Place) error {
	ctx, cancel := context.WithTimeout(c.ctx, requestTimeout)
	defer cancel()
	return c.options.SaveProfile(ctx, m.saved, m.target.Key, where)
}

// LacksKeyring reports whether there was no keyring to keep a key in. [Connection.KeepInFile] keeps it elsewhere.
func (m Connected) LacksKeyring() bool { return errors.Is(m.saveErr, keys.ErrNoKeyring) }

// KeepInFile is the request to keep a key in a file.
func (c *Connection) KeepInFile(m Connected, apply func(host.Result) tea.Cmd) *Request {
	return Ask(nil, "storing the API key", "", func(context.Context) (host.Result, error) {
		return host.Result{Text: "saved the API key to a file only you can read"}, c.save(m, keys.File)
	}, apply)
}

// Change says what a connection attempt means for the screen.
type Change int

const (
	None  Change = iota // it failed, or came too late
	First               // there was no session before
	Again               // the same service as before
	Other               // a different service
)

// Use switches to a new session and ends the previous one. A failed attempt is repeated with exponential
// backoff, unless there is a session. A profile that was saved is listed from now on.
func (c *Connection) Use(m Connected, now time.Time) (Change, tea.Cmd) {
	if m.saved != (Profile{}) && (m.saveErr == nil || errors.Is(m.saveErr, keys.ErrNoKeyring)) {
		others := slices.DeleteFunc(slices.Clone(c.options.Profiles), func(p Profile) bool { return p.Name == m.saved.Name })
		c.options.Profiles = append(others, m.saved)
	}
	if m.attempt != c.attempt {
		return None, c.owner.end(m.Session)
	}
	if m.Session == nil {
		c.log.Warn("not connected", "error", m.Err)
		if c.Session != nil {
			return None, done(host.Result{Err: m.Err})
		}
		failures := c.failures + 1
		c.state = state{Since: c.Since, Err: m.Err, failures: failures, retryAt: now.Add(min(time.Second<<min(failures, 5), maxRetryDelay))}
		return None, nil
	}
	change, before := Other, c.Session
	switch {
	case before == nil:
		change = First
	case m.Session.sameService(before):
		change = Again
	}
	c.log.Info("connected", "to", m.Session.Name, "after", now.Sub(c.Since), "error", m.Err)
	cmds := []tea.Cmd{c.owner.end(before), m.Session.listen(c.OnEvents), m.Session.awaitSeen(c.OnSeen)}
	if m.Session.Notice != "" {
		cmds = append(cmds, done(host.Result{Err: errors.New(m.Session.Notice)}))
	}
	c.Target, c.Asked = m.target, m.target
	c.Session, c.state = m.Session, state{Since: now, Err: m.Err}
	return change, tea.Batch(cmds...)
}

func done(d host.Result) tea.Cmd { return func() tea.Msg { return d } }

// Retry reconnects once that is due.
func (c *Connection) Retry(now time.Time) tea.Cmd {
	if c.Session != nil || !c.Trouble().Temporary() || c.retryAt.IsZero() || now.Before(c.retryAt) {
		return nil
	}
	return c.Connect(c.Asked, now)
}

// LacksWatching reports whether lists cannot be refreshed without connecting again: without a connection, without
// inboxes, with a key that is not accepted, or once the user has stopped the service.
func (c *Connection) LacksWatching(inboxes int) bool {
	t := c.Trouble()
	return c.Session == nil || inboxes == 0 || t == KeyRefused || t == NotInPlan || t == Stopped
}

// Outcome says how connecting ended, nothing for an attempt that was overtaken.
func (c *Connection) Outcome(m Connected) host.Result {
	switch {
	case m.attempt != c.attempt:
		return host.Result{}
	case m.Err != nil:
		return host.Result{Err: m.Err}
	case m.saved != (Profile{}):
		return host.Result{Text: "connected to " + m.Session.Name + ", saved as a profile", Err: m.saveErr}
	}
	return host.Result{Text: "connected to " + m.Session.Name}
}

// Apply applies an event of the watcher.
func (c *Connection) Apply(e watch.Event) {
	c.Session.refreshed(e)
	switch {
	case e.InboxID != "":
	case e.Kind == watch.ModeChanged:
		c.Session.Mode = e.Mode
	case e.Kind == watch.Behind:
		c.Session.Behind = e.Since
	case e.Kind == watch.Failed:
		c.state = state{Since: c.Since, Err: e.Err, retryAt: e.RetryAt}
	case e.Kind == watch.Recovered:
		c.state = state{Since: c.Since}
	}
}

// RequireService returns why no request can be made, or "". The reason names the key that helps.
func (c *Connection) RequireService(connect, refresh string, now time.Time) string {
	switch kind := c.Trouble(); {
	case c.Session == nil && kind == NoTrouble:
		return "Not connected yet"
	case kind == NoKey:
		return c.Sentence(now) + ": " + connect + " connects with one"
	case c.RequireUnlimited(now) != "":
		return c.RequireUnlimited(now)
	case kind.Temporary() && c.Countdown(now) != "":
		return c.Sentence(now) + ", " + refresh + " tries now"
	case c.Session == nil:
		return "Not connected: " + refresh + " tries again"
	}
	return ""
}

// RequireUnlimited returns when the service takes requests again, or "" while no limit is reached.
func (c *Connection) RequireUnlimited(now time.Time) (disabledReason string) {
	if c.Trouble() == Limited && c.Countdown(now) != "" {
		return c.Sentence(now)
	}
	return ""
}

// Sentence says what is wrong with the connection, and when the next attempt is; "" while nothing is. It is the same
// wherever the screen says it.
func (c *Connection) Sentence(now time.Time) string {
	kind := c.Trouble()
	if left := c.Countdown(now); left != "" && kind.Temporary() {
		return sentences[kind] + ": retry in " + left
	}
	return sentences[kind]
}

// Countdown is the time until the next attempt, such as "2 s"; "" if none is due.
func (c *Connection) Countdown(now time.Time) string {
	if !c.retryAt.After(now) {
		return ""
	}
	return theme.Remaining(c.retryAt.Sub(now))
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
	Faulty              // 5xx, or answers that are not from the API
	Unavailable         // unreachable
)

var sentences = map[Trouble]string{
	Stopped: "The local service was stopped", NoKey: "No API key", KeyRefused: "The service rejected the API key", NotInPlan: "The plan does not allow this",
	Limited: "Rate limit reached", Faulty: "The service is failing", Unavailable: "Offline",
}

// Temporary reports whether an automatic retry can help.
func (t Trouble) Temporary() bool { return t == Limited || t == Faulty || t == Unavailable }

// Trouble is what is wrong with the connection.
func (c *Connection) Trouble() Trouble {
	var answer *api.Error
	switch err := c.Err; {
	case err == nil:
		return NoTrouble
	case errors.Is(err, local.ErrStopped):
		return Stopped
	case errors.Is(err, keys.ErrNone):
		return NoKey
	case errors.Is(err, api.ErrUnauthorized):
		return KeyRefused
	case errors.Is(err, api.ErrForbidden):
		return NotInPlan
	case errors.Is(err, api.ErrRateLimited):
		return Limited
	case errors.Is(err, api.ErrUnexpected), errors.As(err, &answer) && answer.Status >= 500:
		return Faulty
	}
	return Unavailable
}

// Explain returns an error as one line that is safe to show.
func Explain(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "The service did not answer in time"
	case errors.Is(err, api.ErrRateLimited):
		return sentences[Limited] // the connection knows for how long
	}
	return render.Clean(err.Error())
}

// Advice is [Explain] with the next step, where there is one besides what the keys do.
func Advice(err error) string {
	text := Explain(err)
	if next := api.NextStep(err); next != "" && !errors.Is(err, api.ErrRateLimited) {
		text += "; " + next
	}
	return text
}
