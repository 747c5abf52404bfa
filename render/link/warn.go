package link

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// warn sets the warning of l. claim is a domain named by one of its texts that is not the one it
// leads to, or "".
func warn(l *doc.Link, claim string) {
	var notes []string
	if l.Host != "" {
		if claim != "" {
			notes = append(notes, fmt.Sprintf("says %s, leads to %s", claim, l.Host))
		}
		_, rest := split(l.Target)
		if user, _, ok := strings.Cut(authority(rest), "@"); ok && strings.Contains(user, ".") {
			notes = append(notes, "what stands before the @ is not the host: it leads to "+l.Host)
		}
		notes = append(notes, international(l.Host)...)
	}
	l.Warning = strings.Join(notes, "; ")
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

// mixed reports whether the letters of a label come from scripts that are not used together.
func mixed(label string) bool {
	var latin, cyrillic, greek, other bool
	for _, r := range label {
		switch {
		case r < 0x80 && unicode.IsLetter(r), unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic = true
		case unicode.Is(unicode.Greek, r):
			greek = true
		case unicode.In(r, unicode.Armenian, unicode.Cherokee, unicode.Hebrew, unicode.Arabic):
			other = true
		}
	}
	n := 0
	for _, b := range []bool{latin, cyrillic, greek, other} {
		if b {
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
