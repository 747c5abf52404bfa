// Package clean is the one sanitiser: it makes text from outside safe for a terminal. What it
// returns is valid UTF-8 without control characters (C0, DEL, C1), escape sequences, bidirectional
// controls, tags or line separators, and with few combining marks on a letter. Of the zero-width
// characters it has only joiners and non-joiners by which emoji and words are spelt.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks a letter keeps: more than any orthography needs, and too few
// to reach into the lines above and below.
const maxMarks = 5

// Text cleans s but keeps newlines and tabs. CR LF, a lone CR, NEL and the Unicode line separators
// become newlines.
func Text(s string) string { return text(s, false) }

func text(s string, whole bool) string {
	i := firstDirty(s)
	if i == len(s) {
		return s
	}
	c := cleaner{src: s, whole: whole}
	c.out.Grow(len(s))
	c.out.WriteString(s[:i])
	c.run(i)
	return c.out.String()
}

// Line cleans s for display on one line: each run of newlines and tabs becomes a space, and both
// ends are trimmed.
func Line(s string) string { return line(Text(s)) }

// WholeLine is Line but keeps the variation selectors and tags of emoji, so that each looks as it
// was sent. Terminals disagree on the width of the result.
func WholeLine(s string) string { return line(text(s, true)) }

func line(s string) string {
	if strings.ContainsAny(s, "\n\t") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
	}
	return strings.TrimSpace(s)
}

// Lines cleans s for display on several lines: newlines stay, tabs are expanded as ExpandTabs does.
func Lines(s string) string { return ExpandTabs(Text(s)) }

// ExpandTabs replaces the tabs in clean text by spaces, with a tab stop every eight characters.
func ExpandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	col := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := 8 - col%8
			b.WriteString("        "[:n])
			col += n
		case '\n':
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteRune(r)
			col++
		}
	}
	return b.String()
}

// firstDirty returns the index of the first byte other than printable ASCII, newline and tab, or
// len(s).
func firstDirty(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

type cleaner struct {
	src   string
	whole bool // keep emoji as they were sent, see WholeLine
	out   strings.Builder
	marks int  // combining marks since the last base character
	base  bool // a mark may follow
	last  rune // last rune written
}

func (c *cleaner) run(i int) {
	if i > 0 {
		c.base, c.last = c.src[i-1] > ' ', rune(c.src[i-1])
	}
	for i < len(c.src) {
		if b := c.src[i]; b < utf8.RuneSelf {
			i += c.ascii(b, i)
			continue
		}
		if n := c.tags(i); n > 0 {
			c.out.WriteString(c.src[i : i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(c.src[i:])
		i += n
		if r >= 0x80 && r < 0xa0 {
			i += c.control(r, i)
			continue
		}
		c.rune(r, i)
	}
}

// ascii handles the byte at i and returns how many bytes it consumed.
func (c *cleaner) ascii(b byte, i int) int {
	switch {
	case b >= ' ' && b < 0x7f:
		c.put(rune(b), b > ' ')
	case b == '\n' || b == '\t':
		c.put(rune(b), false)
	case b == '\r':
		c.put('\n', false)
		if strings.HasPrefix(c.src[i+1:], "\n") {
			return 2
		}
	case b == 0x1b:
		return 1 + c.escape(i+1)
	}
	return 1
}

// put writes a character; base says whether a mark may follow it.
func (c *cleaner) put(r rune, base bool) {
	c.out.WriteRune(r)
	c.marks, c.base, c.last = 0, base, r
}

// rune handles r, which ended before i.
func (c *cleaner) rune(r rune, i int) {
	switch {
	case r < 0x300 && r != softHyphen, unicode.IsLetter(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		c.put(r, r != '\u00a0') // Line may trim it, and leave a mark alone
	case r == zwj, r == zwnj:
		next, _ := utf8.DecodeRuneInString(c.src[i:])
		c.join(r, r == zwj && pictographic(next) && emojiEnd(c.last) || c.spelt(next))
	case r == vs16:
		rest, joined := strings.CutPrefix(c.src[i:], string(zwj))
		next, _ := utf8.DecodeRuneInString(rest)
		emoji := pictographic(c.last)
		c.join(r, emoji && joined && pictographic(next) || c.whole && (emoji || strings.HasPrefix(c.src[i:], keycap)))
	case r == 0x2007, r == 0x202f:
		c.put('\u00a0', false)
	case r == 0x2028, r == 0x2029:
		c.put('\n', false)
	case r == 0x3000:
		c.put(r, false)
	case unicode.Is(unicode.Zs, r):
		c.put(' ', false)
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r >= 0xe0000 && r < 0xf0000, r > 0x10fffd:
	case unicode.In(r, unicode.Mn, unicode.Me):
		c.marks++
		c.join(r, c.marks <= maxMarks)
	default:
		c.put(r, true)
	}
}

// join writes a rune that joins the base character before it, if there is one and the rune may.
func (c *cleaner) join(r rune, may bool) {
	if c.base && may {
		c.out.WriteRune(r)
		c.last = r
	}
}

// spelt reports whether a joiner or non-joiner before next belongs to the spelling of a word: it is between
// letters of a script that joins them, or after a virama, as in RFC 5892.
func (c *cleaner) spelt(next rune) bool {
	virama := c.last >= 0x900 && c.last&0x7f == 0x4d || c.last == 0xdca
	stays := !unicode.Is(unicode.Mn, next) || c.marks < maxMarks
	return joining(c.last) && (virama || joining(next) && stays)
}

// joining reports a letter or mark of the scripts from Arabic to Sinhala.
func joining(r rune) bool { return r >= 0x620 && r <= 0xdff && unicode.In(r, unicode.L, unicode.M) }

// tags is the length of the tag sequence at src[i:], which makes a flag such as Scotland's of the
// black flag before it (UTS #51, ED-14a), or 0.
func (c *cleaner) tags(i int) int {
	const blackFlag, cancelTag, longest = "\U0001f3f4", '\U000e007f', 6
	if !c.whole || !strings.HasSuffix(c.src[:i], blackFlag) {
		return 0
	}
	n := 0
	for at, r := range c.src[i:] {
		switch {
		case r == cancelTag && n > 0:
			return at + utf8.RuneLen(r)
		case r < 0xe0030 || r > 0xe007a || n == longest:
			return 0
		}
		n++
	}
	return 0
}

const (
	keycap = "\u20e3"

	softHyphen = '\u00ad'
	zwnj       = '\u200c'
	zwj        = '\u200d'
	vs16       = '\ufe0f'
)

// pictographic reports whether zero-width joiners may combine r with other emoji.
func pictographic(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff
}

func emojiEnd(r rune) bool { return pictographic(r) || r == vs16 }
