package session

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/intent"
)

// Profile names a service. Without a base URL it is the local service.
type Profile struct{ Name, BaseURL string }

// ConnectForm asks for a service, optionally for a key, and, where profiles can be saved, for a
// profile name.
func (l *Link) ConnectForm() dialog.Dialog {
	keep := l.options.SaveProfile != nil
	baseURL := l.Target.BaseURL
	if s := l.Session; baseURL == "" && s != nil && !s.Local {
		baseURL = s.Client.BaseURL()
	}
	f := dialog.Form{
		Title: "Connect to a service",
		Fields: []dialog.Field{
			{Title: "Service", Value: baseURL, Placeholder: "https://mail.example.com", Hint: "its base URL", Check: checkBaseURL},
			{Title: "API key", Password: true, Hint: "leave empty to use the saved key", Check: checkKey},
		},
		Then: func(v []string) any {
			c := intent.Connect{BaseURL: strings.TrimRight(v[0], "/"), Key: v[1]}
			if keep {
				c.Profile, c.Keep = v[2], v[2] != ""
			}
			return c
		},
	}
	if keep {
		f.Fields = append(f.Fields, dialog.Field{
			Title: "Save as profile", Placeholder: "not saved", Hint: "the key is saved in the system keyring", Check: checkProfile,
		})
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
		return "There is only one profile: " + key + " adds another"
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
