package html

import (
	"slices"
	"strings"
	"unicode"

	"mayfly/render/doc"
	"mayfly/render/lexicon"
)

// foldFooter moves the secondary text at the end of a message (who sent it and why, the address,
// how to unsubscribe) into a footer.
func foldFooter(d *doc.Document, body float32) []*doc.Block {
	blocks := d.Blocks
	words := &footerWords{doc: d}
	at := words.start(blocks, body)
	for at < len(blocks) {
		strong, _ := words.footerText(blocks[at], true)
		if blocks[at].Kind != doc.Rule && (strong || blocks[at-1].Kind != doc.Heading) {
			break
		}
		at++ // what is below a heading belongs to it
	}
	if at >= len(blocks) {
		return blocks
	}
	footer := &doc.Block{Kind: doc.Footer, Gap: true, Children: append([]*doc.Block(nil), blocks[at:]...)}
	footer.Children[0].Gap = false
	for l := range (&doc.Document{Blocks: footer.Children}).Leaves() {
		l.InFooter = true
	}
	return append(trimRules(blocks[:at]), footer)
}

// start returns the index of the first block of the footer, or how many blocks there are.
func (w *footerWords) start(blocks []*doc.Block, body float32) int {
	at, evidence := len(blocks), false
	total, taken := 0, 0
	for _, l := range blocks {
		total += len(l.Text())
	}
	ruled := false // a rule has footer text below it: what is above that is footer only if it is footer text
	doubt := false // there is something below that may be content: it is footer only if footer text is above it
	for i := len(blocks) - 1; i > 0; i-- {
		l := blocks[i]
		if taken += len(l.Text()); taken*10 > total*7 {
			break
		}
		if l.Kind == doc.Rule {
			if ruled = ruled || evidence; !doubt {
				at = i
			}
			continue
		}
		joined := evidence && i+1 == at && !blocks[at].Gap && l.Kind == doc.Paragraph // one unit with what is below
		strong, weak := w.footerText(l, evidence && !joined && !alike(l, blocks[at]))
		goesOn := secondary(l, body) || joined && (weak || beside(w.doc, l)) && !pressed(l)
		if !strong && (ruled || !goesOn) {
			break
		}
		switch {
		case strong || weak:
			at, evidence, doubt = i, true, false
		case doubt || !beside(w.doc, l):
			doubt = true
		default:
			at = i
		}
	}
	if !evidence {
		return len(blocks)
	}
	return at
}

// secondary reports whether a block is smaller or fainter than the body and has no button.
func secondary(l *doc.Block, body float32) bool {
	for leaf := range l.Leaves() {
		for _, s := range leaf.Spans {
			if strings.TrimSpace(s.Text) == "" || s.Image > 0 {
				continue
			}
			small := s.Style.Size < body && s.Style.Size <= max(13, body*.9)
			if s.Button || s.Style.Bold && !small || s.Style.Size > body*1.2 || !small && s.Style.Role != doc.Secondary {
				return false
			}
		}
	}
	return true
}

// alike reports whether two blocks begin in text of one size and colour.
func alike(a, b *doc.Block) bool {
	style := func(l *doc.Block) doc.Style {
		for leaf := range l.Leaves() {
			for _, s := range leaf.Spans {
				if strings.TrimSpace(s.Text) != "" && s.Link == 0 {
					return doc.Style{Size: s.Style.Size, Color: s.Style.Color}
				}
			}
		}
		return doc.Style{}
	}
	x := style(a)
	return x.Size > 0 && x == style(b)
}

// beside reports what has no words of a footer but stands in many: links or icons and nothing else, or
// a postal address.
func beside(d *doc.Document, l *doc.Block) bool {
	bare := true
	for leaf := range l.Leaves() {
		for _, s := range leaf.Spans {
			switch {
			case s.Image > 0:
				bare = bare && d.Images[s.Image-1].Width > 0 && d.Images[s.Image-1].Width <= maxIcon
			case s.Link == 0 && strings.ContainsFunc(s.Text, unicode.IsLetter):
				bare = false
			}
		}
	}
	return bare || postal(l.Text())
}

