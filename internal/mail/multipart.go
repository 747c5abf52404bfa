package mail

import (
	"bytes"
	"strings"
)

// multipart reads the parts of a multipart body.
func (p *parser) multipart(pt part) entity {
	parts, preamble := p.splitParts(&pt)
	if len(parts) == 0 {
		return p.leaf(pt.asText())
	}
	defaultType := "text/plain"
	if pt.mediaType == "multipart/digest" {
		defaultType = "message/rfc822"
	}
	alternatives := pt.mediaType == "multipart/alternative"
	var e entity
	for i, data := range parts {
		if p.parts++; p.parts > p.limits.parts {
			p.defect("The message has too many parts: the rest is not shown")
			break
		}
		h, body := p.readHeader(data)
		e.add(p.entity(h, body, place{path: section(pt.path, i+1), depth: pt.depth + 1, defaultType: defaultType, later: i > 0 && !alternatives}))
	}
	if alternatives {
		e.texts = mergeAlternatives(e.texts)
	}
	if len(e.texts) == 0 && len(e.attachments) == 0 && len(bytes.TrimSpace(preamble)) > 0 {
		e.spare = append(e.spare, text{plain: lines(decodeText(preamble, "")), plainType: "text/plain"})
	}
	return e
}

// splitParts splits a multipart body at its boundary lines. If the boundary is not declared or does
// not occur, it is guessed.
func (p *parser) splitParts(pt *part) (parts [][]byte, preamble []byte) {
	boundary := strings.TrimRight(pt.typ.params["boundary"], " \t")
	if boundary != "" {
		if parts, preamble = p.split(pt.body, boundary); len(parts) > 0 {
			return parts, preamble
		}
	}
	if pt.encoding == "base64" || pt.encoding == "quoted-printable" {
		// A multipart must not be encoded as a whole, but some are.
		decoded := p.decode(*pt)
		pt.encoding, pt.body = "", decoded
		if parts, preamble = p.split(decoded, boundary); boundary != "" && len(parts) > 0 {
			return parts, preamble
		}
	}
	guess := guessBoundary(pt.body)
	if guess == "" {
		p.defect("A multipart has no parts")
		return nil, nil
	}
	p.defect("A multipart does not have the boundary that it declares")
	return p.split(pt.body, guess)
}

// split splits body at the lines of "--" and the boundary.
func (p *parser) split(body []byte, boundary string) (parts [][]byte, preamble []byte) {
	delimiter := []byte("--" + boundary)
	start := -1 // of the current part
	for at := 0; at < len(body); {
		i := findLine(body[at:], delimiter)
		if i < 0 {
			break
		}
		line, after := cutLine(body[at+i:])
		tail := bytes.TrimRight(line[len(delimiter):], " \t")
		closing := bytes.HasPrefix(tail, []byte("--"))
		if len(tail) > 0 && !closing {
			at = len(body) - len(after) // a longer boundary, of an inner part
			continue
		}
		if start < 0 {
			preamble = body[:at+i]
		} else {
			parts = append(parts, trimBreak(body[start:at+i]))
		}
		at = len(body) - len(after)
		if closing && start >= 0 {
			if next := findLine(after, delimiter); next < 0 || len(parts) >= p.limits.parts {
				return parts, preamble
			}
			p.defect("A multipart continues after its end")
		}
		start = at
		if len(parts) > p.limits.parts {
			return parts, preamble
		}
	}
	if start >= 0 && start < len(body) {
		p.defect("A multipart is not closed")
		parts = append(parts, body[start:])
	}
	return parts, preamble
}

// findLine is the index of the first line of body that starts with prefix, or -1.
func findLine(body, prefix []byte) int {
	for at := 0; ; {
		i := bytes.Index(body[at:], prefix)
		if i < 0 {
			return -1
		}
		i += at
		if i == 0 || body[i-1] == '\n' {
			return i
		}
		at = i + len(prefix)
	}
}

// guessBoundary returns the text after "--" of the first line that could be a boundary line: a
// header or an empty line follows it.
func guessBoundary(body []byte) string {
	for lines := 0; len(body) > 0 && lines < 1000; lines++ {
		line, after := cutLine(body)
		if name := bytes.TrimRight(line, " \t"); len(name) > 2 && len(name) < 200 && bytes.HasPrefix(name, []byte("--")) &&
			bytes.IndexByte(name, ' ') < 0 && len(bytes.Trim(name, "-=_*")) > 0 {
			next, _ := cutLine(after)
			if field, ok := fieldName(next); ok && isKnownField(field) || len(next) == 0 && findLine(after, name) >= 0 {
				return string(name[2:])
			}
		}
		body = after
	}
	return ""
}
