package render

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/net/html"

	"mayfly/internal/clean"
	"mayfly/internal/guard"
	"mayfly/internal/mail"
	"mayfly/render/check"
	"mayfly/render/doc"
	"mayfly/render/image"
	"mayfly/render/layout"
)

// maxSource is how much of a source is shown, in bytes. All of it can be saved to a file.
const maxSource = 2 << 20

// view returns the document of a view.
func (m *Mail) view(v View, unfold bool) *doc.Document {
	switch v {
	case Text:
		if strings.TrimSpace(m.msg.Text) == "" {
			return source(m.Plain())
		}
		return source(m.msg.Text)
	case HTML:
		if m.msg.HTML == "" {
			return note("The mail has no HTML part.")
		}
		return htmlSource(m.msg.HTML)
	case Headers:
		return m.headers()
	case Raw:
		if m.msg.Raw == nil {
			return note("There is no raw message: the service does not provide it.")
		}
		return source(string(bytes.ToValidUTF8(m.msg.Raw[:min(len(m.msg.Raw), maxSource+1)], []byte("\uFFFD"))))
	case Checks:
		return m.checkList(unfold)
	}
	return m.rich
}

// source shows text as it is, with all its spaces.
func source(text string) *doc.Document {
	text, more := clipped(text)
	return &doc.Document{Blocks: append([]*doc.Block{{Kind: doc.Pre, Spans: []doc.Span{{Text: text}}}}, more...)}
}

// htmlSource shows HTML as it is, coloured, in a block for each line, or several for a long one.
func htmlSource(text string) *doc.Document {
	text, more := clipped(text)
	rows := highlight(text)
	d := &doc.Document{Blocks: make([]*doc.Block, len(rows), len(rows)+1)}
	for n := range rows {
		if d.Blocks[n] = &rows[n]; rows[n].Spans == nil {
			rows[n].Spans = []doc.Span{{}}
		}
	}
	d.Blocks = append(d.Blocks, more...)
	return d
}

// clipped is the beginning of a source, cleaned, and a note that it is not all, if it is not.
func clipped(text string) (string, []*doc.Block) {
	all := strings.TrimRight(clean.Lines(text[:min(len(text), maxSource)]), "\n ")
	if len(text) <= maxSource {
		return all, nil
	}
	more := note("Truncated: save the message to a file to see all of it.").Blocks
	more[0].Gap = true
	return all, more
}

// note is a line that is not from the mail.
func note(text string) *doc.Document {
	return &doc.Document{Blocks: []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Text: text, Style: doc.Style{Italic: true}}}}}}
}

// maxHeaders is how many header fields are shown.
const maxHeaders = 1000

// headers shows the delivery details, and the header fields, or those known without the raw message.
func (m *Mail) headers() *doc.Document {
	fields := m.msg.Fields
	if len(fields) == 0 {
		from := m.msg.From.Addr
		if m.msg.From.Name != "" {
			from = m.msg.From.Name + " <" + from + ">"
		}
		fields = []mail.Field{{Name: "From", Value: from}, {Name: "To", Value: m.msg.Recipients()}, {Name: "Subject", Value: m.msg.Subject}}
	}
	d := &doc.Document{}
	for i, f := range slices.Concat(m.msg.Delivery, fields[:min(len(fields), maxHeaders)]) {
		d.Blocks = append(d.Blocks, field(f.Name, f.Value))
		d.Blocks[i].Gap = i == len(m.msg.Delivery)
	}
	if more := len(fields) - maxHeaders; more > 0 {
		d.Blocks = append(d.Blocks, field("…", fmt.Sprintf("%d more", more)))
	}
	return d
}

func field(name, value string) *doc.Block {
	const maxValue = 64 << 10
	return &doc.Block{Kind: doc.Paragraph, Spans: []doc.Span{
		{Text: clean.Line(name) + ":", Style: doc.Style{Bold: true}},
		{Text: " " + clean.Line(strings.ToValidUTF8(value[:min(len(value), maxValue)], "\uFFFD"))},
	}}
}

// checkList lists the findings of the checks by their level, each with its number from 1 as the order of its
// leaf. Of those that are alike the first stands for all, unless they are unfolded.
func (m *Mail) checkList(unfold bool) *doc.Document {
	findings := m.Findings()
	if len(findings) == 0 {
		return note("No findings.")
	}
	d := &doc.Document{}
	var head *doc.Block // of the level
	number := 0         // of its findings
	for i, f := range findings {
		level, aside := levels[f.Level], f.ID
		if i == 0 || findings[i-1].Level != f.Level {
			head, number = &doc.Block{Kind: doc.Paragraph, Order: -1 - i, Gap: i > 0}, 0
			d.Blocks = append(d.Blocks, head)
		}
		switch {
		case f.Alike > 0:
			number += f.Alike
			head.Spans = []doc.Span{{Text: english.Plural(number, level.name, ""), Style: doc.Style{Bold: true, Role: level.role}}}
			if f.Alike > 1 {
				aside += " ×" + strconv.Itoa(f.Alike)
			}
		case !unfold:
			continue
		}
		item := &doc.Block{Kind: doc.Item, Marker: level.mark, Role: level.role, Children: []*doc.Block{
			{Kind: doc.Paragraph, Order: i + 1, Spans: []doc.Span{{Text: clean.Line(f.Message)}}},
		}}
		if f.Use == nil { // that is one line
			if where := clean.Line(f.Where); where != "" {
				aside += " · " + where
			}
			if f.Line > 0 {
				aside += ", line " + strconv.Itoa(f.Line)
			}
			item.Children = append(item.Children, &doc.Block{Kind: doc.Paragraph, Order: i + 1, Spans: []doc.Span{{Text: aside, Style: doc.Style{Role: doc.Secondary}}}})
		}
		d.Blocks = append(d.Blocks, item)
	}
	return d
}