// postal reports a text with the form of an address: a few parts of a few words, a number among them.
func postal(text string) bool {
	if len(text) > 200 || strings.ContainsAny(text, ":#?!") {
		return false
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",\n\t|•·・", r) })
	return len(parts) > 2 && strings.ContainsFunc(text, unicode.IsDigit) &&
		!slices.ContainsFunc(parts, func(p string) bool { return len(strings.Fields(p)) > 6 || numeric(p) && !postcode(p) })
}

// postcode reports a text with the form of a code of a place: digits, perhaps with letters.
func postcode(text string) bool {
	digits, other := 0, false
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits++
		}
		other = other || !unicode.IsDigit(r) && !unicode.IsUpper(r) && r != ' ' && r != '-'
	}
	return digits >= 4 && !other
}

// footerMarks are parts of URLs typical of footers, in any language.
var footerMarks = []string{"unsub", "optout", "opt-out", "opt_out", "preferences", "privacy", "manage-subscription",
	"email-settings", "notification-settings", "list-manage.com/profile"}

// footerPhrases are how many different phrases of footers make a block footer text wherever it is, if
// they are not half of it: then two are. In one that is smaller or fainter than the body one is.
const footerPhrases = 3

// sample is how many bytes of a message tell its language.
const sample = 8 << 10

// footerWords finds the phrases of footers in the languages of a message.
type footerWords struct {
	doc       *doc.Document
	languages []*lexicon.Language // nil until they are needed
}

// in returns how many different phrases of footers a text has, and whether they are half of it.
func (w *footerWords) in(text string) (n int, half bool) {
	if w.languages == nil {
		text := w.doc.Text()
		w.languages, _ = lexicon.Detect(lexicon.Fold(text[:min(len(text), sample)]), w.doc.Lang)
	}
	folded := lexicon.Fold(text)
	found := map[string]bool{}
	covered := 0
	for _, l := range w.languages {
		end := 0
		l.Scan(folded, func(h lexicon.Hit) bool {
			if h.Class == lexicon.Footer {
				found[folded.Folded[h.Start:h.End]] = true
				covered += max(0, h.End-max(h.Start, end))
				end = max(end, h.End)
			}
			return true
		})
	}
	return len(found), covered*2 >= len(folded.Folded)
}

// footerText reports whether a block is footer text wherever it is, and whether it is if it is
// secondary. At the end of a message one phrase tells; above footer text it has to be half of the
// block.
func (w *footerWords) footerText(l *doc.Block, above bool) (strong, weak bool) {
	text := l.Text()
	if len(text) > 1500 || pressed(l) || l.Kind == doc.Table && !w.everyRow(l, above) {
		return false, false
	}
	if strings.Contains(text, "©") || strings.Contains(text, "(c) 20") || w.marked(l) {
		return true, true
	}
	if strings.Contains(text, "@") { // addresses have words of footers, such as help and support
		text = strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.Contains(word, "@") }), " ")
	}
	n, half := w.in(text)
	return n >= footerPhrases || n > 1 && half, n > 0 && (half || !above && !strings.ContainsAny(text, "?？؟"))
}

// everyRow reports whether each row of a table can be in a footer.
func (w *footerWords) everyRow(table *doc.Block, above bool) bool {
	return len(table.Children) == 1 || !slices.ContainsFunc(table.Children, func(row *doc.Block) bool {
		strong, weak := w.footerText(row, above)
		return !strong && !weak && !beside(w.doc, row)
	})
}

// pressed reports whether a block has a button.
func pressed(l *doc.Block) bool {
	for leaf := range l.Leaves() {
		if slices.ContainsFunc(leaf.Spans, func(s doc.Span) bool { return s.Button }) {
			return true
		}
	}
	return false
}

// marked reports whether a block has a link typical of footers that is no button.
func (w *footerWords) marked(l *doc.Block) bool {
	for leaf := range l.Leaves() {
		for _, s := range leaf.Spans {
			if s.Link == 0 || s.Button {
				continue
			}
			url := strings.ToLower(w.doc.Links[s.Link-1].URL)
			if slices.ContainsFunc(footerMarks, func(m string) bool { return strings.Contains(url, m) }) {
				return true
			}
		}
	}
	return false
}
