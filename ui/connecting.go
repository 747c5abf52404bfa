package ui

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// connecting connects to a service (K), switches between those known (P), and refreshes, or retries, now (r).
type connecting struct {
	*common
	reading      *reading
	inboxActions inboxActions
	forget       func() // everything about the service
}

func (c connecting) actions() []*action {
	return []*action{
		{ID: "refresh", Title: "Refresh, or retry now", Keys: []string{"r"}, Where: anywhere, Run: c.refresh,
			DisabledReason: func() string { return c.connection.RequireUnlimited(c.now) }},
		{ID: "connect", Title: "Connect to a service", Keys: []string{"K"}, Where: anywhere,
			Run: func() tea.Cmd { return c.show(c.form(c.connection.Err)) }},
		{ID: "profiles", Title: "Switch profiles", Keys: []string{"P"}, Where: anywhere,
			DisabledReason: func() string {
				return dialog.Reason(len(c.connection.Profiles()) < 2, "Only one profile: "+c.table.keyFor("connect")+" adds another")
			},
			Run: func() tea.Cmd { return c.show(c.profiles()) }},
	}
}

// retry connects again once that is due.
func (c connecting) retry() tea.Cmd {
	cmd := c.connection.Retry(c.now)
	if cmd == nil {
		return nil
	}
	return tea.Batch(cmd, redrawIn(startDelay))
}

// form asks for a service, and optionally for a key and a profile name. It begins with the
// service that was last asked for, at the key if that is what it lacks, and with what is wrong there.
func (c connecting) form(wrong error) dialog.Dialog {
	asked := c.connection.AskedProfile()
	name := asked.Name
	if asked.BaseURL == "" {
		name = ""
	}
	f := dialog.Form{
		Title: "Connect to a service", SubmitLabel: "connects", Async: true,
		Fields: []dialog.Field{
			{Title: "Service", Value: asked.BaseURL, Placeholder: "https://mail.example.com", Hint: "its base URL", Check: checkBaseURL},
			{Title: "API key", Password: true, Hint: "leave empty to use the saved key", Check: checkKey},
			{Title: "Save as profile", Value: name, Placeholder: "not saved", Hint: "stores the API key in the keyring; asks if there is none", Check: checkProfile},
		},
		Then: func(v []string) tea.Cmd {
			t := session.Target{BaseURL: strings.TrimRight(v[0], "/"), Key: v[1]}
			if v[0] == asked.BaseURL {
				t.Profile, t.BaseURL = asked.Name, asked.BaseURL
			}
			t.Profile = cmp.Or(v[2], t.Profile)
			return c.connectAs(t, v[2] != "")
		},
	}
	if wrong != nil {
		f.Failed = session.Advice(wrong)
	}
	if t := c.connection.Trouble(); asked.BaseURL != "" && (t == session.NoKey || t == session.KeyRefused || c.connection.Asked != c.connection.Target) {
		f.First = 1
	}
	return dialog.NewForm(f)
}

// connectAs connects as the form says. Once that has closed the form, it asks where to keep a key for which there is no keyring.
func (c connecting) connectAs(t session.Target, keep bool) tea.Cmd {
	var outcome session.Connected
	r := c.connection.ConnectTo(t, keep, c.now, func(m session.Connected) tea.Cmd {
		outcome = m
		return c.useAndSay(m)
	})
	return c.submit(r, func() tea.Cmd {
		if !outcome.LacksKeyring() {
			return nil
		}
		return c.show(c.keyFileQuestion(outcome))
	})
}

// keyFileQuestion asks whether a key that no keyring can keep goes into a file.
func (c connecting) keyFileQuestion(m session.Connected) dialog.Dialog {
	keep := c.connection.KeepInFile(m, c.report)
	return dialog.NewQuestion(dialog.Question{
		Title: "Store the API key in a file?", CancelLabel: "forget it on exit",
		Text:    []string{"Connected. This machine has no keyring for the API key.", "Only you and the administrator could read the file (mode 0600)."},
		Answers: []dialog.Answer{{Keys: []string{"y"}, Does: "store it in a file", Do: func() tea.Cmd { return c.begin(keep) }}},
	})
}

func checkBaseURL(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("a URL such as https://mail.example.com")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must not contain a login or a query")
	}
	return nil
}

