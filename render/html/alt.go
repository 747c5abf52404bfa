package html

import (
	"cmp"
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
	doc     *doc.Document
	said    map[string]bool // the alternative texts so far
	kinds   map[string]bool // what images in several cells of a row say: what they are
	reached map[string]bool // the destinations of text, and of images that are shown
	bare    map[string]int  // how many links to a host are images without words
	texts   map[int]string  // what each image says, by number
}

// applyAltText keeps of the alternative texts those that say something: neither what stands beside the
// image or was said before, nor what the image is. A linked image without one has the name of where
// it leads, unless text leads there, too.
func applyAltText(d *doc.Document) {
	if len(d.Images) == 0 {
		return
	}
	a := alts{doc: d, said: map[string]bool{}, kinds: map[string]bool{}, reached: map[string]bool{}, bare: map[string]int{}, texts: map[int]string{}}
	linked := map[int]bool{}
	for i := range a.doc.Images {
		if im := &a.doc.Images[i]; im.Link > 0 && !im.Spacer && informative(im.Alt) == "" && !linked[im.Link] {
			linked[im.Link] = true
			a.bare[a.doc.Links[im.Link-1].Host]++
		}
	}
	leaves := slices.Collect(a.doc.Leaves())
	for _, leaf := range leaves {
		for i := range leaf.Spans {
			if s := &leaf.Spans[i]; s.Image == 0 && strings.TrimSpace(s.Text) != "" {
				a.reached[a.destination(s.Link)] = true
			}
		}
	}
	a.compare(d.Blocks)
	for i, leaf := range leaves {
		if slices.ContainsFunc(leaf.Spans, isImage) {
			// A date is often between a picture and its title.
			a.decide(leaf, len(lines(leaf)) > 0, lines(leaves[max(i-1, 0):min(i+3, len(leaves))]...))
		}
	}
	dropped := false
	for _, leaf := range leaves {
		if slices.ContainsFunc(leaf.Spans, isImage) {
			dropped = a.leaf(leaf) || dropped
		}
	}
	if dropped {
		a.doc.Blocks = withoutEmpty(a.doc.Blocks)
	}
}

// compare notes what images in several cells of a row within some blocks say.
func (a *alts) compare(blocks []*doc.Block) {
	for _, b := range blocks {
		a.compare(b.Children)
		if b.Kind != doc.Row {
			continue
		}
		in := map[string]*doc.Block{} // the last cell
		for _, cell := range b.Children {
			for leaf := range cell.Leaves() {
				for _, s := range leaf.Spans {
					if s.Image > 0 {
						alt := a.doc.Images[s.Image-1].Alt
						a.kinds[alt] = a.kinds[alt] || in[alt] != nil && in[alt] != cell
						in[alt] = cell
					}
				}
			}
		}
	}
}

// reaches reports whether text leads where link n does. Nothing leads where there is none.
func (a *alts) reaches(n int) bool { return n == 0 || a.reached[a.destination(n)] }

// destination returns where link n leads; "" without a link.
func (a *alts) destination(n int) string {
	if n == 0 {
		return ""
	}
	to := a.doc.Links[n-1].Target
	if i := strings.LastIndexByte(to, '/') + 1; strings.HasPrefix(to[i:], "index.") {
		return to[:i]
	}
	return to
}

func isImage(s doc.Span) bool { return s.Image > 0 }

// decide decides what the images in a leaf say, with words in it or not, and some lines beside them. In a strip of
// icons that leads anywhere else, all say something.
func (a *alts) decide(leaf *doc.Block, words bool, beside []string) {
	strip := iconStrip(a.doc, leaf) && slices.ContainsFunc(leaf.Spans, func(s doc.Span) bool { return !a.reaches(s.Link) })
	for _, s := range leaf.Spans {
		if s.Image == 0 || s.Button {
			continue
		}
		im := &a.doc.Images[s.Image-1]
		if words && s.Link == 0 && sign(im) {
			continue
		}
		text := informative(im.Alt)
		if text == "" && s.Link > 0 && (strip || !a.reaches(s.Link)) {
			text = a.name(im, s.Link)
		}
		words := meaning(text)
		said := fold(strings.Join(words, " "))
		if a.reaches(s.Link) && said != "" && (!strip && repeated(beside, words, icon(im)) || (a.said[said] || a.kinds[im.Alt]) && (s.Link > 0 || !icon(im))) { // stars are often repeated
			continue
		}
		if a.texts[s.Image] = text; text != "" {
			a.said[said], a.reached[a.destination(s.Link)] = true, true
		}
	}
}

