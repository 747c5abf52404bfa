package html

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/link"
)

// alts decides what the images of a document say, once all its text is known.
type alts struct {
	doc    *doc.Document
	said   map[string]bool // the lines and alternative texts so far
	worded map[string]bool // the destinations of text, and of images that are shown
	hosts  map[string]int  // how many links lead to a host
	bare   map[string]int  // how many of them are images without words
	heads  map[int]int     // how many characters the images above the words of a cell may say
}

// sayImages keeps of the alternative texts those that say something: neither what stands beside the
// image or was said before, nor what the image is. An image without one that is a link has the name
// of where it leads, unless text leads there, too.
func sayImages(d *doc.Document) {
	if len(d.Images) == 0 {
		return
	}
	a := alts{doc: d, said: map[string]bool{}, worded: map[string]bool{}, hosts: map[string]int{}, bare: map[string]int{}, heads: map[int]int{}}
	a.countHosts()
	a.cards(d.Blocks)
	var leaves []*doc.Block
	for leaf := range d.Leaves() {
		leaves = append(leaves, leaf)
		for i := range leaf.Spans {
			if s := &leaf.Spans[i]; s.Image == 0 && strings.TrimSpace(s.Text) != "" {
				a.worded[a.destination(s.Link)] = true
			}
		}
	}
	dropped := false
	for i, leaf := range leaves {
		var next *doc.Block
		if i+1 < len(leaves) {
			next = leaves[i+1]
		}
		dropped = a.leaf(leaf, next) || dropped
	}
	if dropped {
		d.Blocks = withoutEmpty(d.Blocks)
	}
}

// leaf decides what the images in a leaf say, and reports whether it drops any.
func (a *alts) leaf(leaf, next *doc.Block) (dropped bool) {
	beside, here := lines(leaf, next), map[string]bool{}
	kept := leaf.Spans[:0]
	for i, s := range leaf.Spans {
		if s.Image > 0 && !s.Button {
			im := &a.doc.Images[s.Image-1]
			if text := a.text(im, s.Link, beside, here); text == "" || a.marks(im, s.Link, leaf.Spans[i+1:], next) {
				a.shift(s.Image, len(s.Text))
				dropped = true
				continue
			} else if text != s.Text {
				a.rename(s.Link, s.Text, text)
				s.Text = text
			}
			here[fold(s.Text)], a.said[fold(s.Text)], a.worded[a.destination(s.Link)] = true, true, true
		}
		kept = append(kept, s)
	}
	if leaf.Spans = kept; iconStrip(a.doc, leaf) {
		leaf.Spans = separated(leaf.Spans)
	}
	if dropped {
		trimSpans(leaf)
		a.clamp(leaf)
	}
	for _, line := range lines(leaf) {
		a.said[line] = true
	}
	return dropped
}

// marks reports whether an image is an icon before words with the same destination.
func (a *alts) marks(im *doc.Image, n int, after []doc.Span, next *doc.Block) bool {
	if next != nil {
		after = append(slices.Clip(after), next.Spans...)
	}
	i := slices.IndexFunc(after, func(s doc.Span) bool { return strings.TrimSpace(s.Text) != "" })
	return i >= 0 && n > 0 && icon(im) && im.Height > 0 && im.Height <= maxIcon && after[i].Image == 0 && a.destination(after[i].Link) == a.destination(n)
}

// countHosts counts the links that lead to each host.
func (a *alts) countHosts() {
	bare := map[int]bool{}
	for i := range a.doc.Images {
		im := &a.doc.Images[i]
		bare[im.Link] = bare[im.Link] || !im.Spacer && informative(im.Alt) == ""
	}
	for i := range a.doc.Links {
		host := a.doc.Links[i].Host
		if a.hosts[host]++; bare[i+1] {
			a.bare[host]++
		}
	}
}

// cards finds the images at the head of the cells of tables. If one of a table only repeats the words
// below it, none says anything: cells that are alike stay in step.
func (a *alts) cards(blocks []*doc.Block) {
	for _, b := range blocks {
		a.cards(b.Children)
		if b.Kind != doc.Table {
			continue
		}
		var heads []int
		repeat := false
		for _, row := range b.Children {
			for _, c := range row.Children {
				if len(c.Children) < 2 {
					continue
				}
				if im := onlyImage(a.doc, c.Children[0]); im != nil {
					heads = append(heads, im.N)
					a.heads[im.N] = max(leastHead, headWidth/len(row.Children))
					said := fold(informative(im.Alt))
					repeat = repeat || said != "" && slices.Contains(lines(c.Children[1]), said)
				}
			}
		}
		for _, n := range heads {
			if repeat && len(heads) > 1 {
				a.heads[n] = 0
			}
		}
	}
}

// How long the texts of images above the words of cells that are side by side may be, in characters:
// all of them, and each at least.
const (
	headWidth = 96
	leastHead = 16
)

