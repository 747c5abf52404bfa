package ui

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/ui/dialog"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// sessions lists recent SMTP sessions and their outcome (S), and keeps the list current.
type sessions struct {
	*common
	list   dialog.Dialog
	got    api.SessionList
	asking *session.Session
	asked  time.Time
}

// sessionsInterval is how old the list becomes at most, while the service answers and its limits have room.
const sessionsInterval = 2 * time.Second

const noSessions = "This service does not list SMTP sessions"

func (c *sessions) actions() []*action {
	return []*action{
		withItem(action{ID: "sessions", Title: "SMTP sessions: recent connections", Keys: []string{"S"}, Where: anywhere}, c.theService, c.openList,
			func(s *session.Session) string { return dialog.Reason(s.Client.CannotListSessions(), noSessions) }),
	}
}

func (c *sessions) openList(s *session.Session) tea.Cmd {
	return ask(c.common, "listing SMTP sessions", "", func(ctx context.Context) (api.SessionList, error) {
		got, err := s.Client.Sessions(ctx)
		if errors.Is(err, api.ErrUnsupported) {
			err = errors.New("this service does not list SMTP sessions")
		}
		return got, err
	}, func(got api.SessionList) tea.Cmd {
		return c.unlessBusy(func() tea.Cmd {
			c.got, c.asking, c.asked = got, nil, c.now
			c.list = dialog.NewMenu(c.menu(nil))
			return c.show(c.list)
		})
	})
}

func (c *sessions) open() bool { return c.list != nil && slices.Contains(c.dialogs, c.list) }

// refresh asks for the list again when that is due, in the background.
func (c *sessions) refresh() tea.Cmd {
	s := c.session()
	if s == nil || !c.open() || c.asking == s || c.now.Sub(c.asked) < sessionsInterval {
		return nil
	}
	c.asking, c.asked = s, c.now
	var failed error
	return session.Ask(s, "", "", func(ctx context.Context) (got api.SessionList, _ error) {
		got, failed = s.Client.Background().Sessions(ctx)
		return got, nil
	}, func(got api.SessionList) tea.Cmd {
		if c.asking = nil; failed == nil {
			c.got = got
		}
		c.list.Update(c.menu(failed))
		return nil
	}).Start()
}

// menu lists the events by client and time; failed is why the list is not that of now.
func (c *sessions) menu(failed error) dialog.Menu {
	all, same := message.Events(c.got.Sessions), map[string]int{}
	m := dialog.Menu{Title: "SMTP sessions of the last hour", Live: true, Choices: make([]dialog.Choice, len(all))}
	for n, e := range slices.Backward(all) { // what is alike is counted from the oldest on, so that it keeps its ID
		from, _, _ := strings.Cut(e.Client, " ") // more of the client becomes known later
		id := strconv.FormatInt(e.At.UnixMilli(), 10) + " " + from + " " + e.To
		same[id]++
		id += " " + strconv.Itoa(same[id])
		says := e.Outcome // which names the lack of a recipient
		if e.To != "" {
			says = e.To + ": " + says
		}
		sign := "✓ "
		if e.Failed {
			sign = "✕ "
		}
		at := c.theme.Local(e.At)
		m.Choices[n] = dialog.Choice{ID: id, Title: sign + says, Also: strings.ToLower(e.Client), Group: at.Format("15:04:05 ") + theme.StableWidth(e.Client), Do: func() tea.Cmd {
			return c.show(dialog.NewText("SMTP session", []string{at.Format(time.DateTime), "from " + e.Client, "to " + cmp.Or(e.To, "nobody"), e.Outcome}))
		}}
	}
	smtp, _ := c.session().SendTo()
	switch {
	case len(all) > 0:
	case c.got.AllKeys:
		m.Choices = []dialog.Choice{{Title: strings.TrimSpace("Nothing has connected to SMTP " + smtp)}}
	default:
		m.Choices = []dialog.Choice{{Title: "No session has named an address of yours"}}
	}
	if !c.got.AllProcesses {
		m.Title += ", of one process"
	}
	if failed != nil {
		m.Title = "! " + session.Explain(failed)
	}
	return m
}
