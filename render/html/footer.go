package html

import (
	"slices"
	"strings"
	"unicode"

	"mayfly/render/doc"
	"mayfly/render/lexicon"
)

// footerClass says what a block is at the end of a message.
type footerClass uint8

const (
	content    footerClass = iota
	smallPrint             // smaller or fainter than the body
	bareLinks              // the same, and nothing but links or icons
	footerHint             // small print with a phrase of footers
	footerText             // small print half of which is phrases of footers
	footerSure             // of a footer wherever it is
)

// foldFooter moves the secondary text at the end of a message (who sent it and why, the address,
// how to unsubscribe) into a footer: the longest end without content that begins in what footers have.
func foldFooter(d *doc.Document, body float32) []*doc.Block {
	blocks := d.Blocks
	w := &footerWords{doc: d, body: body}
	total, taken := 0, 0
	for _, l := range blocks {
		total += len(l.Text())
	}
	at, first, found, doubt := len(blocks), content, false, false
	i := len(blocks) - 1
	for ; i > 0; i-- {
		if taken += len(blocks[i].Text()); taken*10 > total*7 {
			break
		}
		if blocks[i].Kind == doc.Rule {
			continue
		}
		class := w.class(blocks[i])
		if class == content {
			break
		}
		switch {
		case class > footerHint, class == footerHint && !found:
			at, first, found, doubt = i, class, true, false
		case class == bareLinks && !doubt:
			at, first = i, class
		default:
			doubt = true
		}
	}
	if first != footerSure && len(blocks) > 0 && blocks[i].Kind == doc.Heading {
		return blocks // what is below a heading belongs to it
	}
	from := at
	for glued(blocks, from) && w.class(blocks[from-1]) > content {
		from--
	}
	if !glued(blocks, from) {
		at = from
	}
	for first != footerSure && glued(blocks, at) {
		at++
	}
	if !found || at == 0 || at == len(blocks) {
		return blocks
	}
	footer := &doc.Block{Kind: doc.Footer, Children: slices.Clone(blocks[at:]), Gap: blocks[at].Gap}
	footer.Children[0].Gap = false
	for l := range footer.Leaves() {
		l.InFooter = true
	}
	return append(blocks[:at], footer)
}

// glued reports whether a block stands at the one above it, on the same ground.
func glued(blocks []*doc.Block, i int) bool {
	if i == 0 || i == len(blocks) || blocks[i].Gap {
		return false
	}
	above, l := blocks[i-1].First(), blocks[i].First()
	return above != nil && l != nil && above.Background == l.Background
}

// footerMarks are parts of URLs typical of footers, in any language.
var footerMarks = []string{"unsub", "optout", "opt-out", "opt_out", "preferences", "privacy", "manage-subscription",
	"email-settings", "notification-settings", "list-manage.com/profile"}

const (
	footerPhrases = 3       // different phrases of footers make a block sure to be of one, or two that are half of it
	longFooter    = 1500    // bytes, of one block
	sample        = 8 << 10 // bytes of a message that tell its language
)

// footerWords finds the phrases of footers in the languages of a message.
type footerWords struct {
	doc       *doc.Document
	body      float32             // size of the body in px
	languages []*lexicon.Language // nil until they are needed
}

// class returns what a block is.
func (w *footerWords) class(l *doc.Block) footerClass {
	sure, bare, button := w.signs(l)
	small := secondary(l, w.body)
	if button || !sure && !small {
		return content
	}
	text, n, half := l.Text(), 0, false
	if len(text) > longFooter || l.Kind == doc.Table && len(l.Children) > 1 &&
		slices.ContainsFunc(l.Children, func(row *doc.Block) bool { return w.class(row) < bareLinks }) { // it has other things, too
		sure = false
	} else if !sure {
		n, half = w.phrases(text)
	}
	for _, is := range [...]struct {
		so    bool
		class footerClass
	}{
		{sure || n >= footerPhrases || n > 1 && half, footerSure},
		{!small, content},
		{half, footerText},
		{n > 0 && !strings.ContainsAny(text, "?？؟"), footerHint},
		{bare, bareLinks},
	} {
		if is.so {
			return is.class
		}
	}
	return smallPrint
}

// signs reports whether a block has a sign of a footer that is sure, whether it is nothing but links and icons, and
// whether it has a button.
func (w *footerWords) signs(l *doc.Block) (sure, bare, button bool) {
	bare = true
	for leaf := range l.Leaves() {
		for _, s := range leaf.Spans {
			sure = sure || strings.Contains(s.Text, "©") || strings.Contains(s.Text, "(c) 20")
			button = button || s.Button
			switch {
			case s.Image > 0:
				bare = bare && icon(&w.doc.Images[s.Image-1])
			case s.Link == 0 && strings.ContainsFunc(s.Text, unicode.IsLetter), strings.Contains(s.Text, "://"):
				bare = false
			}
			if s.Link > 0 && !sure {
				url := strings.ToLower(w.doc.Links[s.Link-1].URL)
				sure = slices.ContainsFunc(footerMarks, func(m string) bool { return strings.Contains(url, m) })
			}
		}
	}
	return sure, bare, button
}

// phrases returns how many different phrases of footers a text has, and whether they are half of it.
func (w *footerWords) phrases(text string) (n int, half bool) {
	if w.languages == nil {
		text := w.doc.Text()
		w.languages, _ = lexicon.Detect(lexicon.Fold(text[:min(len(text), sample)]), w.doc.Lang)
	}
	if strings.Contains(text, "@") { // addresses have words of footers, such as help and support
		text = strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.Contains(word, "@") }), " ")
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
	return len(found), len(found) > 0 && covered*2 >= len(folded.Folded)
}

// secondary reports whether a block is smaller or fainter than the body.
func secondary(l *doc.Block, body float32) bool {
	for leaf := range l.Leaves() {
		for _, s := range leaf.Spans {
			if strings.TrimSpace(s.Text) == "" || s.Image > 0 {
				continue
			}
			small := s.Style.Size < body && s.Style.Size <= max(13, body*.9)
			if s.Style.Bold && !small || s.Style.Size > body*1.2 || !small && s.Style.Role != doc.Secondary {
				return false
			}
		}
	}
	return true
}
