package mail

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Line is a line of a header together with those that continue it: a field, or what is none and is left out.
type Line struct {
	Name  []byte // nil: not a field
	Value []byte // may be folded
	Raw   []byte // without the last line break
}

// Is reports whether the line is a field of that name.
func (l Line) Is(name string) bool {
	return len(l.Name) == len(name) && strings.EqualFold(string(l.Name), name)
}

// Text returns the value, unfolded.
func (l Line) Text() string { return string(unfold(l.Value)) }

// Split splits a message into all lines of its header and its body, as [Parse] does.
func Split(raw []byte) (header []Line, body []byte) {
	h := limits{fields: math.MaxInt, headerBytes: math.MaxInt}.messageHeader(nil, raw)
	return h.lines, h.body
}

// A header is what comes before a body.
type header struct {
	lines    []Line
	body     []byte
	octets   bool // it has octets that are not UTF-8
	tooLarge bool // not all of it was read
	open     bool // no empty line ends it, but one that is not a field
}

// get returns the value of the first field of that name, unfolded.
func (h header) get(name string) []byte {
	for _, l := range h.lines {
		if l.Is(name) {
			return unfold(l.Value)
		}
	}
	return nil
}

// from returns the sender. charset is that of octets which are not UTF-8.
func (h header) from(charset string) (a Address) {
	if list := parseAddresses(string(h.get("From")), charset, 1); len(list) > 0 {
		a = list[0]
	}
	return a
}

// charset returns the charset of octets that are not UTF-8, if there are any.
func (h header) charset() string {
	if h.octets {
		return h.declaredCharset()
	}
	return ""
}

// declaredCharset returns the charset of the body or, of several parts, the first that is declared near the start.
func (h header) declaredCharset() string {
	if c := parseMediaType(string(h.get("Content-Type")), "").params["charset"]; c != "" {
		return c
	}
	_, after, _ := bytes.Cut(bytes.ToLower(h.body[:min(len(h.body), 16<<10)]), []byte("charset="))
	after = bytes.TrimLeft(after[:min(len(after), 50)], `"'`)
	if end := bytes.IndexAny(after, " \t\r\n;\"'>"); end >= 0 {
		after = after[:end]
	}
	return string(after)
}

// messageHeader reads the header of a message, which may come after a byte order mark and white space. It appends the
// lines to a slice.
func (l limits) messageHeader(lines []Line, raw []byte) header {
	rest := bytes.TrimLeft(raw, " \t\r\n\ufeff")
	line, _ := cutLine(rest)
	before := raw[:len(raw)-len(rest)]
	if name, ok := fieldName(line); ok && isKnownField(name) && len(before) > 0 {
		return l.readHeader(append(lines, Line{Raw: before}), rest)
	}
	return l.readHeader(lines, raw)
}

// readHeader splits data into the lines of its header, which it appends to a slice, and its body. An empty line ends the
// header; without any, it is the first line that is not a field after the last field that is known. Data
// whose first lines are not a header is all body.
func (l limits) readHeader(lines []Line, data []byte) header {
	if line, after := cutLine(data); len(line) == 0 {
		return header{body: after}
	}
	h := header{lines: lines}
	rest, budget := data, l.headerBytes
	known, early, strays := 0, 0, 0 // known fields, counted where strays make it matter; lines before them that are not fields; all of those
	var text []byte                 // from the first stray after the last known field
	fields := 0                     // before that
	closed := false
	for len(rest) > 0 && !closed {
		line, after := cutLine(rest)
		end := foldedEnd(rest, len(rest)-len(after))
		name, isField := fieldName(line)
		switch {
		case isBlank(line):
			end, closed = len(rest)-len(after), true
		case bytes.HasPrefix(line, []byte("--")): // the empty line before the first part is missing
			end, closed = 0, true
		case len(h.lines) >= l.fields || budget == 0:
			h.tooLarge = true
			end, closed = emptyLine(rest)
			known = max(known, 1-strays)
		case isField:
			if (known == 0 || strays > 0) && isKnownField(name) {
				known++
				text = nil
			}
			field := trimBreak(rest[:end])
			if most := budget - budget/2; len(field) > most { // so that one does not hide all others
				h.tooLarge = true
				field = field[:most]
			}
			budget -= len(field)
			h.lines = append(h.lines, Line{Name: name, Value: field[min(len(field), bytes.IndexByte(line, ':')+1):], Raw: field})
		default:
			if strays++; known == 0 {
				early = strays
			}
			if text == nil {
				text, fields = rest, len(h.lines)
			}
			h.lines = append(h.lines, Line{Raw: trimBreak(rest[:end])})
		}
		rest = rest[end:]
	}
	h.body = rest
	if h.open = !closed && text != nil; h.open {
		h.lines, h.body = h.lines[:fields], text
	}
	if (known == 0 || known < early) && (strays > 0 || len(h.body) > 0 && !isMIMEHeader(h.lines[len(lines):])) {
		return header{body: data} // "Note: buy milk" is text that happens to have a colon
	}
	h.octets = !utf8.Valid(data[:len(data)-len(h.body)])
	return h
}

// emptyLine returns the index after the first empty line of data, or its length.
func emptyLine(data []byte) (after int, found bool) {
	end := len(data)
	for _, empty := range [...]string{"\n\n", "\n\r\n"} {
		if i := bytes.Index(data[:end], []byte(empty)); i >= 0 {
			end, found = i+len(empty), true
		}
	}
	return end, found
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
func isMIMEHeader(h []Line) bool {
	return len(h) > 0 && !slices.ContainsFunc(h, func(l Line) bool { return bytes.IndexByte(l.Name, '-') < 0 })
}

// unfold removes line breaks from a folded value, and the spaces around it. White space with a tab after a line break
// becomes a space.
func unfold(value []byte) []byte {
	value = bytes.Trim(value, " \t\r\n")
	if bytes.IndexByte(value, '\n') < 0 {
		return value
	}
	out := make([]byte, 0, len(value))
	for len(value) > 0 {
		line, after := cutLine(value)
		if words := bytes.TrimLeft(line, " \t"); len(out) > 0 && len(line) > 0 && (len(words) == len(line) || bytes.IndexByte(line[:len(line)-len(words)], '\t') >= 0) {
			out, line = append(out, ' '), words
		}
		out = append(out, line...)
		value = after
	}
	return out
}

// Summarize reads the summary of a raw message, as [Parse] does. The result shares no memory with raw.
func Summarize(raw []byte) Summary {
	var room [40]Line
	h := usual.messageHeader(room[:0], raw)
	charset := h.charset()
	return Summary{From: h.from(charset), Subject: decodeHeader(h.get("Subject"), charset)}
}
