package dialog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"mayfly/render"
	"mayfly/ui/theme"
)

const (
	maxChars  = 200     // of a line
	maxSecret = 4096    // of a password: keys may be long tokens
	maxPaste  = 1 << 16 // bytes of a paste that are used
)

// Line is a line of text and its cursor. It must not be copied.
type Line struct {
	text        textinput.Model
	suggestions []string
}

// NewLine returns the line of a field, with focus and the cursor at its end. The rest is the form's.
func NewLine(f Field) *Line {
	l := &Line{text: textinput.New()}
	l.text.SetVirtualCursor(false) // View draws it, and nothing blinks
	l.text.CharLimit = maxChars
	l.text.KeyMap.Paste.SetEnabled(false) // the terminal pastes
	l.text.Placeholder = render.Clean(f.Placeholder)
	if f.Password {
		l.text.EchoMode, l.text.CharLimit = textinput.EchoPassword, maxSecret
	}
	for _, s := range f.Suggestions {
		l.suggestions = append(l.suggestions, render.Clean(s))
	}
	l.SetValue(f.Value)
	l.text.Focus()
	return l
}

// Value returns the text.
func (l *Line) Value() string { return l.text.Value() }

// SetValue replaces the text, cleaned and cut, and moves the cursor to its end.
func (l *Line) SetValue(s string) {
	l.text.SetValue(cleanPaste(s))
	l.text.CursorEnd()
}

// KeyName is the name of a key that types nothing, such as "enter" or "ctrl+u", and "" for one that
// types: typed or composed text is never mistaken for the name of a key.
func KeyName(k tea.KeyPressMsg) string {
	if k.Text != "" {
		return ""
	}
	return k.Keystroke()
}

// EditsWords reports whether a key moves or deletes by words in a [Line].
func EditsWords(k tea.KeyPressMsg) bool {
	keys := textinput.DefaultKeyMap()
	return key.Matches(k, keys.WordForward, keys.WordBackward, keys.DeleteWordForward, keys.DeleteWordBackward)
}

// Update applies a key or a paste, without newlines, and reports whether the text changed.
func (l *Line) Update(msg tea.Msg) (changed bool) {
	before := l.Value()
	switch msg := msg.(type) {
	case tea.PasteMsg:
		l.insert(cleanPaste(msg.Content))
	case tea.KeyPressMsg:
		switch name := KeyName(msg); {
		case msg.Text != "":
			l.insert(l.cleanTyped(msg.Text))
		case (name == "end" || name == "ctrl+e") && l.suggested() != "", name == "right" && l.completed() != "":
			l.SetValue(l.completed())
		case key.Matches(msg, l.text.KeyMap.DeleteWordForward) && l.atWordEnd():
			// bubbles#1056: deleting the word panics here.
			l.text, _ = l.text.Update(tea.KeyPressMsg{Code: tea.KeyDelete})
		default:
			l.text, _ = l.text.Update(msg)
		}
	}
	return l.Value() != before
}

func (l *Line) insert(s string) { l.text, _ = l.text.Update(tea.PasteMsg{Content: s}) }

func cleanPaste(s string) string {
	if len(s) > maxPaste {
		s = s[:maxPaste]
	}
	return render.CleanName(s)
}

// cleanTyped cleans typed text after what precedes the cursor, so that a combining mark keeps its letter.
func (l *Line) cleanTyped(s string) string {
	before := string([]rune(l.Value())[:l.text.Position()])
	if typed, ok := strings.CutPrefix(render.CleanLines(before+s), before); ok {
		return typed
	}
	return render.CleanLines(s)
}

// atWordEnd reports whether the cursor is on the last character of a word.
func (l *Line) atWordEnd() bool {
	after := []rune(l.Value())[l.text.Position():]
	return len(after) == 1 || len(after) > 1 && unicode.IsSpace(after[1])
}

// completed is the text with the first suggestion that begins with it, or after a whole one the next; "" without
// any, or unless the cursor is at the end.
func (l *Line) completed() string {
	v := l.Value()
	if l.text.Position() < utf8.RuneCountInString(v) || l.text.EchoMode != textinput.EchoNormal {
		return ""
	}
	var all []string
	for _, s := range l.suggestions {
		if domain, ok := strings.CutPrefix(s, "*@"); ok {
			local, _, _ := strings.Cut(v, "@")
			if local == "" {
				continue
			}
			s = local + "@" + domain
		}
		all = append(all, s)
	}
	if n := slices.Index(all, v); n >= 0 && len(all) > 1 {
		return all[(n+1)%len(all)]
	}
	for _, s := range all {
		if len(s) > len(v) && strings.EqualFold(s[:len(v)], v) {
			return v + s[len(v):]
		}
	}
	return ""
}

// suggested is what a suggestion adds to the text, "" without one.
func (l *Line) suggested() string {
	v := l.Value()
	if rest, ok := strings.CutPrefix(l.completed(), v); ok && v != "" {
		return rest
	}
	return ""
}

// View draws the line in at most w cells, with the cursor in view while the line has focus.
func (l *Line) View(th *theme.Theme, w int) string {
	if w <= 0 {
		return ""
	}
	value := []rune(l.Value())
	if l.text.EchoMode == textinput.EchoPassword {
		value = []rune(strings.Repeat("*", len(value)))
	}
	at := l.text.Position()
	before, after, ghost := string(value[:at]), string(value[at:]), l.suggested()
	if len(value) == 0 {
		ghost = l.text.Placeholder
	}
	if !l.text.Focused() {
		if len(value) == 0 {
			return th.Dim.On(theme.Cut(theme.StableWidth(ghost), w))
		}
		return theme.Cut(theme.StableWidth(before+after), w)
	}
	style := theme.Style("")
	if after == "" {
		after, style = ghost, th.Dim
	}
	under, after := firstCell(theme.StableWidth(after), w)
	room := w - theme.Width(under)
	// A joiner before the cursor would join what stands on both sides of it.
	before = strings.TrimRight(theme.StableWidth(before), "\u200d")
	before = theme.CutStart(before, room-min(theme.Width(after), room/4))
	after = theme.Cut(after, room-theme.Width(before))
	return before + th.Caret().On(under) + style.On(after)
}

// firstCell splits off the character under the cursor, or a space if there is no visible one.
func firstCell(s string, w int) (first, rest string) {
	g := graphemes.FromString(s)
	if !g.Next() {
		return " ", ""
	}
	first, rest = g.Value(), s[len(g.Value()):]
	if n := theme.Width(first); n == 0 || n > w {
		first = " "
	}
	return first, rest
}
