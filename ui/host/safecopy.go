package host

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"

	"mayfly/internal/message"
)

// SafeCopy is the content of a copy.
type SafeCopy struct {
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
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-src 'none'"

// Copies are the copies made by one run of the program. The zero value is ready to use.
type Copies struct {
	mu    sync.Mutex
	dir   string
	count int
}

// folder makes the folder of the copies.
func (c *Copies) folder() (err error) {
	if c.dir == "" {
		c.dir, err = os.MkdirTemp("", "mayfly-copy-") // mode 0700
	}
	return err
}

// Attachment writes an attachment of a message and returns its path.
func (c *Copies) Attachment(m *message.Message, i int, content []byte) (path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.folder(); err != nil {
		return "", fmt.Errorf("writing the attachment: %w", err)
	}
	file, err := m.SaveAttachment(c.dir, i, content)
	return file.Path, err
}

// Write writes a copy and returns its path.
func (c *Copies) Write(m SafeCopy) (path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = c.folder(); err == nil {
		c.count++
		path = filepath.Join(c.dir, fmt.Sprintf("mail-%d.html", c.count))
		err = os.WriteFile(path, []byte(safePage(m)), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("writing a copy: %w", err)
	}
	return path, nil
}

// Remove removes every copy.
func (c *Copies) Remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	dir := c.dir
	c.dir = ""
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the copies: %w", err)
	}
	return nil
}

// safePage is the document of a copy.
func safePage(m SafeCopy) string {
	body := "<pre>" + html.EscapeString(m.Text) + "</pre>"
	if m.HTML != "" {
		body = sanitizer(m.Images).Sanitize(m.HTML)
	}
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html><head><meta charset=\"utf-8\">\n")
	b.WriteString(`<meta http-equiv="Content-Security-Policy" content="` + policy + `">` + "\n")
	b.WriteString(`<meta name="referrer" content="no-referrer"><meta http-equiv="x-dns-prefetch-control" content="off">` + "\n")
	b.WriteString("<title>" + html.EscapeString(m.Subject) + "</title>\n")
	b.WriteString("<style>body{margin:1.5em auto;max-width:60em;font-family:sans-serif}pre{white-space:pre-wrap}.mayfly{color:#666;border-bottom:1px solid #ccc;padding-bottom:.6em;margin-bottom:1em}</style>\n</head><body>\n")
	b.WriteString(`<div class="mayfly"><b>` + html.EscapeString(m.Subject) + "</b><br>" + html.EscapeString(m.From) + " → " + html.EscapeString(m.To) + "<br>A copy without scripts, forms, remote images and styles.</div>\n")
	b.WriteString(body)
	b.WriteString("\n</body></html>\n")
	return b.String()
}

// sanitizer keeps text, tables, links and embedded images, with the given ones in place of their content IDs.
func sanitizer(images []InlineImage) *bluemonday.Policy {
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
	p.AllowStyles("color", "background-color").Matching(colour).Globally()
	p.AllowStyles("text-align").MatchingEnum("left", "right", "center", "justify").Globally()
	p.AllowStyles("font-weight").MatchingEnum("bold", "normal", "600", "700").Globally()
	p.AllowStyles("font-size", "padding", "margin", "width", "max-width").Matching(length).Globally()
	return p
}
