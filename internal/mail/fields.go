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
	} else {
		s = decodeText([]byte(s), "")
	}
	s = strings.TrimSpace(s)
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

var dateLayouts = [...]string{
	"2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04:05",
	"2 Jan 2006 15:04 -0700",
	"2 Jan 2006 15:04",
	"2 Jan 06 15:04:05 -0700",
	"2 Jan 06 15:04:05",
	"2-Jan-2006 15:04:05 -0700",
	"2-Jan-06 15:04:05 -0700",
	"2 January 2006 15:04:05 -0700",
	"Jan 2 15:04:05 2006 -0700",
	"Jan 2 15:04:05 2006",
	"Jan 2 2006 15:04:05 -0700",
	"Jan 2 2006 15:04:05",
	"January 2 2006 15:04:05 -0700",
	"January 2 2006 15:04:05",
	"2 Jan 2006 3:04:05 PM",
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05",
	"2006-01-02",
	"2 Jan 2006",
	"2006/01/02 15:04:05 -0700",
	"2006/01/02 15:04:05",
}

// Zones by name: the obsolete ones of RFC 5322 and the usual ones beside them.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "BST": "+0100", "WET": "+0000", "WEST": "+0100", "CET": "+0100",
	"MET": "+0100", "CEST": "+0200", "MEST": "+0200", "EET": "+0200", "EEST": "+0300", "MSK": "+0300", "IST": "+0530", "JST": "+0900",
	"KST": "+0900", "AEST": "+1000", "AEDT": "+1100", "NZST": "+1200", "NZDT": "+1300",
}

// parseDate reads a Date field, even in forms that RFC 5322 does not allow. Without a zone it is
// UTC.
func parseDate(s string) (time.Time, bool) {
	if len(s) > 200 {
		return time.Time{}, false
	}
	if t, err := time.Parse(usualLayout, usualDate(s)); err == nil && plausible(t) {
		return t, true
	}
	if t, err := mail.ParseDate(s); err == nil && plausible(t) && !namedZone(t) {
		return t, true
	}
	s = tidyDate(s)
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil && plausible(t) {
			return t, true
		}
	}
	return time.Time{}, false
}

// usualLayout is the layout of nearly all mail. It is tried first, since a failed try costs more
// than a parse.
const usualLayout = "Mon, 2 Jan 2006 15:04:05 -0700"

// usualDate drops a comment at the end, and writes GMT as an offset.
func usualDate(s string) string {
	if strings.HasSuffix(s, ")") {
		if open := strings.IndexByte(s, '('); open > 0 {
			s = strings.TrimRight(s[:open], " ")
		}
	}
	if date, ok := strings.CutSuffix(s, " GMT"); ok {
		return date + " +0000"
	}
	return s
}

// namedZone reports whether t's zone was a name whose offset package time does not know.
func namedZone(t time.Time) bool {
	name, offset := t.Zone()
	return offset == 0 && name != "" && name != "UTC" && name != "GMT"
}

// plausible rejects years that JSON cannot hold.
func plausible(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// tidyDate drops comments, the day of the week and commas, and turns zone names into offsets.
func tidyDate(s string) string {
	if open := strings.IndexByte(s, '('); open >= 0 {
		s = s[:open]
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	out := words[:0]
	for i, w := range words {
		if i == 0 && isWeekday(w) {
			continue
		}
		up := strings.ToUpper(w)
		for _, name := range [...]string{"GMT", "UTC"} { // GMT+0200, UTC+02:00
			if offset, ok := strings.CutPrefix(up, name); ok && offset != "" {
				up = offset
			}
		}
		if zone, ok := zones[up]; ok && i > 1 {
			w = zone
		} else if len(up) >= 5 && (up[0] == '+' || up[0] == '-') {
			w = strings.Replace(up, ":", "", 1)
		}
		if strings.Count(w, ":") == 2 { // fractions of a second
			w, _, _ = strings.Cut(w, ".")
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

func isWeekday(w string) bool {
	w = strings.ToLower(strings.TrimRight(w, "."))
	for _, day := range [...]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		if strings.HasPrefix(w, day) {
			return true
		}
	}
	return false
}
