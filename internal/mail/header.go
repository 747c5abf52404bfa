package mail

import (
	"bytes"
	"slices"
	"strings"
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
