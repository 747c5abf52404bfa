package check

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxElements bounds how many tags of the source are checked.
const maxElements = 200_000

// elements checks the tags of the HTML source.
func elements(in Input, r *report) {
	z := html.NewTokenizer(strings.NewReader(in.HTML.Source))
	nowhere := make(map[string]int) // links without a target
	first := make(map[string]int)   // where the first of them is
	defer func() {
		for _, href := range slices.Sorted(maps.Keys(nowhere)) {
			if n := nowhere[href]; n > 1 {
				r.addAt(at(first[href]), "link-empty", Error, "HTML", "%d links lead nowhere: href=%q", n, href)
			} else {
				r.addAt(at(first[href]), "link-empty", Error, "HTML", "A link leads nowhere: href=%q", href)
			}
		}
	}()
	begins := 0 // the tag
	for range maxElements {
		token := z.Next()
		if token == html.ErrorToken {
			return
		}
		ends := begins + len(z.Raw())
		if token == html.StartTagToken || token == html.SelfClosingTagToken {
			name, more := z.TagName()
			attrs := attributes(z, more)
			if href, ok := attrs["href"]; ok && atom.Lookup(name) == atom.A && (strings.TrimSpace(href) == "" || strings.TrimSpace(href) == "#") {
				href = strings.TrimSpace(href)
				if nowhere[href]++; nowhere[href] == 1 {
					first[href] = begins
				}
			}
			element(atom.Lookup(name), at(begins), attrs, r)
		}
		begins = ends
	}
}

// attributes returns the attributes of a tag, the first of each name.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	attrs := make(map[string]string)
	for more && len(attrs) < 64 {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, ok := attrs[string(key)]; !ok {
			attrs[string(key)] = string(value)
		}
	}
	return attrs
}

func element(name atom.Atom, at place, attrs map[string]string, r *report) {
	switch name {
	case atom.Img:
		_, alt := attrs["alt"]
		if !alt && !tiny(attrs["width"]) && !tiny(attrs["height"]) {
			r.addAt(at, "image-alt", Warning, "HTML", "An image has no alt text, and many readers do not load images: %q", cut(attrs["src"]))
		}
	case atom.Script:
		r.addAt(at, "script", Error, "HTML", "No mail program runs a script; some reject the message")
	case atom.Form:
		r.addAt(at, "form", Warning, "HTML", "Most mail programs do not send forms: link to a page instead")
	case atom.Iframe, atom.Object, atom.Embed:
		r.addAt(at, "embedded", Error, "HTML", "Mail programs remove <%s>", name)
	case atom.Link:
		if strings.EqualFold(attrs["rel"], "stylesheet") && !strings.Contains(attrs["href"], "fonts.") {
			r.addAt(at, "stylesheet", Warning, "HTML", "Mail programs do not load style sheets: put the styles in the message")
		}
	}
}

// tiny reports whether a declared size is that of a spacer or a tracker.
func tiny(size string) bool {
	size = strings.TrimSuffix(strings.TrimSpace(size), "px")
	return size == "0" || size == "1" || size == "2"
}
