package theme

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/uax29/v2/graphemes"
	"golang.org/x/text/unicode/norm"
)

// Ellipsis marks where text was cut.
const Ellipsis = "…"

// countsGraphemes is set where the terminal counts cells by grapheme clusters (mode 2027), and not by runes.
var countsGraphemes atomic.Bool

// CountGraphemes sets whether the terminal counts cells by grapheme clusters. There is one terminal.
func CountGraphemes(on bool) { countsGraphemes.Store(on) }

// Cells is how the terminal counts cells.
func Cells() ansi.Method {
	if countsGraphemes.Load() {
		return ansi.GraphemeWidth
	}
	return ansi.WcWidth
}

// Width is the number of cells that s takes, not counting sequences.
func Width(s string) int {
	if isPlainASCII(s) {
		return len(s)
	}
	return Cells().StringWidth(s)
}

// Truncate returns the first w cells of s, which may have sequences, with tail if something was cut.
func Truncate(s string, w int, tail string) string {
	n := Width(s)
	if n <= w {
		return s
	}
	// The library compares the width by graphemes before it counts runes: with spaces that is as much.
	return Cells().Truncate(s+Spaces(n-ansi.StringWidth(s)), w, tail)
}

// TruncateLeft returns s without its first n cells.
func TruncateLeft(s string, n int) string { return Cells().TruncateLeft(s, n, "") }

// Slice returns the cells of s from one to before another.
func Slice(s string, from, to int) string {
	if to <= from {
		return ""
	}
	return TruncateLeft(Truncate(s, to, ""), from)
}

// StableWidth returns s with the first rune alone of every emoji on whose width terminals disagree. Clusters of a script
// keep every letter and sign: [Width] counts them as the terminal does.
func StableWidth(s string) string {
	if isPlainASCII(s) || ansi.StringWidth(s) == ansi.StringWidthWc(s) {
		return s
	}
	var b strings.Builder
	for g := graphemes.FromString(s); g.Next(); {
		cluster := g.Value()
		r, _ := utf8.DecodeRuneInString(cluster)
		if unicode.IsLetter(r) || ansi.StringWidth(cluster) == ansi.StringWidthWc(cluster) {
			b.WriteString(cluster)
			continue
		}
		first := string(r)
		if ansi.StringWidth(first) != ansi.StringWidthWc(first) {
			first = "?"
		}
		b.WriteString(first)
	}
	return b.String()
}

// Cut shortens s to at most w cells, ending in an ellipsis when something was cut.
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return Truncate(s, w, Ellipsis)
}

// FirstFit is the first of several forms of a text that takes at most w cells, or the last one cut.
func FirstFit(forms []string, w int) string {
	for _, s := range forms {
		if Width(s) <= w {
			return s
		}
	}
	return Cut(forms[len(forms)-1], w)
}

// CutStart shortens plain text to at most w cells and keeps its end.
func CutStart(s string, w int) string {
	n := Width(s)
	if n <= w {
		return s
	}
	if w < 2 {
		return ""
	}
	return Ellipsis + Tail(s, n, w-1)
}

// Tail is the last w of the n cells of s, or one less if a wide character would be cut in half.
func Tail(s string, n, w int) string {
	end := TruncateLeft(s, n-w)
	if Width(end) > w {
		end = TruncateLeft(s, n-w+1)
	}
	return end
}

// CutMiddle shortens plain text, made of a stable width, to at most w cells, keeping its start and its end:
// addresses and paths differ at both.
func CutMiddle(s string, w int) string {
	s = StableWidth(s)
	n := Width(s)
	if n <= w || w < 5 {
		return Cut(s, w)
	}
	end := Tail(s, n, (w-1)/2)
	return Truncate(s, w-1-Width(end), "") + Ellipsis + end
}

// Fit makes s exactly w cells wide, cutting or padding at the end.
func Fit(s string, w int) string {
	s = Cut(s, w)
	return s + Spaces(w-Width(s))
}

// Spread puts left and right at the two ends of w cells. Left is cut if both do not fit.
func Spread(left, right string, w int) string {
	r := Width(right)
	if r > w {
		return Fit(right, w)
	}
	if r == 0 {
		return Fit(left, w)
	}
	return Fit(left, w-r-1) + Spaces(min(1, w-r)) + right
}

// Spaces returns n spaces, none if n is negative.
func Spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

