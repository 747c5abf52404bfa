// Package check checks a message as a tester does before it is sent: what was forgotten, what will
// break, and what recipients' programs will object to. It does no I/O.
package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mayfly/render/doc"
	"mayfly/render/find"
)

// Level is the severity of a finding.
type Level int

const (
	Info Level = iota
	Warning
	Error
)

// String returns info, warning or error.
func (l Level) String() string { return [...]string{"info", "warning", "error"}[l] }

// Finding is one problem in a message.
type Finding struct {
	ID      string // stays the same between releases
	Level   Level
	Message string // one line: what is wrong, what to do
	Where   string // where in the message; may be empty
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
	ReceivedAt time.Time // zero if unknown
	BodyOnly   bool      // only a body is known: a template rather than a message
}

// maxEach is how many findings with one ID are listed; the rest are counted.
const maxEach = 5

// Run checks a message. The most severe findings come first.
func Run(in Input) []Finding {
	r := &report{counts: make(map[string]int), seen: make(map[Finding]bool)}
	for _, check := range []func(Input, *report){subject, placeholders, mojibake, links, parts, elements, header, authentication, bulk} {
		check(in, r)
	}
	return r.finish()
}

// report collects findings.
type report struct {
	findings []Finding
	counts   map[string]int // by ID
	seen     map[Finding]bool
}

func (r *report) add(id string, level Level, where, format string, args ...any) {
	f := Finding{id, level, fmt.Sprintf(format, args...), where}
	if r.seen[f] {
		return
	}
	if r.counts[id]++; r.counts[id] <= maxEach {
		r.seen[f] = true
		r.findings = append(r.findings, f)
	}
}

func (r *report) finish() []Finding {
	for i := len(r.findings) - 1; i >= 0; i-- {
		id := r.findings[i].ID
		if more := r.counts[id] - maxEach; more > 0 {
			r.findings[i].Message += fmt.Sprintf(" (and %d more)", more)
			r.counts[id] = 0
		}
	}
	slices.SortStableFunc(r.findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return r.findings
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
