package reader

import (
	"errors"
	"net/url"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/intent"
)

// LinkQuestion asks before a link is opened, and shows its destination. It fails if the link is not
// an absolute http or https URL.
func LinkQuestion(l render.Link) (dialog.Dialog, error) {
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
			{Keys: []string{"o", "enter"}, Does: "open", Intent: intent.OpenURL{URL: u}},
			{Keys: []string{"y"}, Does: "copy", Intent: intent.Copy{Text: u.String(), What: "the link"}},
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
func (p *Pane) Labels() dialog.Dialog {
	if p.labels() == nil {
		return nil
	}
	return dialog.NewLabels(p.labels)
}

func (p *Pane) labels() []dialog.Label {
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
					Open: intent.AskOpen{Link: l}, Copy: intent.Copy{Text: l.URL, What: "the link"},
				})
			}
		}
	}
	return labels
}