// Layer is text to draw over a row, at column X.
type Layer struct {
	X    int
	Text string
}

// Over draws layers over a row that is w cells wide. What would fall outside is cut.
func Over(row string, w int, layers ...Layer) string {
	canvas := lipgloss.NewCanvas(w, 1)
	canvas.Compose(uv.NewStyledString(row))
	for _, l := range layers {
		if area := uv.Rect(l.X, 0, Width(l.Text), 1); area.Min.In(canvas.Bounds()) {
			uv.NewStyledString(l.Text).Draw(canvas, area.Intersect(canvas.Bounds()))
		}
	}
	return Fit(canvas.Render(), w)
}

// Fold returns s without case and accents, for searches: two texts that it maps to the same match. It
// keeps lines, and the columns of what is in them.
func Fold(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x2e80 && r <= 0xd7ff: // Chinese, Japanese, Korean: neither case nor accents
			return r
		case r < utf8.RuneSelf:
			return unicode.ToLower(r)
		case isAccent(r):
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(letter(r))) // ς and σ have the same capital
	}, norm.NFC.String(strings.ReplaceAll(s, "\u200c", ""))) // the non-joiner, which few people type
}

// letter returns r without its accents.
func letter(r rune) rune {
	parts := norm.NFD.PropertiesString(string(r)).Decomposition()
	if last, _ := utf8.DecodeLastRune(parts); !isAccent(last) {
		return r
	}
	first, _ := utf8.DecodeRune(parts)
	return first
}

// isAccent reports whether r is a mark above or below a letter, or a point of Hebrew or Arabic. The
// vowels of Indian scripts, for one, are marks too, but no accents.
func isAccent(r rune) bool {
	if r < 0x300 || !unicode.Is(unicode.Mn, r) {
		return false
	}
	class := norm.NFD.PropertiesString(string(r)).CCC()
	return class >= 200 || class >= 10 && class <= 35
}

// Find returns the columns at which want begins in plain text, from left to right and without overlaps.
func Find(text, want string) []int {
	var columns []int
	for from := 0; want != ""; {
		i := strings.Index(text[from:], want)
		if i < 0 {
			break
		}
		columns = append(columns, Width(text[:from+i]))
		from += i + len(want)
	}
	return columns
}

// Wrap breaks plain text, made of a stable width, into rows of at most w cells, at spaces where it can.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	rows := Cells().Wrap(StableWidth(s), w, "/@-._") // some are too wide, such as "<bx-=a/-" in 4 cells
	return strings.Split(Cells().Hardwrap(rows, w, true), "\n")
}

func isPlainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

func unit(d time.Duration) (time.Duration, string) {
	switch {
	case d < time.Minute:
		return time.Second, "s"
	case d < 120*time.Minute:
		return time.Minute, "min"
	case d < 48*time.Hour:
		return time.Hour, "h"
	}
	return 24 * time.Hour, "d"
}

// Age says how long ago something was.
func Age(d time.Duration) string {
	if d < time.Minute {
		return "now"
	}
	return Waited(d)
}

// Waited says how long something has lasted, from the first second on.
func Waited(d time.Duration) string {
	d = max(d, 0)
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name)
}

// Remaining says how much time is left, rounded up.
func Remaining(d time.Duration) string {
	if d <= 0 {
		return "0 s"
	}
	u, name := unit(d - 1) // up to and including a minute in seconds
	return fmt.Sprintf("%d %s", (d+u-1)/u, name)
}

// Elapsed writes a measured delay, in tenths of a second below 100 seconds.
func Elapsed(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return Waited(d)
}

// Until says when something expires, on the user's clock: with the day unless that is today.
func (t *Theme) Until(end, now time.Time) string {
	end, now = t.Local(end), t.Local(now)
	if y, m, d := end.Date(); now.Year() == y && now.Month() == m && now.Day() == d {
		return "expires " + end.Format("15:04")
	}
	return "expires " + end.Format("2 Jan 15:04")
}

// Caret is the style of the cell at which text is typed.
func (t *Theme) Caret() Style { return t.Accent + Reverse }

// CaretIn returns the cell at which text is typed in rows of a screen, false if there is none.
func (t *Theme) CaretIn(rows []string) (x, y int, ok bool) {
	for y, row := range rows {
		if before, _, ok := strings.Cut(row, string(t.Caret())); ok {
			return Width(before), y, true
		}
	}
	return 0, 0, false
}
