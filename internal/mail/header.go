package mail

import (
	"bytes"
	"cmp"
	"net/mail"
	"slices"
	"strings"
	"time"
)

// A rawField is a field as it is in a header. value may be folded.
type rawField struct {
	name  []byte
	value []byte
	raw   []byte // name, colon and value, without the last line break
}

// A header is what comes before a body.
type header []rawField

// get returns the value of the first field of that name, unfolded.
func (h header) get(name string) string {
	for i := range h {
		if strings.EqualFold(string(h[i].name), name) {
			return string(unfold(h[i].value))
		}
	}
	return ""
}

// readHeader splits data into its header and its body. A line that is not a field ends the header.
// Data that does not start with a field is all body.
func (p *parser) readHeader(data []byte) (h header, body []byte) {
	budget := p.limits.headerBytes
	rest := data
	known := false
	if line, after := cutLine(rest); len(line) == 0 { // an empty header
		return nil, after
	}
	for len(rest) > 0 {
		line, after := cutLine(rest)
		if len(line) == 0 {
			rest = after
			break
		}
		name, ok := fieldName(line)
		if !ok {
			if known {
				p.defect("A line of the header is not a field: the text begins with it")
			}
			break
		}
		end := foldedEnd(rest, len(rest)-len(after))
		field := trimBreak(rest[:end])
		rest = rest[end:]
		known = known || isKnownField(name)
		if len(h) >= p.limits.fields {
			p.defect("The header has too many fields: the rest is not shown")
			continue
		}
		if most := (budget + 1) / 2; len(field) > most { // so that one does not hide all others
			p.defect("The header is too long: not all of it is shown")
			field = field[:most]
		}
		if len(field) == 0 {
			continue
		}
		budget -= len(field)
		h = append(h, rawField{name: name, value: field[min(len(field), bytes.IndexByte(line, ':')+1):], raw: field})
	}
	if !known && len(rest) > 0 && !isMIMEHeader(h) {
		// "Note: buy milk" is text that happens to have a colon.
		return nil, data
	}
	return h, rest
}

// skipSpace drops white space from the start of a message whose header comes after it.
func skipSpace(raw []byte) []byte {
	rest := bytes.TrimLeft(raw, " \t\r\n")
	line, _ := cutLine(rest)
	if name, ok := fieldName(line); ok && isKnownField(name) {
		return rest
	}
	return raw
}

// cutLine returns the first line without its line break, CRLF or LF, and the rest.
func cutLine(data []byte) (line, after []byte) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		return data, nil
	}
	line, after = data[:i], data[i+1:]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	return line, after
}

func trimBreak(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}

// foldedEnd is where a field ends whose first line ends at end: after the lines that start with a
// space or a tab and are not blank.
func foldedEnd(data []byte, end int) int {
	for end < len(data) && (data[end] == ' ' || data[end] == '\t') {
		line, after := cutLine(data[end:])
		if isBlank(line) {
			if next, _ := cutLine(after); len(next) == 0 || next[0] != ' ' && next[0] != '\t' {
				break
			}
		}
		end = len(data) - len(after)
	}
	return end
}

func isBlank(line []byte) bool { return len(bytes.TrimLeft(line, " \t")) == 0 }

// fieldName returns the name of the field that line starts (RFC 5322, section 2.2); spaces before
// the colon are allowed.
func fieldName(line []byte) ([]byte, bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, false
	}
	name := bytes.TrimRight(line[:colon], " \t")
	if len(name) == 0 || len(name) > 200 {
		return nil, false
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return nil, false
		}
	}
	return name, true
}

var knownFields = map[string]bool{
	"from": true, "to": true, "cc": true, "bcc": true, "subject": true, "date": true, "sender": true,
	"reply-to": true, "received": true, "return-path": true, "message-id": true, "mime-version": true,
	"in-reply-to": true, "references": true, "delivered-to": true, "dkim-signature": true, "user-agent": true,
	"authentication-results": true, "precedence": true, "auto-submitted": true, "importance": true, "priority": true,
}

func isKnownField(field []byte) bool {
	name := string(bytes.ToLower(field))
	for _, prefix := range [...]string{"content-", "x-", "list-", "resent-", "arc-", "feedback-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return knownFields[name]
}

// isMIMEHeader reports whether every name has a hyphen, as in headers (Return-Path, Reporting-MTA)
// and not in running text.
func isMIMEHeader(h header) bool {
	return len(h) > 0 && !slices.ContainsFunc(h, func(f rawField) bool { return bytes.IndexByte(f.name, '-') < 0 })
}

// unfold removes line breaks from a folded value, and the spaces around it.
func unfold(value []byte) []byte {
	value = bytes.Trim(value, " \t\r\n")
	if bytes.IndexByte(value, '\n') < 0 {
		return value
	}
	out := make([]byte, 0, len(value))
	for len(value) > 0 {
		line, after := cutLine(value)
		if len(out) > 0 && len(line) > 0 && line[0] != ' ' && line[0] != '\t' {
			out = append(out, ' ')
		}
		out = append(out, line...)
		value = after
	}
	return out
}

// Summarize reads the summary from the header of a raw message, at most its first 256 KiB. The
// result shares no memory with raw.
func Summarize(raw []byte) Summary {
	rest := raw[:min(len(raw), usual.headerBytes)]
	rest = skipSpace(rest)
	var s Summary
	var from, subject bool
	for len(rest) > 0 && !(from && subject) {
		line, after := cutLine(rest)
		if len(line) == 0 {
			break
		}
		end := foldedEnd(rest, len(rest)-len(after))
		field := rest[:end]
		rest = rest[end:]
		if value, ok := valueOf(field, "From"); ok && !from {
			from = true
			if list := parseAddresses(string(unfold(value)), 1); len(list) > 0 {
				s.From = list[0]
			}
		} else if value, ok := valueOf(field, "Subject"); ok && !subject {
			subject = true
			s.Subject = decodeHeader(unfold(value))
		}
	}
	return s
}

// valueOf returns the value of a field if it has the name.
func valueOf(field []byte, name string) (value []byte, ok bool) {
	if len(field) < len(name) || !strings.EqualFold(string(field[:len(name)]), name) {
		return nil, false
	}
	return bytes.CutPrefix(bytes.TrimLeft(field[len(name):], " \t"), []byte(":"))
}

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
	named := false // an address or an encoded word has begun: a colon or comma is not part of a name
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
