package ui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// labelKeys are the keys of labels, those under the fingers first.
const labelKeys = "asdfghjklqwertyuiopzxcvbnm"

// labels puts a label before every link on the screen.
type labels struct {
	links []labelled
	typed string
}

type labelled struct {
	key  string
	link render.Link
	x, y int // on the screen
}

// labelLinks labels the links on the screen.
func (a *app) labelLinks() tea.Cmd {
	l := &labels{}
	r, links := a.reader, a.reader.opened.mail.Links()
	seen := map[int]bool{}
	for y := r.rect.Y + r.textTop(); y < r.rect.Y+r.rect.H; y++ {
		_, line := r.lineAt(y)
		if line == nil {
			continue
		}
		for _, at := range line.Links {
			if link := linkNumbered(links, at.N); link.URL != "" && !seen[at.N] {
				seen[at.N] = true
				l.links = append(l.links, labelled{link: link, x: r.rect.X + 2 + at.Col, y: y})
			}
		}
	}
	if len(l.links) == 0 {
		return a.say(note, "No link is on the screen")
	}
	for n, key := range labelNames(len(l.links)) {
		l.links[n].key = key
	}
	if a.focus != paneReader && !r.rect.Empty() {
		a.focus = paneReader
	}
	return a.push(l)
}

// labelNames makes n labels of which none begins another.
func labelNames(n int) []string {
	keys := strings.Split(labelKeys, "")
	if n <= len(keys) {
		return keys[:n]
	}
	var names []string
	for _, first := range keys {
		for _, second := range keys {
			if len(names) == n {
				return names
			}
			names = append(names, first+second)
		}
	}
	return names
}

func (l *labels) open() tea.Cmd { return nil }

// update takes a label: as it is it opens the link, in capitals it copies it.
func (l *labels) update(msg tea.Msg) intent {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return intent{}
	}
	if k.Text == "" || k.String() == "space" {
		return intent{close: k.String() != "shift"}
	}
	l.typed += k.Text
	for _, x := range l.links {
		switch {
		case l.typed == x.key:
			return intent{close: true, do: func(a *app) tea.Cmd { return a.askOpen(x.link) }}
		case strings.ToLower(l.typed) == x.key && unicode.IsUpper([]rune(l.typed)[0]):
			return intent{close: true, do: func(a *app) tea.Cmd { return a.toClipboard(x.link.URL, "the link") }}
		case strings.HasPrefix(x.key, strings.ToLower(l.typed)):
			return intent{}
		}
	}
	return intent{close: true}
}

func (l *labels) draw(*theme.Theme, int, int) []string { return nil }

// over draws the labels onto the frame.
func (l *labels) over(a *app, rows []string) {
	for _, x := range l.links {
		if !strings.HasPrefix(x.key, strings.ToLower(l.typed)) {
			continue
		}
		label := (a.th.Accent + "\x1b[1;7m").On(x.key)
		cell.Over(rows, []string{label}, max(0, x.x-1), x.y, a.width)
	}
}
