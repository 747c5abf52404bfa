package dialog

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func press(l *Line, names ...string) {
	for _, k := range uitest.Keys(names...) {
		l.Update(k)
	}
}

// shown is the line in w cells, the cursor's cell in brackets.
func shown(l *Line, w int) string {
	s := l.View(&theme.Theme{}, w)
	if before, rest, ok := strings.Cut(s, "\x1b[7m"); ok {
		under, after, _ := strings.Cut(rest, "\x1b[m")
		s = before + "[" + under + "]" + after
	}
	return s
}

func TestEditing(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"one two"}, "one two[ ]"},
		{[]string{"one two", "left"}, "one tw[o]"},
		{[]string{"one two", "left", "right", "right"}, "one two[ ]"},
		{[]string{"one two", "home", "X"}, "X[o]ne two"},
		{[]string{"one two", "ctrl+a", "end", "X"}, "one twoX[ ]"},
		{[]string{"one two three", "ctrl+left", "ctrl+left", "X"}, "one X[t]wo three"},
		{[]string{"one two", "home", "alt+right"}, "one[ ]two"},
		{[]string{"one two", "ctrl+w"}, "one [ ]"},
		{[]string{"one two", "ctrl+backspace", "ctrl+w", "ctrl+w"}, "[ ]"},
		{[]string{"one two", "ctrl+left", "ctrl+u"}, "[t]wo"},
		{[]string{"one two", "ctrl+left", "ctrl+k"}, "one [ ]"},
		{[]string{"one two", "home", "alt+d"}, "[ ]two"},
		{[]string{"one", "left", "alt+d"}, "on[ ]"},
		{[]string{"one two", "home", "right", "right", "alt+d"}, "on[ ]two"},
		{[]string{"one", "backspace", "left", "delete"}, "o[ ]"},
		{[]string{"one", "up", "down", "ctrl+v", "enter"}, "one[ ]"},
		{[]string{"日本語", "left", "left"}, "日[本]語"},
		{[]string{"e", "\u0301"}, "e\u0301[ ]"},
	} {
		l := NewLine(Field{})
		press(l, c.keys...)
		if got := shown(l, 40); got != c.want {
			t.Errorf("%q: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestAPasteIsOneCleanAndBoundedLine(t *testing.T) {
	for _, c := range []struct{ paste, want string }{
		{"one\r\ntwo\tthree\n", "one two three"},
		{"  \x1b[31mred\x1b]0;title\a \u202eleft\x00\u009b2J ", "red left"},
		{"end", "end"},
		{strings.Repeat("é", 300), strings.Repeat("é", maxChars)},
		{strings.Repeat("x", 10<<20), strings.Repeat("x", maxChars)},
	} {
		l := NewLine(Field{})
		if changed := l.Update(tea.PasteMsg{Content: c.paste}); !changed || l.Value() != c.want {
			t.Errorf("%.20q: changed %v, %.40q", c.paste, changed, l.Value())
		}
	}
	l := NewLine(Field{Value: "ac"})
	press(l, "left")
	l.Update(tea.PasteMsg{Content: "b"})
	if got := shown(l, 10); got != "ab[c]" {
		t.Errorf("pasted in the middle: %q", got)
	}
	if press(l, strings.Repeat("y", 500)); utf8.RuneCountInString(l.Value()) != maxChars {
		t.Errorf("%d characters were typed", utf8.RuneCountInString(l.Value()))
	}
	if l.Update(tea.KeyPressMsg{Code: 'z', Text: "z"}) {
		t.Error("a full line says that it changed")
	}
}

func TestTextIsNeverTakenForTheNameOfAKey(t *testing.T) {
	l := NewLine(Field{})
	for _, text := range []string{"home", "ctrl+u", "esc"} {
		k := tea.KeyPressMsg{Code: tea.KeyExtended, Text: text}
		if name := KeyName(k); name != "" {
			t.Errorf("composed text is called %q", name)
		}
		l.Update(k)
	}
	if l.Value() != "homectrl+uesc" {
		t.Errorf("the line is %q", l.Value())
	}
}

func TestTheCursorIsInView(t *testing.T) {
	l := NewLine(Field{Value: "abcdefghijklmnopqrstuvwxyz"})
	for _, c := range []struct {
		keys []string
		want string
	}{
		{nil, "…stuvwxyz[ ]"},
		{[]string{"left", "left"}, "…rstuvwx[y]z"},
		{[]string{"left", "left", "left", "left", "left", "left"}, "…mnopqr[s]t…"},
		{[]string{"home"}, "[a]bcdefghi…"},
		{[]string{"right", "right"}, "ab[c]defghi…"},
	} {
		press(l, c.keys...)
		if got := shown(l, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	l := NewLine(Field{Placeholder: "random"})
	if got := shown(l, 20); got != "[r]andom" {
		t.Errorf("empty: %q", got)
	}
	if l.text.Blur(); shown(l, 4) != "ran…" {
		t.Errorf("blurred: %q", shown(l, 4))
	}
	if press(l, "x"); l.Value() != "" {
		t.Errorf("a blurred line took %q", l.Value())
	}

	l = NewLine(Field{Suggestions: []string{"example.org", "Mail.test"}})
	press(l, "ma")
	if got := shown(l, 20); got != "ma[i]l.test" {
		t.Errorf("suggested: %q", got)
	}
	if press(l, "right"); l.Value() != "mail.test" {
		t.Errorf("taken: %q", l.Value())
	}
	if press(l, "home", "right"); shown(l, 20) != "m[a]il.test" {
		t.Errorf("right in the middle: %q", shown(l, 20))
	}

	long := strings.Repeat("secret", 100)
	l = NewLine(Field{Password: true, Placeholder: "none"})
	l.Update(tea.PasteMsg{Content: long})
	if l.Value() != long {
		t.Errorf("a long key lost its end: %d characters of it are left", len(l.Value()))
	}
	for _, keys := range [][]string{nil, {"left"}, {"home"}, {"ctrl+left"}, {"ctrl+e"}} {
		press(l, keys...)
		if got := shown(l, 20); strings.ContainsAny(got, "secrt") {
			t.Errorf("a password shows: %q", got)
		}
	}
	if l.text.Blur(); strings.Trim(shown(l, 20), "*…") != "" {
		t.Errorf("a blurred password shows: %q", shown(l, 20))
	}
}

// FuzzLine types, pastes and edits in any order; the line stays clean, bounded and within its
// cells.
func FuzzLine(f *testing.F) {
	names := []string{"left", "right", "home", "end", "backspace", "delete", "ctrl+left", "alt+right", "alt+d", "ctrl+w", "ctrl+u", "ctrl+k", "up"}
	f.Add("plain text", []byte{0, 2, 8, 200}, 10, false)
	f.Add("日本語 \x1b[31m\u202eword 👨‍👩‍👧 🇩🇪 e\u0301", []byte{0, 8, 0, 100, 8, 5, 220}, 7, false)
	f.Add("İ\u212a\xff\xc3", []byte{1, 1, 150, 9, 10}, 1, true)
	f.Fuzz(func(t *testing.T, text string, moves []byte, w int, password bool) {
		th := uitest.Theme(t)
		w = max(0, w%100)
		l := NewLine(Field{Value: text, Placeholder: text, Suggestions: []string{text, "i̇x"}, Password: password})
		runes := []rune(text)
		for _, m := range moves[:min(len(moves), 50)] {
			switch {
			case int(m) < len(names):
				press(l, names[m])
			case m < 128 && len(runes) > 0:
				r := runes[int(m)%len(runes)]
				l.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			default:
				l.Update(tea.PasteMsg{Content: text})
			}
			check(t, l, th, w)
		}
		l.text.Blur()
		check(t, l, th, w)
	})
}

func check(t *testing.T, l *Line, th *theme.Theme, w int) {
	t.Helper()
	v := l.Value()
	if n := utf8.RuneCountInString(v); n > maxSecret || l.text.EchoMode == 0 && n > maxChars {
		t.Fatalf("%d characters", n)
	}
	hostile := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Bidi_Control) }
	if strings.ContainsFunc(v, hostile) || !utf8.ValidString(v) {
		t.Fatalf("the text is %q", v)
	}
	s := l.View(th, w)
	if n := theme.Width(s); n > w {
		t.Fatalf("%d cells of %d: %q", n, w, s)
	}
	if plain := ansi.Strip(s); ansi.StringWidth(plain) != ansi.StringWidthWc(plain) || !utf8.ValidString(plain) {
		t.Fatalf("terminals disagree on %q", plain)
	}
	if w > 0 && l.text.Focused() && !strings.Contains(s, "\x1b[7m") {
		t.Fatalf("no cursor in %q", s)
	}
}
