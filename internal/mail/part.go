package mail

import (
	"bytes"
	"cmp"
	"strings"
)

// A part is a header and a body before the body is decoded.
type part struct {
	location
	typ         mediaType
	mediaType   string
	disposition string
	filename    string
	contentID   string
	encoding    string
	body        []byte
}

func (p *parser) readPart(h header, at location) part {
	charset := p.charset(h)
	typ := p.contentType(h, charset)
	disposition := parseMediaType(string(h.get("Content-Disposition")), charset)
	pt := part{
		location:    at,
		typ:         typ,
		disposition: disposition.value,
		filename:    cmp.Or(disposition.params["filename"], typ.params["name"], typ.params["filename"], disposition.params["name"]),
		contentID:   trimID(decodeHeader(h.get("Content-ID"), charset)),
		encoding:    strings.ToLower(strings.Trim(string(h.get("Content-Transfer-Encoding")), " \t\"';.")),
		body:        h.body,
	}
	pt.mediaType = p.mediaTypeOf(strings.TrimRight(typ.value, "/"), at.defaultType, h.body)
	return pt
}

// maxTypes is how many fields Content-Type of a header are read.
const maxTypes = 3

// contentType reads the Content-Type, of several the first of those that fit the body best.
func (p *parser) contentType(h header, charset string) (best mediaType) {
	count := 0
	for _, l := range h.lines {
		if !l.Is("Content-Type") || count == maxTypes {
			continue
		}
		m := parseMediaType(l.Text(), charset)
		if count++; count == 1 || m.fit(h.body) > best.fit(h.body) {
			best = m
		}
	}
	if count > 1 {
		p.defect("A header has several Content-Types: the one that fits the body counts")
	}
	return best
}

// fit is how well a type fits a body: a multipart by its boundary, HTML or another by how the body begins.
func (m mediaType) fit(body []byte) int {
	switch {
	case strings.HasPrefix(m.value, "multipart/"):
		if start, _, _ := nextDelimiter(body, []byte("--"+m.boundary()), 0); start < 0 {
			return 0
		}
		return 3
	case (m.value == "text/html") == (looksHTML(body) || bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("<"))):
		return 2
	}
	return 1
}

// mediaTypeOf replaces a media type that is missing or invalid.
func (p *parser) mediaTypeOf(value, defaultType string, body []byte) string {
	if value == "" {
		if defaultType == "text/plain" && looksHTML(body) {
			return "text/html"
		}
		return defaultType
	}
	major, minor, ok := strings.Cut(value, "/")
	major = strings.TrimSpace(major)
	minor, _, _ = strings.Cut(strings.TrimSpace(minor), " ") // the rest belongs to another field
	if ok && isToken(major) && isToken(minor) {
		return major + "/" + minor
	}
	p.defect("The Content-Type cannot be read")
	switch {
	case strings.Contains(value, "html"), looksHTML(body):
		return "text/html"
	case major == "multipart":
		return "multipart/mixed"
	case strings.HasPrefix(value, "application"), strings.HasPrefix(value, "image"):
		return "application/octet-stream"
	default:
		return "text/plain"
	}
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?=", c) })
}

// looksHTML reports whether a body without a type is an HTML document, or the end of one.
func looksHTML(body []byte) bool {
	start := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], " \t\r\n\ufeff"))
	if bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) {
		return true
	}
	end := bytes.ToLower(body[max(0, len(body)-512):])
	return bytes.Contains(end, []byte("</body>")) && bytes.Contains(end, []byte("</html>"))
}

// asText turns a part that cannot be parsed into text.
func (pt part) asText() part {
	pt.mediaType, pt.disposition = "text/plain", ""
	if looksHTML(pt.body) {
		pt.mediaType = "text/html"
	}
	return pt
}
