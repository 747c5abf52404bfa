package link

import (
	"encoding/base64"
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
	param string // query parameters with the target, separated by spaces; "" if decode finds it

	decode func(string) string // decodes the parameter, or finds the target in path and query
}

var wrappers = []wrapper{
	{host: ".safelinks.protection.outlook.com", param: "url"},
	{host: ".safelink.emails.azure.net", param: "destination"},
	{host: "www.google.com", path: "/url", param: "q url"},
	{host: "google.com", path: "/url", param: "q url"},
	{host: "www.google.com", path: "/aclk", param: "adurl"},
	{host: "www.googleadservices.com", path: "/pagead/aclk", param: "adurl"},
	{host: "urldefense.proofpoint.com", path: "/v2/url", param: "u", decode: proofpointV2},
	{host: "urldefense.proofpoint.com", path: "/v1/url", param: "u"},
	{host: "urldefense.com", path: "/v3/", decode: proofpointV3},
	{host: "urldefense.us", path: "/v3/", decode: proofpointV3},
	{host: "linkprotect.cudasvc.com", path: "/url", param: "a"},
	{host: "secure-web.cisco.com", decode: lastSegment},
	{host: ".protection.sophos.com", param: "u", decode: base64URL},
	{host: ".trendmicro.com", path: "/wis/clicktime/", param: "url"},
	{host: "clicktime.symantec.com", param: "u"},
	{host: "link.edgepilot.com", path: "/s/", param: "u"},
	{host: ".awstrack.me", path: "/L0/", decode: firstSegment},
	{host: "l.facebook.com", path: "/l.php", param: "u"},
	{host: "lm.facebook.com", path: "/l.php", param: "u"},
	{host: "www.facebook.com", path: "/l.php", param: "u"},
	{host: "www.facebook.com", path: "/flx/warn/", param: "u"},
	{host: "l.messenger.com", path: "/l.php", param: "u"},
	{host: "l.instagram.com", param: "u"},
	{host: "www.linkedin.com", path: "/redir/", param: "url"},
	{host: "www.linkedin.com", path: "/safety/go", param: "url"},
	{host: "www.youtube.com", path: "/redirect", param: "q"},
	{host: "out.reddit.com", param: "url"},
	{host: "t.umblr.com", path: "/redirect", param: "z"},
	{host: "vk.com", path: "/away.php", param: "to"},
	{host: "steamcommunity.com", path: "/linkfilter/", param: "url u"},
	{host: "slack-redir.net", path: "/link", param: "url"},
	{host: "deref-mail.com", param: "redirectUrl"},
	{host: "deref-gmx.net", param: "redirectUrl"},
	{host: "deref-web.de", param: "redirectUrl"},
	{host: ".sendgrid.net", param: "url u"},
	{host: ".list-manage.com", path: "/track/click", param: "url"},
	{host: "mandrillapp.com", path: "/track/click", param: "url"},
}

// unwrap returns the target in the URL of a known click tracker, or "".
func unwrap(href, host string) string {
	for _, w := range wrappers {
		if !w.matches(host) {
			continue
		}
		u, err := url.Parse(href)
		if err != nil || !strings.HasPrefix(u.Path, w.path) {
			continue
		}
		if target := w.target(u); isWeb(target) {
			return target
		}
	}
	return ""
}

func (w wrapper) matches(host string) bool {
	return w.host == host || w.host[0] == '.' && strings.HasSuffix(host, w.host)
}

func (w wrapper) target(u *url.URL) string {
	if w.param == "" {
		return w.decode(strings.TrimPrefix(u.RequestURI(), w.path))
	}
	query := u.Query()
	for name := range strings.FieldsSeq(w.param) {
		value := query.Get(name)
		if w.decode != nil && value != "" {
			value = w.decode(value)
		}
		if isWeb(value) {
			return value
		}
	}
	return ""
}

func isWeb(s string) bool {
	scheme, rest := split(s)
	return (scheme == "http" || scheme == "https") && strings.HasPrefix(rest, "//") && host(rest) != ""
}

// proofpointV2 decodes URL Defense 2: "-" stands for "%" and "_" for "/".
func proofpointV2(s string) string {
	out, err := url.QueryUnescape(strings.NewReplacer("-", "%", "_", "/").Replace(s))
	if err != nil {
		return ""
	}
	return out
}

// proofpointV3 decodes URL Defense 3: "__TARGET__;CHARACTERS!!…", where each "*" of the target
// stands for the next byte of CHARACTERS, in base64; "**" and a letter for several.
func proofpointV3(s string) string {
	_, s, ok := strings.Cut(s, "__")
	if !ok {
		return ""
	}
	target, rest, ok := strings.Cut(s, "__;")
	if !ok {
		return ""
	}
	encoded, _, _ := strings.Cut(rest, "!!")
	chars, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return ""
	}
	const lengths = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var out strings.Builder
	for i := 0; i < len(target); i++ {
		if target[i] != '*' {
			out.WriteByte(target[i])
			continue
		}
		n := 1
		if i+2 < len(target) && target[i+1] == '*' {
			n = strings.IndexByte(lengths, target[i+2]) + 2
			i += 2
		}
		n = min(max(n, 0), len(chars))
		out.Write(chars[:n])
		chars = chars[n:]
	}
	// A proxy may have merged the two slashes of the target into one.
	fixed := out.String()
	for _, scheme := range []string{"https:/", "http:/"} {
		if tail, ok := strings.CutPrefix(fixed, scheme); ok && !strings.HasPrefix(tail, "/") {
			return scheme + "/" + tail
		}
	}
	return fixed
}

// lastSegment returns the last segment of a path, percent-decoded.
func lastSegment(s string) string {
	s, _, _ = strings.Cut(s, "?")
	return unescape(s[strings.LastIndexByte(s, '/')+1:])
}

// firstSegment returns the first segment of a path, percent-decoded.
func firstSegment(s string) string {
	s, _, _ = strings.Cut(s, "/")
	return unescape(s)
}

func unescape(s string) string {
	out, err := url.PathUnescape(s)
	if err != nil {
		return ""
	}
	return out
}

func base64URL(s string) string {
	out, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return ""
	}
	return string(out)
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
