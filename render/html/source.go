package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"mayfly/render/html/css"
)

// Bounds on the parts of a source. What is longer is cut, so that none takes much memory: the
// parser holds each of them several times. Real messages stay far below them, except for embedded
// images, which are set aside.
const (
	maxAttrs   = 64       // attributes of a tag
	maxValue   = 8 << 10  // bytes of an attribute
	maxHref    = 64 << 10 // bytes of an href; a longer one is dropped, since part of it would lead elsewhere
	maxComment = 1 << 10  // bytes of a comment; a longer one is dropped
	maxTitle   = 4 << 10  // bytes of the title
)

// source is the HTML as it is passed to the parser.
type source struct {
	html string   // without what is too long, too deep or too much
	data []string // attribute values that were set aside: "mayfly:2" in the source stands for data[2]
	lost string   // what a reader should know of the text that was cut; empty if none was
}

// aside is the prefix of what replaces an attribute value that was set aside.
const aside = "mayfly:"

// limit scans a source once, as a tokenizer does, and cuts what is too long.
func limit(html string) source {
	s := scanner{src: html}
	for s.next() {
	}
	s.text(len(s.src))
	if s.kept == 0 {
		return source{html: s.src, data: s.data, lost: s.lost}
	}
	s.out.WriteString(s.src[s.kept:])
	return source{html: s.out.String(), data: s.data, lost: s.lost}
}

// value returns the value of an attribute, which may have been set aside.
func (s *source) value(v string) string {
	number, ok := strings.CutPrefix(v, aside)
	if !ok {
		return v
	}
	if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(s.data) {
		return html.UnescapeString(s.data[n])
	}
	return v
}

// scanner scans a source, tag by tag.
type scanner struct {
	src  string
	at   int             // scanned up to here
	out  strings.Builder // what is kept of src[:kept]
	kept int
	data []string
	lost string

	cost     int  // see maxCost
	open     int  // formatting elements
	depth    int  // see maxDepth
	untitled bool // no title ends from here on
}

// replace replaces src[from:to].
func (s *scanner) replace(from, to int, with string) {
	s.out.WriteString(s.src[s.kept:from])
	s.out.WriteString(with)
	s.kept = to
}

// text ends the text before an index.
func (s *scanner) text(to int) {
	if to-s.at > maxText {
		s.replace(s.at+maxText, to, " ")
		s.lost = "a part of the text is cut: it is too long"
	}
	s.at = to
}

// next scans the next text and the tag or comment after it, and reports whether there was one.
func (s *scanner) next() bool {
	tag := s.at
	for {
		n := strings.IndexByte(s.src[tag:], '<')
		if n < 0 || tag+n+1 == len(s.src) {
			return false
		}
		tag += n
		if c := s.src[tag+1]; letter(c) || c == '!' || c == '?' || c == '/' {
			break
		}
		tag++
	}
	s.text(tag)
	if s.cost > maxCost || s.out.Len()+tag-s.kept > maxTree {
		s.src, s.lost = s.src[:tag], "only its beginning is shown: the mail is too long"
		return false
	}
	s.cost += 2
	switch c := s.src[tag+1]; {
	case strings.HasPrefix(s.src[tag:], "<!--"):
		s.comment(tag)
	case letter(c):
		s.element(tag)
	case c == '/' && tag+2 < len(s.src) && letter(s.src[tag+2]):
		s.at = tag + 2
		name := s.name()
		s.attributes()
		if formatting(name) {
			s.open = max(s.open-1, 0)
		} else if nesting(name) {
			if s.depth > maxDepth {
				s.replace(tag, s.at, "")
			}
			s.depth = max(s.depth-1, 0)
		}
	default:
		s.skip(tag, tag+2, ">")
	}
	return true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// comment scans the comment at an index.
func (s *scanner) comment(from int) {
	body := from + len("<!--")
	if rest := s.src[body:]; strings.HasPrefix(rest, ">") || strings.HasPrefix(rest, "->") {
		s.at = body + strings.IndexByte(rest, '>') + 1
		return
	}
	s.skip(from, body, "-->")
}

// skip continues after an end mark, and drops what began at from if it is long.
func (s *scanner) skip(from, at int, mark string) {
	s.at = len(s.src)
	if n := strings.Index(s.src[at:], mark); n >= 0 {
		s.at = at + n + len(mark)
	}
	if s.at-from > maxComment {
		s.replace(from, s.at, "")
	}
}

// name reads the name of the tag at s.at, and returns it in lower case.
func (s *scanner) name() string {
	from := s.at
	s.at = s.until(s.at, white+"/>")
	return strings.ToLower(s.src[from:min(s.at, from+16)])
}

const white = " \n\r\t\f"

// until returns the index of the first of some characters from i on, or where the source ends.
func (s *scanner) until(i int, chars string) int {
	if n := strings.IndexAny(s.src[i:], chars); n >= 0 {
		return i + n
	}
	return len(s.src)
}

// past returns the index of what follows white space at i.
func (s *scanner) past(i int) int {
	for i < len(s.src) && isSpace(s.src[i]) {
		i++
	}
	return i
}

// element scans the start tag at an index, and the text after it if that has no tags.
func (s *scanner) element(from int) {
	s.at = from + 1
	name := s.name()
	if s.at-from > maxValue { // not the name of an element
		s.replace(from+maxValue, s.at, "")
	}
	s.attributes()
	switch {
	case !formatting(name):
		s.cost += 2 * max(s.open-usuallyOpen, 0)
	case s.open == maxOpen:
		s.replace(from, s.at, "")
	default:
		s.open++
	}
	if nesting(name) {
		if s.depth++; s.depth > maxDepth {
			s.replace(from, s.at, "")
			s.lost = "elements are nested too deeply: the inner ones are shown as one"
		}
	}
	switch name {
	case "script", "iframe", "noembed", "noframes":
		s.raw(name, 0)
	case "style":
		s.raw(name, css.MaxSheet)
	case "title":
		if from >= s.kept && !s.titled() {
			s.replace(from, s.at, "") // what follows is the message
			return
		}
		s.raw(name, maxTitle)
	case "textarea", "xmp":
		s.raw(name, maxText)
	}
}

// titled reports whether a title ends somewhere.
func (s *scanner) titled() bool {
	if from := s.at; !s.untitled {
		s.seek("title")
		s.untitled = s.at == len(s.src)
		s.at = from
	}
	return !s.untitled
}

// raw scans the content of an element that has no tags in it, and cuts it.
func (s *scanner) raw(name string, limit int) {
	from := s.at
	s.seek(name)
	if s.at-from > max(limit, maxComment) {
		s.replace(from+limit, s.at, "")
	}
}

// seek scans up to the end tag of an element.
func (s *scanner) seek(name string) {
	for s.at < len(s.src) {
		n := strings.Index(s.src[s.at:], "</")
		if n < 0 {
			s.at = len(s.src)
			break
		}
		s.at += n
		if rest := s.src[s.at+2:]; len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			break
		}
		s.at += 2
	}
}

