package find

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// masks are what differs between two messages of the same kind, and what stands for it. Codes and addresses are masked before, and
// what is in a URL or looks random is decided by what tells links and codes apart.
var masks = sync.OnceValue(func() []mask {
	const month, year, day = `\p{L}{3,12}\.?`, `20\d\d`, `\d{1,2}(?:st|nd|rd|th)?\.?`
	known := `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{L}*\.?`
	var all []mask
	for _, m := range [][2]string{
		{`(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`, "«id»"},
		{`\b(?:\p{L}{2,12}\.?, )?` + year + `-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?`, "«date»"},
		{`\b(localhost|\d+\.\d+\.\d+\.\d+):\d+\b`, "${1}:«port»"},
		{year + `年\d{1,2}月\d{1,2}日`, "«date»"},
		{`\b\d{1,2}([./-])\d{1,2}[./-](?:20)?\d\d\b`, "«date»"},
		{`\b(?:\p{L}{2,12}\.?, )?` + day + ` (?:de |of )?` + month + `,? (?:de )?` + year + `\b`, "«date»"},
		{`\b(?:\p{L}{2,12}\.?, )?` + month + ` ` + day + `,? ` + year + `\b`, "«date»"},
		{`\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\p{L}*,? )?(?:` + known + ` ` + day + `|` + day + ` ` + known + `)(?:\b|$)`, "«date»"},
		{`\b\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\b\.?)?(?: (?:UTC|Z|MSK|[A-Z]{1,3}[SD]?T)\b)?(?: ?[+-]\d\d:?\d\d\b)?`, "«time»"},
		{`((?:©|\([cC]\)|&copy;|Copyright) ?)` + year, "${1}«year»"},
		{`#[A-Z]{0,4}-?\d+\b`, "#«id»"},
		{`\b\d{6,}\b`, "«number»"},
	} {
		all = append(all, mask{regexp.MustCompile(m[0]), m[1]})
	}
	return all
})

type mask struct {
	pattern *regexp.Regexp
	by      string
}

var (
	urls = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://(?:«(?:inbox|name|code)»|[^\s<>"'«»])+`)
	})
	pieces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_-]{16,}`) })
)

// Mask returns text with marks for what differs between two messages of the same kind: codes, tokens in links, dates, times, IDs. The
// codes are those found in the mail.
func Mask(text string, codes ...string) string {
	for _, code := range codes {
		var pattern strings.Builder
		for i, r := range code {
			if i > 0 {
				pattern.WriteString(`[ \x{a0}-]?`)
			}
			pattern.WriteString(regexp.QuoteMeta(string(r)))
		}
		if re, err := regexp.Compile(`(^|[^\p{L}\p{N}])` + pattern.String() + `($|[^\p{L}\p{N}])`); err == nil {
			for range 2 { // two codes may have one space between them
				text = re.ReplaceAllString(text, "${1}«code»${2}")
			}
		}
	}
	text = urls().ReplaceAllStringFunc(text, maskURL)
	for _, m := range masks() {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return pieces().ReplaceAllStringFunc(text, func(s string) string {
		if n := consist(s); n.digits > 0 && n.upper+n.lower > 0 || secret(s) {
			return "«token»"
		}
		return s
	})
}

// maskURL masks the pieces of a URL's path and the values of its query that are made for one message.
func maskURL(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	host, path := rest, ""
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		host, path = rest[:at], rest[at:]
	}
	if name, port, ok := strings.Cut(host, ":"); ok && port != "" {
		host = name + ":«port»"
	}
	var b strings.Builder
	b.WriteString(scheme + "://" + host)
	name, start := "", 0
	piece := func(end int) {
		s := path[start:end]
		if mark := maskOf(s, name); mark != "" && !strings.HasPrefix(path[end:], "=") { // which a name has behind it
			s = mark
		}
		b.WriteString(s)
	}
	for i, r := range path {
		if !strings.ContainsRune("/?#&;=.!:", r) || i < start {
			continue
		}
		piece(i)
		switch r {
		case '=':
			name = path[start:i]
		case '.': // in a token, too
		default:
			name = ""
		}
		b.WriteRune(r)
		start = i + len(string(r))
	}
	piece(len(path))
	return tokens.Replace(b.String())
}

// tokens joins what is left of a token with dots in it.
var tokens = strings.NewReplacer("«token».«token».«token»", "«token»", "«token».«token»", "«token»")

// maskOf returns the mark for a piece of a URL, the value of a name if it has one, or "".
func maskOf(s, name string) string {
	n := consist(s)
	letters := n.upper + n.lower
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-_%+", r) })
	wordy := n.digits == 0 // words in small letters
	for _, w := range words {
		wordy = wordy && len(w) <= 15 && strings.TrimFunc(w[1:], unicode.IsLower) == ""
	}
	switch {
	case s == "" || strings.ContainsRune(s, '«'):
	case n.digits > 0 && letters+n.others == 0:
		return "«id»"
	case name != "" && secretNames[separators.Replace(strings.ToLower(name))]:
		return "«token»"
	case number(s):
		return "«id»"
	case len(s) >= 8 && n.digits > 0 && letters > 0, len(s) >= 8 && !wordy:
		return "«token»"
	}
	return ""
}

// number reports whether a piece of a URL is a number in base 64, as Django writes users.
func number(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && len(b) > 0 && strings.Trim(string(b), "0123456789") == ""
}
