package ui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/aymanbagabas/go-udiff"

	"mayfly/letter"
	"mayfly/render"
	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// comparedMsg is what two messages have in common and what not.
type comparedMsg struct {
	session *session
	titles  [2]string
	texts   [3]string // by part: text, links, header fields
	err     error
}

var comparedParts = [3]string{"text", "links", "headers"}

// compare shows how two marked messages differ: the older on the left hand, so to say.
func (a *app) compare() tea.Cmd {
	var pair []*message
	for _, k := range a.messages.list.IDs() {
		if a.messages.marks[k] {
			pair = append(pair, a.book.messages[k])
		}
	}
	if len(pair) != 2 {
		return a.say(note, "Mark two messages of this list first")
	}
	older, newer, s := pair[1], pair[0], a.session
	return s.do(func(ctx context.Context) tea.Msg {
		out := comparedMsg{session: s, titles: [2]string{older.subject, newer.subject}}
		var sides [2][3]string
		for n, m := range [2]*message{older, newer} {
			l, err := letter.Fetch(ctx, s.conn.Client, m.inboxID, m.id)
			if err != nil {
				out.err = err
				return out
			}
			sides[n] = comparable(l)
		}
		for n := range out.texts {
			out.texts[n] = udiff.Unified("older", "newer", sides[0][n], sides[1][n])
		}
		return out
	})
}

// comparedWidth is the width for which texts are laid out before they are compared.
const comparedWidth = 72

// comparable is what is compared of a message: its text, its links, its header fields.
func comparable(l letter.Letter) [3]string {
	content := l.Content()
	m := render.Open(content)
	var text, links, fields strings.Builder
	for _, line := range m.Lines(render.Rich, render.Options{Width: comparedWidth}) {
		text.WriteString(strings.TrimRight(line.Plain, " ") + "\n")
	}
	for _, l := range m.Links() {
		links.WriteString(render.Clean(l.Text) + "  " + render.Clean(l.URL) + "\n")
	}
	for _, h := range content.Headers {
		fields.WriteString(render.Clean(h.Name) + ": " + render.Clean(h.Value) + "\n")
	}
	return [3]string{text.String(), links.String(), fields.String()}
}

func (m comparedMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	if m.err != nil {
		return a.fail(m.err)
	}
	return a.push(&diff{comparedMsg: m})
}

// diff shows how two messages differ.
type diff struct {
	comparedMsg
	part int
	top  int
	most int
	page int
}

func (d *diff) open() tea.Cmd { return nil }

func (d *diff) update(msg tea.Msg) intent {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			d.scroll(-wheelRows)
		} else {
			d.scroll(wheelRows)
		}
	case tea.KeyPressMsg:
		switch msg.String() {
		case "j", "down":
			d.scroll(1)
		case "k", "up":
			d.scroll(-1)
		case "pgdown", "space", "ctrl+d":
			d.scroll(d.page)
		case "pgup", "ctrl+u":
			d.scroll(-d.page)
		case "g", "home":
			d.top = 0
		case "G", "end":
			d.top = d.most
		case "v", "tab", "l", "right":
			d.part, d.top = (d.part+1)%len(d.texts), 0
		case "shift+tab", "h", "left":
			d.part, d.top = (d.part+len(d.texts)-1)%len(d.texts), 0
		case "esc", "q", "enter", "=":
			return intent{close: true}
		}
	}
	return intent{}
}

func (d *diff) scroll(n int) { d.top = max(0, min(d.top+n, d.most)) }

// lines are those of the part that is shown.
func (d *diff) lines() []string {
	if d.texts[d.part] == "" {
		return []string{"No difference in the " + comparedParts[d.part] + "."}
	}
	return strings.Split(strings.TrimRight(d.texts[d.part], "\n"), "\n")[2:] // the first are the names of the two
}

// diffHead is the rows above the lines.
const diffHead = 4

func (d *diff) fit(_, h int) {
	d.page = max(1, h-4-diffHead)
	d.most = max(0, len(d.lines())-d.page)
	d.top = min(d.top, d.most)
}

func (d *diff) draw(th *theme.Theme, w, h int) []string {
	width, lines := max(10, min(w-4, 110)), d.lines()
	rows := []string{
		th.Bad.On("- ") + cell.Cut(cell.Steady(d.titles[0]), width-2),
		th.Good.On("+ ") + cell.Cut(cell.Steady(d.titles[1]), width-2),
		d.tabs(th), "",
	}
	for n := range d.page {
		text := ""
		if d.top+n < len(lines) {
			text = diffLine(th, lines[d.top+n], width)
		}
		rows = append(rows, cell.Fit(text, width))
	}
	return frameBox(th, "Compare", rows, w, h)
}

func diffLine(th *theme.Theme, line string, w int) string {
	text := cell.Cut(cell.Steady(line), w)
	switch {
	case strings.HasPrefix(line, "@@"):
		return th.Faint.On(strings.Repeat("╌", min(w, 8)))
	case strings.HasPrefix(line, "+"):
		return th.Good.On(text)
	case strings.HasPrefix(line, "-"):
		return th.Bad.On(text)
	}
	return th.Dim.On(text)
}

func (d *diff) tabs(th *theme.Theme) string {
	var parts []string
	for n, name := range comparedParts {
		if n == d.part {
			parts = append(parts, (th.Accent + "\x1b[4m").On(name))
		} else {
			parts = append(parts, th.Dim.On(name))
		}
	}
	return strings.Join(parts, "  ") + th.Faint.On("   v next  esc back")
}
