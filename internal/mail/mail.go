// Package mail reads a raw message (RFC 5322, MIME) into fields, bodies and attachments, within
// bounds.
//
// Reading never fails and never panics: what cannot be parsed is text, and [Message.Defects] says
// what was wrong. Values are kept as they are in the mail: they are not safe for a terminal, a file
// name or a page.
package mail

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mayfly/internal/guard"
)

// Address is a mailbox of an address field. Name is decoded, Addr is bare.
type Address struct{ Name, Addr string }

// Field is one field of the message's header.
type Field struct {
	Name  string
	Value string // unfolded, encoded words (RFC 2047) decoded
	Raw   string // as received, without the final line break
}

// Attachment is a part other than a body.
type Attachment struct {
	ID          string // stable for the same raw message
	Filename    string // as the mail has it, decoded
	ContentType string // media type without parameters, lower case
	Charset     string // of a text, as declared; may be empty
	ContentID   string // without angle brackets
	Inline      bool   // Content-Disposition is inline, or the HTML body refers to it by ContentID
	Size        int    // decoded bytes
	Content     []byte // decoded
}

// DecodedText is the content of a text, by its charset, as UTF-8.
func (a Attachment) DecodedText() string { return decodeText(a.Content, a.Charset) }

// Calendar reports whether the part is a calendar file, such as an invitation.
func (a Attachment) Calendar() bool {
	switch a.ContentType {
	case "text/calendar", "application/ics", "text/x-vcalendar":
		return true
	}
	return strings.HasSuffix(strings.ToLower(a.Filename), ".ics")
}

// Message is a message as far as it could be read.
type Message struct {
	Fields  []Field
	From    Address
	To      []Address
	Subject string

	ReceivedAt time.Time // zero when not known; Parse does not set it
	Delivery   []Field   // its delivery details, for people; nil when nobody asked; Parse does not set it
	Raw        []byte    // as received; nil in a message that was not parsed

	Text          string
	HTML          string
	TextType      string // media type of Text: text/plain, text/markdown, …; empty without Text
	Flowed, DelSp bool   // format=flowed, delsp=yes (RFC 3676) of Text

	Attachments []Attachment
	Defects     []string // what was wrong with the message, a short sentence each
}

// Recipients are the addresses of To as a line.
func (m *Message) Recipients() string {
	all := make([]string, len(m.To))
	for i, a := range m.To {
		all[i] = a.Addr
	}
	return strings.Join(all, ", ")
}

// Summary is what a list shows of a message.
type Summary struct {
	From    Address
	Subject string
}

// Parse reads a raw message. It never fails: what cannot be parsed is in Text. Attachments may share
// memory with raw, which must not be changed.
func Parse(raw []byte) (m *Message) {
	if !guard.Run("parse", func() { m = parseWithin(raw, usual) }) {
		m = &Message{Raw: raw, Text: string(raw), TextType: "text/plain", Defects: []string{"The message cannot be parsed: it is shown as it was received"}}
	}
	return m
}

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
	p.top = l.messageHeader(nil, raw)
	p.report(p.top)
	p.describe(p.top)
	p.finish(p.entity(p.top, location{defaultType: "text/plain"}))
	return p.message
}

// A parser keeps track of the limits while a message is read.
type parser struct {
	limits  limits
	message *Message
	top     header // of the message
	parts   int    // so far
	left    int    // decoded bytes that are left
	strays  int    // lines of headers that are not fields, so far
}

// readHeader reads the header of a part or of a message within the message.
func (p *parser) readHeader(data []byte) header {
	h := p.limits.readHeader(nil, data)
	p.report(h)
	return h
}

// charset returns the charset of octets in the header of a part: its own or that of the message.
func (p *parser) charset(h header) string {
	if h.octets {
		return cmp.Or(h.declaredCharset(), p.top.declaredCharset())
	}
	return ""
}

// maxStrays is how many lines of headers that are not fields are named.
const maxStrays = 5

