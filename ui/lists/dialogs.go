package lists

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// NewInboxForm asks for the username, the domain and the TTL of a new inbox, and then creates it. Named are the
// domains of the service, the default first. If it names none, the known ones are suggested.
func NewInboxForm(named, known []string, create func(api.CreateInbox) tea.Cmd) dialog.Dialog {
	domain := dialog.Field{Title: "Domain", Placeholder: "the service's own", Hint: "one of the service's domains", Suggestions: known, Check: checkDomain}
	if all := render.Clean(strings.Join(named, ", ")); all != "" {
		domain.Placeholder, domain.Hint, domain.Suggestions = named[0], "→ "+all, named
		domain.Check = func(v string) error {
			if v == "" || slices.Contains(named, strings.ToLower(v)) {
				return nil
			}
			return errors.New("one of " + all)
		}
	}
	return dialog.NewForm(dialog.Form{
		Title: "New inbox", Does: "creates it", Asks: true,
		Fields: []dialog.Field{
			{Title: "Username", Placeholder: "random", Hint: "what stands before the @", Check: checkUsername}, domain,
			{Title: "TTL", Value: "1h", Hint: "how long it lives, such as 30m, 2h, 1d", Check: checkTTL},
		},
		Then: func(v []string) tea.Cmd {
			ttl, _ := parseTTL(v[2]) // the form has checked it
			return create(api.CreateInbox{Username: strings.ToLower(v[0]), Domain: strings.ToLower(v[1]), TTL: int(ttl / time.Second)})
		},
	})
}

// AdoptPrompt asks for the ID of an inbox that was created elsewhere, and then adopts it.
func AdoptPrompt(s *store.Store, adopt func(id string) tea.Cmd) dialog.Dialog {
	return dialog.NewForm(dialog.Form{
		Title: "Add an inbox by ID", Asks: true,
		Fields: []dialog.Field{{Hint: "enter adds it   esc cancels", Check: func(id string) error {
			switch {
			case id == "":
				return errors.New("an ID such as inbox_…")
			case strings.ContainsAny(id, "/?# \t"):
				return errors.New("an ID has no spaces and no slashes")
			case s.Inboxes[id] != nil:
				return errors.New("this inbox is already on the list")
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd { return adopt(v[0]) },
	})
}

// maxLabel is the maximum width of a label in cells.
const maxLabel = 40

// LabelPrompt asks for the label of an inbox, and then sets it; an empty one removes it.
func LabelPrompt(i *store.Inbox, set func(id, label string) tea.Cmd) dialog.Dialog {
	id := i.ID
	return dialog.NewForm(dialog.Form{
		Title: "Label " + theme.CutMiddle(i.Name(), 24),
		Fields: []dialog.Field{{Value: i.Label, Hint: "empty removes it   esc cancels", Check: func(text string) error {
			if theme.Width(text) > maxLabel {
				return fmt.Errorf("at most %d characters", maxLabel)
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd { return set(id, v[0]) },
	})
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

func checkDomain(v string) error {
	if strings.ContainsAny(v, " @/") {
		return errors.New("a domain such as mail.example.com")
	}
	return nil
}

func checkTTL(v string) error {
	_, err := parseTTL(v)
	return err
}

// parseTTL reads 10m, 1h30m, 2d, or a number of seconds, as the command line does.
func parseTTL(v string) (time.Duration, error) {
	v = strings.ToLower(v)
	if _, err := strconv.Atoi(v); err == nil {
		v += "s"
	}
	d, err := api.ParseDuration(v)
	switch {
	case err != nil:
		return 0, errors.New("a duration such as 30m, 2h, 1d")
	case d < time.Minute:
		return 0, errors.New("at least a minute")
	case d > 30*24*time.Hour:
		return 0, errors.New("at most 30 days, less in most plans")
	}
	return d, nil
}

// ExtendPrompt asks how long an inbox lives from now, and then extends it.
func ExtendPrompt(i *store.Inbox, now time.Time, extend func(time.Duration) tea.Cmd) dialog.Dialog {
	hint := "from now, such as 30m, 2h, 1d"
	if !i.Expires.IsZero() {
		hint += "; it has " + theme.Remaining(i.Expires.Sub(now)) + " left"
	}
	return dialog.NewForm(dialog.Form{
		Title:  "More time for " + i.Name(),
		Fields: []dialog.Field{{Value: "1h", Hint: hint, Check: checkTTL}},
		Then: func(v []string) tea.Cmd {
			ttl, _ := parseTTL(v[0]) // the form has checked it
			return extend(ttl)
		},
	})
}
