// Package link examines the links in a message: where they lead, through which click tracker, and
// what a reader should know before opening one. Nothing is ever fetched.
package link

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// maxLinks bounds how many URLs of one message get a number.
const maxLinks = 10_000

// Set numbers the URLs of a document, each once.
type Set struct {
	links  []doc.Link
	byURL  map[string]int
	claims map[int]string // by number: a domain named by the link's text that is not the one it leads to
}

// Add returns the number of a URL, in order of first use. It returns 0 for an empty URL, and beyond
// maxLinks.
func (s *Set) Add(href string) int {
	href = trim(href)
	if href == "" || href == "#" {
		return 0
	}
	if n, ok := s.byURL[href]; ok {
		return n
	}
	if len(s.links) >= maxLinks {
		return 0
	}
	if s.byURL == nil {
		s.byURL = make(map[string]int)
	}
	l := Read(href)
	l.N = len(s.links) + 1
	s.links = append(s.links, l)
	s.byURL[href] = l.N
	return l.N
}

// At returns link n, to be completed.
func (s *Set) At(n int) *doc.Link { return &s.links[n-1] }

// AddText notes a text of link n. The first one that is not empty is kept.
func (s *Set) AddText(n int, text string) {
	l := s.At(n)
	if l.Text == "" {
		l.Text = text
	}
	if l.Host == "" || s.claims[n] != "" {
		return
	}
	if said := Named(text); said != "" && Domain(said) != Domain(l.Host) {
		if s.claims == nil {
			s.claims = make(map[int]string)
		}
		s.claims[n] = Domain(said)
	}
}

// Finish returns the links with their warnings, once all texts are known.
func (s *Set) Finish() []doc.Link {
	for i := range s.links {
		warn(&s.links[i], s.claims[i+1])
	}
	return s.links
}

// trim removes from an href what browsers remove: white space and controls around it, line breaks
// and tabs within.
func trim(href string) string {
	href = strings.TrimFunc(href, func(r rune) bool { return r <= ' ' || r == '\u00a0' })
	if strings.ContainsAny(href, "\n\r\t") {
		href = strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(href)
	}
	return href
}

// Read parses a URL: its host, the target behind a click tracker, and whether it is blocked.
func Read(href string) doc.Link {
	l := doc.Link{URL: href, Target: href}
	switch scheme, rest := split(href); scheme {
	case "http", "https":
		l.Host = host(rest)
		if l.Host == "" {
			l.Blocked = true
			break
		}
		if target := unwrap(href, l.Host); target != "" {
			if _, rest := split(target); host(rest) != "" {
				l.Via, l.Target, l.Host = l.Host, target, host(rest)
			}
		}
	case "mailto":
	default:
		l.Blocked = true
	}
	return l
}

// split separates the scheme, in lower case, from what follows the colon. The scheme is "" if there
// is none.
func split(href string) (scheme, rest string) {
	scheme, rest, ok := strings.Cut(href, ":")
	if !ok || scheme == "" || len(scheme) > 32 {
		return "", href
	}
	for i := range len(scheme) {
		c := scheme[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(scheme[i]))) {
			return "", href
		}
	}
	return strings.ToLower(scheme), rest
}

// authority returns the part between "//" and the path.
func authority(rest string) string {
	rest = strings.TrimLeft(rest, `/\`)
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// host returns the host name in what follows "http:", in ASCII and lower case, without port and
// user.
func host(rest string) string {
	h := authority(rest)
	if i := strings.LastIndexByte(h, '@'); i >= 0 {
		h = h[i+1:]
	}
	if strings.HasPrefix(h, "[") {
		h, _, _ = strings.Cut(h[1:], "]")
		return clean.Line(h)
	}
	if i := strings.LastIndexByte(h, ':'); i >= 0 {
		h = h[:i]
	}
	h = strings.ToLower(strings.TrimSuffix(h, "."))
	for i := range len(h) {
		if h[i] >= 0x80 || h[i] == '%' {
			if ascii, err := idna.ToASCII(h); err == nil {
				h = ascii
			}
			break
		}
	}
	return clean.Line(h)
}

// Domain returns the registrable domain of a host (acme.co.uk for www.acme.co.uk), or the host
// itself if it has none.
func Domain(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return d
	}
	return host
}

// Escape percent-encodes all but printable ASCII in a URL, for use in a control sequence.
func Escape(url string) string {
	const hex = "0123456789ABCDEF"
	n := 0
	for i := range len(url) {
		if url[i] <= ' ' || url[i] >= 0x7f {
			n++
		}
	}
	if n == 0 {
		return url
	}
	out := make([]byte, 0, len(url)+2*n)
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7f {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