// destination returns where link n leads, without what only says from where; "" without a link.
func (a *alts) destination(n int) string {
	if n == 0 {
		return ""
	}
	page, query, _ := strings.Cut(a.doc.Links[n-1].Target, "?")
	if i := strings.LastIndexByte(page, '/') + 1; strings.HasPrefix(page[i:], "index.") {
		page = page[:i]
	}
	for pair := range strings.SplitSeq(query, "&") {
		if !strings.HasPrefix(pair, "utm_") {
			page += "&" + pair
		}
	}
	return page
}

// text returns what an image says, or "".
func (a *alts) text(im *doc.Image, link int, beside []string, here map[string]bool) string {
	alt := informative(im.Alt)
	reached := link == 0 || a.worded[a.destination(link)]
	most, head := a.heads[im.N]
	switch {
	case alt == "" && link == 0 && (im.Remote || im.HasAlt), alt == "" && reached && link > 0:
		return ""
	case alt == "" && link > 0:
		return a.name(im, link)
	case alt == "":
		return placeholder(im)
	case fold(alt) == "": // stars, say
		return alt
	case reached && (head && most == 0 || a.repeated(im, alt, beside) || link > 0 && here[fold(alt)]):
		return ""
	case head:
		return shortened(alt, max(most, leastHead))
	}
	return alt
}

// repeated reports whether what an image says stands beside it, or was said before.
func (a *alts) repeated(im *doc.Image, alt string, beside []string) bool {
	said := fold(alt)
	return a.said[said] && !icon(im) || slices.Contains(beside, said)
}

// name returns the name of an image that is a link: the site that it leads to, or else words in the
// name of its file.
func (a *alts) name(im *doc.Image, n int) string {
	host := a.doc.Links[n-1].Host
	if host == "" || a.hosts[host] > 1 { // many links lead there, as through a click tracker
		if words := fileWords(im.Src); words != "" {
			return words
		}
	}
	if host == "" || a.bare[host] > 1 && !home(a.doc.Links[n-1].Target) {
		if icon(im) {
			return "[image]"
		}
		return placeholder(im)
	}
	domain := link.Domain(host)
	if name, ok := strings.CutSuffix(domain, ".com"); ok && icon(im) && name != "" {
		return capital(name)
	}
	return domain
}

// home reports a link to the first page of a site.
func home(target string) bool {
	_, page, _ := strings.Cut(target, "://")
	page, _, _ = strings.Cut(page, "?")
	_, page, _ = strings.Cut(page, "/")
	return page == ""
}

// shortened returns a text up to the end of a word within so many characters.
func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	text = string(runes[:most])
	if end := strings.LastIndexByte(text, ' '); end > 0 {
		text = text[:end]
	}
	return text + "…"
}

// icon reports whether an image is known to be small.
func icon(im *doc.Image) bool { return im.Width > 0 && im.Width <= maxIcon }

// iconStrip reports whether a leaf is nothing but icons.
func iconStrip(d *doc.Document, leaf *doc.Block) bool {
	for _, s := range leaf.Spans {
		if strings.TrimSpace(s.Text) != "" && (s.Image == 0 || !icon(&d.Images[s.Image-1])) {
			return false
		}
	}
	return len(leaf.Spans) > 0
}

// separated returns the images of a strip of icons with a mark between them.
func separated(spans []doc.Span) (strip []doc.Span) {
	for _, s := range spans {
		if s.Image == 0 {
			continue
		}
		if len(strip) > 0 {
			strip = append(strip, doc.Span{Text: " · ", Style: doc.Style{Role: doc.Secondary}})
		}
		strip = append(strip, s)
	}
	return strip
}

// rename gives a link whose text is that of its image the new one.
func (a *alts) rename(n int, from, to string) {
	if n > 0 && a.doc.Links[n-1].Text == from {
		a.doc.Links[n-1].Text = to
	}
}

// shift moves the images that stand in the same leaf behind image n, whose text of some bytes is
// dropped.
func (a *alts) shift(n, size int) {
	leaf := a.doc.Images[n-1].Leaf
	for i := n; i < len(a.doc.Images) && a.doc.Images[i].Leaf == leaf; i++ {
		a.doc.Images[i].Offset = max(a.doc.Images[i].Offset-size, 0)
	}
}

// clamp keeps the images of a leaf within its text.
func (a *alts) clamp(leaf *doc.Block) {
	size := len(leaf.Text())
	for i := range a.doc.Images {
		if im := &a.doc.Images[i]; im.Leaf == leaf.Order {
			im.Offset = min(im.Offset, size)
		}
	}
}

