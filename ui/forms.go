package ui

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// submit begins the request of a form that stays open until it is answered.
func (a *app) submit(r session.Request) tea.Cmd {
	a.submitted = r.What
	return a.request(r)
}

// answerForm answers the form that a request came from, if it is still open, and reports whether that closed it.
func (a *app) answerForm(answer session.Answer) (closed bool) {
	if answer.What != a.submitted {
		return false
	}
	open, text := len(a.dialogs), ""
	if err := cmp.Or(answer.Interrupted(a.session()), answer.Err()); err != nil {
		text = session.Explain(err)
	}
	a.submitted = ""
	a.toDialog(dialog.Answered{Err: text})
	return len(a.dialogs) < open
}

func (a *app) newInboxForm() dialog.Dialog {
	named, _ := a.session().Client.Offers()
	return lists.NewInboxForm(named, a.store.Domains(), func(in api.CreateInbox) tea.Cmd {
		return a.submit(a.session().Create(in, true))
	})
}

// connectForm asks for a service, and optionally for a key and a profile name. It begins with the
// service that was last asked for, at the key if that is what it lacks, and with what is wrong there.
func (a *app) connectForm(wrong error) dialog.Dialog {
	asked := a.connection.Asked()
	name := asked.Name
	if asked.BaseURL == "" {
		name = ""
	}
	f := dialog.Form{
		Title: "Connect to a service", Does: "connects", Asks: true,
		Fields: []dialog.Field{
			{Title: "Service", Value: asked.BaseURL, Placeholder: "https://mail.example.com", Hint: "its base URL", Check: checkBaseURL},
			{Title: "API key", Password: true, Hint: "leave empty to use the saved key", Check: checkKey},
			{Title: "Save as profile", Value: name, Placeholder: "not saved", Hint: "keeps the key in the keyring, or else where you say", Check: checkProfile},
		},
		Then: func(v []string) tea.Cmd {
			t := session.Target{BaseURL: strings.TrimRight(v[0], "/"), Key: v[1]}
			if v[0] == asked.BaseURL {
				t.Profile, t.BaseURL = asked.Name, asked.BaseURL
			}
			t.Profile = cmp.Or(v[2], t.Profile)
			return a.submit(a.connection.ConnectTo(t, v[2] != "", a.now))
		},
	}
	if wrong != nil {
		f.Failed = session.Explain(wrong)
	}
	if t := a.connection.Trouble(); asked.BaseURL != "" && (t == session.NoKey || t == session.KeyRefused || !a.connection.Reached()) {
		f.First = 1
	}
	return dialog.NewForm(f)
}

// keyFileQuestion asks whether a key that no keyring can keep goes into a file.
func (a *app) keyFileQuestion(keep session.Request) dialog.Dialog {
	return dialog.NewQuestion(dialog.Question{
		Title: "Keep the key in a file?", Keep: "forget it at the end",
		Text:    []string{"You are connected. There is no keyring to keep the key in.", "Only you and the administrator could read the file (mode 0600)."},
		Answers: []dialog.Answer{{Keys: []string{"y"}, Does: "keep it in a file", Do: func() tea.Cmd { return a.request(keep) }}},
	})
}

func checkBaseURL(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("a URL such as https://mail.example.com")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the URL alone, without a login or a query")
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

// profilesMenu lets the user switch to another service.
func (a *app) profilesMenu() dialog.Dialog {
	profiles := a.connection.Profiles()
	m := dialog.Menu{Title: "Profiles", Then: func(name string) tea.Cmd {
		p := profiles[slices.IndexFunc(profiles, func(p session.Profile) bool { return p.Name == name })]
		return a.request(a.connection.ConnectTo(session.Target{Profile: p.Name, BaseURL: p.BaseURL}, false, a.now))
	}}
	for _, p := range profiles {
		c := dialog.Choice{ID: p.Name, Title: render.Clean(p.Name), Aside: render.Clean(p.BaseURL)}
		if p.BaseURL == "" {
			c.Aside = "this machine"
		}
		if s := a.session(); s != nil && s.Profile == p.Name {
			c.Reason = "in use"
		}
		m.Choices = append(m.Choices, c)
	}
	return dialog.NewMenu(m)
}

// needRelay needs a message, and a relay to send it on by.
func (a *app) needRelay() string {
	if reason := a.needMessage(); reason != "" {
		return reason
	}
	return a.session().NeedRelay()
}

// releaseForm asks for the address that a message is sent on to. It begins with the last one, or with the only
// one. The service says whether the relay may send there.
func (a *app) releaseForm(m *store.Message) dialog.Dialog {
	inboxID, id := m.InboxID, m.ID
	_, allowed := a.session().Client.Offers()
	if a.releasedTo == "" && len(allowed) == 1 && !strings.HasPrefix(allowed[0], "*") {
		a.releasedTo = allowed[0]
	}
	return dialog.NewForm(dialog.Form{
		Title: "Send this message on", Asks: true,
		Fields: []dialog.Field{{Value: a.releasedTo, Placeholder: "an address", Suggestions: allowed, Hint: "→ " + render.Clean(strings.Join(allowed, ", "))}},
		Then: func(v []string) tea.Cmd {
			a.releasedTo = v[0]
			return a.submit(a.session().SendOn(inboxID, id, v[0]))
		},
	})
}
