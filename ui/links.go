package ui

import (
	"net/url"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/theme"
)

// links labels the links on the screen (f), and asks before one is opened.
type links struct{ *common }

func (l links) actions() []*action {
	return []*action{
		{ID: "labels", Title: "Label links: open one, or shift to copy", Hint: "links", Keys: []string{"f"}, Where: anywhere, DisabledReason: l.requireOpen,
			Run: l.label},
	}
}

// label opens labels for the links on the screen.
func (l links) label() tea.Cmd {
	d := l.reader.Labels(l.ask, l.copyLink)
	if d == nil {
		l.note("No links on the screen")
		return nil
	}
	l.focus = theme.Reader
	return l.show(d)
}

// ask shows the destination of a link, and asks before opening it.
func (l links) ask(to render.Link) tea.Cmd {
	q, err := reader.LinkQuestion(to, l.open, l.copyLink)
	if err != nil {
		l.report(host.Done{Err: err})
		return nil
	}
	return l.show(q)
}

func (l links) open(u *url.URL) tea.Cmd {
	l.note("opening " + render.Clean(u.Hostname()) + "…")
	return l.host.OpenURL(l.ctx, l.terminal.Env, u)
}

func (l links) copyLink(url string) tea.Cmd { return l.copy(url, "the link") }
