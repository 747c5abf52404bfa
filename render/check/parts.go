package check

import (
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
		r.add("text-reversed", Error, part, "Words are written backwards and turned round where they are shown: filters take that for an attempt to hide them")
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
			r.add("parts-differ", Warning, "text", "Most of what the HTML says (%d of %d words) is not in the text part", missing, len(w))
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
