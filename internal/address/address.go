// Package address has the one form in which e-mail addresses are compared, at every door.
package address

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Normalise returns an address in the form that all spellings of it share: in lower case, its local part in Unicode's
// normalisation form C (RFC 6532, section 3.1), its domain in ASCII (RFC 5891) and without a dot at its end. What has
// no @ is taken for a local part.
func Normalise(s string) string {
	local, domain, ok := cut(s)
	if !ok {
		return Local(s)
	}
	return Local(local) + "@" + Domain(domain)
}

// cut cuts an address at its last @: a quoted local part may have others.
func cut(s string) (local, domain string, ok bool) {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+1:], true
}

// Local normalises a local part.
func Local(s string) string { return strings.Map(lower, norm.NFC.String(s)) }

// lower returns a letter in lower case, unless only that is in ASCII: no letter of another alphabet is one of ours.
func lower(r rune) rune {
	if l := unicode.ToLower(r); l < utf8.RuneSelf == (r < utf8.RuneSelf) {
		return l
	}
	return r
}

// names maps a domain to ASCII. It refuses no domain that mail is sent to, such as one with an underscore.
var names = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// Domain normalises a domain. One that is no internationalised name is only changed to lower case.
func Domain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if ascii, err := names.ToASCII(s); err == nil {
			s = ascii
		}
	}
	return strings.TrimRight(Local(s), ".")
}

// Near reports whether two addresses are different, and two letters inserted, left out or replaced make one of the other.
func Near(a, b string) bool {
	const most = 2
	if a == b || len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return within(a, b, most)
}

// within reports whether n edits make b of a.
func within(a, b string, n int) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case a == "" || b == "":
		return len(a)+len(b) <= n
	case n == 0:
		return false
	}
	return within(a[1:], b[1:], n-1) || within(a[1:], b, n-1) || within(a, b[1:], n-1)
}