// leaf has the images in a leaf say what they do, and reports whether it drops any.
func (a *alts) leaf(leaf *doc.Block) (dropped bool) {
	kept, size, images := leaf.Spans[:0], 0, 0
	for _, s := range leaf.Spans {
		if s.Image > 0 && !s.Button {
			a.doc.Images[s.Image-1].Offset, images = size, s.Image
			text := a.texts[s.Image]
			if text == "" {
				dropped = true
				continue
			}
			if s.Link > 0 && a.doc.Links[s.Link-1].Text == s.Text {
				a.doc.Links[s.Link-1].Text = text
			}
			s.Text = text
		}
		size += len(s.Text)
		kept = append(kept, s)
	}
	if leaf.Spans = kept; iconStrip(a.doc, leaf) {
		leaf.Spans = separated(leaf.Spans)
	}
	if dropped {
		trimSpans(leaf)
		leaf.Gap = leaf.Gap || len(leaf.Spans) == 0 && a.tall(leaf) // where the image stands
		for i := images - 1; i >= 0 && a.doc.Images[i].Leaf == leaf.Order; i-- {
			a.doc.Images[i].Offset = min(a.doc.Images[i].Offset, len(leaf.Text()))
		}
	}
	return dropped
}

// tall reports whether an image of a leaf is taller than a line.
func (a *alts) tall(leaf *doc.Block) bool {
	const line = 20 // px
	return slices.ContainsFunc(a.doc.Images, func(im doc.Image) bool {
		return im.Leaf == leaf.Order && !im.Spacer && !im.Tracker && im.Height > line
	})
}

// repeated reports whether one of some lines is what a text says, begins with it if it is of an icon or has several
// words, or has most of these and little else: a name and a size, or what somebody did.
func repeated(lines, words []string, icon bool) bool {
	said, several := fold(strings.Join(words, "")), len(words) > 1
	return slices.ContainsFunc(lines, func(line string) bool {
		size := 0
		for _, word := range words {
			if word = fold(word); strings.Contains(line, word[:max(len(word)-2, min(len(word), 4))]) { // whatever its ending
				size += len(word)
			}
		}
		return line == said || (several || icon) && strings.HasPrefix(line, said) || several && size*2 > len(said) && len(line) <= len(said)*2
	})
}

// networks are sites that icons lead to, mostly through click trackers.
var networks = []string{"Facebook", "Instagram", "Twitter", "LinkedIn", "YouTube", "TikTok", "Pinterest", "WhatsApp", "Telegram", "Discord",
	"Reddit", "GitHub", "Mastodon", "Bluesky", "Snapchat", "Spotify", "SoundCloud", "Google", "Weibo", "WeChat", "Kakao", "Vimeo", "Tumblr", "Twitch"}

// name returns the name of an image that is link n: a network, or the site that it leads to, unless images lead to several
// pages of that.
func (a *alts) name(im *doc.Image, n int) string {
	to := &a.doc.Links[n-1]
	file := strings.ToLower(path.Base(im.Src) + " " + to.Host)
	for _, name := range networks {
		if strings.Contains(file, strings.ToLower(name)) {
			return name
		}
	}
	_, site, _ := strings.Cut(to.Target, "://")
	site, _, _ = strings.Cut(site, "?")
	if _, path, _ := strings.Cut(site, "/"); to.Host != "" && (a.bare[to.Host] < 2 || path == "") {
		return link.Domain(to.Host)
	}
	return cmp.Or(im.Alt, placeholder(im))
}

// onlyImage returns the image that a block consists of, or nil.
func onlyImage(d *doc.Document, b *doc.Block) *doc.Image {
	for len(b.Children) == 1 && (b.Kind == doc.Cell || b.Kind == doc.Paragraph) {
		b = b.Children[0]
	}
	if len(b.Spans) != 1 || b.Spans[0].Image == 0 {
		return nil
	}
	return &d.Images[b.Spans[0].Image-1]
}

// repeats reports whether a cell is nothing but an image that the next one stands for: that has its
// target, and its words unless it has none or is an icon.
func repeats(d *doc.Document, cell, next *doc.Block) bool {
	im, leaf := onlyImage(d, cell), next.First()
	if im == nil || leaf == nil || slices.ContainsFunc(leaf.Spans, func(s doc.Span) bool { return s.Image > 0 }) ||
		im.Link > 0 && !slices.ContainsFunc(leaf.Spans, func(s doc.Span) bool { return s.Link == im.Link }) {
		return false
	}
	if im.Link > 0 && (im.Alt == "" || icon(im)) {
		return true
	}
	beside := lines(leaf)
	return len(beside) > 0 && beside[0] == fold(im.Alt)
}