func checkKey(v string) error {
	if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("a key contains no spaces")
	}
	return nil
}

var profilePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })

func checkProfile(v string) error {
	if v != "" && !profilePattern().MatchString(v) {
		return errors.New("a-z 0-9 _ -, at most 32")
	}
	return nil
}

// profiles lets the user switch to another service.
func (c connecting) profiles() dialog.Dialog {
	m := dialog.Menu{Title: "Profiles"}
	for _, p := range c.connection.Profiles() {
		x := dialog.Choice{Title: render.Clean(p.Name), Aside: render.Clean(p.BaseURL), Do: func() tea.Cmd {
			return c.connectTo(session.Target{Profile: p.Name, BaseURL: p.BaseURL})
		}}
		if p.BaseURL == "" {
			x.Aside = "this machine"
		}
		if s := c.session(); s != nil && s.Profile == p.Name {
			x.Reason = "in use"
		}
		m.Choices = append(m.Choices, x)
	}
	return dialog.NewMenu(m)
}

func (c connecting) connectTo(t session.Target) tea.Cmd {
	return c.begin(c.connection.ConnectTo(t, false, c.now, c.useAndSay))
}

// refresh fetches the lists again, or retries the connection.
func (c connecting) refresh() tea.Cmd {
	if c.reader.Err != nil && c.session() != nil {
		c.reader.Close() // to be opened again
		return nil
	}
	c.reader.Repaint()
	if c.connection.LacksWatching(len(c.store.Order)) {
		return c.connectTo(c.connection.Asked)
	}
	id := ""
	if i := c.inboxes.Inbox(); i != nil && !i.Gone(c.serviceNow()) && c.connection.Trouble() == session.NoTrouble { // one that is gone is not followed
		id = i.ID
	}
	return c.begin(c.session().Refresh(id, c.report))
}

// useAndSay starts using a connection that the user asked for, and says how that ended.
func (c connecting) useAndSay(m session.Connected) tea.Cmd {
	cmd := c.use(m)
	c.report(c.connection.Outcome(m))
	return cmd
}

// use starts using a new connection.
func (c connecting) use(m session.Connected) tea.Cmd {
	change, cmd := c.connection.Use(m, c.now)
	if errors.Is(c.connection.Outcome(m).Err, keys.ErrNone) && !c.busy() {
		return tea.Batch(cmd, c.show(c.form(m.Err)))
	}
	if change == session.None {
		return cmd
	}
	if change == session.Other {
		c.forget()
	}
	cmd = tea.Batch(cmd, c.takeOver(m))
	switch {
	case m.Err != nil || change == session.Again: // the cursor stays where it is
	case len(c.store.Order) == 0 && !c.session().Local: // inboxes may cost something there
	case len(c.store.Order) == 0:
		return tea.Batch(cmd, c.begin(c.inboxActions.create(c.session(), api.CreateInbox{}, func(*store.Inbox) tea.Cmd { return nil })))
	case c.inboxes.Inbox() == nil && !c.inboxes.Typing():
		c.selectInbox(c.store.Order[0])
	}
	return cmd
}

// takeOver takes over the inboxes of a new connection and watches them, along with those already
// listed. Results of an earlier session will not arrive any more, so it fetches the open message again.
func (c connecting) takeOver(m session.Connected) tea.Cmd {
	s := c.session()
	c.store.Ahead = s.Ahead()
	c.store.ResetPrefetches()
	c.store.Merge(m.Seen)
	s.Watcher.SetFocused(!c.terminal.Blurred)
	for _, i := range c.store.Inboxes {
		i.Generation = s.Watcher.Add(i.ID)
		s.Watcher.Pause(i.ID, i.Paused)
	}
	for _, k := range m.Known {
		if !k.ExpiresAt.After(c.serviceNow()) && c.store.Inboxes[k.ID] == nil {
			continue
		}
		if i, isNew := c.store.PutKnown(k, c.now); isNew {
			i.Generation = s.Watcher.Add(i.ID)
		}
	}
	c.put(m.Inboxes...)
	c.updateLists()
	if c.reader.Message == nil {
		return nil
	}
	c.reader.AwaitRaw(time.Time{})
	return c.reading.fetch()
}
