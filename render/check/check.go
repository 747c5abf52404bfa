// Package check checks a message as a tester does before it is sent: what was forgotten, what will
// break, and what recipients' programs will object to. It does no I/O.
package check

import (
	"cmp"
	"fmt"
	"html"
	"iter"
	"slices"
	"strings"
	"time"

	"mayfly/internal/clean"
	"mayfly/render/client"
	"mayfly/render/doc"
	"mayfly/render/find"
)

// Level is the severity of a finding.
type Level int

const (
	Decoration Level = iota // is lost in a mail client
	Layout                  // breaks in a mail client
	Note
	Warning
	Error
)

// String returns the level in lower case.
func (l Level) String() string {
	return [...]string{"decoration", "layout", "note", "warning", "error"}[l]
}

// IDs returns the IDs that findings have.
func IDs() []string {
	return strings.Fields(`placeholder mojibake malformed unchecked link-empty link-relative link-no-host link-scheme link-private link-http
		link-spaces link-differs parts-code parts-link parts-differ text-missing body-missing preheader-missing image-alt
		text-reversed html-clipped script form embedded stylesheet subject-empty subject-long from-missing from-several
		date-missing date-invalid date-off message-id-missing authentication unsubscribe-missing unsubscribe-one-click attachment-blocked
		language-missing direction-missing table-role heading-order contrast-low text-small link-vague
		dkim-body dkim-signature dkim-key dkim-alignment dkim-unsubscribe
		client-layout client-style`)
}

// Rules say what is looked for.
type Rules struct {
	Local   bool     // the message was received on this machine, where a link to it is right
	Ignore  []string // IDs of findings that are left out
	Clients []string // mail clients or families of them; nil for client.Default
	DKIMKey string   // the record of the public key, from [DKIMKey]; empty if it is not known
}

// Finding is one problem in a message.
type Finding struct {
	ID      string // one of IDs, stays the same between releases
	Level   Level
	Message string // one line: what is wrong, what to do
	Where   string // where in the message; may be empty

	// Line is the line of the cleaned HTML source, from 1, and Column the number of bytes before it on
	// that line. Line is 0 for what is not in the source.
	Line, Column int

	Use *client.Use // of those of [Clients]
	// Alike is how many findings of this ID and level there are, of which at most a few are listed. Only the
	// first of them has it; it is 0 in the others.
	Alike int
}

// Field is a header field with its decoded value.
type Field struct{ Name, Value string }

// Part is a body: its source, its document, and what was found in it alone.
type Part struct {
	Source string
	Doc    *doc.Document // nil if there is no such part
	Found  find.Result
}

// Input is a message to check.
type Input struct {
	Subject    string
	Fields     []Field // nil if the header is unknown
	Text, HTML Part
	Files      []string  // names of its attachments, and of the files in those that are archives
	Defects    []string  // of its header and its parts, a sentence each
	Reversed   []string  // which of the subject and the sender have words that are written backwards
	ReceivedAt time.Time // zero if unknown
	Raw        []byte    // as received; nil if it is not known
	BodyOnly   bool      // only a body is known: a template rather than a message
	Rules      Rules
}

// documents yields the documents of the parts that the message has, with their names.
func (in *Input) documents() iter.Seq2[string, *doc.Document] {
	return func(yield func(string, *doc.Document) bool) {
		if d := in.HTML.Doc; d != nil && !yield("HTML", d) {
			return
		}
		if d := in.Text.Doc; d != nil {
			yield("text", d)
		}
	}
}

// maxEach is how many findings with one ID are listed; the rest are counted.
const maxEach = 5

// Run checks a message. The most severe findings come first, and those of one ID together.
func Run(in Input) []Finding {
	r := &report{source: in.HTML.Source, rules: in.Rules, counts: make(map[kind]int), seen: make(map[Finding]bool)}
	for _, check := range []func(Input, *report){subject, placeholders, mojibake, links, parts, elements, legible, malformed, header, authentication, bulk, attachments, signatures} {
		check(in, r)
	}
	return r.finish()
}

// report collects findings.
type report struct {
	source    string // of the HTML
	rules     Rules
	findings  []Finding
	positions []position // of each finding
	counts    map[kind]int
	seen      map[Finding]bool
}

// kind is what findings that are alike have in common.
type kind struct {
	id    string
	level Level
}

// position is where a finding is in the HTML source: at an offset, or where a text is that was read from
// it. The zero value is nowhere.
type position struct {
	known  bool
	offset int
	text   string
}

func at(offset int) position { return position{known: true, offset: offset} }

// textIn is the position of a text of a part, of which only the HTML is in the source.
func textIn(part, text string) position {
	return position{known: part == "HTML" || part == "link HTML", text: text}
}

func (r *report) add(id string, level Level, where, format string, args ...any) {
	r.addAt(position{}, id, level, where, format, args...)
}

func (r *report) addAt(p position, id string, level Level, where, format string, args ...any) {
	f := Finding{ID: id, Level: level, Message: fmt.Sprintf(format, args...), Where: where}
	if r.seen[f] || slices.Contains(r.rules.Ignore, id) {
		return
	}
	k := kind{id, level}
	if r.counts[k]++; r.counts[k] <= maxEach {
		r.seen[f] = true
		r.findings, r.positions = append(r.findings, f), append(r.positions, p)
	}
}

// maxFind is how much of the source is searched for a text, in bytes.
const maxFind = 2 << 20

// find returns the offset of a position in the source, -1 if it is not found.
func (r *report) find(p position) int {
	switch source := r.source[:min(len(r.source), maxFind)]; {
	case !p.known:
		return -1
	case p.text == "":
		return p.offset
	case strings.Contains(source, p.text):
		return strings.Index(source, p.text)
	default:
		return strings.Index(source, html.EscapeString(p.text))
	}
}

// locate sets the lines and columns of findings. It cleans the source once, piece by piece.
func (r *report) locate() {
	offsets, order := make([]int, len(r.findings)), make([]int, len(r.findings))
	for n, p := range r.positions {
		offsets[n], order[n] = r.find(p), n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	line, from := 1, 0 // a line of the source, and where it begins
	for _, n := range order {
		if offsets[n] < 0 {
			continue
		}
		before := r.source[from:offsets[n]]
		whole := strings.LastIndexByte(before, '\n') + 1 // lines
		line += strings.Count(clean.Lines(before[:whole]), "\n")
		from += whole
		shown := clean.Lines(before[whole:])
		r.findings[n].Line = line + strings.Count(shown, "\n") // a CR alone ends a line too
		r.findings[n].Column = len(shown) - 1 - strings.LastIndexByte(shown, '\n')
	}
}

func (r *report) finish() []Finding {
	r.locate()
	first := make(map[kind]int)
	for i := len(r.findings) - 1; i >= 0; i-- {
		f := &r.findings[i]
		k := kind{f.ID, f.Level}
		if _, later := first[k]; !later && r.counts[k] > maxEach {
			f.Message += fmt.Sprintf(" (and %d more)", r.counts[k]-maxEach)
		}
		first[k] = i
	}
	for k, i := range first {
		r.findings[i].Alike = r.counts[k]
	}
	slices.SortStableFunc(r.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(first[kind{a.ID, a.Level}], first[kind{b.ID, b.Level}]))
	})
	return r.findings
}

// Count is how many findings there are, those included that are not listed.
func Count(findings []Finding) (n int) {
	for _, f := range findings {
		n += f.Alike
	}
	return n
}

// cut shortens a quotation in a message.
func cut(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
