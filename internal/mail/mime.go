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
// first of several parameters of one name counts. charset is that of raw octets which are not UTF-8.
func parseMediaType(s, charset string) mediaType {
	r := paramReader{mediaType: mediaType{params: map[string]string{}}, charset: charset}
	r.read(s, true)
	if len(r.pieces) > 0 {
		maps.Copy(r.params, joinPieces(r.pieces, charset))
	}
	return r.mediaType
}

// maxParams is how many parameters of a field are read.
const maxParams = 200

// A paramReader reads a value with parameters.
type paramReader struct {
	mediaType
	charset string
	pieces  []paramPiece
	count   int // of what semicolons separate, so far
	steps   int // octets looked at
}

// read reads what semicolons separate. Each may be in encoded words.
func (r *paramReader) read(s string, encoded bool) {
	sc := scanner{s: s}
	for at := 0; at < len(s) && r.count < maxParams; {
		end := sc.next(at, ";")
		one := strings.Trim(s[at:end], " \t\r\n")
		at = end + 1
		if encoded && strings.HasPrefix(one, "=?") {
			r.steps += len(one)
			r.read(decodeHeader([]byte(one), r.charset), false)
			continue
		}
		if r.count++; r.count > 1 {
			r.param(one)
			continue
		}
		if equals := strings.IndexByte(one, '='); equals >= 0 {
			// The semicolon is missing, as in "text/plain charset=utf-8", or the value too: "filename=a.txt".
			space := max(0, strings.IndexAny(one[:equals], " \t"))
			r.param(one[space:])
			one = one[:space]
		}
		r.value = strings.ToLower(r.trimComments(one))
	}
	r.steps += sc.steps
}

// param reads a parameter.
func (r *paramReader) param(s string) {
	name, v, ok := strings.Cut(s, "=")
	if name = strings.ToLower(r.trimComments(name)); name == "" || !ok {
		return
	}
	v = r.trimComments(v)
	if strings.HasPrefix(v, `"`) {
		v = unquoteParam(v)
	}
	if piece, ok := splitParamName(name); ok {
		piece.value = v
		r.pieces = append(r.pieces, piece)
	} else if _, twice := r.params[name]; !twice {
		r.params[name] = decodeHeader([]byte(v), r.charset)
	}
}

// trimComments removes the white space and the comments around a value. Parentheses within it, as in file names, stay.
func (r *paramReader) trimComments(s string) string {
	sc := scanner{s: s}
	start, end := len(s), 0
	for i := 0; i < len(s); {
		after := sc.skip(i)
		if isComment := s[i] == '(' && after > i+1; !isComment && !isSpace(s[i]) {
			start, end = min(start, i), after
		}
		i = after
	}
	r.steps += sc.steps
	return s[min(start, end):end]
}

// unquoteParam returns the content of a quoted string at the start of s, or of all of it if the quote is not closed.
// Only quotes and backslashes are escaped: some programs write paths.
func unquoteParam(s string) string {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		case c == '"':
			return b.String()
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(s[1:])
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
func joinPieces(pieces []paramPiece, fallback string) map[string]string {
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
			out[pieces[0].base] = decodeHeader(octets, fallback)
		} else {
			out[pieces[0].base] = decodeText(octets, charset)
		}
		pieces = pieces[n:]
	}
	return out
}

// boundary returns what separates the parts of a multipart, or "".
func (m mediaType) boundary() string {
	if b := strings.TrimRight(m.params["boundary"], " \t"); !strings.ContainsAny(b, "\r\n") {
		return b
	}
	return ""
}

// multipart reads the parts of a multipart body.
func (p *parser) multipart(pt part) entity {
	var parts [][]byte
	var preamble []byte
	if boundary := pt.typ.boundary(); boundary != "" {
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
		e.add(p.entity(p.readHeader(data), location{path: section(pt.path, i+1), depth: pt.depth + 1, defaultType: defaultType, later: i > 0 && !alternatives}))
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
		i, after, closing := nextDelimiter(body, delimiter, at)
		if i < 0 {
			break
		}
		if start < 0 {
			preamble = body[:i]
		} else {
			parts = append(parts, trimBreak(body[start:i]))
		}
		at, start = after, after
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

// nextDelimiter finds the first line from at on that is a delimiter, which "--" makes the closing one, and white space
// (RFC 2046, section 5.1.1). A longer line is that of another boundary, or text. The line starts at -1 if there is none.
func nextDelimiter(body, delimiter []byte, at int) (start, after int, closing bool) {
	for {
		i := bytes.Index(body[at:], delimiter)
		if i < 0 {
			return -1, 0, false
		}
		start = at + i
		at = start + len(delimiter)
		if start > 0 && body[start-1] != '\n' {
			continue
		}
		line, rest := cutLine(body[at:])
		tail, closing := strings.CutPrefix(strings.TrimRight(string(line), " \t"), "--")
		if tail == "" || closing && strings.IndexByte("<>", tail[0]) >= 0 { // which are not in boundaries
			return start, len(body) - len(rest), closing
		}
	}
}
