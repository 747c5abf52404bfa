package ui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/registry"
	"mayfly/render"
	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// prompt asks for one line of text.
type prompt struct {
	title string
	hint  string
	text  string
	check func(text string) string // what is wrong with the text; empty when it will do
	act   func(a *app, text string) tea.Cmd
	tried bool
}

func (p *prompt) open() tea.Cmd { return nil }

func (p *prompt) update(msg tea.Msg) intent {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		p.text = typeOn(p.text, strings.TrimSpace(cleanLine(msg.Content)))
	case tea.KeyPressMsg:
		switch msg.String() {
		case "esc":
			return intent{close: true}
		case "enter":
			text := strings.TrimSpace(p.text)
			if p.check(text) != "" {
				p.tried = true
				return intent{}
			}
			return intent{close: true, do: func(a *app) tea.Cmd { return p.act(a, text) }}
		default:
			if text, ok := edit(p.text, msg); ok {
				p.text = text
			}
		}
	}
	return intent{}
}

func (p *prompt) draw(th *theme.Theme, w, h int) []string {
	width := max(10, min(56, w-4))
	rows := []string{cell.Fit(th.Accent.On("› ")+typed(th, p.text, width-2), width), ""}
	below := th.Dim.On(cell.Cut(p.hint, width))
	if p.tried {
		if wrong := p.check(strings.TrimSpace(p.text)); wrong != "" {
			below = th.Bad.On(cell.Cut("! "+wrong, width))
		}
	}
	return frameBox(th, p.title, append(rows, below), w, h)
}

// askAdopt asks for the ID of an inbox made elsewhere.
func (a *app) askAdopt() tea.Cmd {
	return a.push(&prompt{
		title: "Add an inbox by its ID", hint: "enter adds it   esc cancels",
		check: func(id string) string {
			switch {
			case id == "":
				return "An ID such as inbox_…"
			case strings.ContainsAny(id, "/?# \t"):
				return "An ID has no spaces and no slashes"
			case a.book.inboxes[id] != nil:
				return "This inbox is on the list already"
			}
			return ""
		},
		act: (*app).adopt,
	})
}

// adoptedMsg is the outcome of asking for an inbox by its ID.
type adoptedMsg struct {
	session *session
	inbox   api.Inbox
	err     error
}

func (a *app) adopt(id string) tea.Cmd {
	s := a.session
	return s.do(func(ctx context.Context) tea.Msg {
		in, err := s.conn.Client.Inbox(ctx, id)
		if err == nil {
			s.remember(registry.Inbox{ID: in.ID, Email: in.Email, CreatedAt: in.CreatedAt, ExpiresAt: in.ExpiresAt})
		}
		return adoptedMsg{s, in, err}
	})
}

func (m adoptedMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	if m.err != nil {
		return a.fail(m.err)
	}
	delete(a.dropped, m.inbox.ID)
	a.follows(m.inbox)
	if a.keysTaken() {
		a.refreshLists()
	} else {
		a.selectInbox(m.inbox.ID)
	}
	return a.say(done, "added "+render.Clean(m.inbox.Email))
}

// askLabel asks for a name of the user's own for the inbox.
func (a *app) askLabel() tea.Cmd {
	id := a.inbox().id
	return a.push(&prompt{
		title: "Label " + a.inbox().name(), hint: "enter keeps it, empty takes it away   esc cancels", text: a.inbox().label,
		check: func(text string) string {
			if cell.Width(text) > 40 {
				return "At most 40 characters"
			}
			return ""
		},
		act: func(a *app, text string) tea.Cmd { return a.label(id, text) },
	})
}

func (a *app) label(id, text string) tea.Cmd {
	i := a.book.inboxes[id]
	if i == nil {
		return nil
	}
	i.label = render.Clean(text)
	k := registry.Inbox{ID: i.id, Email: i.email, Label: i.label, CreatedAt: i.created, ExpiresAt: i.expires}
	a.refreshLists()
	s := a.session
	if s.conn.Registry == nil {
		return nil
	}
	return func() tea.Msg {
		if err := s.conn.Registry.Put(k); err != nil {
			return doneMsg{err: err}
		}
		return nil
	}
}
