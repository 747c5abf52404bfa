package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
)

// longSubject is the length, in characters, above which phones and lists cut a subject.
const longSubject = 70

func subject(in Input, r *report) {
	switch n := utf8.RuneCountInString(in.Subject); {
	case in.BodyOnly:
	case strings.TrimSpace(in.Subject) == "":
		r.add("subject-empty", Error, "subject", "The subject is empty: many people and spam filters take that for spam")
	case n > longSubject:
		r.add("subject-long", Note, "subject", "The subject has %d characters: lists and phones cut it at about %d", n, longSubject)
	}
}

// unreplaced returns the placeholders of template languages in a text, and what programs print for
// a missing value.
var unreplaced = func() func(string) []string {
	var pattern, encoded *regexp.Regexp // compiled at first use, which makes starting faster
	return func(s string) []string {
		if !strings.ContainsAny(s, "{[%*<$&") && !strings.Contains(s, "ndefined") && !strings.Contains(s, "null") &&
			!strings.Contains(s, "NaN") && !strings.Contains(s, "Invalid Date") {
			return nil
		}
		if pattern == nil {
			pattern = regexp.MustCompile(`\{\{\{?[^{}\n]{1,80}\}?\}\}` + // {{name}}
				`|\{%[^%\n]{1,80}%\}` + // {% if x %}
				`|\$\{[A-Za-z_][\w.]{0,60}\}` + // ${x}
				`|<%[^%\n]{1,80}%>` + // <%= x %>
				`|\*\|[A-Z][A-Z0-9_:]{1,40}\|\*` + // *|FNAME|*
				`|%%[A-Za-z_]{2,40}%%` + // %%name%%
				`|%[A-Z](?:[A-Z0-9]{2,}|[A-Z0-9]?_[A-Z0-9]+)(?:_[A-Z0-9]+)*%` + // %FIRST_NAME%
				`|\[\[[A-Za-z_][\w. ]{0,40}\]\]` + // [[name]]
				`|\[object Object\]|\bInvalid Date\b` +
				`|^\s*(?:undefined|NaN)\s*$|[:#$€£] ?(?:undefined|NaN)\b|\b(?:undefined|NaN)(?:[!%€$£]|,\s*$)` +
				`|(?i:\b(?:hi|hello|hey|dear|hallo|bonjour|hola|ciao|welcome|welcome back),? )(?:undefined|null|None|nil)\b`)
			encoded = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2}){2,}`)
		}
		if strings.Contains(s, "%") {
			s = encoded.ReplaceAllString(s, " ") // %D0%BF is a letter, not the value D0
		}
		return pattern.FindAllString(s, 100)
	}
}()

// valueMissing reports whether a URL has a missing value.
func valueMissing(url string) bool {
	for _, word := range [...]string{"undefined", "null", "NaN", "None"} {
		for _, before := range [...]string{"=", "/"} {
			at := strings.Index(url, before+word)
			if at < 0 {
				continue
			}
			if rest := url[at+len(before)+len(word):]; rest == "" || strings.ContainsAny(rest[:1], "&/?#") {
				return true
			}
		}
	}
	return false
}

func placeholders(in Input, r *report) {
	seen := make(map[string]bool)
	say := func(where, s string) {
		for _, p := range unreplaced(s) {
			if !seen[where+p] {
				seen[where+p] = true
				r.addAt(textIn(where, p), "placeholder", Error, where, "%q was not replaced: the template did not get this value", cut(p))
			}
		}
	}
	say("subject", in.Subject)
	for name, d := range in.documents() {
		say("preheader", d.Preheader)
		for leaf := range d.Leaves() {
			if leaf.Kind != doc.Pre && !slices.ContainsFunc(leaf.Spans, func(s doc.Span) bool { return s.Style.Mono }) { // no code
				say(name, leaf.Text())
			}
		}
		for _, l := range d.Links {
			missing := valueMissing(l.URL)
			if !missing {
				say("link "+name, l.URL)
			}
			if missing || strings.Contains(l.URL, "%7B%7B") {
				r.addAt(textIn(name, l.URL), "placeholder", Error, "link", "%q has a value that was not replaced", cut(l.URL))
			}
		}
	}
}

// broken are the most common forms of UTF-8 read as Windows-1252.
var broken = [...]string{"Ã¤", "Ã¶", "Ã¼", "ÃŸ", "Ã©", "Ã¨", "Ãª", "Ã¡", "Ã³", "Ãº", "Ã±", "Ã§", "Ã£", "Ãµ", "Ã¢", "Ã®", "Ã´",
	"â€™", "â€œ", "â€“", "â€”", "â€¦", "â€¢", "â‚¬", "Â£", "Â©", "Â®", "Â°", "Â»", "Â«", "Â·", "Â\u00a0", "ðŸ"}

func mojibake(in Input, r *report) {
	say := func(where, s string) {
		if strings.ContainsRune(s, '\uFFFD') {
			r.addAt(textIn(where, "\uFFFD"), "mojibake", Error, where, "A character could not be decoded and became \uFFFD: the charset is wrong, or none is declared")
		}
		if !strings.ContainsAny(s, "ÃâÂð") {
			return
		}
		for _, b := range broken {
			if strings.Contains(s, b) {
				r.addAt(textIn(where, b), "mojibake", Error, where, "%q looks like UTF-8 read in another charset: encode and declare UTF-8, once", b)
				return
			}
		}
	}
	say("subject", in.Subject)
	for name, d := range in.documents() {
		say(name, d.Text())
	}
}
