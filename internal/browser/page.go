// Package browser makes pages of messages that are safe in a browser: no scripts, no network, no files. It also
// paints them with a browser that is installed.
package browser

import (
	"crypto/rand"
	"encoding/base64"
	"html"
	"image/color"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// Page is a message as a page.
type Page struct {
	Subject, From, To string
	Text, HTML        string
	Images            []InlineImage
}

// InlineImage is an inline image (RFC 2392).
type InlineImage struct {
	ContentID string
	Type      string
	Content   []byte
}

// policy allows embedded images and inline styles, and no loading, no scripts, no forms.
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"

// head begins a document with a Content Security Policy.
func head(policy string) string {
	return "<!doctype html>\n<html><head><meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="` + policy + `">` + "\n" +
		`<meta name="referrer" content="no-referrer"><meta http-equiv="x-dns-prefetch-control" content="off">` + "\n"
}

// SafeCopy returns the document of a copy to read in a browser, without the styles that a sheet gives.
func SafeCopy(p Page) string {
	var b strings.Builder
	b.WriteString(head(policy + "; frame-src 'none'"))
	b.WriteString("<title>" + html.EscapeString(p.Subject) + "</title>\n")
	b.WriteString("<style>body{margin:1.5em auto;max-width:60em;font-family:sans-serif}pre{white-space:pre-wrap}.mayfly{color:#666;border-bottom:1px solid #ccc;padding-bottom:.6em;margin-bottom:1em}</style>\n</head><body>\n")
	b.WriteString(`<div class="mayfly"><b>` + html.EscapeString(p.Subject) + "</b><br>" + html.EscapeString(p.From) + " → " + html.EscapeString(p.To) + "<br>A copy without scripts, forms, remote images and styles.</div>\n")
	b.WriteString(p.body(false))
	b.WriteString("\n</body></html>\n")
	return b.String()
}

// body returns the sanitised HTML of a message, with all its styles if it is to look as it was sent.
func (p Page) body(styled bool) string {
	if p.HTML == "" {
		return "<pre>" + html.EscapeString(p.Text) + "</pre>"
	}
	return sanitizer(p.Images, styled).Sanitize(p.HTML)
}

// outside is the colour of what is not part of a painted message.
var outside = color.RGBA{255, 0, 254, 255}

// firstHeight is the height in px of the window that a message is laid out for.
const firstHeight = 800

var doctype = regexp.MustCompile(`^\s*<!(?i:doctype)[\w\s"./:\-]*>`)

// frame returns a document that shows a message in a frame as tall as it is, width px wide. The frame is a sandbox:
// nothing in it runs, submits or navigates. The one script is ours, and only tells the frame its height.
func frame(p Page, width int) string {
	nonce := rand.Text()
	var b strings.Builder
	b.WriteString(head(policy + "; script-src 'nonce-" + nonce + "'"))
	b.WriteString("<style>html,body{margin:0;background:rgb(255,0,254)}iframe{border:0;display:block;background:#fff;width:" +
		strconv.Itoa(width) + "px;height:" + strconv.Itoa(firstHeight) + "px}</style></head><body>\n")
	b.WriteString(`<iframe sandbox="allow-same-origin" srcdoc="` + html.EscapeString(doctype.FindString(p.HTML)+p.body(true)) + `"></iframe>` + "\n")
	b.WriteString(`<script nonce="` + nonce + `">onload = () => { const f = document.querySelector("iframe"); ` +
		`f.style.height = f.contentDocument.documentElement.scrollHeight + "px" }</script></body></html>` + "\n")
	return b.String()
}

// sanitizer keeps text, tables, links and embedded images, with the given ones in place of their content IDs. Styled, it
// keeps all that changes only how they look.
func sanitizer(images []InlineImage, styled bool) *bluemonday.Policy {
	var (
		dataImage = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$`)
		source    = regexp.MustCompile(`^\s*(cid:|data:image/)`)
		length    = regexp.MustCompile(`^[0-9]{1,4}(px|%)?$`)
		colour    = regexp.MustCompile(`^(#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,20})$`)
	)
	embedded := map[string]string{} // data URLs without their scheme, by content ID in lower case
	for _, i := range images {
		src := "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Content)
		if dataImage.MatchString(src) {
			embedded[strings.ToLower(i.ContentID)] = strings.TrimPrefix(src, "data:")
		}
	}
	image := func(u *url.URL) string { return embedded[strings.ToLower(strings.TrimPrefix(u.String(), "cid:"))] }
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "div", "span", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "b", "strong", "i", "em", "u", "s",
		"small", "sub", "sup", "code", "pre", "blockquote", "center", "ul", "ol", "li", "dl", "dt", "dd",
		"table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "img", "font")
	p.AllowAttrs("align", "valign").Matching(regexp.MustCompile(`^[a-z]{1,10}$`)).Globally()
	p.AllowAttrs("width", "height", "cellpadding", "cellspacing", "border").Matching(length).Globally()
	p.AllowAttrs("bgcolor", "color").Matching(colour).Globally()
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^[0-9]{1,3}$`)).OnElements("td", "th")
	p.AllowAttrs("alt", "title").OnElements("img", "a")
	p.AllowAttrs("src").Matching(source).OnElements("img")
	p.AllowURLSchemeWithCustomPolicy("data", func(u *url.URL) bool { return dataImage.MatchString(u.String()) })
	p.AllowURLSchemeWithCustomPolicy("cid", func(u *url.URL) bool { return image(u) != "" })
	p.RewriteSrc(func(u *url.URL) {
		if u.Scheme == "cid" {
			*u = url.URL{Scheme: "data", Opaque: image(u)}
		}
	})
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	if styled {
		p.AllowUnsafe(true) // the text of style elements
		p.AllowNoAttrs().OnElements("html", "head", "body", "style", "font", "span", "a", "img")
		p.AllowElements("section", "article", "main", "header", "footer", "nav", "aside", "figure", "figcaption", "address", "big", "tt",
			"del", "ins", "strike", "mark", "abbr", "cite", "q", "kbd", "samp", "var", "wbr", "col", "colgroup", "button", "label", "details", "summary")
		p.AllowAttrs("style", "class", "id", "dir", "lang", "size", "face", "type", "start", "nowrap", "bordercolor", "hspace", "vspace").Globally()
		p.AllowAttrs("width", "height", "cellpadding", "cellspacing", "border", "align", "valign", "bgcolor", "color", "text", "link",
			"topmargin", "leftmargin", "marginwidth", "marginheight", "span", "colspan", "rowspan").Globally()
		p.AllowAttrs("media").OnElements("style")
		p.AllowAttrs("name").Matching(regexp.MustCompile(`^(color-scheme|supported-color-schemes|viewport)$`)).OnElements("meta")
		p.AllowAttrs("content").Matching(regexp.MustCompile(`^[\w ,.=-]*$`)).OnElements("meta")
		return p
	}
	p.AllowStyles("color", "background-color").Matching(colour).Globally()
	p.AllowStyles("text-align").MatchingEnum("left", "right", "center", "justify").Globally()
	p.AllowStyles("font-weight").MatchingEnum("bold", "normal", "600", "700").Globally()
	p.AllowStyles("font-size", "padding", "margin", "width", "max-width").Matching(length).Globally()
	return p
}
