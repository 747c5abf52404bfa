package dialog

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// labelKeys are the letters of labels, those of the home row first.
const labelKeys = "asdfghjklqwertyuiopzxcvbnm"

// Label marks a link on the screen: typed as shown it opens the link, in capitals it copies it.
type Label struct {
	X, Y       int // the cell of the screen where the link begins
	Open, Copy func() tea.Cmd
}

// NewLabels labels the links that find returns. They are found again whenever the screen changes: a
// message may move or go below its labels.
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
	var layers []theme.Layer
	for n, name := range l.names {
		if strings.HasPrefix(name, strings.ToLower(l.typed)) {
			label := (th.Accent + theme.Bold + theme.Reverse).On(name)
			layers = append(layers, theme.Layer{X: max(0, l.at[n].X-1), Y: l.at[n].Y, Rows: []string{label}})
		}
	}
	theme.Over(screen, w, layers...)
}
