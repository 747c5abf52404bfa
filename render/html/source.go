package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds on what is read of a body. Real messages stay far below them.
const (
	maxCost   = 80_000  // of the tree: an element is 2, an end tag, a comment and an attribute 1, an element that the parser reopens 2
	maxAttrs  = 64      // attributes of a tag
	maxSpans  = 40_000  // runs of text of their own style
	maxLeaves = 20_000  // blocks with text
	maxText   = 1 << 20 // bytes of text; the rest is left out
	// maxDepth bounds the nested tables, divs and the like. The parser fails beyond 512 elements, of
	// which a table makes four.
	maxDepth = 100
	// maxOpen bounds the formatting elements that are open at once. The parser reopens each of them
	// in every block that follows until it is closed.
	maxOpen     = 16
	usuallyOpen = 4
	maxValue    = 8 << 10  // bytes of an attribute
	maxHref     = 64 << 10 // bytes of an href; part of a longer one would lead elsewhere
	maxTitle    = 4 << 10  // bytes of the title
)

// source is the HTML that is passed to the parser.
type source struct {
	html string // without what makes too large or too deep a tree
	lost string // what a reader should know of what was cut; empty if that shows nowhere
}

// limit scans a source once, as a tokenizer does, and cuts what makes too large or too deep a tree.
func limit(html string) source {
	s := scanner{src: html}
	for s.next() {
	}
	if s.kept > 0 {
		s.out.WriteString(s.src[s.kept:])
		s.src = s.out.String()
	}
	return source{html: s.src, lost: s.lost}
}

// scanner scans a source, tag by tag.
type scanner struct {
	src  string
	at   int             // the end of what is scanned
	out  strings.Builder // what is kept of src[:kept]
	kept int
	lost string

	cost, open, depth int  // see maxCost, maxOpen, maxDepth
	untitled          bool // no title ends in the rest
}

// drop leaves out src[from:to], unless a part of it is left out already.
func (s *scanner) drop(from, to int) {
	if from >= s.kept {
		s.out.WriteString(s.src[s.kept:from])
		s.kept = to
	}
}

// next scans up to the end of the next tag or comment, and reports whether there was one.
func (s *scanner) next() bool {
	tag := s.until(s.at, "<")
	for tag+1 < len(s.src) && !letter(s.src[tag+1]) && strings.IndexByte("/!?", s.src[tag+1]) < 0 {
		tag = s.until(tag+1, "<")
	}
	if tag-s.at > maxText {
		s.drop(s.at+maxText, tag)
		s.lost = "a part of the text is cut: it is too long"
	}
	if tag+1 >= len(s.src) {
		return false
	}
	if s.cost > maxCost {
		s.src, s.lost = s.src[:tag], beginning+": the mail is too long"
		return false
	}
	s.at = tag + 1
	s.cost++
	switch rest := s.src[s.at:]; {
	case strings.HasPrefix(rest, "!--") && !strings.HasPrefix(rest, "!-->"):
		s.seek("-->")
	case letter(rest[0]):
		s.start(tag)
	case rest[0] == '/' && len(rest) > 1 && letter(rest[1]):
		s.at++
		s.end(tag)
	}
	return true
}

// seek continues at a text, or at the end.
func (s *scanner) seek(text string) {
	if n := strings.Index(s.src[s.at:], text); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.src)
	}
}

// start scans a start tag.
func (s *scanner) start(tag int) {
	name := s.name()
	s.attributes()
	s.cost++
	switch {
	case nesting(name):
		if s.depth++; s.depth > maxDepth {
			s.drop(tag, s.at)
			s.lost = "elements are nested too deeply: the inner ones are shown as one"
		}
		fallthrough
	case !formatting(name):
		s.cost += 2 * max(s.open-usuallyOpen, 0)
	case s.open == maxOpen:
		s.drop(tag, s.at)
	default:
		s.open++
	}
	switch name {
	case "script", "style":
		s.seek("</")
	case "title":
		s.title(tag)
	}
}

// title drops the tag of a title that does not end: what follows is the message.
func (s *scanner) title(tag int) {
	from := s.at
	if !s.untitled {
		s.seek("</")
	}
	if rest := s.src[s.at:]; len(rest) < len("</title") || !strings.EqualFold(rest[:len("</title")], "</title") {
		s.untitled = s.untitled || rest == ""
		s.at = from
		s.drop(tag, from)
	}
}

