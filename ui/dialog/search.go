package dialog

import (
	"slices"
	"strconv"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
)

// maxHits bounds the hits of a search.
const maxHits = 2000

// Search finds text in lines as it is typed, whatever its case and accents. The zero value searches for nothing.
type Search struct {
	Typing bool
	line   *Line
	hits   []hit // from top to bottom
	at     int   // index of the current one

	count  int // lines
	plain  func(n int) string
	folded []string // the lines as they are searched; nil until they are
}

// hit is a stretch of a line, in cells.
type hit struct{ line, col, width int }

// In searches count other lines from now on. The current hit stays the same one by its number.
func (s *Search) In(count int, plain func(n int) string) {
	s.count, s.plain, s.folded = count, plain, nil
	s.find()
}

// Start begins the typing of a text.
func (s *Search) Start() {
	s.Clear()
	s.line, s.Typing = NewLine(Field{}), true
}

// For searches for a text, and reports whether it occurs.
func (s *Search) For(text string) bool {
	s.Clear()
	s.line = NewLine(Field{Value: text})
	s.find()
	return len(s.hits) > 0
}

// Clear ends the search.
func (s *Search) Clear() { *s = Search{count: s.count, plain: s.plain} }

// On reports whether a text is searched for.
func (s *Search) On() bool { return s.line != nil && s.line.Value() != "" }

// Hits is the number of hits.
func (s *Search) Hits() int { return len(s.hits) }

// Type applies a key or a paste. If the text changes, it returns the line of the first hit from top on.
func (s *Search) Type(msg tea.Msg, top int) (line int, ok bool) {
	if k, isKey := msg.(tea.KeyPressMsg); isKey {
		switch KeyName(k) {
		case "esc":
			s.Clear()
			return 0, false
		case "enter", "tab":
			s.Typing = false
			return 0, false
		}
	}
	if !s.line.Update(msg) {
		return 0, false
	}
	s.find()
	return s.From(top)
}

func (s *Search) find() {
	s.hits = nil
	if !s.On() {
		return
	}
	if s.folded == nil {
		s.folded = make([]string, s.count)
		for n := range s.folded {
			s.folded[n] = theme.Fold(s.plain(n))
		}
	}
	want := theme.Fold(s.line.Value())
	for n, text := range s.folded {
		for _, col := range theme.Find(text, want) {
			s.hits = append(s.hits, hit{n, col, theme.Width(want)})
		}
		if len(s.hits) >= maxHits {
			s.hits = s.hits[:maxHits]
			break
		}
	}
	s.at = max(0, min(s.at, len(s.hits)-1))
}

// Step goes to the next hit, with -1 to the previous one, wrapping around, and returns its line.
func (s *Search) Step(n int) (line int, ok bool) {
	if len(s.hits) == 0 {
		return 0, false
	}
	s.at = (s.at + n + len(s.hits)) % len(s.hits)
	return s.hits[s.at].line, true
}

// From goes to the first hit at or below a line, else to the first, and returns its line.
func (s *Search) From(line int) (int, bool) {
	s.at = max(0, slices.IndexFunc(s.hits, func(h hit) bool { return h.line >= line }))
	return s.Step(0)
}

// Mark highlights the hits in line n; text is the line with its styles.
func (s *Search) Mark(th *theme.Theme, n int, text string) string {
	var layers []theme.Layer
	for i, h := range s.hits {
		if h.line != n {
			continue
		}
		style := th.Match
		if i == s.at {
			style += theme.Reverse
		}
		found := ansi.Strip(theme.Slice(text, h.col, h.col+h.width))
		layers = append(layers, theme.Layer{X: h.col, Text: style.On(found)})
	}
	if layers == nil {
		return text
	}
	return theme.Over(text, theme.Width(text), layers...)
}

// Status says which hit is the current one, or that there is none; "" without a text, and while it is typed.
func (s *Search) Status(th *theme.Theme) string {
	switch {
	case !s.On() || s.Typing:
		return ""
	case len(s.hits) == 0:
		return th.Warn.On("/" + theme.Cut(theme.StableWidth(s.line.Value()), 12) + " not found ")
	}
	return th.Dim.On(strconv.Itoa(s.at+1) + " of " + s.found() + " ")
}

// Prompt is the line being typed and the number of hits, in w cells.
func (s *Search) Prompt(th *theme.Theme, w int) string {
	found := ""
	if s.On() && w >= 24 {
		found = "  " + s.found() + " found"
	}
	return th.Accent.On("/") + s.line.View(th, w-1-len(found)) + th.Dim.On(found)
}

// found is the number of hits in words.
func (s *Search) found() string {
	if len(s.hits) == maxHits {
		return strconv.Itoa(maxHits) + " or more"
	}
	return strconv.Itoa(len(s.hits))
}

// Pager scrolls lines with keys and the wheel.
type Pager struct{ view viewport.Model }

// NewPager returns an empty pager.
func NewPager() Pager { return Pager{viewport.New()} }

// SetLines replaces the lines and scrolls to the top.
func (p *Pager) SetLines(lines []string) {
	p.view.SetContentLines(lines)
	p.view.GotoTop()
}

// Fit sets the height to h lines. The first visible line stays in place if it can.
func (p *Pager) Fit(h int) {
	p.view.SetHeight(h)
	p.view.SetYOffset(p.view.YOffset())
}

// Update scrolls, and reports whether msg was a key or wheel event that scrolls.
func (p *Pager) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		p.view, _ = p.view.Update(msg)
		return true
	case tea.KeyPressMsg:
		return p.key(msg.String())
	}
	return false
}

func (p *Pager) key(name string) bool {
	switch name {
	case "j", "down":
		p.view.ScrollDown(1)
	case "k", "up":
		p.view.ScrollUp(1)
	case "pgdown", "space", "ctrl+d", "ctrl+f":
		p.view.PageDown()
	case "pgup", "ctrl+u", "ctrl+b":
		p.view.PageUp()
	case "g", "home":
		p.view.GotoTop()
	case "G", "end":
		p.view.GotoBottom()
	default:
		return false
	}
	return true
}

// Show scrolls to line n unless it is on the screen.
func (p *Pager) Show(n int) { p.view.EnsureVisible(n, 0, 0) }

// Visible is the range of visible lines, the end excluded.
func (p *Pager) Visible() (from, to int) {
	from = p.view.YOffset()
	return from, min(from+p.view.Height(), p.view.TotalLineCount())
}
