// Package candidate finds what looks like a one-time code in a line of text, by its shape and by
// what is next to it.
package candidate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/lexicon"
)

// Candidate is what looks like a code, at its place in a text.
type Candidate struct {
	Value      string // as it is entered: digits in groups are joined
	Start, End int    // offsets in the text
	Shape      Shape
	Before     rune // the rune before it other than a space; utf8.RuneError for none
	Numbered   bool // after "#" or "№"
}

// Year reports whether the value may be a year.
func (c *Candidate) Year() bool { return c.Shape == Digits && year(c.Value) }

// Key returns the value as it is compared: without separators.
func (c *Candidate) Key() string { return separators.Replace(c.Value) }

// separators are those within a code.
var separators = strings.NewReplacer("-", "", " ", "")

// In returns what looks like a code in a line of text.
func In(text string) []Candidate {
	if c, ok := token(text); ok {
		return []Candidate{c}
	}
	atoms := split(text)
	hidden := addresses(text)
	var found []Candidate
	for i := 0; i < len(atoms); {
		j := i + 1
		for j < len(atoms) && linked(text, atoms[j-1], atoms[j]) {
			j++
		}
		if c, ok := chain(text, atoms[i:j]); ok && !covered(hidden, c.Start, c.End) {
			found = append(found, c)
		}
		i = j
	}
	return found
}

// token returns the last word of a line if it is what somebody copies: longer than what is typed, and no address.
func token(text string) (c Candidate, ok bool) {
	text = strings.TrimRight(text, " \u00a0\t")
	c.End, c.Shape = len(text), Long
	c.Start = strings.LastIndexAny(text, " \u00a0\t") + 1
	c.Value = text[c.Start:]
	c.Before, _ = utf8.DecodeLastRuneInString(strings.TrimRight(text[:c.Start], " \u00a0\t"))
	ok = len(c.Value) >= Typed && len(c.Value) <= mostToken && alphanumeric(rune(c.Value[0])) && strings.Trim(c.Value, tokenRunes) == "" && !address(c.Value)
	return c, ok
}

// Figures calls yield with the value and the offsets of everything in a line that has a digit,
// addresses aside.
func Figures(text string, yield func(value string, start, end int)) {
	if !strings.ContainsAny(text, "0123456789") {
		return
	}
	hidden := addresses(text)
	for _, a := range split(text) {
		if a.digits > 0 && !covered(hidden, a.start, a.end) {
			yield(a.text, a.start, a.end)
		}
	}
}

// chain makes a candidate of atoms that belong together.
func chain(text string, atoms []atom) (Candidate, bool) {
	c := Candidate{Start: atoms[0].start, End: atoms[len(atoms)-1].end}
	for i := range patterns {
		if p := &patterns[i]; p.matches(text, atoms) {
			if !c.stands(text) {
				return c, false
			}
			c.Shape, c.Value = p.shape, join(atoms, p.separator)
			return c, true
		}
	}
	return c, false
}

func join(atoms []atom, separator string) string {
	if len(atoms) == 1 {
		return atoms[0].text
	}
	parts := make([]string, len(atoms))
	for i, a := range atoms {
		parts[i] = a.text
	}
	return strings.Join(parts, separator)
}

// atom is a run of ASCII letters and digits, with digits of other scripts folded.
type atom struct {
	text                 string
	start, end           int
	digits, upper, lower int
}

func split(text string) []atom {
	var atoms []atom
	var b strings.Builder
	var a atom
	open := false
	flush := func(end int) {
		if open {
			a.text, a.end = b.String(), end
			atoms = append(atoms, a)
			b.Reset()
			open = false
		}
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		c, ok := ASCII(r)
		if !ok {
			flush(i)
			i += size
			continue
		}
		if !open {
			a, open = atom{start: i}, true
		}
		b.WriteByte(c)
		switch {
		case c <= '9':
			a.digits++
		case c <= 'Z':
			a.upper++
		default:
			a.lower++
		}
		i += size
	}
	flush(len(text))
	return atoms
}

// ASCII returns the ASCII letter or digit for a rune.
func ASCII(r rune) (byte, bool) {
	switch {
	case r < utf8.RuneSelf:
		return byte(r), r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	case r >= 'Ａ' && r <= 'Ｚ':
		return byte(r-'Ａ') + 'A', true
	case r >= 'ａ' && r <= 'ｚ':
		return byte(r-'ａ') + 'a', true
	}
	d, ok := lexicon.Digit(r)
	return '0' + d, ok
}