// end scans an end tag.
func (s *scanner) end(tag int) {
	name := s.name()
	s.attributes()
	switch {
	case formatting(name):
		s.open = max(s.open-1, 0)
	case nesting(name):
		if s.depth > maxDepth {
			s.drop(tag, s.at)
		}
		s.depth = max(s.depth-1, 0)
	}
}

// name scans the name of a tag, and returns its beginning in lower case.
func (s *scanner) name() string {
	from := s.at
	s.at = s.until(s.at, white+"/>")
	return strings.ToLower(s.src[from:min(s.at, from+16)])
}

// attributes scans the attributes and the end of a tag, and drops those that are too many.
func (s *scanner) attributes() {
	surplus := 0
	for n := 0; ; n++ {
		s.at = s.past(s.at, white+"/")
		if n == maxAttrs {
			surplus = s.at
		}
		if s.at >= len(s.src) || s.src[s.at] == '>' {
			s.cost += min(n, maxAttrs)
			break
		}
		s.attribute()
	}
	if surplus > 0 {
		s.drop(surplus, s.at)
	}
	s.at = min(s.at+1, len(s.src))
}

// attribute scans an attribute.
func (s *scanner) attribute() {
	end := s.past(s.until(s.at+1, white+"/=>"), white) // its first character belongs to it, whatever it is
	if end == len(s.src) || s.src[end] != '=' {
		s.at = end
		return
	}
	s.at = s.past(end+1, white)
	if s.at == len(s.src) {
		return
	}
	if c := s.src[s.at]; c == '"' || c == '\'' {
		s.at++
		s.seek(string(c))
		s.at = min(s.at+1, len(s.src))
	} else {
		s.at = s.until(s.at, white+">")
	}
}

const white = " \n\r\t\f"

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// until returns the index of the first of some characters from i on, or where the source ends.
func (s *scanner) until(i int, chars string) int {
	if n := strings.IndexAny(s.src[i:], chars); n >= 0 {
		return i + n
	}
	return len(s.src)
}

// past returns the index of what follows some characters at i.
func (s *scanner) past(i int, chars string) int {
	return len(s.src) - len(strings.TrimLeft(s.src[i:], chars))
}

// nesting reports whether an element can be nested in itself. name is in lower case.
func nesting(name string) bool {
	switch name {
	case "article", "blockquote", "center", "div", "dl", "fieldset", "form", "ol", "section", "span", "table", "ul":
		return true
	}
	return false
}

// formatting reports whether the parser reopens an element that was left open. name is in lower
// case.
func formatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// shorten cuts the attributes of an element that are too long, but for what embedded images are.
func shorten(n *html.Node) {
	for i := range n.Attr {
		switch a := &n.Attr[i]; {
		case len(a.Val) <= maxValue, a.Key == "src":
		case a.Key != "href":
			a.Val = a.Val[:maxValue]
		case len(a.Val) > maxHref:
			a.Val = ""
		}
	}
}

// textOnly reads the text of a source that has no tree.
func (b *builder) textOnly() {
	eachText(b.source.html, func(text string) { b.text(text + " ") })
}

// Text returns the text of a source by its tags alone, not cleaned: of a body that cannot be read any other way.
func Text(source string) string {
	var all strings.Builder
	eachText(source, func(text string) {
		if !empty(text) && all.Len() < maxText {
			all.WriteString(strings.Join(strings.Fields(text), " ") + "\n")
		}
	})
	return all.String()
}

// eachText calls f for each text outside of tags, styles and the like.
func eachText(source string, f func(text string)) {
	z := html.NewTokenizer(strings.NewReader(source))
	for opaque := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken:
			name, _ := z.TagName()
			opaque = isOpaque(atom.Lookup(name))
		case html.EndTagToken:
			opaque = false
		case html.TextToken:
			if !opaque {
				f(string(z.Text()))
			}
		}
	}
}

// beginning begins the reasons why a document is cut.
const beginning = "only its beginning is shown"

// bounds counts what a document has used so far.
type bounds struct {
	spans      int
	text       int // bytes
	simplified string
}

// plain reports that there are too many runs: from now on text takes the style of the text before
// it.
func (b *bounds) plain() bool {
	if b.spans < maxSpans {
		return false
	}
	if b.simplified == "" {
		b.simplified = "too many styles: the rest is shown without"
	}
	return true
}

// room returns what is read of some text: the rest of a text that is too long is left out.
func (b *bounds) room(s string) string {
	if room := maxText - b.text; len(s) > room {
		s = s[:room]
		b.simplified = beginning + ": the mail is too long"
	}
	b.text += len(s)
	return s
}