// nameless are words that say what an image is rather than what it shows.
var nameless = []string{"image", "img", "picture", "pic", "photo", "graphic", "icon", "logo", "banner", "header", "hero", "masthead",
	"footer", "spacer", "divider", "separator", "line", "background", "decoration", "illustration", "placeholder", "arrow", "bullet", "alt", "text"}

// informative returns an alternative text without what it says about the image itself. It is empty if
// there is nothing else, or if it is the name of a file.
func informative(alt string) string {
	words := strings.Fields(alt)
	other := func(w string) bool { return !slices.Contains(nameless, fold(w)) }
	if len(words) == 1 {
		words = strings.FieldsFunc(alt, func(r rune) bool { return r == '_' || r == '-' })
		if ext := path.Ext(alt); len(ext) > 3 && len(ext) <= 5 && extensions[strings.ToLower(ext)] {
			return ""
		}
	}
	if len(words) > 0 && !slices.ContainsFunc(words, other) {
		return ""
	}
	if n := len(alt) - len(" icon"); n > 0 && strings.EqualFold(alt[n:], " icon") {
		return strings.TrimSpace(alt[:n])
	}
	return alt
}

var extensions = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".svg": true}

// fileWords returns the words in the name of an image's file, if it is made of words.
func fileWords(src string) string {
	src, _, _ = strings.Cut(src, "?")
	name := path.Base(src)
	if !extensions[strings.ToLower(path.Ext(name))] {
		return ""
	}
	name, _, _ = strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "@")
	var words []string
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' }) {
		if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) || len(word) > 16 {
			return "" // a number, or something encoded
		}
		if !slices.Contains(nameless, fold(word)) {
			words = append(words, word)
		}
	}
	text := strings.Join(words, " ")
	if len(text) < 3 || len(words) > 4 {
		return ""
	}
	return capital(text)
}

// capital returns a text that is not empty with its first letter in upper case.
func capital(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// fold returns a text by which it is compared: its letters and digits in lower case.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// lines returns the lines of leaves, without images, as they are compared.
func lines(leaves ...*doc.Block) (lines []string) {
	for _, leaf := range leaves {
		if leaf == nil {
			continue
		}
		var text strings.Builder
		for i := range leaf.Spans {
			if s := &leaf.Spans[i]; s.Image == 0 {
				text.WriteString(s.Text)
			}
		}
		for line := range strings.SplitSeq(text.String(), "\n") {
			if line = fold(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// trimSpans removes the space at both ends of a leaf.
func trimSpans(leaf *doc.Block) {
	isBlank := func(s doc.Span) bool { return strings.Trim(s.Text, " \n") == "" }
	spans := leaf.Spans
	for len(spans) > 0 && isBlank(spans[0]) {
		spans = spans[1:]
	}
	for len(spans) > 0 && isBlank(spans[len(spans)-1]) {
		spans = spans[:len(spans)-1]
	}
	if n := len(spans); n > 0 {
		spans[0].Text = strings.TrimLeft(spans[0].Text, " \n")
		spans[n-1].Text = strings.TrimRight(spans[n-1].Text, " \n")
	}
	leaf.Spans = spans
}

// withoutEmpty returns blocks without those that nothing is left of.
func withoutEmpty(blocks []*doc.Block) []*doc.Block {
	kept := make([]*doc.Block, 0, len(blocks))
	gap := false
	for _, b := range blocks {
		b.Children = withoutEmpty(b.Children)
		left := []*doc.Block{b}
		switch {
		case b.Kind == doc.Table:
			left = rowsLeft(b)
		case b.Kind != doc.Rule && b.Kind != doc.Row && b.Kind != doc.Cell && len(b.Spans)+len(b.Children) == 0:
			left = nil
		}
		if len(left) == 0 {
			gap = gap || b.Gap
			continue
		}
		left[0].Gap = left[0].Gap || gap && len(kept) > 0
		gap = false
		kept = append(kept, left...)
	}
	return kept
}

// rowsLeft returns a table without the rows and columns that nothing is left of, or what is in its
// cells if that is one column.
func rowsLeft(table *doc.Block) (blocks []*doc.Block) {
	spans := func(c *doc.Block) bool { return c.Rows > 1 }
	full := func(c *doc.Block) bool { return len(c.Children) > 0 }
	if slices.ContainsFunc(table.Children, func(r *doc.Block) bool { return slices.ContainsFunc(r.Children, spans) }) {
		return []*doc.Block{table}
	}
	table.Children = slices.DeleteFunc(table.Children, func(r *doc.Block) bool { return !slices.ContainsFunc(r.Children, full) })
	dropColumns(table.Children)
	for _, row := range table.Children {
		if len(row.Children) > 1 {
			return []*doc.Block{table}
		}
		for _, c := range row.Children {
			blocks = append(blocks, c.Children...)
		}
	}
	if len(blocks) > 0 {
		blocks[0].Gap = blocks[0].Gap || table.Gap
	}
	return blocks
}
