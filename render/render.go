// Package render turns a message into lines for a terminal. A body is read into a document of blocks
// (package doc), which is kept; a document is laid out for a width and a theme. All text passes one
// sanitiser (package clean) on its way in, and escape sequences are written by one writer on the way
// out, so that nothing in a message reaches the terminal as a control sequence. On request the images
// that the mail carries are drawn (package image): then the sequences of one graphics protocol are
// added, made of decoded pixels, never of the image's own bytes. None of it uses the network.
package render

import (
	"archive/zip"
	"bytes"
	"slices"
	"sync"

	"mayfly/internal/clean"
	"mayfly/internal/guard"
	"mayfly/internal/mail"
	"mayfly/render/check"
	"mayfly/render/doc"
	"mayfly/render/find"
	"mayfly/render/html"
	"mayfly/render/image"
	"mayfly/render/layout"
)

// View is a way to look at a message.
type View int

const (
	Rich    View = iota // the body, rendered
	Text                // the text part as it is, or else plain text made from the HTML
	HTML                // the HTML source
	Headers             // its delivery details, and the header fields
	Raw                 // the message as received
	Checks              // what a tester should look at before sending it
	Web                 // as a browser paints it; a message alone has no lines for it
)

// Options say how to lay out a view.
type Options struct {
	Width  int // columns; at least 1
	Theme  Theme
	Hidden bool // show the text that the mail hides
	Unfold bool // show footers, long quotes and checks that are alike in full
	Links  bool // end with the list of links
	// HiddenKey is the key that shows hidden text; "" where there is none.
	HiddenKey string
	// Images says how the images that the mail carries are drawn in the rich view: not at all when
	// it is zero.
	Images image.Mode
}

type (
	// Theme is the colours and abilities of a terminal.
	Theme = layout.Theme
	// Line is one row of a view.
	Line = layout.Line
	// LinkAt is the position of a link in a row.
	LinkAt = layout.LinkAt
	// Link is a link of the body.
	Link = doc.Link
)

// Mail is an opened message: its views, checks and findings all come from one reading of each body.
// Its methods may be called from several goroutines.
type Mail struct {
	msg        mail.Message
	reader     reader
	text, html *doc.Document // the bodies as they were read, never changed; nil without one
	body       *doc.Document // the one that is shown, where a code that stands alone is a block
	rich       *doc.Document // body with the invitation above it, if there is one
	found      find.Parts
	rules      check.Rules
	checks     func() []check.Finding
	findings   func() []check.Finding
	imageCount func() (present, missing int)

	mu     sync.Mutex
	cache  []cached
	images decoded
}

type cached struct {
	view  View
	opts  Options
	lines []Line
}

// maxCached is how many layouts are kept. A message is shown in few views and widths at a time.
const maxCached = 4

// Open reads the bodies of a message, each once, sanitises them, and finds its code and link. It
// does no I/O and is bounded in time and memory.
func Open(m mail.Message) *Mail { return open(m, &Mail{reader: reading}) }

// Reopen opens a message of which m is an earlier, incomplete form. A body that is the same in both
// is not read again.
func (m *Mail) Reopen(more mail.Message) *Mail { return open(more, m) }

func open(m mail.Message, before *Mail) *Mail {
	o := &Mail{msg: m, reader: before.reader}
	if !guard.Run("read a message", func() {
		o.read(before)
		o.rich = o.invited()
	}) {
		o = &Mail{msg: m, reader: before.reader, body: o.asText()}
		o.rich = o.body
	}
	o.checks = sync.OnceValue(func() []check.Finding { return o.checked(o.check) })
	o.findings = sync.OnceValue(func() []check.Finding {
		return append(slices.Clip(o.checks()), o.checked(func() []check.Finding { return check.Clients(m.HTML, o.rules) })...)
	})
	o.imageCount = sync.OnceValues(func() (present, missing int) {
		guard.Run("count the images of a message", func() { present, missing = o.countImages() })
		return present, missing
	})
	return o
}

// checked returns what f finds, or that it did not come to an end.
func (m *Mail) checked(f func() []check.Finding) (found []check.Finding) {
	const id = "unchecked"
	if !guard.Run("check a message", func() { found = f() }) && !slices.Contains(m.rules.Ignore, id) {
		found = []check.Finding{{ID: id, Level: check.Error, Alike: 1, Message: "Not all of the message could be checked: this is a fault of Mayfly"}}
	}
	return found
}

// asText returns a document for a message that cannot be read or laid out: its text, below a line that says so.
func (m *Mail) asText() *doc.Document {
	text := m.msg.Text
	if blank(text) {
		text = html.Text(m.msg.HTML)
	}
	d := source(text)
	d.Blocks[0].Gap = true
	d.Blocks = append(note("This message cannot be rendered: this is its text.").Blocks, d.Blocks...)
	return d
}

