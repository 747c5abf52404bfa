package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// sessions lists what connected to SMTP lately and what became of it (S), anew while it is open.
type sessions struct {
	*common
	list   *sessionList
	shown  dialog.Dialog // of the list
	asking *session.Session
	asked  time.Time
}

// sessionsInterval is how old the list becomes at most, while the service answers and its limits have room.
const sessionsInterval = 2 * time.Second

const noSessions = "This service does not list what connected to SMTP"

func (c *sessions) actions() []*action {
	return []*action{
		withItem(action{ID: "sessions", Title: "SMTP sessions: what connected lately", Keys: []string{"S"}, Where: anywhere}, c.theService, c.openList,
			func(s *session.Session) string {
				if s.Client.CannotListSessions() {
					return noSessions
				}
				return ""
			}),
	}
}

func (c *sessions) openList(s *session.Session) tea.Cmd {
	return ask(c.common, "listing SMTP sessions", "", func(ctx context.Context) (api.SessionList, error) {
		got, err := s.Client.Sessions(ctx)
		if errors.Is(err, api.ErrUnsupported) {
			err = errors.New(noSessions)
		}
		return got, err
	}, func(got api.SessionList) tea.Cmd {
		return c.unlessBusy(func() tea.Cmd {
			c.list = &sessionList{details: c.details}
			c.list.smtp, _ = s.SendTo()
			c.list.set(got)
			c.shown, c.asking, c.asked = dialog.Box(c.list), nil, c.now
			return c.show(c.shown)
		})
	})
}

// details shows an event in full.
func (c *sessions) details(e message.Event) tea.Cmd {
	return c.show(dialog.NewText("SMTP session", []string{
		"Time:    " + c.theme.Local(e.At).Format(time.DateTime), "Client:  " + e.Client, "To:      " + cmp.Or(e.To, "-"), "Outcome: " + e.Outcome,
	}))
}

func (c *sessions) open() bool { return c.shown != nil && slices.Contains(c.dialogs, c.shown) }

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
			c.list.set(got)
		}
		c.list.failed = failed
		return nil
	}).Start()
}

// sessionList is the list on the screen.
type sessionList struct {
	w, h    int
	smtp    string // where the service takes mail
	got     api.SessionList
	events  map[string]message.Event // by ID
	list    dialog.List
	rows    []dialog.Row
	failed  error // why it could not be refreshed
	details func(message.Event) tea.Cmd
}

// set replaces the list. The cursor and what is on the screen stay.
func (l *sessionList) set(got api.SessionList) {
	all, same := message.Events(got.Sessions), map[string]int{}
	l.got, l.events = got, map[string]message.Event{}
	ids := make([]string, len(all))
	for n, e := range slices.Backward(all) { // what is alike is counted from the oldest on, so that it keeps its ID
		from, _, _ := strings.Cut(e.Client, " ") // more of the client becomes known later
		id := strconv.FormatInt(e.At.UnixMilli(), 10) + " " + from + " " + e.To
		same[id]++
		ids[n] = id + " " + strconv.Itoa(same[id])
		l.events[ids[n]] = e
	}
	l.list.Set(ids)
	if !l.list.Placed() {
		l.list.First()
	}
}

func (l *sessionList) Update(msg tea.Msg) dialog.Result {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		l.list.Scroll(theme.WheelRows(msg) / 3)
	case tea.MouseClickMsg:
		for _, r := range l.rows {
			if msg.Y >= r.Y && msg.Y < r.Y+r.H {
				l.list.Select(r.ID)
			}
		}
	case tea.KeyPressMsg:
		return l.key(msg.String())
	}
	return dialog.Result{}
}

func (l *sessionList) key(name string) dialog.Result {
	switch name {
	case "esc", "q", "S":
		return dialog.Result{Close: true}
	case "enter":
		if e, ok := l.events[l.list.Selected()]; ok {
			return dialog.Result{Do: func() tea.Cmd { return l.details(e) }}
		}
	case "j":
		l.list.Move(1)
	case "k":
		l.list.Move(-1)
	case "g", "home":
		l.list.First()
	case "G", "end":
		l.list.Last()
	default:
		if n, ok := dialog.Step(name); ok {
			l.list.Move(n)
		}
	}
	return dialog.Result{}
}

func (l *sessionList) Fit(w, h int) {
	l.w, l.h = min(w, 100), min(h, 30)
	l.rows = l.list.Rows(l.h-1, func(string) int { return 2 })
}

func (l *sessionList) Rows(th *theme.Theme) (string, []string) {
	var rows []string
	for _, r := range l.rows {
		rows = append(rows, l.event(th, l.events[r.ID], r.Selected)[:r.H]...)
	}
	if l.list.Len() == 0 {
		text := "Nothing has connected to SMTP in the last hour."
		if !l.got.AllKeys {
			text = "No SMTP session has named an address of yours in the last hour."
		}
		if l.smtp != "" {
			text += " The service takes mail at " + l.smtp + "."
		}
		rows = theme.WrapDim(th, text, l.w)
	}
	for len(rows) < l.h-1 {
		rows = append(rows, "")
	}
	for n, r := range rows {
		rows[n] = theme.Fit(r, l.w)
	}
	title := "SMTP sessions of the last hour"
	if !l.got.AllProcesses {
		title += ", of one process"
	}
	return title, append(rows[:l.h-1], l.foot(th))
}

// event is an event in two rows: when, from where and to whom, and what became of it.
func (l *sessionList) event(th *theme.Theme, e message.Event, selected bool) []string {
	sign, back, edge := th.Good.On("✓"), theme.Style(""), " "
	if e.Failed {
		sign = th.Bad.On("✕")
	}
	if selected {
		back, edge = th.Select, th.Accent.On("▌")
	}
	to := theme.Cut(theme.StableWidth(cmp.Or(e.To, "no recipient")), l.w-13)
	client := ""
	if room := l.w - 15 - theme.Width(to); room >= len("127.0.0.1:25") {
		client = theme.Cut(theme.StableWidth(e.Client), room)
	}
	text := func(style theme.Style, s string) string { return style.Over(back).On(s) }
	head := text(th.Text, " "+th.Local(e.At).Format("15:04:05")+" ") + text(th.Bright, to)
	rest := l.w - 12 - theme.Width(to) - theme.Width(client)
	outcome := theme.Fit(theme.StableWidth(e.Outcome), l.w-4)
	return []string{
		edge + sign + head + back.On(theme.Spaces(rest)) + text(th.Dim, client),
		edge + back.On(theme.Spaces(3)) + text(th.Text, outcome),
	}
}

// foot says what the keys do, and how much there is besides, or why the list is not that of now.
func (l *sessionList) foot(th *theme.Theme) string {
	before, after := l.list.More(l.rows)
	more := ""
	if before+after > 0 {
		more = fmt.Sprintf("↑ %d ↓ %d", before, after)
	}
	says := th.Dim.On(theme.FirstFit([]string{"enter shows all of it   ↑↓ move   esc closes", "enter shows all   esc closes", "esc closes", ""}, l.w-theme.Width(more)-1))
	if l.failed != nil {
		says = th.Warn.On("! " + session.Explain(l.failed))
	}
	return theme.Spread(says, th.Accent.On(more), l.w)
}
