package mail

import (
	"cmp"
	"math"
	"strings"
)

// maxNameParts is how long an unquoted name with commas may be, in octets.
const maxNameParts = 200

// An addressList is an unfolded list of addresses being read (RFC 5322, section 3.4), even a broken one: commas in
// unquoted names, missing brackets, names in comments, groups. An entry without an address is a Name.
type addressList struct {
	scanner
	charset string // of octets above 127
	most    int    // addresses that are read
	list    []Address
	a       Address // being read
	start   int     // of the words around its angle brackets
	named   bool    // an address or an encoded word has begun: a colon or comma is not part of a name
}

// Addresses reads all addresses of an unfolded list, even a broken one. An entry without an address is a Name.
func Addresses(list string) []Address { return parseAddresses(list, "", math.MaxInt) }

// parseAddresses reads the first addresses of a list. charset is that of raw octets which are not UTF-8.
func parseAddresses(s, charset string, most int) []Address {
	l := addressList{scanner: scanner{s: s}, charset: charset, most: most}
	l.read()
	return l.list
}

func (l *addressList) read() {
	s := l.s
	for i := 0; i < len(s) && len(l.list) < l.most; {
		after := l.skip(i)
		switch words := s[l.start:i]; s[i] {
		case '@', '=':
			l.named = true
		case ':': // after the name of a group
			if !l.named {
				l.start = after
			}
		case ',', ';':
			if l.named || l.a != (Address{}) || len(words) >= maxNameParts || strings.TrimSpace(words) == "" {
				l.add(words)
				l.start = after
			}
		case '<':
			after = l.bracket(i)
		}
		i = after
	}
	if len(l.list) < l.most {
		l.add(s[l.start:])
	}
}

// bracket reads an address in angle brackets that begins at i, and returns the index after it.
func (l *addressList) bracket(i int) (after int) {
	if l.a.Addr != "" { // the comma is missing
		l.list = append(l.list, l.a)
	}
	name := l.phrase(l.s[l.start:i])
	i += len(l.s[i:]) - len(strings.TrimLeft(l.s[i:], "<"))
	end := l.next(i, "<>,;")
	l.a = Address{Name: name, Addr: l.address(l.s[i:end])}
	l.named = true
	if l.start = end; end < len(l.s) && l.s[end] == '>' {
		l.start++
	}
	return l.start
}

// add ends an entry, with the words that are around its angle brackets or all of it.
func (l *addressList) add(words string) {
	if words = strings.Trim(words, "<> \t"); words != "" {
		if l.a == (Address{}) {
			l.a = l.bare(words)
		} else if l.a.Name == "" {
			l.a.Name = l.phrase(words)
		}
	}
	if l.a != (Address{}) {
		l.list = append(l.list, l.a)
	}
	l.a, l.named = Address{}, false
}

// bare reads a mailbox without angle brackets: an address, a name, or both, of which the name may be a comment. Both
// may be in one encoded word.
func (l *addressList) bare(s string) Address {
	var a Address
	l.steps += len(s)
	for range maxComments {
		before, after, ok := strings.Cut(s, "(")
		if !ok || strings.Contains(before, `"`) {
			break
		}
		comment, rest := cutComment(after)
		a.Name = l.phrase(comment)
		s = before + rest
	}
	s = strings.Trim(s, " \t,;<>")
	if strings.Contains(s, "=?") {
		if decoded := decodeHeader([]byte(s), l.charset); strings.Contains(decoded, "@") && !strings.Contains(decoded, "=?") {
			inner := addressList{scanner: scanner{s: decoded}, most: 1}
			inner.read()
			l.steps += inner.steps
			if len(inner.list) > 0 {
				return inner.list[0]
			}
		}
	}
	space := strings.LastIndexAny(s, " \t")
	switch {
	case !strings.Contains(s, "@"):
		a.Name = cmp.Or(a.Name, l.phrase(s))
	case space < 0 || s[0] == '"' || !strings.Contains(s[space:], "@"):
		a.Addr = l.address(s)
	default:
		a.Name, a.Addr = l.phrase(s[:space]), l.address(s[space+1:])
	}
	return a
}

// maxComments bounds the comments of an entry.
const maxComments = 4

// cutComment cuts a comment, which may have comments in it, from what is after its parenthesis.
func cutComment(s string) (comment, rest string) {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func (l *addressList) address(s string) string {
	l.steps += len(s)
	return strings.TrimPrefix(strings.TrimSpace(decodeHeader([]byte(s), l.charset)), "mailto:")
}

// phrase reads a display name: unquoted, its words decoded.
func (l *addressList) phrase(s string) string {
	l.steps += len(s)
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") && len(s) > 1 {
		s = s[1 : len(s)-1]
	}
	if strings.ContainsAny(s, `"\`) {
		s = unquote(s)
	}
	s = strings.TrimSpace(decodeHeader([]byte(s), l.charset))
	if n := len(s); n > 1 && (s[0] == '"' && s[n-1] == '"' || s[0] == '\'' && s[n-1] == '\'') {
		s = strings.TrimSpace(s[1 : n-1])
	}
	return s
}

// unquote removes the quotes of quoted strings, and the backslashes in them.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] != '"':
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
