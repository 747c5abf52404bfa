// Package link examines the links in a message: where they lead, through which click tracker, and
// what the user should know before opening one. Nothing is ever fetched.
package link

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

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
		s.links[i].Warning = warning(&s.links[i], s.claims[i+1])
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
			_, rest := split(target)
			l.Via, l.Target, l.Host = l.Host, target, host(rest)
		}
	case "mailto":
	default:
		l.Blocked, l.Nowhere = true, scheme == "javascript" || strings.HasPrefix(href, "#")
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
	if strings.ContainsFunc(h, func(r rune) bool { return r >= utf8.RuneSelf || r == '%' }) {
		if ascii, err := idna.ToASCII(h); err == nil {
			h = ascii
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
	if !strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return url
	}
	var out strings.Builder
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7f {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// schemes are the beginnings of URLs in running text.
var schemes = [...]string{"https://", "http://", "mailto:", "www."}

// Bare finds the first URL in running text: s[start:end], and its href. start is -1 if there is
// none.
func Bare(s string) (start, end int, href string) {
	for i := 0; i < len(s); i++ {
		scheme := schemeAt(s[i:])
		if scheme == 0 {
			if start := ownScheme(s, i); start >= 0 {
				if n := urlLength(s[start:]); n > i+len("://")-start {
					return start, start + n, s[start : start+n]
				}
			}
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if n := urlLength(s[i:]); n > scheme && (i == 0 || !unicode.In(before, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Nd)) {
			href = s[i : i+n]
			if scheme == len("www.") {
				href = "http://" + href
			}
			return i, i + n, href
		}
		i += scheme - 1
	}
	return -1, 0, ""
}

// schemeAt returns the length of the scheme at the start of s, in upper or lower case; 0 if there
// is none.
func schemeAt(s string) int {
	switch s[0] | 0x20 {
	case 'h', 'm', 'w':
		for _, scheme := range schemes {
			if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
				return len(scheme)
			}
		}
	}
	return 0
}

// ownScheme returns where the scheme of an application's link starts whose "://" is at i: "myapp://verify". -1 if none
// is there.
func ownScheme(s string, i int) int {
	if !strings.HasPrefix(s[i:], "://") {
		return -1
	}
	from := max(0, i-32)
	scheme := s[from+strings.LastIndexFunc(s[from:i], func(r rune) bool {
		return r >= utf8.RuneSelf || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+-.", r))
	})+1 : i]
	if scheme == "" || len(scheme) == 32 || !unicode.IsLetter(rune(scheme[0])) {
		return -1
	}
	return i - len(scheme)
}

// maxURL bounds the length of a URL, in bytes.
const maxURL = 16 << 10

// urlLength returns how many bytes at the start of s belong to a URL. Punctuation that ends a
// sentence, and brackets not opened within the URL, do not.
func urlLength(s string) int {
	s = s[:min(len(s), maxURL)]
	end := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune("<>\"`\u00a0\u3000「」『』（）。、，", r) ||
			unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) // sentences continue without a space
	})
	if end < 0 {
		end = len(s)
	}
	if i := strings.Index(s[:end], "]("); i > 0 {
		end = i // [URL](URL)
	}
	// Closing brackets and quotes at its end that were not opened in it belong to the text around it.
	count := func(mark string) int { return strings.Count(s[:end], mark) }
	closing := map[rune]int{')': count(")") - count("("), ']': count("]") - count("["), '}': count("}") - count("{"), '\'': count("'") % 2}
	for end > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		switch {
		case strings.ContainsRune(".,;:!?*’”»…|", r):
		case closing[r] > 0:
			closing[r]--
		default:
			return end
		}
		end -= size
	}
	return 0
}
