package ui

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"mayfly/api"
)

// inboxForm is what the form for a new inbox asks for.
type inboxForm struct{ username, domain, lifetime string }

func (a *app) newInboxForm() tea.Cmd {
	v := &inboxForm{lifetime: "1h"}
	live := func(check func(string) error, value *string, hint string) func() string {
		return func() string {
			if err := check(*value); err != nil {
				return "! " + err.Error()
			}
			return hint
		}
	}
	f := newForm(a.th, "New inbox", func(a *app) tea.Cmd {
		n := api.CreateInbox{Username: strings.ToLower(v.username), Domain: strings.ToLower(v.domain)}
		ttl, err := parseLifetime(v.lifetime)
		if err != nil {
			return a.fail(err)
		}
		n.TTL = int(ttl / time.Second)
		return a.create(n, true)
	},
		huh.NewInput().Title("Name").Value(&v.username).Placeholder("random").Validate(checkUsername).
			DescriptionFunc(live(checkUsername, &v.username, "what stands before the @"), &v.username),
		huh.NewInput().Title("Domain").Value(&v.domain).Placeholder("the service's own").Suggestions(a.domains()).Validate(checkDomain).
			DescriptionFunc(live(checkDomain, &v.domain, "one of the service's domains"), &v.domain),
		huh.NewInput().Title("Lifetime").Value(&v.lifetime).Validate(checkLifetime).
			DescriptionFunc(live(checkLifetime, &v.lifetime, "such as 10m, 1h, 2d"), &v.lifetime),
	)
	return a.push(f)
}

// domains are the domains seen in addresses, the one used last first.
func (a *app) domains() []string {
	var out []string
	seen := map[string]bool{}
	for _, id := range a.book.order {
		if _, d, ok := strings.Cut(a.book.inboxes[id].email, "@"); ok && !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

var usernamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9._+-]*[a-z0-9])?$`) })

func checkUsername(v string) error {
	v = strings.ToLower(v)
	switch {
	case v == "":
		return nil
	case len(v) > 64:
		return errors.New("at most 64 characters")
	case strings.Contains(v, ".."):
		return errors.New("no two dots in a row")
	case !usernamePattern().MatchString(v):
		return errors.New("a-z 0-9 . _ + -, a letter or digit at both ends")
	}
	return nil
}

var domainPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
})

func checkDomain(v string) error {
	if v != "" && (len(v) > 253 || !domainPattern().MatchString(strings.ToLower(v))) {
		return errors.New("this is not a domain")
	}
	return nil
}

func checkLifetime(v string) error {
	_, err := parseLifetime(v)
	return err
}

// parseLifetime reads 90s, 10m, 1h30m, 2d, or a number of minutes.
func parseLifetime(v string) (time.Duration, error) {
	v = strings.TrimSpace(strings.ToLower(v))
	wrong := errors.New("such as 10m, 1h, 2d")
	days := 0
	if before, rest, ok := strings.Cut(v, "d"); ok {
		n, err := strconv.Atoi(before)
		if err != nil || n < 0 || n > 365 {
			return 0, wrong
		}
		days, v = n, rest
	}
	d := time.Duration(days) * 24 * time.Hour
	switch n, err := strconv.Atoi(v); {
	case v == "" && days > 0:
	case err == nil && n >= 0 && n < 1<<20 && days == 0:
		d += time.Duration(n) * time.Minute
	default:
		rest, err := time.ParseDuration(v)
		if err != nil {
			return 0, wrong
		}
		d += rest
	}
	if d < time.Minute {
		return 0, errors.New("at least a minute")
	}
	if d > 30*24*time.Hour {
		return 0, errors.New("at most 30 days, less in most plans")
	}
	return d, nil
}