// linked reports whether two atoms may be parts of one code: a hyphen is between them, or a space
// between digits or single characters.
func linked(text string, a, b atom) bool {
	single := len(a.text) == 1 && len(b.text) == 1
	switch text[a.end:b.start] {
	case "-", "‐", "‑", "–", "−":
		return true
	case " - ", " – ": // "for client 884213 – 190274" are two numbers
		return single || len(a.text) <= 4 && len(b.text) <= 4 && (a.kind() == digit && b.kind() == digit || group(a) && group(b))
	case " ", "\u00a0", "\u2009", "\u202f", "\u2002", "\u2003", "  ":
		return single || a.kind() == digit && b.kind() == digit || group(a) && group(b)
	}
	return false
}

// group reports whether an atom may be a group of a number written with spaces, such as DE44.
func group(a atom) bool {
	return a.lower == 0 && len(a.text) >= 3 && len(a.text) <= 5 && a.digits > 0
}

// addresses returns the parts of a text that are URLs, mail addresses, host names and paths.
func addresses(text string) [][2]int {
	if !strings.ContainsAny(text, ":@/.\\") {
		return nil
	}
	var found [][2]int
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] > ' ' && text[j] != '<' && text[j] != '>' && text[j] != '"' {
			j++
		}
		if w := text[i:j]; w != "" && address(w) {
			found = append(found, [2]int{i, j})
		}
		i = j + 1
	}
	return found
}

func address(w string) bool {
	if strings.Contains(w, "://") || strings.Contains(w, "www.") || strings.Contains(w, "@") && !strings.HasPrefix(w, "@") {
		return true
	}
	// host.example/path
	host, path, ok := strings.Cut(w, "/")
	return ok && path != "" && strings.Contains(host, ".") && !strings.ContainsAny(host, "0123456789")
}

func covered(parts [][2]int, start, end int) bool {
	for _, m := range parts {
		if start < m[1] && end > m[0] {
			return true
		}
	}
	return false
}

// edges are what must not be next to a code. Each has the runes that may be next to it, and what
// beyond them rules a code out.
var edges = []struct {
	before bool
	runes  string
	beyond func(rune) bool
}{
	{true, `@/\=&?~_^`, always},
	{true, `.,:'’`, unicode.IsDigit},
	{true, `.`, nothing},
	{true, `,`, unicode.IsLetter},
	{true, `-–—!;|`, alphanumeric}, // part of a word or of a password
	{false, `@/\=_+°~#`, always},
	{false, `.,:'’`, unicode.IsDigit},
	{false, `.`, func(r rune) bool { return r >= 'a' && r <= 'z' }}, // a name of a host or a file
	{false, `!&^;|-–`, func(r rune) bool { return r < utf8.RuneSelf && alphanumeric(r) }}, // part of a password
}

const currencies = "€$£¥₹₽₺₩₫₴฿"

func always(rune) bool         { return true }
func nothing(r rune) bool      { return r == utf8.RuneError }
func alphanumeric(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) }

// stands reports whether what is next to a candidate lets it be one, and notes the rune before it.
func (c *Candidate) stands(text string) bool {
	before, n := utf8.DecodeLastRuneInString(text[:c.Start])
	after, m := utf8.DecodeRuneInString(text[c.End:])
	for _, r := range [2]rune{before, after} {
		if r != utf8.RuneError && unicode.IsLetter(r) && !lexicon.Unspaced(r) {
			return false
		}
	}
	beforeThat, _ := utf8.DecodeLastRuneInString(text[:c.Start-n])
	afterThat, _ := utf8.DecodeRuneInString(text[c.End+m:])
	for _, e := range edges {
		next, beyond := after, afterThat
		if e.before {
			next, beyond = before, beforeThat
		}
		if strings.ContainsRune(e.runes, next) && e.beyond(beyond) {
			return false
		}
	}
	head := strings.TrimRight(text[:c.Start], " \u00a0\u202f")
	rest := strings.TrimLeft(text[c.End:], " \u00a0\u202f")
	c.Before, _ = utf8.DecodeLastRuneInString(head)
	c.Numbered = strings.ContainsRune("№#°º", c.Before)
	next, _ := utf8.DecodeRuneInString(rest)
	return !strings.ContainsRune(currencies+"+©†", c.Before) && !strings.ContainsRune(currencies+"%", next) && !strings.EqualFold(head[max(0, len(head)-3):], "(c)") &&
		!masked(head, rest, before, after) && !areaCode(head)
}

// masked reports whether a candidate is the end of a masked number, as in "•••• 4471", rather than
// in marks of emphasis.
func masked(head, rest string, before, after rune) bool {
	if strings.ContainsRune("*•·●…✱", before) && after != before {
		return true
	}
	return strings.HasSuffix(head, "•") || strings.HasSuffix(head, "*") && !strings.HasPrefix(rest, "*")
}

// areaCode reports whether a text ends in a short number in brackets.
func areaCode(head string) bool {
	i := strings.LastIndexByte(head, '(')
	return i >= 0 && strings.HasSuffix(head, ")") && len(head)-i <= 6 && numeric(strings.Trim(head[i:], "()"))
}