// levels are how findings are counted and marked.
var levels = [...]struct {
	name, mark string
	role       doc.Role
}{check.Error: {"error", "✕", doc.Bad}, check.Warning: {"warning", "!", doc.Warning}, check.Note: {"note", "·", doc.Secondary},
	check.Layout: {"mail client layout finding", "!", doc.Warning}, check.Decoration: {"mail client style finding", "·", doc.Secondary}}

// lay lays out a view, or else the text of the mail.
func (m *Mail) lay(v View, o Options) (lines []Line) {
	opts := layout.Options{Width: o.Width, Theme: o.Theme, Unfold: true, Wide: v == Checks}
	if v == Rich {
		opts.Hidden, opts.Unfold, opts.Links = o.Hidden, o.Unfold, o.Links
		opts.HiddenKey = o.HiddenKey
		opts.Images, opts.Image = o.Images, m.image
	}
	if !guard.Run("lay out a message", func() { lines = layout.Lay(m.view(v, o.Unfold), opts) }) {
		opts.Images, opts.Image, opts.Hidden = image.Mode{}, nil, false
		guard.Run("lay out the text of a message", func() { lines = layout.Lay(m.asText(), opts) })
	}
	return lines
}

// Notice returns what the user should know about the view, one fact per line: what was not loaded,
// what is hidden.
func (m *Mail) Notice() []string {
	var lines []string
	d := m.body
	if d.Simplified != "" {
		lines = append(lines, "simplified view: "+d.Simplified)
	}
	images, trackers := 0, 0
	for i := range d.Images {
		switch {
		case d.Images[i].Tracker:
			trackers++
		case d.Images[i].Remote:
			images++
		}
	}
	say := func(n int, what, more string) {
		if n > 0 {
			lines = append(lines, english.Plural(n, what, "")+more)
		}
	}
	if images > 0 && trackers > 0 {
		lines = append(lines, english.Plural(images, "remote image", "")+", "+english.Plural(trackers, "tracker", "")+": not loaded")
	} else {
		say(images, "remote image", ": not loaded")
		say(trackers, "tracker", ": not loaded")
	}
	if d.HiddenBytes > 0 {
		lines = append(lines, "hidden text: "+Bytes(d.HiddenBytes))
	}
	blocked := 0
	for i := range d.Links {
		if d.Links[i].Blocked {
			blocked++
		}
	}
	say(blocked, "link", " blocked: not a web or mail address")
	say(d.Scripts, "script", ": not run")
	say(d.Forms, "form", ": not sent")
	return lines
}

