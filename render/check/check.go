// Package check looks at a mail as a tester does before it is sent: for what was forgotten, what will break, and what
// its recipients' programs will hold against it. It is pure and offline.
package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mayfly/render/doc"
	"mayfly/render/find"
)

// Level is how much a finding matters.
type Level int

const (
	Info Level = iota
	Warning
	Error
)

// String is info, warning or error.
func (l Level) String() string { return [...]string{"info", "warning", "error"}[l] }

// Finding is one thing to look at.
type Finding struct {
	ID      string // stays the same between releases
	Level   Level
	Message string // one line: what is wrong, what to do
	Where   string // where in the mail; may be empty
}

// Field is a header field with its value decoded.
type Field struct{ Name, Value string }

// Part is a body: its source, the document made of it, and what was found in it alone.
type Part struct {
	Source string
	Doc    *doc.Document // nil when there is no such part
	Found  find.Result
}

// Input is a mail.
type Input struct {
	Subject    string
	Fields     []Field // nil when the header is not known
	Text, HTML Part
	ReceivedAt time.Time // zero when not known
	BodyOnly   bool      // nothing but one body is known: a template, no mail yet
}

// each is how many findings of one kind are told one by one.
const each = 5

// Run looks at a mail. The findings that matter most come first.
func Run(in Input) []Finding {
	r := &report{counts: make(map[string]int), told: make(map[Finding]bool)}
	for _, check := range []func(Input, *report){subject, placeholders, mojibake, links, parts, elements, header, authentication, bulk} {
		check(in, r)
	}
	return r.finish()
}

// report collects findings.
type report struct {
	findings []Finding
	counts   map[string]int // by ID
	told     map[Finding]bool
}

func (r *report) add(id string, level Level, where, format string, args ...any) {
	f := Finding{id, level, fmt.Sprintf(format, args...), where}
	if r.told[f] {
		return
	}
	if r.counts[id]++; r.counts[id] <= each {
		r.told[f] = true
		r.findings = append(r.findings, f)
	}
}

func (r *report) finish() []Finding {
	for i := len(r.findings) - 1; i >= 0; i-- {
		id := r.findings[i].ID
		if more := r.counts[id] - each; more > 0 {
			r.findings[i].Message += fmt.Sprintf(" (and %d more)", more)
			r.counts[id] = 0
		}
	}
	slices.SortStableFunc(r.findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return r.findings
}

// cut shortens what is quoted in a message.
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
