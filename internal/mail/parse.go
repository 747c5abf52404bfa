package mail

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a raw message. It never fails: what cannot be parsed is in Text. Attachments may share
// memory with raw, which must not be changed.
func Parse(raw []byte) *Message { return parseWithin(raw, usual) }

// limits bound the work and the memory that a message may take.
type limits struct {
	depth        int // nesting of multiparts and messages
	parts        int // in all
	headerBytes  int // bytes of one header that are read
	fields       int // of one header
	decodedBytes int // of all bodies and attachments
}

var usual = limits{depth: 50, parts: 1000, headerBytes: 256 << 10, fields: 1000, decodedBytes: 64 << 20}

func parseWithin(raw []byte, l limits) *Message {
	p := &parser{limits: l, message: &Message{Raw: raw}}
	p.left = p.limits.decodedBytes
	raw = p.mendLines(raw)
	h, body := p.readHeader(skipBlankLines(raw))
	for more := true; more && len(h) > 0; {
		if h, body, more = p.readOn(h, body); more {
			p.defect("The header has empty lines in it")
		}
	}
	p.describe(h)
	p.finish(p.entity(h, body, place{defaultType: "text/plain"}))
	return p.message
}

// A parser keeps track of the limits while a message is read.
type parser struct {
	limits  limits
	message *Message
	parts   int // so far
	left    int // decoded bytes that are left
}

// defect notes what is wrong with the message, once.
func (p *parser) defect(what string) {
	if !slices.Contains(p.message.Defects, what) {
		p.message.Defects = append(p.message.Defects, what)
	}
}

// mendLines turns bare CR into LF in a message whose lines all end so.
func (p *parser) mendLines(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') >= 0 {
		p.defect("The lines end in a bare CR")
		return bytes.ReplaceAll(raw, []byte{'\r'}, []byte{'\n'})
	}
	return raw
}

// describe fills in the fields of the header.
func (p *parser) describe(h header) {
	m := p.message
	m.Fields = make([]Field, len(h))
	for i, f := range h {
		m.Fields[i] = Field{Name: f.name, Value: decodeHeader(unfold(f.value)), Raw: string(f.raw)}
	}
	if from := parseAddresses(h.get("From"), 1); len(from) > 0 {
		m.From = from[0]
	}
	m.To = parseAddresses(h.get("To"), maxAddresses)
	m.Subject = decodeHeader([]byte(h.get("Subject")))
	m.MessageID = trimID(h.get("Message-ID"))
	if date := h.get("Date"); date != "" {
		var ok bool
		if m.Date, ok = parseDate(date); !ok {
			p.defect("The Date field cannot be read")
		}
	}
}

// trimID removes the angle brackets of a Message-ID or a Content-ID.
func trimID(s string) string {
	s = strings.TrimSpace(s)
	if start := strings.IndexByte(s, '<'); start >= 0 {
		s = s[start+1:]
		if end := strings.IndexByte(s, '>'); end >= 0 {
			s = s[:end]
		}
	}
	return s
}

// A text is a piece of a body. Alternatives are one text, neighbours are several.
type text struct {
	plain     string
	plainType string // empty: no plain text
	flowed    bool
	delSp     bool
	html      string
	hasHTML   bool
}

// An entity is the result of reading a part: texts and attachments.
type entity struct {
	texts       []text
	attachments []Attachment
	spare       []text // texts to show if there are no others: embedded messages, reports, text attachments
}

func (e *entity) add(o entity) {
	e.texts = append(e.texts, o.texts...)
	e.attachments = append(e.attachments, o.attachments...)
	e.spare = append(e.spare, o.spare...)
}

// A place is where in the message an entity stands.
type place struct {
	path        string // section number as in IMAP, "" for the whole message
	depth       int
	defaultType string // when no Content-Type is given
	later       bool   // other parts of a multipart, not its alternatives, come before it
}

// entity reads a header and a body.
func (p *parser) entity(h header, body []byte, at place) entity {
	part := p.readPart(h, body, at)
	switch {
	case at.depth > p.limits.depth:
		p.defect("The parts are nested too deeply: the rest is shown as text")
		return p.leaf(part.asText())
	case strings.HasPrefix(part.mediaType, "multipart/"):
		return p.multipart(part)
	case part.mediaType == "message/rfc822" || part.mediaType == "message/global" || part.mediaType == "message/news":
		return p.embedded(part)
	default:
		return p.leaf(part)
	}
}

// A part is a header and a body before the body is decoded.
type part struct {
	place
	typ         mediaType
	mediaType   string
	disposition string
	filename    string
	contentID   string
	encoding    string
	body        []byte
}

