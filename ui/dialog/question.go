package dialog

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// Question is answered with one key press. A held key does not count.
type Question struct {
	Title       string
	Text        []string                   // paragraphs, the most important first
	Detail      func(w, most int) []string // at most that many rows of w cells; may be nil
	Answers     []Answer                   // the first is yes
	CancelLabel string                     // what esc does, such as "keep it"
	Destructive bool                       // yes cannot be undone
}

// Answer is one answer to a question.
type Answer struct {
	Keys []string // the first is shown
	Does string
	Do   func() tea.Cmd
}

// NewQuestion opens a question. Esc, q and n close it, unless they are keys of an answer.
func NewQuestion(q Question) Dialog { return Box(&question{Question: q}) }

type question struct {
	Question
	room
}

func (q *question) Update(msg tea.Msg) Result {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok || k.IsRepeat {
		return Result{}
	}
	name := k.String()
	for _, a := range q.Answers {
		if slices.Contains(a.Keys, name) {
			return Result{Close: true, Do: a.Do}
		}
	}
	return Result{Close: name == "esc" || name == "q" || name == "n"}
}

func (q *question) Rows(th *theme.Theme) (string, []string) {
	width := min(64, q.w)
	answers := q.answers(th, width)
	most := q.h - len(answers)
	rows := paragraphs(q.Text, width, most)
	if left := most - len(rows) - 2; q.Detail != nil && left > 0 {
		rows = append(append(rows, ""), q.Detail(width, left)...)
	}
	if len(rows) < most {
		rows = append(rows, "")
	}
	return q.Title, append(rows, answers...)
}

// answers are the keys and what they do, in as many rows as needed.
func (q *question) answers(th *theme.Theme, w int) []string {
	var all []string
	style := th.Accent
	if q.Destructive {
		style = th.Bad + th.Bright
	}
	for _, a := range q.Answers {
		all = append(all, style.On(a.Keys[0])+" "+a.Does)
		style = th.Accent
	}
	all = append(all, th.Accent.On("esc")+th.Dim.On(" "+q.CancelLabel))
	rows := all[:1:1]
	for _, answer := range all[1:] {
		if line := rows[len(rows)-1] + "   " + answer; theme.Width(line) <= w {
			rows[len(rows)-1] = line
		} else {
			rows = append(rows, answer)
		}
	}
	return rows
}

// paragraphs wraps texts to w cells in at most the given number of rows. Where they do not fit, the
// later and longer ones give way first, down to a row each.
func paragraphs(texts []string, w, most int) []string {
	texts = texts[:max(0, min(len(texts), most))]
	wrapped, total := make([][]string, len(texts)), 0
	for i, t := range texts {
		wrapped[i] = theme.Wrap(t, w)
		total += len(wrapped[i])
	}
	for i := len(texts) - 1; i >= 0 && total > most; i-- {
		n := max(1, len(wrapped[i])-(total-most))
		total -= len(wrapped[i]) - n
		wrapped[i] = Shorten(texts[i], w, n)
	}
	if total+len(texts) < most { // a blank row between them
		for i := 1; i < len(wrapped); i++ {
			wrapped[i] = append([]string{""}, wrapped[i]...)
		}
	}
	return slices.Concat(wrapped...)
}

// Shorten wraps text to at most n rows of w cells, n > 0. Longer text keeps its beginning and its end.
func Shorten(text string, w, n int) []string {
	rows := theme.Wrap(text, w)
	switch {
	case n >= len(rows):
		return rows
	case n == 1:
		return []string{theme.CutMiddle(text, w)}
	}
	kept := append(slices.Clone(rows[:n-1]), rows[len(rows)-1])
	kept[n-2] = theme.Fit(theme.Truncate(kept[n-2], w-1, ""), w-1) + theme.Ellipsis
	return kept
}

// labelKeys are the letters of labels, those of the home row first.
const labelKeys = "asdfghjklqwertyuiopzxcvbnm"

// Label marks a link on the screen: typed as shown it opens the link, in capitals it copies it.
type Label struct {
	X, Y       int // the cell of the screen where the link begins
	Open, Copy func() tea.Cmd
}

// NewLabels labels the links that find returns, again whenever the screen changes: a message may move.
func NewLabels(find func() []Label) Dialog {
	l := &labels{find: find}
	l.Fit(0, 0)
	return l
}

type labels struct {
	find  func() []Label
	at    []Label
	names []string
	typed string
}

// labelNames returns n labels, none of which is a prefix of another.
func labelNames(n int) []string {
	keys := strings.Split(labelKeys, "")
	if n <= len(keys) {
		return keys[:n]
	}
	var names []string
	for _, first := range keys {
		for _, second := range keys {
			names = append(names, first+second)
		}
	}
	return names[:min(n, len(names))]
}

// Hint says what the keys do, for the bottom line.
func (l *labels) Hint() string {
	return "type a label to open its link   SHIFT+label copies it   esc cancels"
}

func (l *labels) Fit(int, int) {
	l.at = l.find()
	l.names = labelNames(len(l.at))
}

func (l *labels) Update(msg tea.Msg) Result {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		return Result{Close: msg.Button == tea.MouseLeft}
	case tea.KeyPressMsg:
		if msg.Code == tea.KeyLeftShift || msg.Code == tea.KeyRightShift || msg.IsRepeat {
			return Result{}
		}
		return l.key(msg.Text)
	}
	return Result{}
}

func (l *labels) key(text string) Result {
	l.typed += text
	lower := strings.ToLower(l.typed)
	for n, name := range l.names {
		switch {
		case text == "" || !strings.HasPrefix(name, lower):
		case l.typed == name:
			return Result{Close: true, Do: l.at[n].Open}
		case lower == name && unicode.IsUpper([]rune(l.typed)[0]):
			return Result{Close: true, Do: l.at[n].Copy}
		default:
			return Result{}
		}
	}
	return Result{Close: true}
}

func (l *labels) Draw(th *theme.Theme, screen []string, w int) {
	for n, name := range l.names {
		if y := l.at[n].Y; y < len(screen) && strings.HasPrefix(name, strings.ToLower(l.typed)) {
			screen[y] = theme.Over(screen[y], w, theme.Layer{X: max(0, l.at[n].X-1), Text: (th.Accent + theme.Bold + theme.Reverse).On(name)})
		}
	}
}
