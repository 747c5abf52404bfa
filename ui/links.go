package ui

import (
	"errors"
	"net/url"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
)

// links labels the links on the screen (f), and asks before one is opened.
type links struct{ *common }

func (l links) actions() []*action {
	return []*action{
		{ID: "link-hints", Title: "Link hints: open, or shift to copy", Hint: "links", Keys: []string{"f"}, Where: anywhere,
			DisabledReason: func() string { return l.reader.RequireOpen() }, Run: l.label},
	}
}

// label opens labels for the links on the screen.
func (l links) label() tea.Cmd {
	d := l.reader.Labels(l.ask, l.copyLink)
	if d == nil {
		l.note("No links on the screen")
		return nil
	}
	return l.show(d)
}

// ask shows the destination of a link, and asks before opening it.
func (l links) ask(to render.Link) tea.Cmd {
	q, err := linkQuestion(to, l.open, l.copyLink)
	if err != nil {
		l.report(host.Result{Err: err})
		return nil
	}
	return l.show(q)
}

func (l links) open(u *url.URL) tea.Cmd {
	l.note("opening " + render.Clean(u.Hostname()) + "…")
	return l.host.OpenURL(l.ctx, l.terminal.Env, u)
}

func (l links) copyLink(url string) tea.Cmd { return l.copy(url, "the link") }

// linkQuestion asks before a link is opened, and shows its destination. It fails if the link is not
// an absolute http or https URL.
func linkQuestion(l render.Link, open func(*url.URL) tea.Cmd, copyLink func(url string) tea.Cmd) (dialog.Dialog, error) {
	u, err := url.Parse(l.URL)
	switch {
	case err != nil:
		return nil, errors.New("the link is not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("only http and https links can be opened; hold shift and type its label to copy it")
	}
	whole := render.Clean(u.String())
	q := dialog.Question{
		Title: "Open this link?", CancelLabel: "leave it",
		Text:   []string{"→ " + render.Clean(u.Hostname())},
		Detail: func(w, most int) []string { return dialog.Shorten(whole, w, min(most, 6)) },
		Answers: []dialog.Answer{
			{Keys: []string{"o", "enter"}, Does: "open", Do: func() tea.Cmd { return open(u) }},
			{Keys: []string{"y"}, Does: "copy", Do: func() tea.Cmd { return copyLink(u.String()) }},
		},
	}
	if l.Via != "" {
		q.Text = append(q.Text, "Redirects through "+render.Clean(l.Via)+".")
	}
	if l.Warning != "" {
		q.Text = append(q.Text, "! "+render.Clean(l.Warning))
	}
	return dialog.NewQuestion(q), nil
}
