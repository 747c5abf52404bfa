// Package uitest is shared by the tests of panes: keys by name, what else panes do, and rows as cells.
package uitest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
)

var keys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
	"space": {Code: ' ', Text: " "}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "end": {Code: tea.KeyEnd},
	"home": {Code: tea.KeyHome}, "delete": {Code: tea.KeyDelete}, "f1": {Code: tea.KeyF1},
}

var modifiers = map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift}

// named is the key of a name, such as "enter" or "ctrl+u".
func named(name string) (tea.KeyPressMsg, bool) {
	for prefix, mod := range modifiers {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			k, ok := keys[rest]
			if !ok {
				k.Code, _ = utf8.DecodeRuneInString(rest)
			}
			k.Mod, k.Text = mod, ""
			return k, true
		}
	}
	k, ok := keys[name]
	return k, ok
}

// Keys are the keys of those names. Any other string is typed, character by character.
func Keys(names ...string) []tea.KeyPressMsg {
	var all []tea.KeyPressMsg
	for _, name := range names {
		if k, ok := named(name); ok {
			all = append(all, k)
			continue
		}
		for _, r := range name {
			all = append(all, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return all
}

// IDs are the numbers from 0 to n-1, as the IDs of rows.
func IDs(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// Theme is the usual theme on a dark terminal with all colours.
func Theme(t testing.TB) *theme.Theme {
	t.Helper()
	th, err := theme.For("", true, true, colorprofile.TrueColor)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// Screen is a part of the screen as cells, a string for each row, without trailing blanks.
type Screen struct {
	Rows []string
	t    testing.TB
}

// ours are the sequences that rows may contain: styles (SGR) and links (OSC 8).
var ours = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;[ -~]*?(\x1b\\\\|\a)")

// marks are those of [term.KeepPlaces].
var marks = regexp.MustCompile("\u200e\u202b?|\u202c?\u200e")

// Draw takes rows w cells wide. The test fails unless each has that width, whether a terminal counts
// graphemes or runes, and has no control character but those of styles and links.
func Draw(t testing.TB, rows []string, w int) Screen {
	t.Helper()
	for y, row := range rows {
		if wc := ansi.StringWidthWc(row); wc != w {
			t.Fatalf("row %d is %d cells wide where a terminal counts runes, and not %d: %q", y, wc, w, row)
		}
	}
	return DrawLast(t, rows, w)
}

// DrawLast is [Draw] for the pane at the right edge of the screen, whose rows may take another width
// where a terminal counts runes.
func DrawLast(t testing.TB, rows []string, w int) Screen {
	t.Helper()
	s := Screen{t: t}
	for y, row := range rows {
		row = marks.ReplaceAllString(row, "")
		if by := theme.Width(row); by != w {
			t.Fatalf("row %d is %d cells wide, and not %d: %q", y, by, w, row)
		}
		if strings.ContainsFunc(ours.ReplaceAllString(row, ""), hostile) {
			t.Fatalf("row %d has a control character: %q", y, row)
		}
		buf := uv.NewScreenBuffer(w, 1)
		uv.NewStyledString(row).Draw(buf, buf.Bounds())
		var b strings.Builder
		for x := range w {
			if c := buf.CellAt(x, 0); c != nil && c.Width > 0 {
				b.WriteString(c.Content)
			}
		}
		s.Rows = append(s.Rows, strings.TrimRight(b.String(), " "))
	}
	return s
}

func hostile(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Bidi_Control) }

// Dialog is what is drawn over the panes.
type Dialog interface {
	Fit(w, h int)
	Draw(th *theme.Theme, screen []string, w int)
}

// DrawDialog draws a dialog over a blank screen of w by h cells.
func DrawDialog(t testing.TB, d Dialog, w, h int) Screen {
	t.Helper()
	rows := slices.Repeat([]string{strings.Repeat(" ", w)}, h)
	d.Fit(w, h)
	d.Draw(Theme(t), rows, w)
	return Draw(t, rows, w)
}

func (s Screen) String() string { return strings.Join(s.Rows, "\n") }

// Is fails the test unless the screen is as want shows it, apart from blank rows at its ends.
func (s Screen) Is(want string) {
	s.t.Helper()
	if got := s.String(); strings.Trim(got, "\n") != strings.Trim(want, "\n") {
		s.t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
}

// See fails the test unless every text is on a row of the screen.
func (s Screen) See(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.String(), text) {
			s.t.Errorf("the screen does not say %q:\n%s", text, s)
		}
	}
}

// DontSee fails the test if one of the texts is on a row of the screen.
func (s Screen) DontSee(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if strings.Contains(s.String(), text) {
			s.t.Errorf("the screen says %q:\n%s", text, s)
		}
	}
}

// Joined is emoji whose width terminals disagree about.
const Joined = "\U0001F468\u200d\U0001F469\u200d\U0001F467 ❤\ufe0f"

// Hostile is text that attacks a terminal: sequences, other directions, and other widths.
const Hostile = "\x1b]0;owned\x07\x1b[2J\u009b31m\u009d8;;http://x\u009c\r\n\t\x00\x7f\u202e\u2066\u200b\ufeff" + Joined + " end"

// Do is what a test does to a pane, besides keys that are typed and the mouse.
type Do func(p Pane)

// Pane is what the three panes have in common.
type Pane interface {
	Move(n int)
	Page(n int)
	First()
	Last()
	StartTyping()
	Back() bool
}

// The methods of a pane without arguments.
var (
	First  Do = Pane.First
	Last   Do = Pane.Last
	Search Do = Pane.StartTyping
	Back   Do = func(p Pane) { p.Back() }
	Mark   Do = func(p Pane) { p.(interface{ Mark() }).Mark() }
)

// Move moves the cursor by rows, or scrolls by lines; negative is up.
func Move(n int) Do { return func(p Pane) { p.Move(n) } }

// Page does so by pages.
func Page(n int) Do { return func(p Pane) { p.Page(n) } }
