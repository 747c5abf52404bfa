package mail

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A mediaType is the value of Content-Type or Content-Disposition.
type mediaType struct {
	value  string            // lower case
	params map[string]string // names in lower case, values decoded
}

// parseMediaType reads a value with parameters (RFC 2045, RFC 2231), even badly quoted ones. The
// first of several parameters of one name counts.
func parseMediaType(s string) mediaType {
	value, rest, _ := strings.Cut(s, ";")
	if strings.Contains(value, "=") {
		// The semicolon is missing, as in "text/plain charset=utf-8", or the value too:
		// "filename=a.txt".
		s = strings.TrimSpace(s)
		end := max(0, strings.IndexAny(s[:strings.IndexByte(s, '=')], " \t"))
		value, rest = s[:end], s[end:]
	}
	m := mediaType{value: strings.ToLower(strings.TrimSpace(value)), params: map[string]string{}}
	var pieces []paramPiece
	for i := 0; rest != "" && i < 200; i++ {
		var name, v string
		name, v, rest = cutParam(rest)
		if name == "" {
			continue
		}
		if piece, ok := splitParamName(name); ok {
			piece.value = v
			pieces = append(pieces, piece)
			continue
		}
		if _, twice := m.params[name]; !twice {
			m.params[name] = decodeHeader([]byte(v))
		}
	}
	maps.Copy(m.params, joinPieces(pieces))
	return m
}

// cutParam splits the first parameter off s.
func cutParam(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, " \t\r\n;")
	end := strings.IndexAny(s, "=;")
	if end < 0 || s[end] == ';' {
		_, rest, _ = strings.Cut(s, ";")
		return "", "", rest
	}
	name = strings.ToLower(strings.TrimSpace(s[:end]))
	s = strings.TrimLeft(s[end+1:], " \t\r\n")
	if strings.HasPrefix(s, `"`) {
		value, rest = cutQuoted(s)
		return name, value, rest
	}
	value, rest, _ = strings.Cut(s, ";")
	return name, strings.TrimSpace(value), rest
}

// cutQuoted reads a quoted string at the start of s, and returns what follows the next semicolon.
// If the quote is not closed, it ends at the semicolon.
func cutQuoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		case c == '"':
			_, rest, _ = strings.Cut(s[i+1:], ";")
			return b.String(), rest
		default:
			b.WriteByte(c)
		}
	}
	value, rest, _ = strings.Cut(s[1:], ";")
	return strings.TrimSpace(value), rest
}

// A paramPiece is a parameter in the form of RFC 2231: name*0*, name*1, name*.
type paramPiece struct {
	base    string
	index   int
	encoded bool
	value   string
}

func splitParamName(name string) (paramPiece, bool) {
	base, section, ok := strings.Cut(name, "*")
	if !ok || base == "" {
		return paramPiece{}, false
	}
	if section == "" {
		return paramPiece{base: base, encoded: true}, true
	}
	digits, star := strings.CutSuffix(section, "*")
	index, err := strconv.Atoi(digits)
	return paramPiece{base: base, index: index, encoded: star}, err == nil && index >= 0
}

// joinPieces joins and decodes the pieces of each parameter.
func joinPieces(pieces []paramPiece) map[string]string {
	slices.SortStableFunc(pieces, func(a, b paramPiece) int {
		return cmp.Or(strings.Compare(a.base, b.base), cmp.Compare(a.index, b.index))
	})
	out := map[string]string{}
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && pieces[n].base == pieces[0].base {
			n++
		}
		var octets []byte
		charset := ""
		for i, p := range pieces[:n] {
			v := p.value
			if !p.encoded {
				octets = append(octets, v...)
				continue
			}
			if parts := strings.SplitN(v, "'", 3); i == 0 && len(parts) == 3 {
				charset, v = parts[0], parts[2]
			}
			octets, _ = appendUnescaped(octets, []byte(v), '%')
		}
		if charset == "" {
			out[pieces[0].base] = decodeHeader(octets)
		} else {
			out[pieces[0].base] = decodeText(octets, charset)
		}
		pieces = pieces[n:]
	}
	return out
}

// multipart reads the parts of a multipart body.
func (p *parser) multipart(pt part) entity {
	var parts [][]byte
	var preamble []byte
	if boundary := strings.TrimRight(pt.typ.params["boundary"], " \t"); boundary != "" {
		parts, preamble = p.split(pt.body, boundary)
	}
	if len(parts) == 0 {
		p.defect("A multipart does not have the boundary that it declares")
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
		e.add(p.entity(h, body, location{path: section(pt.path, i+1), depth: pt.depth + 1, defaultType: defaultType, later: i > 0 && !alternatives}))
	}
	if alternatives {
		e.texts = mergeAlternatives(e.texts)
	}
	if len(e.texts) == 0 && len(e.attachments) == 0 && len(bytes.TrimSpace(preamble)) > 0 {
		e.fallback = append(e.fallback, text{plain: lines(decodeText(preamble, "")), plainType: "text/plain"})
	}
	return e
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
		start = at
		if closing || len(parts) > p.limits.parts {
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
