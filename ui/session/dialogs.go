package session

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/intent"
)

// Profile names a service. Without a base URL it is the local service.
type Profile struct{ Name, BaseURL string }

// title is how the screen names the service.
func (p Profile) title() string {
	if p.Name != "" || p.BaseURL == "" {
		return cmp.Or(render.Clean(p.Name), "local")
	}
	if u, err := url.Parse(p.BaseURL); err == nil && u.Host != "" {
		return render.Clean(u.Host)
	}
	return render.Clean(p.BaseURL)
}

// profile is the service that a target means.
func (l *Link) profile(t Target) Profile {
	p := Profile{Name: t.Profile, BaseURL: t.BaseURL}
	if t == (Target{Key: t.Key}) {
		p = l.options.Start
	}
	for _, x := range l.options.Profiles {
		if x.Name == p.Name && p.BaseURL == "" {
			return x
		}
	}
	return p
}

// Name is the name of the service: the one in use, otherwise the one that was asked for.
func (l *Link) Name() string {
	if l.Session != nil {
		return l.Session.Name
	}
	return l.profile(l.wanted).title()
}

// Flag is the option that names the service that was asked for on a command line, with a space
// before it; "" for the local one.
func (l *Link) Flag() string {
	switch p := l.profile(l.wanted); {
	case p.BaseURL == "":
		return ""
	case p.Name != "":
		return " --profile " + render.Clean(p.Name)
	default:
		return " --base-url " + render.Clean(p.BaseURL)
	}
}

// ConnectForm asks for a service, and optionally for a key and a profile name. It begins with the
// service that was last asked for, at the key if that is what it lacks.
func (l *Link) ConnectForm() dialog.Dialog {
	wanted := l.profile(l.wanted)
	kept := "the key is kept in the system keyring, if there is one"
	if errors.Is(l.Err, keys.ErrNoKeyring) {
		kept = "there is no keyring: the key is not kept"
	}
	f := dialog.Form{
		Title: "Connect to a service",
		Fields: []dialog.Field{
			{Title: "Service", Value: wanted.BaseURL, Placeholder: "https://mail.example.com", Hint: "its base URL", Check: checkBaseURL},
			{Title: "API key", Password: true, Hint: "leave empty to use the saved key", Check: checkKey},
			{Title: "Save as profile", Placeholder: "not saved", Hint: kept, Check: checkProfile},
		},
		Then: func(v []string) any {
			c := intent.Connect{BaseURL: strings.TrimRight(v[0], "/"), Key: v[1]}
			if v[0] == wanted.BaseURL {
				c.Profile, c.BaseURL = wanted.Name, wanted.BaseURL
			}
			if v[2] != "" {
				c.Profile, c.Keep = v[2], true
			}
			return c
		},
	}
	if t := l.Trouble(); wanted.BaseURL != "" && (t == NoKey || t == KeyRefused || l.wanted != l.Target) {
		f.First = 1
	}
	return dialog.NewForm(f)
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

// NeedProfiles says why there is no other profile to switch to, "" if there is one; key connects to
// a new service.
func (l *Link) NeedProfiles(key string) string {
	if len(l.options.Profiles) < 2 {
		return "Only one profile: " + key + " adds another"
	}
	return ""
}

// ProfilesMenu lets the user switch to another service.
func (l *Link) ProfilesMenu() dialog.Dialog {
	profiles := l.options.Profiles
	m := dialog.Menu{Title: "Profiles", Then: func(name string) any {
		for _, p := range profiles {
			if p.Name == name {
				return intent.Connect{Profile: p.Name, BaseURL: p.BaseURL}
			}
		}
		return nil
	}}
	for _, p := range profiles {
		c := dialog.Choice{ID: p.Name, Title: render.Clean(p.Name), Aside: render.Clean(p.BaseURL)}
		if p.BaseURL == "" {
			c.Aside = "this machine"
		}
		if l.Session != nil && l.Session.Profile == p.Name {
			c.Reason = "in use"
		}
		m.Choices = append(m.Choices, c)
	}
	return dialog.NewMenu(m)
}
