// Package browser makes pages of messages that are safe in a browser: no scripts, no network, no files. It also
// renders them with a browser that is installed.
package browser

import (
	"context"
	"encoding/base64"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"

	"mayfly/api"
	"mayfly/internal/guard"
	"mayfly/internal/message"
)

// head begins a page. Its policy allows embedded images, styles, and nothing that loads, runs or submits.
const head = `<!doctype html>
<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="` +
	`default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-src 'none'">
<meta name="referrer" content="no-referrer"><meta http-equiv="x-dns-prefetch-control" content="off">
`

// SafeCopy returns a page of a message to read in a browser. The client fetches the images in it; it may be nil for a
// message from a file.
func SafeCopy(ctx context.Context, c *api.Client, m *message.Message) string {
	subject := html.EscapeString(m.Subject)
	return head + "<title>" + subject + "</title>\n</head><body>\n" +
		`<div style="font-family:sans-serif;color:#666;border-bottom:1px solid #ccc;padding-bottom:.6em;margin-bottom:1em"><b>` + subject + "</b><br>" +
		html.EscapeString(m.From.Addr) + " → " + html.EscapeString(m.Recipients()) + "<br>A copy without scripts, forms and remote images.</div>\n" +
		body(ctx, c, m) + "\n</body></html>\n"
}

var doctype = regexp.MustCompile(`^\s*<!(?i:doctype)[\w\s"./:\-]*>`)

// maxImages bounds the inline images fetched for a page.
const maxImages = 20

// dataImage is the URL of an embedded image.
var dataImage = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$`)

// body returns a message's sanitised HTML with its cid: images (RFC 2392) inlined. One that
// cannot be fetched shows its alternative text.
func body(ctx context.Context, c *api.Client, m *message.Message) string {
	text := func(s string) string { return `<pre style="white-space:pre-wrap">` + html.EscapeString(s) + "</pre>" }
	if m.HTML == "" {
		return text(m.Text)
	}
	images := map[string]string{} // data URLs without their scheme, by content ID in lower case
	for i, at := range m.Attachments {
		if at.ContentID == "" || !strings.HasPrefix(at.ContentType, "image/") || len(images) == maxImages {
			continue
		}
		got, err := m.Attachment(ctx, c, i)
		if src := "data:" + at.ContentType + ";base64," + base64.StdEncoding.EncodeToString(got.Content); err == nil && dataImage.MatchString(src) {
			images[strings.ToLower(at.ContentID)] = strings.TrimPrefix(src, "data:")
		}
	}
	safe := ""
	if !guard.Run("make a page of a message", func() { safe = sanitizer(images).Sanitize(m.HTML) }) {
		return text(m.PlainText())
	}
	return safe
}

// What is kept of a message: all that changes how it looks. Styles may name what is to be loaded; the policy of the
// page does not let them.
const (
	elements = "p div span br hr h1 h2 h3 h4 h5 h6 b strong i em u s small sub sup code pre blockquote center ul ol li dl dt dd table thead tbody " +
		"tfoot tr td th caption col colgroup img a font html head body style section article main header footer nav aside figure figcaption address " +
		"big tt del ins strike mark abbr cite q kbd samp var wbr button label details summary"
	attributes = "style class id dir lang size face type media start nowrap alt title width height cellpadding cellspacing border bordercolor " +
		"align valign hspace vspace bgcolor color text link topmargin leftmargin marginwidth marginheight span colspan rowspan"
)

// sanitizer keeps what may be shown of a message, with images in place of their content IDs.
func sanitizer(images map[string]string) *bluemonday.Policy {
	image := func(u *url.URL) string { return images[strings.ToLower(strings.TrimPrefix(u.String(), "cid:"))] }
	p := bluemonday.NewPolicy()
	p.AllowUnsafe(true) // the text of style elements
	p.AllowElements(strings.Fields(elements)...)
	p.AllowNoAttrs().OnElements("html", "head", "body", "style", "font", "span", "a", "img")
	p.AllowAttrs(strings.Fields(attributes)...).Globally()
	p.AllowAttrs("name").Matching(regexp.MustCompile(`^(color-scheme|supported-color-schemes|viewport)$`)).OnElements("meta")
	p.AllowAttrs("content").Matching(regexp.MustCompile(`^[\w ,.=-]*$`)).OnElements("meta")
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^\s*(cid:|data:image/)`)).OnElements("img")
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
	return p
}