// Bytes formats a number of bytes for people.
func Bytes(n int) string {
	switch {
	case n < 1000:
		return english.Plural(n, "byte", "")
	case n < 1_000_000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// The colours of the HTML source.
const (
	tagRole     = doc.Accent
	nameRole    = doc.Warning // of an attribute or a property
	valueRole   = doc.Good
	commentRole = doc.Secondary
)

// highlighter cuts HTML into runs of one role, by the tokenizer that browsers' rules are written
// for: it has no rules of its own that a hostile source could confuse, and takes no more than one
// pass.
type highlighter struct {
	rows []doc.Block
	at   int      // bytes of the line so far
	long bool     // it is broken between tags
	open []string // the elements that are open, down to maxDepth
}

const (
	maxColoured = 256 << 10 // bytes of a source that are coloured
	longLine    = 160       // bytes from which a line is broken
	maxDepth    = 64
	maxIndent   = 8 // elements by which a row of a long line is indented
)

// highlight returns cleaned HTML as rows of coloured spans, with the number of their line as their order.
func highlight(source string) []doc.Block {
	h := &highlighter{rows: make([]doc.Block, 0, 1+strings.Count(source, "\n"))}
	h.row(1, 0)
	rest := ""
	if len(source) > maxColoured {
		end := max(0, strings.LastIndexAny(source[:maxColoured], "<\n"))
		source, rest = source[:end], source[end:]
	}
	h.tokens(source)
	h.add(rest, doc.Own)
	return h.rows
}

// row begins a row of a line after so many bytes of it.
func (h *highlighter) row(line, at int) {
	h.rows, h.at = append(h.rows, doc.Block{Kind: doc.Pre, Order: line, Offset: at}), at
}

// indent begins an indented row within a long line, unless that has just begun.
func (h *highlighter) indent() {
	if !h.long || h.at == 0 {
		return
	}
	h.row(h.rows[len(h.rows)-1].Order, h.at)
	if n := min(len(h.open), maxIndent); n > 0 {
		h.rows[len(h.rows)-1].Spans = []doc.Span{{Text: strings.Repeat("  ", n)}}
	}
}

// enter notes that an element begins, leave that it ends, and with it those in it.
func (h *highlighter) enter(name string) {
	if len(h.open) < maxDepth && !slices.Contains(voids, name) {
		h.open = append(h.open, name)
	}
}

func (h *highlighter) leave(name string) {
	for n, open := range slices.Backward(h.open) {
		if open == name {
			h.open = h.open[:n]
			return
		}
	}
}

// voids are the elements without an end.
var voids = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// tokens adds each token of HTML.
func (h *highlighter) tokens(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	at, end, style, text := 0, -1, false, false // end is that of the line, text what the last token was
	for {
		token := z.Next()
		raw := source[at : at+len(z.Raw())]
		if at > end {
			line, _, _ := strings.Cut(source[at:], "\n")
			end, h.long = at+len(line), len(line) > longLine
		}
		at += len(raw)
		name, _ := z.TagName()
		if token == html.EndTagToken {
			h.leave(string(name))
		}
		if !text && token != html.TextToken && token != html.ErrorToken {
			h.indent()
		}
		text = token == html.TextToken && !style && strings.TrimSpace(raw) != ""
		switch token {
		case html.ErrorToken:
			h.add(source[at-len(raw):], doc.Own)
			return
		case html.StartTagToken:
			h.enter(string(name))
			fallthrough
		case html.EndTagToken, html.SelfClosingTagToken:
			style = token == html.StartTagToken && string(name) == "style"
			h.tag(raw)
		case html.TextToken:
			if style {
				h.css(raw)
			} else {
				h.add(raw, doc.Own)
			}
		default: // a comment or a doctype
			h.add(raw, commentRole)
		}
	}
}

// add adds text, which may be of several lines.
func (h *highlighter) add(text string, r doc.Role) {
	for more := true; more; {
		var line string
		line, text, more = strings.Cut(text, "\n")
		last := &h.rows[len(h.rows)-1]
		if h.at += len(line); line != "" {
			last.Spans = append(last.Spans, doc.Span{Text: line, Style: doc.Style{Role: r}})
		}
		if more {
			h.row(last.Order+1, 0)
		}
	}
}

// tag adds a tag with its attributes.
func (h *highlighter) tag(raw string) {
	n := strings.IndexAny(raw, " \n/>")
	if n < 0 || strings.HasPrefix(raw, "</") {
		n = len(raw)
	}
	h.add(raw[:n], tagRole)
	for raw = raw[n:]; raw != ""; raw = raw[n:] {
		switch n = strings.IndexAny(raw, "=>"); {
		case n < 0:
			n = len(raw)
			h.add(raw, tagRole)
		case raw[n] == '>':
			n++
			h.add(raw[:n-1], nameRole)
			h.add(">", tagRole)
		default:
			h.add(raw[:n], nameRole)
			h.add("=", doc.Own)
			raw = raw[n+1:]
			n = valueEnd(raw)
			h.add(raw[:n], valueRole)
		}
	}
}

// valueEnd is where the value of an attribute ends.
func valueEnd(s string) int {
	from, ends, past := len(s)-len(strings.TrimLeft(s, " \n")), " \n>", 0
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		ends, past = s[from:from+1], 1
		from++
	}
	if end := strings.IndexAny(s[from:], ends); end >= 0 {
		return from + end + past
	}
	return len(s)
}

// css adds a style sheet: selectors, names and values of properties, comments.
func (h *highlighter) css(s string) {
	for s != "" {
		if strings.HasPrefix(s, "/*") {
			n := len(s)
			if end := strings.Index(s[2:], "*/"); end >= 0 {
				n = end + 4
			}
			h.add(s[:n], commentRole)
			s = s[n:]
			continue
		}
		n := strings.IndexAny(s, "{};")
		end := n + 1
		if n < 0 {
			n, end = len(s), len(s)
		}
		if comment := strings.Index(s[:n], "/*"); comment >= 0 {
			n, end = comment, comment
		}
		name, value, declares := strings.Cut(s[:n], ":")
		switch {
		case n < end && s[n] == '{':
			h.add(s[:n], tagRole)
		case declares:
			h.add(name, nameRole)
			h.add(":", doc.Own)
			h.add(value, valueRole)
		default:
			h.add(s[:n], doc.Own)
		}
		h.add(s[n:end], doc.Own)
		ends := n < end && s[n] == '}'
		if s = s[end:]; ends && s != "" {
			h.indent()
		}
	}
}
