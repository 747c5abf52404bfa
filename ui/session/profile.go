package session

import (
	"cmp"
	"net/url"

	"mayfly/render"
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
func (c *Connection) profile(t Target) Profile {
	p := Profile{Name: t.Profile, BaseURL: t.BaseURL}
	if t == (Target{Key: t.Key}) {
		p = c.options.Start
	}
	for _, x := range c.options.Profiles {
		if x.Name == p.Name && p.BaseURL == "" {
			return x
		}
	}
	return p
}

// Asked is the service that was asked for last.
func (c *Connection) Asked() Profile { return c.profile(c.asked) }

// Reached reports whether that is the service of the session.
func (c *Connection) Reached() bool { return c.asked == c.Target }

// Profiles are the services to switch between.
func (c *Connection) Profiles() []Profile { return c.options.Profiles }

// Name is the name of the service: the one in use, otherwise the one that was asked for.
func (c *Connection) Name() string {
	if c.Session != nil {
		return c.Session.Name
	}
	return c.profile(c.asked).title()
}

// Flag is the option that names the service that was asked for on a command line, with a space
// before it; "" for the local one.
func (c *Connection) Flag() string {
	switch p := c.Asked(); {
	case p.BaseURL == "":
		return ""
	case p.Name != "":
		return " --profile " + render.Clean(p.Name)
	default:
		return " --base-url " + render.Clean(p.BaseURL)
	}
}