// report notes what is wrong with a header.
func (p *parser) report(h header) {
	if h.tooLarge {
		p.defect("The header is too long: not all of it is shown")
	}
	if h.open {
		p.defect("A line of the header is not a field: the text begins with it")
	}
	for _, l := range h.lines {
		if l.Name != nil {
			continue
		}
		switch p.strays++; {
		case len(bytes.TrimLeft(l.Raw, " \t\r\n\ufeff")) == 0:
			p.defect("White space or a byte order mark comes before the header")
		case p.strays <= maxStrays:
			p.defect(fmt.Sprintf("A line of the header is not a field and is left out: %.60q", decodeRaw(l.Raw[:min(len(l.Raw), 200)], "")))
		default:
			p.defect("More lines of the header are not fields and are left out")
			return
		}
	}
}

// defect notes what is wrong with the message, once.
func (p *parser) defect(what string) {
	if !slices.Contains(p.message.Defects, what) {
		p.message.Defects = append(p.message.Defects, what)
	}
}

// describe fills in the fields of the header.
func (p *parser) describe(h header) {
	m := p.message
	charset := h.charset()
	m.Fields = make([]Field, 0, len(h.lines))
	for _, l := range h.lines {
		if l.Name != nil {
			m.Fields = append(m.Fields, Field{Name: string(l.Name), Value: decodeHeader(unfold(l.Value), charset), Raw: string(l.Raw)})
		}
	}
	m.From = h.from(charset)
	m.To = parseAddresses(string(h.get("To")), charset, maxAddresses)
	m.Subject = decodeHeader(h.get("Subject"), charset)
}

// maxAddresses is how many addresses of To are shown.
const maxAddresses = 1000

// trimID removes the angle brackets of a Content-ID.
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
	fallback    []text // texts to show if there are no others: embedded messages, reports, text attachments
}

func (e *entity) add(o entity) {
	e.texts = append(e.texts, o.texts...)
	e.attachments = append(e.attachments, o.attachments...)
	e.fallback = append(e.fallback, o.fallback...)
}

// A location is where in the message an entity stands.
type location struct {
	path        string // section number as in IMAP, "" for the whole message
	depth       int
	defaultType string // when no Content-Type is given
	later       bool   // other parts of a multipart, not its alternatives, come before it
}

// entity reads a header and a body.
func (p *parser) entity(h header, at location) entity {
	part := p.readPart(h, at)
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

// section is the number of the n-th part within path.
func section(path string, n int) string {
	if path == "" {
		return strconv.Itoa(n)
	}
	return path + "." + strconv.Itoa(n)
}

// id is the attachment's ID: a message that is a single attachment is section 1.
func (pt part) id() string { return cmp.Or(pt.path, "1") }

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
	h := p.readHeader(content)
	inner := p.entity(h, location{path: section(pt.path, 1), depth: pt.depth + 1, defaultType: "text/plain"})
	intro := introduce(h, p.charset(h))
	for _, t := range inner.texts {
		if t.plainType != "" || !t.hasHTML {
			t.plain, t.plainType = intro+t.plain, cmp.Or(t.plainType, "text/plain")
		}
		intro = ""
		e.fallback = append(e.fallback, t)
	}
	if len(inner.texts) == 0 {
		e.fallback = append(e.fallback, text{plain: intro, plainType: "text/plain"})
		e.fallback = append(e.fallback, inner.fallback...)
	}
	if pt.path == "" {
		e.attachments = inner.attachments
	}
	return e
}

// introduce is the header of an embedded message as text.
func introduce(h header, charset string) string {
	var b strings.Builder
	for _, name := range [...]string{"From", "To", "Date", "Subject"} {
		if v := decodeHeader(h.get(name), charset); v != "" {
			b.WriteString(name + ": " + v + "\n")
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
		texts = append(texts, e.fallback...)
	}
	joinTexts(m, texts)
	markReferred(e.attachments, m.HTML)
	m.Attachments = withoutCopies(e.attachments)
}

// withoutCopies leaves out invitations that are repeated below: many programs send one as an alternative
// of the body and again as a file.
func withoutCopies(all []Attachment) []Attachment {
	seen := make(map[[sha256.Size]byte]bool)
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].Calendar() {
			continue
		}
		text := bytes.TrimSpace(bytes.ReplaceAll(all[i].Content, []byte("\r\n"), []byte("\n"))) // whatever the transfer encoding did to its lines
		if sum := sha256.Sum256(text); seen[sum] {
			all = slices.Delete(all, i, i+1)
		} else {
			seen[sum] = true
		}
	}
	return all
}
