package mail

import (
	"bytes"
	"html"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
)

// decode decodes the transfer encoding, within the decoded bytes that are left.
func (p *parser) decode(pt part) []byte {
	var out []byte
	clean := true
	switch encoding := pt.encoding; {
	case encoding == "", strings.HasPrefix(encoding, "7"), strings.HasPrefix(encoding, "8"), encoding == "binary", encoding == "none":
		out = pt.body
	case strings.Contains(encoding, "base64"), encoding == "base-64":
		if strings.HasPrefix(pt.mediaType, "text/") && !looksBase64(pt.body) {
			p.defect("A part is declared as base64 but is not")
			out = pt.body
			break
		}
		out, clean = decodeBase64(pt.body)
	case strings.HasPrefix(encoding, "quoted"), encoding == "qp":
		out, clean = decodeQuotedPrintable(pt.body)
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
	var e entity
	if !pt.readable() {
		if !pt.ignored() {
			e.attachments = []Attachment{pt.attachment(content)}
			e.fallback = pt.fallback(content)
		}
		return e
	}
	if pt.file() {
		e.attachments = []Attachment{pt.attachment(content)}
	}
	if pt.mediaType == "text/html" {
		e.texts = []text{{html: p.text(pt, content), hasHTML: true}}
		return e
	}
	t := text{plain: p.text(pt, content), plainType: pt.mediaType}
	switch pt.mediaType {
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
	case "text/plain", "text/html", "text/markdown", "text/x-markdown", "text/x-web-markdown":
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
	charset := ""
	if strings.HasPrefix(pt.mediaType, "text/") {
		charset = pt.typ.params["charset"]
	}
	return Attachment{
		Charset:     charset,
		ID:          pt.id(),
		Filename:    pt.filename,
		ContentType: pt.mediaType,
		ContentID:   pt.contentID,
		Inline:      pt.disposition == "inline",
		Size:        len(content),
		Content:     content,
	}
}

// text decodes a text.
func (p *parser) text(pt part, content []byte) string {
	s, defect := decodeCharset(content, pt.charset(content))
	if defect != "" {
		p.defect(defect)
	}
	return lines(s)
}

// charset returns the charset that the part declares or, in its place, the HTML document in it.
func (pt part) charset(content []byte) string {
	declared := pt.typ.params["charset"]
	start := content[:min(len(content), 1024)]
	if declared == "" && pt.mediaType == "text/html" && bytes.Contains(bytes.ToLower(start), []byte("charset")) {
		_, declared, _ = charset.DetermineEncoding(start, "")
	}
	return declared
}

// fallback is the text of an attachment for a message without any other.
func (pt part) fallback(content []byte) []text {
	read := func() string { return lines(decodeText(content, pt.charset(content))) }
	switch {
	case pt.mediaType == "text/html":
		return []text{{html: read(), hasHTML: true}}
	case pt.mediaType == "text/calendar", pt.mediaType == "text/rtf":
		return nil
	case strings.HasPrefix(pt.mediaType, "text/"), pt.mediaType == "message/delivery-status", pt.mediaType == "message/disposition-notification":
		return []text{{plain: read(), plainType: "text/plain"}}
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

// mergeAlternatives makes one text of alternatives. Of several of one kind, those that differ are
// kept.
func mergeAlternatives(texts []text) []text {
	if len(texts) < 2 {
		return texts
	}
	var one text
	var plain, rich strings.Builder // since there can be many
	for _, t := range texts {
		if t.plainType != "" {
			switch {
			case t.plainType == one.plainType:
				if !sameText(plain.String(), t.plain) {
					addLines(&plain, t.plain)
				}
			case one.plainType == "", t.plainType == "text/plain": // the plain one of plain and Markdown
				one.plainType, one.flowed, one.delSp = t.plainType, t.flowed, t.delSp
				plain.Reset()
				plain.WriteString(t.plain)
			}
		}
		if t.hasHTML {
			if !one.hasHTML || !sameText(rich.String(), t.html) {
				addLines(&rich, t.html)
			}
			one.hasHTML = true
		}
	}
	one.plain, one.html = plain.String(), rich.String()
	return []text{one}
}

func sameText(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// addLines adds a text to another, on lines of its own.
func addLines(b *strings.Builder, s string) {
	if s != "" {
		separate(b)
		b.WriteString(s)
	}
}

// joinTexts joins texts in their order. If some have HTML, the HTML of the message includes those
// without, so that it is complete.
func joinTexts(m *Message, texts []text) {
	anyHTML := slices.ContainsFunc(texts, func(t text) bool { return t.hasHTML })
	var plain, rich strings.Builder
	m.Flowed, m.DelSp = true, true
	for _, t := range texts {
		if t.plainType != "" {
			separate(&plain)
			plain.WriteString(t.plain)
			if m.TextType == "" {
				m.TextType = t.plainType
			} else if t.plainType != m.TextType {
				m.TextType = "text/plain"
			}
			m.Flowed = m.Flowed && t.flowed
			m.DelSp = m.DelSp && t.delSp
		}
		switch {
		case t.hasHTML:
			separate(&rich)
			rich.WriteString(t.html)
		case anyHTML && strings.TrimSpace(t.plain) != "":
			separate(&rich)
			rich.WriteString(`<div style="white-space: pre-wrap">` + html.EscapeString(t.plain) + "</div>")
		}
	}
	m.Text, m.HTML = plain.String(), rich.String()
	if m.TextType == "" {
		m.Flowed, m.DelSp = false, false
	}
}

// separate ends the last line of b.
func separate(b *strings.Builder) {
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
}

// markReferred marks as inline the attachments to which an HTML body refers (RFC 2392).
func markReferred(attachments []Attachment, html string) {
	referred := make(map[string]bool)
	for _, a := range attachments {
		if a.ContentID != "" {
			referred[a.ContentID] = false
		}
	}
	for len(referred) > 0 {
		_, after, ok := strings.Cut(html, "cid:")
		if !ok {
			break
		}
		end := strings.IndexAny(after[:min(len(after), 1000)], "\"'<>) \t\n\\&;")
		if end < 0 {
			end = min(len(after), 1000)
		}
		id := after[:end]
		if strings.IndexByte(id, '%') >= 0 {
			decoded, _ := appendUnescaped(nil, []byte(id), '%')
			id = string(decoded)
		}
		if _, ok := referred[id]; ok {
			referred[id] = true
		}
		html = after[end:]
	}
	for i := range attachments {
		a := &attachments[i]
		a.Inline = a.Inline || referred[a.ContentID]
	}
}
