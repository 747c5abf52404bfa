package mail

import "strings"

// A scanner finds where the quoted strings, comments and encoded words of an unfolded value end (RFC 5322,
// section 3.2; RFC 2047). It looks at each octet a fixed number of times, whatever the value: what is found to be
// never closed is an ordinary character, as are all of its kind that follow, and so is a quote within a word.
type scanner struct {
	s     string
	plain [3]int // of quotes, comments and words: up to where none that opens is closed
	steps int    // octets looked at
}

const (
	quotes = iota
	comments
	words
)

// skip returns the index after the quoted string, the comment or the encoded word that begins at i, or i+1.
func (sc *scanner) skip(i int) int {
	sc.steps++
	var kind, end int
	var closed bool
	switch c := sc.s[i]; {
	case c == '"' && i >= sc.plain[quotes] && (i == 0 || !isAlphanumeric(sc.s[i-1])):
		kind = quotes
		end, closed = sc.quoteEnd(i)
	case c == '(' && i >= sc.plain[comments]:
		kind = comments
		end, closed = sc.commentEnd(i)
	case c == '=' && i >= sc.plain[words] && strings.HasPrefix(sc.s[i:], "=?"):
		kind = words
		end, closed = sc.wordEnd(i)
	default:
		return i + 1
	}
	sc.steps += end - i
	if !closed {
		sc.plain[kind] = end
		return i + 1
	}
	return end
}

func (sc *scanner) quoteEnd(i int) (end int, closed bool) {
	for end = i + 1; end < len(sc.s); end++ {
		switch sc.s[end] {
		case '\\':
			end++
		case '"':
			return end + 1, true
		}
	}
	return len(sc.s), false
}

func (sc *scanner) commentEnd(i int) (end int, closed bool) {
	depth := 0
	for end = i; end < len(sc.s); end++ {
		switch sc.s[end] {
		case '\\':
			end++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return end + 1, true
			}
		}
	}
	return len(sc.s), false
}

func (sc *scanner) wordEnd(i int) (end int, closed bool) {
	text, ok := wordStart(sc.s[i:])
	if !ok {
		return i + 1, false
	}
	for end = i + text; end < len(sc.s) && sc.s[end] != ' '; end++ {
		if strings.HasPrefix(sc.s[end:], "?=") {
			return end + 2, true
		}
	}
	return end, false
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// next returns the index of the first octet of set from i on that is not within a quoted string, a comment or an
// encoded word, or the length of the value.
func (sc *scanner) next(i int, set string) int {
	for i < len(sc.s) && strings.IndexByte(set, sc.s[i]) < 0 {
		i = sc.skip(i)
	}
	return i
}

// wordStart returns the index of the text of the encoded word at the start of s, after the charset, a letter (q or b) and
// a question mark.
func wordStart[T string | []byte](s T) (text int, ok bool) {
	q := len("=?")
	for ; q < min(len(s), 64) && s[q] != '?'; q++ {
		if s[q] <= ' ' || strings.IndexByte(`="<>,;`, s[q]) >= 0 {
			return 0, false
		}
	}
	if text = q + len("?q?"); q == len("=?") || len(s) < text || s[text-1] != '?' {
		return 0, false
	}
	return text, s[q+1]|0x20 == 'q' || s[q+1]|0x20 == 'b'
}
