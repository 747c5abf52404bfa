package mail

import (
	"cmp"
	"net/mail"
	"strings"
	"time"
)

// Bounds of one field.
const (
	maxAddresses = 1000
	maxNameParts = 200 // octets of an unquoted name with commas
)

// Addresses reads an unfolded list of addresses, even a broken one. An entry without an address is a Name.
func Addresses(list string) []Address { return parseAddresses(list, maxAddresses) }

// parseAddresses reads the first addresses of an unfolded list (RFC 5322, section 3.4), even a
// broken one: commas in unquoted names, missing brackets, names in comments, groups. An entry
// without an address is a Name.
func parseAddresses(s string, most int) []Address {
	var list []Address
	var a Address
	start := 0     // of the words around the angle brackets
	named := false // an address or an encoded word has begun: a colon or comma is no part of a name
	add := func(words string) {
		if a == (Address{}) {
			a = bareAddress(words)
		} else if a.Name == "" {
			a.Name = phrase(strings.Trim(words, "<> \t"))
		}
		if a != (Address{}) {
			list = append(list, a)
		}
		a, named = Address{}, false
	}
	for i := 0; i < len(s) && len(list) < most; i++ {
		words := s[start:i]
		switch s[i] {
		case '"':
			i = quoteEnd(s, i)
		case '(':
			i = commentEnd(s, i)
		case '@', '=':
			named = true
		case ':': // after the name of a group
			if !named {
				start = i + 1
			}
		case ',', ';':
			if named || a != (Address{}) || len(words) >= maxNameParts || strings.TrimSpace(words) == "" {
				add(words)
				start = i + 1
			}
		case '<':
			if a.Addr != "" { // the comma is missing
				list = append(list, a)
			}
			i += len(s[i:]) - len(strings.TrimLeft(s[i:], "<"))
			end := len(s)
			if n := strings.IndexAny(s[i:], "<>,;"); n >= 0 {
				end = i + n
			}
			a = Address{Name: phrase(words), Addr: cleanAddr(s[i:end])}
			named = true
			start = min(end+1, len(s))
			if i = start - 1; end < len(s) && s[end] != '>' {
				start, i = end, end-1
			}
		}
	}
	if len(list) < most {
		add(s[start:])
	}
	return list
}

// quoteEnd returns the index of the quote that closes the one at i. One that is never closed, or is
// within a word, is an ordinary character.
func quoteEnd(s string, i int) int {
	for end := i + 1; end < len(s); end++ {
		switch s[end] {
		case '\\':
			end++
		case '"':
			return end
		}
	}
	return i
}

// commentEnd returns the index of the parenthesis that closes the one at i, or len(s).
func commentEnd(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// bareAddress reads a mailbox without angle brackets: an address, a name, or both, of which the name
// may be a comment. Both may be in one encoded word.
func bareAddress(s string) Address {
	var a Address
	if before, after, ok := strings.Cut(s, "("); ok {
		if end := strings.LastIndexByte(after, ')'); end >= 0 {
			a.Name = phrase(after[:end])
			s = before + after[end+1:]
		}
	}
	s = strings.Trim(s, " \t,;<>")
	if strings.Contains(s, "=?") {
		if decoded := decodeHeader([]byte(s)); strings.Contains(decoded, "@") && !strings.Contains(decoded, "=?") {
			if list := parseAddresses(decoded, 1); len(list) > 0 {
				return list[0]
			}
		}
	}
	space := strings.LastIndexAny(s, " \t")
	switch {
	case !strings.Contains(s, "@"):
		a.Name = cmp.Or(a.Name, phrase(s))
	case space < 0 || s[0] == '"' || !strings.Contains(s[space:], "@"):
		a.Addr = cleanAddr(s)
	default:
		a.Name, a.Addr = phrase(s[:space]), cleanAddr(s[space+1:])
	}
	return a
}

func cleanAddr(s string) string {
	return strings.TrimPrefix(strings.TrimSpace(decodeHeader([]byte(s))), "mailto:")
}

// phrase reads a display name: unquoted, its words decoded.
func phrase(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") && len(s) > 1 {
		s = s[1 : len(s)-1]
	}
	if strings.ContainsAny(s, `"\`) {
		s = unquote(s)
	}
	s = strings.TrimSpace(decodeHeader([]byte(s)))
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

// parseDate reads a Date field. It is zero if RFC 5322 does not allow it, which the checks report.
func parseDate(s string) time.Time {
	if s == "" || len(s) > 200 {
		return time.Time{}
	}
	t, err := time.Parse("Mon, 2 Jan 2006 15:04:05 -0700", s) // nearly all mail, and fast
	if err != nil {
		t, _ = mail.ParseDate(s)
	}
	return t
}
