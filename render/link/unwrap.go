package link

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// wrapper is a service that counts or checks clicks, with the target in its own URL.
type wrapper struct {
	host  string // the host, or a suffix of it with a leading dot
	path  string // prefix of the path
	param string // query parameter with the target; "" if that is the first segment after the prefix
}

var wrappers = []wrapper{
	{host: ".safelinks.protection.outlook.com", param: "url"},
	{host: "www.google.com", path: "/url", param: "q"},
	{host: "www.google.com", path: "/url", param: "url"},
	{host: ".awstrack.me", path: "/L0/"},
	{host: ".sendgrid.net", param: "url"},
	{host: "l.facebook.com", path: "/l.php", param: "u"},
	{host: "www.linkedin.com", path: "/redir/", param: "url"},
}

// unwrap returns the target in the URL of a known click tracker, or "".
func unwrap(href, host string) string {
	for _, w := range wrappers {
		if w.host != host && (w.host[0] != '.' || !strings.HasSuffix(host, w.host)) {
			continue
		}
		u, err := url.Parse(href)
		if err != nil || !strings.HasPrefix(u.Path, w.path) {
			continue
		}
		target := u.Query().Get(w.param)
		if w.param == "" {
			first, _, _ := strings.Cut(strings.TrimPrefix(u.RequestURI(), w.path), "/")
			target, _ = url.PathUnescape(first)
		}
		if isWeb(target) {
			return target
		}
	}
	return ""
}

func isWeb(s string) bool {
	scheme, rest := split(s)
	return (scheme == "http" || scheme == "https") && strings.HasPrefix(rest, "//") && host(rest) != ""
}

// warning returns what the user should know of a link, or "". claim is a domain that one of its texts
// names and that is not the one it leads to, or "".
func warning(l *doc.Link, claim string) string {
	if l.Host == "" {
		return ""
	}
	var notes []string
	if claim != "" {
		notes = append(notes, fmt.Sprintf("says %s, leads to %s", claim, l.Host))
	}
	_, rest := split(l.Target)
	if user, _, ok := strings.Cut(authority(rest), "@"); ok && strings.Contains(user, ".") {
		notes = append(notes, "what stands before the @ is not the host: it leads to "+l.Host)
	}
	return strings.Join(append(notes, international(l.Host)...), "; ")
}

// international returns notes on a punycode host: how it reads, and whether it mixes scripts.
func international(host string) []string {
	if !strings.Contains(host, "xn--") {
		return nil
	}
	name, err := idna.ToUnicode(host)
	if err != nil {
		return []string{"malformed international name " + host}
	}
	note := fmt.Sprintf("international name %s is %s", clean.Line(name), host)
	for label := range strings.SplitSeq(name, ".") {
		if mixed(label) {
			return []string{note, "its letters come from different scripts"}
		}
	}
	return []string{note}
}

// alphabets are scripts that one label does not mix.
var alphabets = [][]*unicode.RangeTable{
	{unicode.Latin}, {unicode.Cyrillic}, {unicode.Greek}, {unicode.Armenian, unicode.Cherokee, unicode.Hebrew, unicode.Arabic},
}

// mixed reports whether the letters of a label come from scripts that are not used together.
func mixed(label string) bool {
	n := 0
	for _, scripts := range alphabets {
		if strings.ContainsFunc(label, func(r rune) bool { return unicode.In(r, scripts...) }) {
			n++
		}
	}
	return n > 1
}

// fileSuffixes are top-level domains that more often end a file name.
const fileSuffixes = " md rs py sh pl ps zip mov app "

// Named returns the host that a link's text names if the text is nothing but a URL or a domain,
// else "".
func Named(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".,;:!")
	if len(text) > 2048 || strings.ContainsAny(text, " \n\u00a0") {
		return ""
	}
	scheme, rest := split(text)
	web := scheme == "http" || scheme == "https"
	if !web {
		rest = text
	}
	if strings.Contains(authority(rest), "@") {
		return ""
	}
	h := host(rest)
	dot := strings.LastIndexByte(h, '.')
	if dot <= 0 || strings.Contains(h, "..") {
		return ""
	}
	for _, r := range h {
		if r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return ""
		}
	}
	if web || strings.HasPrefix(h, "www.") { // whatever the top-level domain
		return h
	}
	if _, icann := publicsuffix.PublicSuffix(h); !icann || strings.Contains(fileSuffixes, " "+h[dot+1:]+" ") {
		return ""
	}
	return h
}