// attributes scans the attributes and the end of a tag.
func (s *scanner) attributes() {
	n := 0
	for {
		for s.at < len(s.src) && (isSpace(s.src[s.at]) || s.src[s.at] == '/') {
			s.at++
		}
		if s.at >= len(s.src) {
			break
		}
		if s.src[s.at] == '>' {
			s.at++
			break
		}
		from := s.at
		key, value, end := s.attribute()
		s.at = end
		if n++; n > maxAttrs {
			s.surplus(from)
			break
		}
		s.long(from, key, value)
	}
	s.cost += min(n, maxAttrs)
}

// surplus drops the attributes from an index on.
func (s *scanner) surplus(from int) {
	for s.at < len(s.src) && s.src[s.at] != '>' {
		_, _, s.at = s.attribute()
	}
	s.replace(from, s.at, "")
	if s.at < len(s.src) {
		s.at++
	}
}

// span stands for src[from:to].
type span struct{ from, to int }

// attribute returns key and value of the attribute at s.at, and where it ends.
func (s *scanner) attribute() (key, value span, end int) {
	key = span{s.at, s.until(s.at+1, white+"/=>")} // the first character belongs to it, whatever it is
	if end = s.past(key.to); end == len(s.src) || s.src[end] != '=' {
		return key, value, end
	}
	if end = s.past(end + 1); end == len(s.src) {
		return key, value, end
	}
	if c := s.src[end]; c == '"' || c == '\'' {
		value = span{end + 1, len(s.src)}
		if n := strings.IndexByte(s.src[end+1:], c); n >= 0 {
			value.to = end + 1 + n
		}
		return key, value, min(value.to+1, len(s.src))
	}
	value = span{end, s.until(end, white+">")}
	return key, value, value.to
}

// long sets aside or cuts the value of the attribute at from if it is too long.
func (s *scanner) long(from int, key, value span) {
	if key.to-key.from > maxValue {
		s.replace(from, s.at, "")
		return
	}
	if value.to-value.from <= maxValue {
		return
	}
	switch name := s.src[key.from:key.to]; {
	case strings.EqualFold(name, "src"):
		s.replace(value.from, value.to, aside+strconv.Itoa(len(s.data)))
		s.data = append(s.data, s.src[value.from:value.to])
	case strings.EqualFold(name, "href"):
		if value.to-value.from > maxHref {
			s.replace(from, s.at, "")
		}
	default:
		s.replace(value.from+maxValue, value.to, "")
	}
}