// maxIcon is the width and height in px up to which an image is an icon, such as those of social
// networks.
const maxIcon = 64

// icon reports whether an image is known to be small.
func icon(im *doc.Image) bool { return im.Width > 0 && im.Width <= maxIcon }

// maxSign is the width in px up to which an image beside words only decorates them.
const maxSign = 22

// sign reports an image that is no larger than the words it stands beside, and whose text is in words.
func sign(im *doc.Image) bool {
	return im.Width > 0 && im.Width <= maxSign && len(im.Alt) > utf8.UTFMax && strings.ContainsFunc(im.Alt, unicode.IsLetter)
}

// iconStrip reports whether a leaf is nothing but icons.
func iconStrip(d *doc.Document, leaf *doc.Block) bool {
	return len(leaf.Spans) > 0 && !slices.ContainsFunc(leaf.Spans, func(s doc.Span) bool {
		return strings.TrimSpace(s.Text) != "" && (s.Image == 0 || !icon(&d.Images[s.Image-1]))
	})
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

// nameless are words that say what an image is rather than what it shows.
var nameless = []string{"image", "img", "picture", "pic", "photo", "graphic", "icon", "logo", "banner", "header", "hero", "masthead",
	"footer", "spacer", "divider", "separator", "border", "top", "bottom", "large", "small", "line", "background", "decoration", "illustration", "placeholder", "arrow", "bullet", "alt", "text",
	"product", "thumbnail", "avatar", "bild", "foto", "imagen", "imagem", "immagine", "afbeelding", "изображение", "фото", "图片", "圖片", "画像", "이미지", "صورة", "תמונה"}

// meaning returns the words of a text that do not say what an image is.
func meaning(text string) (words []string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' || r == '\'' || r == '’' }) {
		if !slices.Contains(nameless, fold(word)) {
			words = append(words, word)
		}
	}
	return words
}

// imageFiles are the ends of the names of files.
var imageFiles = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}

// informative returns an alternative text, or "" if that says only what the image or its file is.
func informative(alt string) string {
	if len(meaning(alt)) == 0 || strings.Contains(alt, "_") || slices.Contains(imageFiles, strings.ToLower(path.Ext(alt))) {
		return ""
	}
	if n := len(alt) - len(" icon"); n > 0 && strings.EqualFold(alt[n:], " icon") {
		return alt[:n]
	}
	return alt
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
	for len(leaf.Spans) > 0 && isBlank(leaf.Spans[0]) {
		leaf.Spans = leaf.Spans[1:]
	}
	for n := len(leaf.Spans); n > 0 && isBlank(leaf.Spans[n-1]); n-- {
		leaf.Spans = leaf.Spans[:n-1]
	}
	if n := len(leaf.Spans); n > 0 {
		first, last := &leaf.Spans[0], &leaf.Spans[n-1]
		first.Text = strings.TrimLeft(first.Text, " \n")
		last.Text = strings.TrimRight(last.Text, " \n")
	}
}

// withoutEmpty returns blocks without those that nothing is left of.
func withoutEmpty(blocks []*doc.Block) []*doc.Block {
	kept := make([]*doc.Block, 0, len(blocks))
	gap := false
	for _, l := range blocks {
		l.Children = withoutEmpty(l.Children)
		left := []*doc.Block{l}
		switch {
		case l.Kind == doc.Table:
			left = rowsLeft(l)
		case l.Kind != doc.Rule && l.Kind != doc.Row && l.Kind != doc.Cell && len(l.Spans)+len(l.Children) == 0:
			left = nil
		}
		if gap = gap || l.Gap; len(left) == 0 {
			continue
		}
		left[0].Gap = gap && (l.Gap || len(kept) > 0)
		gap = false
		kept = append(kept, left...)
	}
	return kept
}

// rowsLeft returns a table without the rows and columns that nothing is left of, or what is in its
// cells if that is one column.
func rowsLeft(table *doc.Block) (blocks []*doc.Block) {
	table.Children = slices.DeleteFunc(table.Children, func(row *doc.Block) bool { return filled(row) == 0 })
	dropColumns(table.Children)
	for _, row := range table.Children {
		if len(row.Children) > 1 {
			return []*doc.Block{table}
		}
		first := row.Children[0].Children
		first[0].Gap = first[0].Gap || row.Gap
		blocks = append(blocks, first...)
	}
	return blocks
}
