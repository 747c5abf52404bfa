package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/find"
	"mayfly/render/lexicon"
)

// clipped is the size of HTML, in bytes, above which Gmail shows only its beginning.
const clipped = 102 << 10

func parts(in Input, r *report) {
	if len(in.HTML.Source) > clipped {
		r.addAt(at(clipped), "html-clipped", Warning, "HTML", "The HTML has %d KB: Gmail clips it at 102 KB, and with it the unsubscribe link at the end", len(in.HTML.Source)>>10)
	}
	reversed(in, r)
	switch {
	case in.HTML.Doc == nil && in.Text.Doc == nil:
		r.add("body-missing", Error, "", "The message has no text at all")
		return
	case in.HTML.Doc == nil:
		return
	case in.BodyOnly:
	case in.Text.Doc == nil:
		r.add("text-missing", Warning, "text", "There is no text part: spam filters object, and some readers prefer plain text")
	default:
		agree(in, r)
	}
	if in.HTML.Doc.Preheader == "" {
		r.addAt(textIn("HTML", "<body"), "preheader-missing", Note, "HTML", "There is no preheader: message lists show the first words of the body after the subject, %q", cut(firstWords(in.HTML.Doc)))
	}
}

// reversed looks for words that are written backwards.
func reversed(in Input, r *report) {
	where := slices.Clone(in.Reversed)
	for name, d := range in.documents() {
		if d.Reversed > 0 {
			where = append(where, name)
		}
	}
	for _, part := range where {
		r.add("text-reversed", Error, part, "Words are written backwards and reversed for display: filters take that for an attempt to hide them")
	}
}

// firstWords returns the first text of a document.
func firstWords(d *doc.Document) string {
	var b strings.Builder
	for leaf := range d.Leaves() {
		for word := range strings.FieldsSeq(leaf.Text()) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			if b.WriteString(word); b.Len() > 200 {
				return b.String()
			}
		}
	}
	return b.String()
}

// agree compares the code, the link and the words of both parts.
func agree(in Input, r *report) {
	agreeOnCode(in, r)
	agreeOnLink(in, r)
	if w := words(in.HTML.Doc); len(w) >= 20 {
		other, missing := words(in.Text.Doc), 0
		for word := range w {
			if !other[word] {
				missing++
			}
		}
		if missing*10 > len(w)*6 {
			r.add("parts-differ", Warning, "text", "Most of the HTML text (%d of %d words) is not in the text part", missing, len(w))
		}
	}
}

func agreeOnCode(in Input, r *report) {
	text, html := in.Text.Found, in.HTML.Found
	switch {
	case text.CodeOK && spells(in.HTML.Doc, text.Codes[0].Value), html.CodeOK && spells(in.Text.Doc, html.Codes[0].Value):
		// it is in both, though one does not make clear that it is the code
	case text.CodeOK && html.CodeOK && squeeze(text.Codes[0].Value) != squeeze(html.Codes[0].Value):
		r.add("parts-code", Error, "text, HTML", "The code is %s in the text and %s in the HTML", text.Codes[0].Value, html.Codes[0].Value)
	case text.CodeOK != html.CodeOK && !html.LinkOK && !text.LinkOK:
		r.add("parts-code", Warning, "text, HTML", "Only one of the parts has the code: %s", has(text.CodeOK))
	}
}

func agreeOnLink(in Input, r *report) {
	text, html := in.Text.Found, in.HTML.Found
	switch {
	case text.LinkOK && linksTo(in.HTML.Doc, target(in.Text.Doc, text)), html.LinkOK && linksTo(in.Text.Doc, target(in.HTML.Doc, html)):
	case text.LinkOK && html.LinkOK && target(in.Text.Doc, text) != target(in.HTML.Doc, html):
		r.add("parts-link", Error, "text, HTML", "The text links to %q, the HTML to %q", cut(text.Links[0].URL), cut(html.Links[0].URL))
	case text.LinkOK != html.LinkOK && !html.CodeOK && !text.CodeOK:
		r.add("parts-link", Warning, "text, HTML", "Only one of the parts has the link: %s", has(text.LinkOK))
	}
}

func has(text bool) string {
	if text {
		return "the text"
	}
	return "the HTML"
}

// spells reports whether a document contains a code.
func spells(d *doc.Document, code string) bool {
	text := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, lexicon.Fold(d.Text()).Folded)
	return strings.Contains(text, squeeze(lexicon.Fold(code).Folded))
}

// target returns the destination of the link that was found.
func target(d *doc.Document, found find.Result) string {
	url := found.Links[0].URL
	for i := range d.Links {
		if d.Links[i].URL == url {
			return destination(&d.Links[i])
		}
	}
	return url
}

// linksTo reports whether a document has a link to a destination.
func linksTo(d *doc.Document, to string) bool {
	return slices.ContainsFunc(d.Links, func(l doc.Link) bool { return destination(&l) == to })
}

// destination returns the target of a link without what often differs between parts: the scheme and
// a final slash.
func destination(l *doc.Link) string {
	return strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(l.Target, "https://"), "http://"), "/")
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, s)
}

// maxWords bounds how many different words are compared.
const maxWords = 5000

// words returns the words of a document that have letters, in lower case, and for scripts that do
// not separate words the pairs of their letters.
func words(d *doc.Document) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(d.Text(), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if first, _ := utf8.DecodeRuneInString(word); lexicon.Unspaced(first) {
			pairs(word, set)
		} else if len(word) > 3 {
			set[strings.ToLower(word)] = true
		}
		if len(set) >= maxWords {
			break
		}
	}
	return set
}

// pairs adds each two adjacent letters.
func pairs(s string, set map[string]bool) {
	last := 0
	for at, r := range s {
		if at > 0 && len(set) < maxWords {
			set[s[last:at+utf8.RuneLen(r)]] = true
		}
		last = at
	}
}

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
