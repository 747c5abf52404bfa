package mail

import (
	"net/mail"
	"strings"
	"time"
)

// Bounds of one field.
const (
	maxAddresses = 1000
	maxPending   = 200 // octets of an unquoted name with commas
)

// parseAddresses reads the first addresses of an unfolded list (RFC 5322, section 3.4), even a
// broken one: commas in unquoted names, missing brackets, names in comments, groups. An entry
// without an address is a Name.
func parseAddresses(s string, most int) []Address {
	var list []Address
	pending := "" // the start of a name with an unquoted comma
	for s != "" && len(list) < most {
		var item string
		item, s = cutAddress(s)
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if !strings.Contains(item, "@") && s != "" && len(pending) < maxPending && !strings.HasPrefix(item, "<") && !strings.Contains(item, "=?") {
			pending = joinComma(pending, item)
			continue
		}
		a := parseAddress(joinComma(pending, item))
		pending = ""
		if a != (Address{}) {
			list = append(list, a)
		}
	}
	if pending != "" && len(list) < most {
		list = append(list, parseAddress(pending))
	}
	return list
}

func joinComma(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// cutAddress splits the first address off a list. The name of a group is dropped.
func cutAddress(s string) (item, rest string) {
	quoted, angle, route := false, false, false
	start := 0
	named := false // an address or an encoded word has begun: a colon is part of it
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quoted:
			i++
		case quoted:
			quoted = c != '"'
		case c == '(':
			i = commentEnd(s, i)
		case c == '"':
			// A quote within a word, or one that is never closed, is an ordinary character.
			quoted = strings.IndexByte(s[i+1:], '"') >= 0
		case c == '<':
			angle = true
			route = strings.HasPrefix(s[i+1:], "@") // <@relay,@relay:local@domain>
		case c == '>' && angle:
			if angle = false; lacksComma(s[i+1:]) {
				return s[start : i+1], s[i+1:]
			}
		case angle && (c != ',' || route):
		case c == ',', c == ';':
			return s[start:i], s[i+1:]
		case c == '@', c == '=':
			named = true
		case c == ':' && !named:
			start = i + 1
		}
	}
	return s[start:], ""
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

// lacksComma reports whether another address follows one without a comma between them.
func lacksComma(rest string) bool {
	next := strings.IndexAny(rest, ",;<")
	return next > 0 && rest[next] == '<'
}

// parseAddress reads one mailbox.
func parseAddress(s string) Address {
	s = strings.TrimSpace(s)
	open, end := angles(s)
	if open < 0 {
		return bareAddress(s)
	}
	a := Address{Addr: cleanAddr(s[open+1 : end]), Name: phrase(strings.TrimRight(s[:open], "< "))}
	if a.Name == "" && end+1 < len(s) {
		a.Name = phrase(strings.TrimLeft(s[end:], "> "))
	}
	if inner, ok := splitEncoded(a); ok {
		return inner
	}
	return a
}

// angles finds the last "<…>" outside quotes. The closing bracket may be missing.
func angles(s string) (open, end int) {
	open, end = -1, len(s)
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted && strings.IndexByte(s[i+1:], '"') >= 0
		case quoted:
		case c == '<':
			open, end = i, len(s)
		case c == '>' && open >= 0 && end == len(s):
			end = i
		}
	}
	return open, end
}

// bareAddress reads a mailbox without angle brackets: an address with its name in a comment, or
// just one of the two.
func bareAddress(s string) Address {
	var a Address
	if open := strings.IndexByte(s, '('); open >= 0 {
		if end := strings.LastIndexByte(s, ')'); end > open {
			a.Name = phrase(s[open+1 : end])
			s = s[:open] + s[end+1:]
		}
	}
	switch s = strings.TrimSpace(s); {
	case strings.Contains(s, "=?"):
		decoded := decodeHeader([]byte(s))
		if open, _ := angles(decoded); open >= 0 {
			return parseAddress(strings.ReplaceAll(decoded, "=?", "= ?"))
		}
		if strings.Contains(decoded, "@") && !strings.ContainsAny(decoded, " \t") {
			a.Addr = decoded
		} else {
			a.Name = decoded
		}
	case strings.Contains(s, "@"):
		if sp := strings.LastIndexAny(s, " \t"); sp >= 0 && strings.Contains(s[sp:], "@") && !strings.HasPrefix(s, `"`) {
			a.Name, s = phrase(s[:sp]), s[sp+1:]
		}
		a.Addr = cleanAddr(s)
	case a.Name == "":
		a.Name = phrase(s)
	}
	return a
}

// splitEncoded reads an address whose name and address are in one encoded word.
func splitEncoded(a Address) (Address, bool) {
	if a.Addr != "" || !strings.Contains(a.Name, "@") {
		return a, false
	}
	if open, end := angles(a.Name); open >= 0 {
		return Address{Name: strings.TrimSpace(a.Name[:open]), Addr: cleanAddr(a.Name[open+1 : end])}, true
	}
	return a, false
}

// cleanAddr removes comments, spaces and a source route from an address.
func cleanAddr(s string) string {
	if strings.Contains(s, "=?") {
		s = decodeHeader([]byte(s))
	}
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s = s[7:]
	}
	if strings.HasPrefix(s, "@") {
		if _, mailbox, ok := strings.Cut(s, ":"); ok {
			s = mailbox
		}
	}
	if open := strings.IndexByte(s, '('); open >= 0 && !strings.HasPrefix(s, `"`) {
		if end := strings.LastIndexByte(s, ')'); end > open {
			s = strings.TrimSpace(s[:open] + s[end+1:])
		}
	}
	return s
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
