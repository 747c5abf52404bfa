// Package find finds the one-time code and the link that a reader would take from a message.
// Candidates are found by shape, ruled out by meaning, and scored by evidence: the words near a
// candidate in the language of the message, how it stands out, where else it occurs. Below a
// threshold nothing is found. Every score comes with its reasons.
package find

import (
	"fmt"
	"slices"
	"strings"

	"mayfly/render/doc"
	"mayfly/render/find/lexicon"
)

// Input is a message as its reader sees it.
type Input struct {
	Subject, Preheader, From string
	Doc                      *doc.Document // the body that is shown
	Text                     *doc.Document // the text part beside it; nil if there is none
}

// Code is a one-time code, or a candidate for it.
type Code struct {
	Value   string // as it is entered: groups of digits are joined, since forms expect that
	Score   float64
	Reasons []string
}

// Link is the link that the message is about, or a candidate for it.
type Link struct {
	N               int // number in the document; 0 if it is only in the text part
	URL, Text, Host string
	Score           float64
	Reasons         []string
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
	one := &mail{subject: m.subject, preheader: preheader, page: p}
	one.purpose = one.purposes()
	return one.find()
}

func (m *mail) find() (r Result) {
	r.Codes, r.CodeOK = m.codes()
	r.Links, r.LinkOK = m.links(r.CodeOK)
	return r
}

// mail is the message that both searches read.
type mail struct {
	subject   line
	preheader line
	page      *page
	text      *page // nil if there is none
	purpose   purpose
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

// evidence adds up what speaks for and against a candidate.
type evidence struct {
	score   float64
	reasons []reason
}

// reason is one entry of evidence, formatted only when it is shown.
type reason struct {
	points float64
	format string
	args   [1]any
	n      int
}

func (e *evidence) add(points float64, format string, args ...any) {
	if points == 0 {
		return
	}
	e.score += points
	r := reason{points: points, format: format, n: min(len(args), 1)}
	copy(r.args[:], args)
	e.reasons = append(e.reasons, r)
}

// words returns the reasons as they are shown: "+4.0 \"passcode\" before it".
func (e *evidence) words() []string {
	all := make([]string, len(e.reasons))
	for i, r := range e.reasons {
		all[i] = fmt.Sprintf("%+.1f ", r.points) + fmt.Sprintf(r.format, r.args[:r.n]...)
	}
	return all
}

// byScore sorts the best first and keeps a few.
func byScore[T any](all []T, score func(T) float64) []T {
	slices.SortStableFunc(all, func(a, b T) int {
		switch {
		case score(a) > score(b):
			return -1
		case score(a) < score(b):
			return 1
		}
		return 0
	})
	if len(all) > 5 {
		all = all[:5]
	}
	return all
}
