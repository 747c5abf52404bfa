// Package calendar reads an invitation (iCalendar, RFC 5545) into a block of a document: what, when, where,
// how often, who, and whether it is a request, an update, a reply or a cancellation. It is bounded in time
// and memory, and does no I/O but reading the machine's time zones.
package calendar

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-ical"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// Bounds on what is read.
const (
	maxFile = 512 << 10 // bytes of a file
	maxLine = 1000      // bytes of one of its lines: longer ones are left out, such as HTML and files
)

// Block returns the block that says what a calendar file is about, with times in its zone and in that of
// here. It is nil if there is no event in the file or it cannot be read.
func Block(file []byte, here *time.Location) *doc.Block {
	calendar, err := ical.NewDecoder(contentLines(file)).Decode()
	if err != nil {
		return nil
	}
	events := calendar.Events()
	if len(events) == 0 {
		return nil
	}
	e := event{events[0], calendar} // several are occurrences of one
	b := &doc.Block{Kind: doc.Section, Hue: doc.Color{R: 0x4a, G: 0x7f, B: 0xc8, Set: true}, Padded: true}
	what, role := e.what()
	b.Children = []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{
		{Text: what + ": ", Style: doc.Style{Role: role, Bold: true}},
		{Text: cmp.Or(e.text(ical.PropSummary), "(no title)"), Style: doc.Style{Bold: true}},
	}}}
	when, local := e.when(here)
	for _, field := range []struct{ name, value string }{
		{"When", when}, {"Here", local}, {"Repeats", e.repeats()}, {"Where", e.text(ical.PropLocation)},
		{"From", e.people(ical.PropOrganizer)}, {"With", e.people(ical.PropAttendee)},
	} {
		if field.value != "" {
			text := &doc.Block{Kind: doc.Paragraph, Spans: []doc.Span{{Text: field.value}}}
			b.Children = append(b.Children, &doc.Block{Kind: doc.Item, Marker: fmt.Sprintf("%-7s", field.name), Role: doc.Secondary, Children: []*doc.Block{text}})
		}
	}
	for i, c := range b.Children {
		c.First().Order = i - len(b.Children) // negative: no leaf of a body has such a place
	}
	return b
}

// contentLines are the lines of a file that the parser can read: it panics at some others, and takes
// quadratic time for long ones.
func contentLines(file []byte) io.Reader {
	text := strings.TrimPrefix(strings.ToValidUTF8(string(file[:min(len(file), maxFile)]), "\uFFFD"), "\uFEFF")
	var b bytes.Buffer
	for line := range strings.Lines(unfold.Replace(text)) {
		if len(line) <= maxLine && contentLine().MatchString(line) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	return &b
}

var (
	unfold      = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "")
	unescape    = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`)
	contentLine = sync.OnceValue(func() *regexp.Regexp { // compiled at first use, which makes starting faster
		return regexp.MustCompile(`^[A-Za-z0-9-]+(?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)*:`)
	})
)

// event is one event of a calendar.
type event struct {
	ical.Event
	calendar *ical.Calendar
}

// text is a property in one line, safe for a terminal.
func (e event) text(name string) string { return text(e.Component, name) }

func text(c *ical.Component, name string) string {
	p := c.Props.Get(name)
	if p == nil {
		return ""
	}
	return clean.Line(clean.Turned(unescape.Replace(p.Value)))
}

// what says what the sender asks or tells.
func (e event) what() (string, doc.Role) {
	switch method := strings.ToUpper(text(e.calendar.Component, ical.PropMethod)); {
	case method == "CANCEL", strings.EqualFold(e.text(ical.PropStatus), "CANCELLED"):
		return "Cancelled", doc.Bad
	case method == "REPLY":
		if p := e.Props.Get(ical.PropAttendee); p != nil {
			answers := map[string]string{"ACCEPTED": " accepted", "DECLINED": " declined", "TENTATIVE": " may come"}
			return person(*p) + answers[strings.ToUpper(p.Params.Get(ical.ParamParticipationStatus))], doc.Accent
		}
	case method == "REQUEST" && strings.Trim(e.text(ical.PropSequence), "0") != "":
		return "Updated invitation", doc.Warning
	case method == "REQUEST":
		return "Invitation", doc.Accent
	}
	return "Event", doc.Accent
}

// people names those of a property, the first of them if they are many.
func (e event) people(property string) string {
	var names []string
	all := e.Props.Values(property)
	for _, p := range all[:min(len(all), 4)] {
		names = append(names, person(p))
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return strings.Join(names, "; ") // names have commas
}

// person is the name of who takes part, or else the address.
func person(p ical.Prop) string {
	address := p.Value
	if scheme, rest, _ := strings.Cut(address, ":"); strings.EqualFold(scheme, "mailto") {
		address = rest
	}
	return clean.Line(clean.Turned(cmp.Or(p.Params.Get(ical.ParamCommonName), address)))
}
