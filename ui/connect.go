package ui

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
)

// connectForm is what the dialog for a connection asks for.
type connectForm struct{ baseURL, key, name string }

func (a *app) showConnect() tea.Cmd {
	v := &connectForm{baseURL: a.target.BaseURL}
	if v.baseURL == "" && a.session != nil && !a.session.conn.Embedded {
		v.baseURL = a.session.conn.Client.BaseURL()
	}
	fields := []huh.Field{
		huh.NewInput().Title("Service").Value(&v.baseURL).Placeholder("https://mail.example.com").Validate(checkBaseURL).Description("its base URL"),
		huh.NewInput().Title("API key").Value(&v.key).EchoMode(huh.EchoModePassword).Description("empty: the one that is kept already").Validate(checkKey),
	}
	if a.opts.SaveProfile != nil {
		fields = append(fields, huh.NewInput().Title("Keep as profile").Value(&v.name).Placeholder("not kept").Validate(checkProfile).
			Description("the key goes into the keyring of this system"))
	}
	return a.push(newForm(a.th, "Connect to a service", func(a *app) tea.Cmd { return a.connectTo(*v) }, fields...))
}

func (a *app) connectTo(v connectForm) tea.Cmd {
	t := Target{Profile: v.name, BaseURL: strings.TrimRight(v.baseURL, "/"), Key: v.key}
	if v.name == "" || a.opts.SaveProfile == nil {
		return a.connect(t)
	}
	p := Profile{Name: v.name, BaseURL: t.BaseURL}
	keep, ctx := a.opts.SaveProfile, a.ctx
	a.rememberProfile(p)
	return tea.Batch(a.connect(t), func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return doneMsg{"kept profile " + p.Name, keep(ctx, p, v.key)}
	})
}

func (a *app) rememberProfile(p Profile) {
	for n := range a.opts.Profiles {
		if a.opts.Profiles[n].Name == p.Name {
			a.opts.Profiles[n] = p
			return
		}
	}
	a.opts.Profiles = append(a.opts.Profiles, p)
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
		return errors.New("a key has no spaces")
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

// showProfiles switches to another service.
func (a *app) showProfiles() tea.Cmd {
	m := &menu{title: "Profiles"}
	for _, p := range a.opts.Profiles {
		at := p.BaseURL
		if at == "" {
			at = "embedded"
		}
		c := choice{id: p.Name, title: cleanLine(p.Name), aside: cleanLine(at)}
		if a.session != nil && a.session.conn.Profile == p.Name {
			c.reason = "in use"
		}
		m.choices = append(m.choices, c)
	}
	m.choose = func(a *app, id string) tea.Cmd {
		for _, p := range a.opts.Profiles {
			if p.Name == id {
				return a.connect(Target{Profile: p.Name, BaseURL: p.BaseURL})
			}
		}
		return nil
	}
	return a.push(m)
}
