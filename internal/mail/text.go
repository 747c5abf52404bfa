package mail

import (
	"html"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
)

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

// decodeHTML decodes an HTML body. If the part does not declare a charset, the document may.
func decodeHTML(content []byte, declared string) string {
	if name := canonicalCharset(declared); name == "us-ascii" && !isASCII(content) {
		if _, said, certain := charset.DetermineEncoding(content[:min(len(content), 1024)], ""); certain || said != "windows-1252" {
			return decodeText(content, said)
		}
	}
	return decodeText(content, declared)
}

// plainFromEnriched removes the formatting commands of text/enriched (RFC 1896).
func plainFromEnriched(s string) string {
	var b strings.Builder
	params := true // there may be more of them
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		if strings.HasPrefix(s, "<<") {
			b.WriteByte('<')
			s = s[2:]
			continue
		}
		end := strings.IndexByte(s, '>')
		if end < 0 {
			b.WriteString(s)
			break
		}
		if params && strings.EqualFold(s[:end+1], "<param>") {
			if i := strings.Index(s, "</"+s[1:end+1]); i >= 0 {
				end = i + len("</param>") - 1
			} else {
				params = false
			}
		}
		s = s[end+1:]
	}
	return b.String()
}