// Under sets what the checks look for. It comes before all other methods.
func (m *Mail) Under(rules check.Rules) *Mail {
	m.rules = rules
	return m
}

// Document is the body that the rich view shows. It must not be changed.
func (m *Mail) Document() *doc.Document { return m.rich }

// Links are the links of the body, by number.
func (m *Mail) Links() []Link { return m.body.Links }

// Clean makes hostile text, such as a subject, a name or an error, safe for one line of a terminal.
// Characters whose direction is overridden are in the order in which they are read.
func Clean(s string) string { return clean.Line(clean.ReadingOrder(s)) }

// CleanName is Clean for the name of a file, whose ending is to be seen as it is, and for what a user
// pastes: characters stay in their order.
func CleanName(s string) string { return clean.Line(s) }

// CleanWhole is Clean but leaves every emoji as it was sent, for text whose width is fixed where that
// matters.
func CleanWhole(s string) string { return clean.WholeLine(clean.ReadingOrder(s)) }

// CleanLines is Clean for text of several lines: newlines and tabs stay.
func CleanLines(s string) string { return clean.Lines(s) }

// Lines lays out a view. No line is wider than the width, none but one blank line follows another,
// and the same message and options give the same bytes. The lines are kept and must not be changed.
func (m *Mail) Lines(v View, o Options) []Line {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cache {
		if c.view == v && c.opts == o {
			return c.lines
		}
	}
	lines := m.lay(v, o)
	if len(m.cache) == maxCached {
		m.cache = m.cache[1:]
	}
	m.cache = append(m.cache, cached{v, o, lines})
	return lines
}

// Find returns the candidates for the code and the link, with the reasons for their scores.
func (m *Mail) Find() find.Result { return m.found.Result }

// Code returns the one-time code of the mail, if it has one.
func (m *Mail) Code() (find.Code, bool) {
	if !m.found.CodeOK {
		return find.Code{}, false
	}
	return m.found.Codes[0], true
}

// Codes returns the code and other candidates, the likeliest first.
func (m *Mail) Codes() []find.Code { return m.found.Codes }

// Confirm returns the link that the mail asks to follow, if there is one.
func (m *Mail) Confirm() (find.Link, bool) {
	if !m.found.LinkOK {
		return find.Link{}, false
	}
	return m.found.Links[0], true
}

// Checks returns what a tester should look at before the mail is sent.
func (m *Mail) Checks() []check.Finding { return m.checks() }

// Findings returns the checks, and then what mail clients do not support, for which it reads the HTML again once.
func (m *Mail) Findings() []check.Finding { return m.findings() }

// maxArchive bounds an archive of which the files are listed, in bytes: one may be nothing but names.
const maxArchive = 1 << 20

func (m *Mail) check() []check.Finding {
	in := check.Input{
		Subject: Clean(m.msg.Subject), ReceivedAt: m.msg.ReceivedAt, Raw: m.msg.Raw, Rules: m.rules,
		BodyOnly: m.msg.Raw == nil && m.msg.From == mail.Address{} && m.msg.To == nil && m.msg.Subject == "" && (m.msg.Text == "" || m.msg.HTML == ""),
	}
	if clean.ReadingOrder(m.msg.Subject) != m.msg.Subject {
		in.Reversed = append(in.Reversed, "subject")
	}
	if clean.ReadingOrder(m.msg.From.Name) != m.msg.From.Name {
		in.Reversed = append(in.Reversed, "sender")
	}
	if m.text != nil {
		in.Text = check.Part{Source: m.msg.Text, Doc: m.text, Found: m.found.Text}
	}
	if m.html != nil {
		in.HTML = check.Part{Source: m.msg.HTML, Doc: m.html, Found: m.found.Doc}
	}
	for _, f := range m.msg.Fields {
		in.Fields = append(in.Fields, check.Field{Name: f.Name, Value: Clean(f.Value)})
	}
	for _, d := range m.msg.Defects {
		in.Defects = append(in.Defects, Clean(d))
	}
	for _, a := range m.msg.Attachments {
		in.Files = append(in.Files, Clean(a.Filename))
		if len(a.Content) > maxArchive {
			continue
		}
		archive, err := zip.NewReader(bytes.NewReader(a.Content), int64(len(a.Content)))
		if err != nil {
			continue // it is none
		}
		for _, f := range archive.File {
			in.Files = append(in.Files, Clean(a.Filename)+"/"+Clean(f.Name))
		}
	}
	return check.Run(in)
}
