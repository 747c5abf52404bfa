package check

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
)

func links(in Input, r *report) {
	for name, d := range in.documents() {
		for i := range d.Links {
			oneLink(&d.Links[i], name, r)
		}
	}
}

func oneLink(l *doc.Link, where string, r *report) {
	url, at := cut(l.URL), textIn(where, l.URL)
	scheme, _, found := strings.Cut(strings.ToLower(l.URL), ":")
	switch {
	case len(unreplaced(l.URL)) > 0: // reported as a placeholder
	case l.Blocked && (!found || strings.ContainsAny(scheme, "/?#.")):
		r.addAt(at, "link-relative", Error, where, "%q is relative: links in a message must be absolute", url)
	case l.Blocked && (scheme == "http" || scheme == "https"):
		r.addAt(at, "link-no-host", Error, where, "%q has no host", url)
	case l.Blocked && (scheme == "javascript" || scheme == "data" || scheme == "vbscript" || scheme == "file"):
		r.addAt(at, "link-scheme", Error, where, "%q is a link that mail programs remove or warn about", url)
	case l.Host == "":
	case private(l.Host):
		level := Error
		if r.rules.Local {
			level = Note
		}
		r.addAt(at, "link-private", level, where, "%q leads to %s, which recipients cannot reach", url, l.Host)
	case scheme == "http" && !strings.EqualFold(l.URL, "http://"+l.Text): // a link that we made of "www.…"
		r.addAt(at, "link-http", Warning, where, "%q is not encrypted: use https", url)
	}
	if l.Host != "" && strings.ContainsAny(l.URL, " \t") {
		r.addAt(at, "link-spaces", Warning, where, "%q has spaces: encode them as %%20", url)
	}
	if strings.HasPrefix(l.Warning, "says ") {
		r.addAt(at, "link-differs", Warning, where, "A link %s: readers and spam filters take that for phishing", l.Warning)
	}
}

// private reports whether a host exists only on the sender's machine or network.
func private(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsLinkLocalUnicast()
	}
	dot := strings.LastIndexByte(host, '.')
	return dot < 0 || slices.Contains([]string{"localhost", "local", "internal", "lan", "intranet", "localdomain"}, host[dot+1:])
}

// maxElements bounds how many tags of the source are checked.
const maxElements = 200_000

// elements checks the tags of the HTML source.
func elements(in Input, r *report) {
	z := html.NewTokenizer(strings.NewReader(in.HTML.Source))
	nowhere := make(map[string][]int) // where the links without a target are
	begins := 0                       // the tag
	outline := outline{r: r}
	for range maxElements {
		token := z.Next()
		if token == html.ErrorToken {
			break
		}
		ends := begins + len(z.Raw())
		if token == html.EndTagToken {
			name, _ := z.TagName()
			outline.end(atom.Lookup(name))
		}
		if token == html.StartTagToken || token == html.SelfClosingTagToken {
			name, more := z.TagName()
			attrs := attributes(z, more)
			outline.start(atom.Lookup(name), attrs, begins)
			href, ok := attrs["href"]
			if href = strings.TrimSpace(href); ok && atom.Lookup(name) == atom.A && (href == "" || href == "#") {
				nowhere[href] = append(nowhere[href], begins)
			}
			element(atom.Lookup(name), at(begins), attrs, r)
		}
		begins = ends
	}
	outline.finish(in.HTML.Doc)
	for _, href := range slices.Sorted(maps.Keys(nowhere)) {
		said := "A link leads"
		if n := len(nowhere[href]); n > 1 {
			said = strconv.Itoa(n) + " links lead"
		}
		r.addAt(at(nowhere[href][0]), "link-empty", Error, "HTML", "%s nowhere: href=%q", said, href)
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

func element(name atom.Atom, at position, attrs map[string]string, r *report) {
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
	return slices.Contains([]string{"0", "1", "2"}, strings.TrimSuffix(strings.TrimSpace(size), "px"))
}
