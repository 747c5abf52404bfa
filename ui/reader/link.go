package reader

import (
	"errors"
	"net/url"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/dialog"
)

// LinkQuestion asks before a link is opened, and shows its destination. It fails if the link is not
// an absolute http or https URL.
func LinkQuestion(l render.Link, open func(*url.URL) tea.Cmd, copyLink func(url string) tea.Cmd) (dialog.Dialog, error) {
	u, err := webURL(l.URL)
	if err != nil {
		return nil, err
	}
	whole := render.Clean(u.String())
	q := dialog.Question{
		Title: "Open this link?", Keep: "leave it",
		Text:   []string{"→ " + render.Clean(u.Hostname())},
		Detail: func(w, most int) []string { return dialog.Shorten(whole, w, min(most, 6)) },
		Answers: []dialog.Answer{
			{Keys: []string{"o", "enter"}, Does: "open", Do: func() tea.Cmd { return open(u) }},
			{Keys: []string{"y"}, Does: "copy", Do: func() tea.Cmd { return copyLink(u.String()) }},
		},
	}
	if l.Via != "" {
		q.Text = append(q.Text, "It passes through "+render.Clean(l.Via)+".")
	}
	if l.Warning != "" {
		q.Text = append(q.Text, "! "+render.Clean(l.Warning))
	}
	return dialog.NewQuestion(q), nil
}

// webURL checks that a link may be handed to a browser: an http or https URL with a host.
func webURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("the link is not a valid URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("only http and https links can be opened; shift and its label copies it")
	}
	return u, nil
}

// Labels labels every link on the screen: typed as shown a label opens its link, in capitals it
// copies it. It returns nil if there is no link on the screen.
func (p *Pane) Labels(open func(render.Link) tea.Cmd, copyLink func(url string) tea.Cmd) dialog.Dialog {
	find := func() []dialog.Label { return p.labels(open, copyLink) }
	if find() == nil {
		return nil
	}
	return dialog.NewLabels(find)
}

func (p *Pane) labels(open func(render.Link) tea.Cmd, copyLink func(url string) tea.Cmd) []dialog.Label {
	var labels []dialog.Label
	seen := map[int]bool{}
	for y := p.Rect.Y + p.textTop(); y < p.Rect.Y+p.Rect.H; y++ {
		line := p.lineAt(y)
		if line == nil {
			continue
		}
		for _, at := range line.Links {
			if l := p.link(at.N); l.URL != "" && !seen[at.N] {
				seen[at.N] = true
				labels = append(labels, dialog.Label{
					X: p.Rect.X + 2 + at.Col, Y: y,
					Open: func() tea.Cmd { return open(l) }, Copy: func() tea.Cmd { return copyLink(l.URL) },
				})
			}
		}
	}
	return labels
}
