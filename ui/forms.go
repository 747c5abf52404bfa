package ui

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// connectForm asks for a service, and optionally for a key and a profile name. It begins with the
// service that was last asked for, at the key if that is what it lacks.
func (a *app) connectForm() dialog.Dialog {
	asked := a.connection.Asked()
	kept := "the key is kept in the system keyring, if there is one"
	if errors.Is(a.connection.Err(), keys.ErrNoKeyring) {
		kept = "there is no keyring: the key is not kept"
	}
	f := dialog.Form{
		Title: "Connect to a service",
		Fields: []dialog.Field{
			{Title: "Service", Value: asked.BaseURL, Placeholder: "https://mail.example.com", Hint: "its base URL", Check: checkBaseURL},
			{Title: "API key", Password: true, Hint: "leave empty to use the saved key", Check: checkKey},
			{Title: "Save as profile", Placeholder: "not saved", Hint: kept, Check: checkProfile},
		},
		Then: func(v []string) tea.Cmd {
			c := session.Choice{BaseURL: strings.TrimRight(v[0], "/"), Key: v[1]}
			if v[0] == asked.BaseURL {
				c.Profile, c.BaseURL = asked.Name, asked.BaseURL
			}
			if v[2] != "" {
				c.Profile, c.Keep = v[2], true
			}
			return a.connectTo(c)
		},
	}
	if t := a.connection.Trouble(); asked.BaseURL != "" && (t == session.NoKey || t == session.KeyRefused || !a.connection.Reached()) {
		f.First = 1
	}
	return dialog.NewForm(f)
}

func (a *app) connectTo(c session.Choice) tea.Cmd {
	return a.request(a.connection.ConnectTo(c, a.now))
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
		for _, p := range profiles {
			if p.Name == name {
				return a.connectTo(session.Choice{Profile: p.Name, BaseURL: p.BaseURL})
			}
		}
		return nil
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

// releaseForm asks for the address that a message is sent on to. It begins with the last one.
func (a *app) releaseForm(m *store.Message) dialog.Dialog {
	inboxID, id := m.InboxID, m.ID
	return dialog.NewForm(dialog.Form{
		Title: "Send this message on",
		Fields: []dialog.Field{{Value: a.releasedTo, Placeholder: "qa@example.com", Hint: "an allowed address   esc cancels", Check: func(to string) error {
			if local, domain, _ := strings.Cut(to, "@"); local == "" || domain == "" || strings.ContainsAny(to, " ,;") {
				return errors.New("one address, such as qa@example.com")
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd {
			a.releasedTo = v[0]
			return a.request(a.session().SendOn(inboxID, id, v[0]))
		},
	})
}
