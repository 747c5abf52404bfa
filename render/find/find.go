// Package find finds the one-time code and the link that a reader would take from a message.
// Candidates are found by shape (package candidate). Features say what holds for each: the words near
// it in the language of the message (package lexicon), how it stands out, where else it occurs. A
// table of weights, fitted to the fixtures, says what each feature is worth. Below a threshold
// nothing is found.
package find

import (
	"strings"

	"mayfly/render/doc"
	"mayfly/render/lexicon"
)

// Input is a message as its reader sees it.
type Input struct {
	Subject, Preheader string
	Sender             string        // name of the sender
	Doc                *doc.Document // the body that is shown
	Text               *doc.Document // the text part beside it; nil if there is none
}

// Code is a one-time code, or a candidate for it.
type Code struct {
	Value   string // as it is entered: groups of digits are joined, since forms expect that
	Score   float64
	Reasons []Reason
}

// Link is the link that the message is about, or a candidate for it.
type Link struct {
	N               int // number in the document; 0 if it is only in the text part
	URL, Text, Host string
	Score           float64
	Reasons         []Reason
}

// Result is what was found, the best first. Only if CodeOK or LinkOK is true is the first one the
// code or the link.
type Result struct {
	Codes  []Code
	CodeOK bool
	Links  []Link
	LinkOK bool
}

// Parts is what was found in a message, and in each of its bodies as if it were the only one.
// Without a second body all three are the same.
type Parts struct {
	Result
	Doc, Text Result
}

// Find finds the code and the link of a message, and reads each of its bodies once. It takes
// bounded time, linear in the size of the message.
func Find(in Input) Parts {
	m := read(in)
	all := m.find()
	if m.text == nil {
		return Parts{all, all, all}
	}
	return Parts{Result: all, Doc: m.alone(m.page, m.preheader), Text: m.alone(m.text, line{})}
}

// alone searches one body as if it were the only one.
func (m *mail) alone(p *page, preheader line) Result {
	one := *m
	one.preheader, one.page, one.text = preheader, p, nil
	one.purpose = one.purposes()
	return one.find()
}

func (m *mail) find() (r Result) {
	r.Codes, r.CodeOK = m.codes()
	code := ""
	if r.CodeOK {
		code = r.Codes[0].Value
	}
	r.Links, r.LinkOK = m.links(code)
	return r
}

// mail is the message that both searches read.
type mail struct {
	subject   line
	preheader line
	page      *page
	text      *page // nil if there is none
	purpose   purpose
	names     map[string]bool // numbers that are part of names, such as 1874 in "Studio 1874"
}

// pages returns the bodies, the one that is shown first.
func (m *mail) pages() []*page {
	switch {
	case m.text == nil:
		return []*page{m.page}
	case len(m.page.lines) == 0:
		return []*page{m.text}
	}
	return []*page{m.page, m.text}
}

func read(in Input) *mail {
	d := in.Doc
	if d == nil {
		d = &doc.Document{}
	}
	preheader := in.Preheader
	if preheader == "" {
		preheader = d.Preheader
	}
	subject := cut(in.Subject, 1000)
	var langs languages
	langs.likely, langs.possible = lexicon.Detect(lexicon.Fold(sample(subject, preheader, d, in.Text)), d.Lang)
	m := &mail{page: newPage(d, langs)}
	if in.Text != nil {
		m.text = newPage(in.Text, langs)
	}
	m.subject = m.page.aside(subject, langs)
	m.preheader = m.page.aside(cut(preheader, 1000), langs)
	m.purpose = m.purposes()
	m.names = m.numbersInNames(in.Sender)
	return m
}

// sample returns the text by which to detect the language: subject, preheader and the beginning of
// the bodies.
func sample(subject, preheader string, docs ...*doc.Document) string {
	const most = 12 << 10
	var b strings.Builder
	b.WriteString(subject)
	b.WriteByte('\n')
	b.WriteString(preheader)
	for _, d := range docs {
		if d == nil {
			continue
		}
		for leaf := range d.Leaves() {
			for _, s := range leaf.Spans {
				b.WriteByte(' ')
				b.WriteString(cut(s.Text, most))
			}
			if b.Len() > most {
				return b.String()
			}
		}
	}
	return b.String()
}
