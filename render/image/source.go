package image

import (
	"encoding/base64"
	"io"
	"net/url"
	"strings"
)

// FromURL reads what a data: URL holds (RFC 2397), white space left out, as mails break such URLs.
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
	return base64.NewDecoder(base64.RawStdEncoding, &packed{data}), true
}

// maxURL is how much of a data: URL is looked at.
const maxURL = maxBytes/3*4 + 1000

// packed reads base64 without its padding and the white space in it.
type packed struct{ rest string }

func (p *packed) Read(b []byte) (int, error) {
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
