package image

import (
	"encoding/base64"
	"io"
	"net/url"
	"strings"
)

// FromURL decodes a data: URL (RFC 2397), and reports false for any other. White space in it is
// skipped: messages break long lines.
func FromURL(src string) (io.Reader, bool) {
	const scheme = "data:"
	if len(src) < len(scheme) || !strings.EqualFold(src[:len(scheme)], scheme) {
		return nil, false
	}
	kind, data, ok := strings.Cut(src[len(scheme):min(len(src), maxURL)], ",")
	if !ok || len(kind) > 200 {
		return nil, false
	}
	if strings.Contains(data, "%") {
		if plain, err := url.PathUnescape(data); err == nil {
			data = plain
		}
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(kind)), ";base64") {
		return strings.NewReader(data), true
	}
	return base64.NewDecoder(base64.RawStdEncoding, &base64Text{data}), true
}

// maxURL is how much of a data: URL is decoded, in bytes.
const maxURL = maxBytes/3*4 + 1000

// base64Text reads base64 without padding and white space.
type base64Text struct{ rest string }

func (p *base64Text) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) && p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		if c > ' ' && c != '=' {
			b[n] = c
			n++
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