func (p *parser) readPart(h header, body []byte, at place) part {
	typ := parseMediaType(h.get("Content-Type"))
	disposition := parseMediaType(h.get("Content-Disposition"))
	pt := part{
		place:       at,
		typ:         typ,
		disposition: disposition.value,
		filename:    cmp.Or(disposition.params["filename"], typ.params["name"], typ.params["filename"], disposition.params["name"]),
		contentID:   trimID(decodeHeader([]byte(h.get("Content-ID")))),
		encoding:    strings.ToLower(strings.Trim(h.get("Content-Transfer-Encoding"), " \t\"';.")),
		body:        body,
	}
	pt.mediaType = p.mediaTypeOf(strings.TrimRight(typ.value, "/"), at.defaultType, body)
	return pt
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
	case major == "html" || minor == "html" || value == "text" && looksHTML(body):
		return "text/html"
	case major == "multipart":
		return "multipart/mixed"
	case strings.HasPrefix(value, "application") || strings.HasPrefix(value, "image"):
		return "application/octet-stream"
	case major == "text" || !ok && isToken(major):
		return "text/plain"
	case looksHTML(body):
		return "text/html"
	default:
		return defaultType
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

// section is the number of the n-th part within path.
func section(path string, n int) string {
	if path == "" {
		return strconv.Itoa(n)
	}
	return path + "." + strconv.Itoa(n)
}

// id is the attachment's ID: a message that is a single attachment is section 1.
func (pt part) id() string { return cmp.Or(pt.path, "1") }

// decode decodes the transfer encoding, within the decoded bytes that are left.
func (p *parser) decode(pt part) []byte {
	var out []byte
	clean := true
	switch encoding := pt.encoding; {
	case encoding == "", strings.HasPrefix(encoding, "7"), strings.HasPrefix(encoding, "8"), encoding == "binary", encoding == "none":
		out = pt.body
	case strings.Contains(encoding, "base64"), encoding == "base-64":
		encoded, footer := pt.body, []byte(nil)
		if strings.HasPrefix(pt.mediaType, "text/") {
			if encoded, footer = cutFooter(pt.body); !looksBase64(encoded) {
				p.defect("A part is declared as base64 but is not")
				out = pt.body
				break
			}
		}
		out, clean = decodeBase64(encoded)
		out, clean = append(out, footer...), clean && len(footer) == 0
	case strings.HasPrefix(encoding, "quoted"), encoding == "qp":
		out, clean = decodeQuotedPrintable(pt.body)
	case strings.Contains(encoding, "uue"):
		if files, _ := cutUU(pt.body, 1); len(files) > 0 {
			out = files[0].content
		} else {
			out, clean = pt.body, false
		}
	default:
		p.defect("A part has an unknown transfer encoding: " + encoding)
		out = pt.body
	}
	if !clean {
		p.defect("A part is broken in its " + pt.encoding)
	}
	if len(out) > p.left {
		p.defect("The message is too large when decoded: the rest is cut off")
		out = out[:p.left]
	}
	p.left -= len(out)
	return out
}

// leaf reads a part that has no parts.
func (p *parser) leaf(pt part) entity {
	content := p.decode(pt)
	if isTNEF(pt, content) {
		if e, ok := p.tnef(pt, content); ok {
			return e
		}
	}
	var e entity
	if !pt.readable() {
		if !pt.ignored() {
			e.attachments = []Attachment{pt.attachment(content)}
			e.spare = pt.spare(content)
		}
		return e
	}
	if pt.file() {
		e.attachments = []Attachment{pt.attachment(content)}
	}
	if pt.mediaType == "text/html" {
		e.texts = pt.html(content)
		return e
	}
	s := lines(decodeText(content, pt.typ.params["charset"]))
	if strings.Contains(s, "begin ") {
		files, rest := cutUU([]byte(s), p.limits.parts-p.parts)
		s = string(rest)
		for i, f := range files {
			p.parts++
			e.attachments = append(e.attachments, Attachment{
				ID: pt.id() + ".u" + strconv.Itoa(i+1), Filename: f.name, ContentType: "application/octet-stream", Size: len(f.content), Content: f.content})
		}
	}
	t := text{plain: s, plainType: pt.mediaType}
	switch pt.mediaType {
	case "text/enriched", "text/richtext":
		t.plain, t.plainType = plainFromEnriched(s), "text/plain"
	case "text/plain":
		t.flowed = strings.EqualFold(pt.typ.params["format"], "flowed")
		t.delSp = t.flowed && strings.EqualFold(pt.typ.params["delsp"], "yes")
	case "text/x-markdown", "text/x-web-markdown":
		t.plainType = "text/markdown"
	case "text/markdown":
	default:
		t.plainType = "text/plain"
	}
	e.texts = []text{t}
	return e
}

// readable reports whether the part is a text to read rather than a file to save.
func (pt part) readable() bool {
	if !strings.HasPrefix(pt.mediaType, "text/") || pt.disposition == "attachment" || pt.file() && pt.disposition != "inline" {
		return false
	}
	switch pt.mediaType {
	case "text/plain", "text/html", "text/markdown", "text/x-markdown", "text/x-web-markdown", "text/enriched", "text/richtext":
		return true
	case "text/calendar", "text/csv", "text/vcard", "text/x-vcard", "text/directory", "text/css", "text/javascript", "text/xml",
		"text/rtf", "text/x-amp-html", "text/watch-html", "text/rfc822-headers", "text/x-vcalendar", "text/tab-separated-values",
		"text/x-moz-deleted", "text/x-diff", "text/x-patch":
		return false
	}
	return pt.filename == ""
}

// file reports whether a text is a file to save: it has a name and follows the body. With the
// disposition inline it is also read.
func (pt part) file() bool { return pt.later && pt.filename != "" }

// ignored reports whether the part is another form of the body for readers that we are not.
func (pt part) ignored() bool {
	return (pt.mediaType == "text/x-amp-html" || pt.mediaType == "text/watch-html") && pt.disposition != "attachment"
}

func (pt part) attachment(content []byte) Attachment {
	return Attachment{
		ID:          pt.id(),
		Filename:    pt.filename,
		ContentType: pt.mediaType,
		ContentID:   pt.contentID,
		Inline:      pt.disposition == "inline",
		Size:        len(content),
		Content:     content,
	}
}

func (pt part) html(content []byte) []text {
	return []text{{html: lines(decodeHTML(content, pt.typ.params["charset"])), hasHTML: true}}
}

// spare is the text of an attachment for a message without any other.
func (pt part) spare(content []byte) []text {
	switch {
	case pt.mediaType == "text/html":
		return pt.html(content)
	case pt.mediaType == "text/calendar", pt.mediaType == "text/rtf":
		return nil
	case strings.HasPrefix(pt.mediaType, "text/"), pt.mediaType == "message/delivery-status", pt.mediaType == "message/disposition-notification":
		return []text{{plain: lines(decodeText(content, pt.typ.params["charset"])), plainType: "text/plain"}}
	}
	return nil
}

// lines turns CRLF into LF.
func lines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// embedded reads a message within the message: an attachment whose text is shown if there is no
// other.
func (p *parser) embedded(pt part) entity {
	content := pt.body
	if pt.encoding == "base64" || pt.encoding == "quoted-printable" {
		content = p.decode(pt)
	}
	e := entity{}
	if pt.path != "" {
		e.attachments = []Attachment{pt.attachment(content)}
	}
	h, body := p.readHeader(p.mendLines(content))
	inner := p.entity(h, body, place{path: section(pt.path, 1), depth: pt.depth + 1, defaultType: "text/plain"})
	intro := introduce(h)
	for _, t := range inner.texts {
		if t.plainType != "" || !t.hasHTML {
			t.plain, t.plainType = intro+t.plain, cmp.Or(t.plainType, "text/plain")
		}
		intro = ""
		e.spare = append(e.spare, t)
	}
	if len(inner.texts) == 0 {
		e.spare = append(e.spare, text{plain: intro, plainType: "text/plain"})
		e.spare = append(e.spare, inner.spare...)
	}
	if pt.path == "" {
		e.attachments = inner.attachments
	}
	return e
}

// introduce is the header of an embedded message as text.
func introduce(h header) string {
	var b strings.Builder
	for _, name := range [...]string{"From", "To", "Date", "Subject"} {
		if v := h.get(name); v != "" {
			b.WriteString(name + ": " + decodeHeader([]byte(v)) + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// finish joins the texts and marks inline attachments.
func (p *parser) finish(e entity) {
	m := p.message
	texts := e.texts
	if !slices.ContainsFunc(texts, func(t text) bool { return strings.TrimSpace(t.plain) != "" || strings.TrimSpace(t.html) != "" }) {
		texts = append(texts, e.spare...)
	}
	joinTexts(m, texts)
	markReferred(e.attachments, m.HTML)
	m.Attachments = e.attachments
}
