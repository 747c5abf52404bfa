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

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// Bounds on what is read.
const (
	maxFile = 512 << 10 // bytes of a file
	maxLine = 1000      // bytes of one of its lines: longer ones are left out, such as HTML and files
)

// Block returns the block that says what a calendar file is about, with times in its own zone and in the
// zone of here. It is nil if there is no event in the file or it cannot be read.
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
	return clean.Line(clean.ReadingOrder(unescape.Replace(p.Value)))
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

// people names the people of a property, only the first of them if there are many.
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

// person is the name of a person, or else the address.
func person(p ical.Prop) string {
	address := p.Value
	if scheme, rest, _ := strings.Cut(address, ":"); strings.EqualFold(scheme, "mailto") {
		address = rest
	}
	return clean.Line(clean.ReadingOrder(cmp.Or(p.Params.Get(ical.ParamCommonName), address)))
}

const (
	day   = "Mon 2 Jan 2006"
	clock = "15:04"
)

// when is when an event takes place, in its own zone and, where the time of day is another, in that of here.
func (e event) when(here *time.Location) (own, local string) {
	name, zone := e.zone(ical.PropDateTimeStart)
	e.zone(ical.PropDateTimeEnd)
	start, err := e.DateTimeStart(time.UTC)
	if err != nil || start.IsZero() {
		return "", ""
	}
	end, err := e.DateTimeEnd(time.UTC)
	if err != nil || end.Before(start) {
		end = start
	}
	if len(e.text(ical.PropDateTimeStart)) == len("20060102") {
		own = start.Format(day)
		if last := end.AddDate(0, 0, -1); last.After(start) {
			own += " – " + last.Format(day)
		}
		return own + ", all day", ""
	}
	if zone != nil {
		start, end = start.In(zone), end.In(zone)
		if offset(start) != offset(start.In(here)) {
			local = between(start.In(here), end.In(here)) + start.In(here).Format(" (MST)")
		}
	}
	if own = between(start, end); name != "" {
		own += " (" + name + ")"
	}
	return own, local
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}

func between(start, end time.Time) string {
	s := start.Format(day + ", " + clock)
	switch {
	case end.Equal(start):
		return s
	case end.Format(day) == start.Format(day):
		return s + "–" + end.Format(clock)
	}
	return s + " – " + end.Format(day+", "+clock)
}

// zone is the time zone of a property with its name, nil if it is not known. If it is, the property is in UTC
// from then on.
func (e event) zone(property string) (name string, zone *time.Location) {
	p := e.Props.Get(property)
	switch {
	case p == nil:
		return "", nil
	case strings.HasSuffix(p.Value, "Z"):
		return "UTC", time.UTC
	}
	id := p.Params.Get(ical.ParamTimezoneID)
	p.Params.Del(ical.ParamTimezoneID) // the library knows fewer zones
	if at, err := p.DateTime(time.UTC); err == nil && id != "" && id != "Local" {
		if zone, err = time.LoadLocation(id); err != nil {
			zone = e.defined(id, at)
		}
	}
	if zone != nil {
		if t, err := p.DateTime(zone); err == nil {
			p.SetDateTime(t.UTC())
		}
	}
	return clean.Line(id), zone
}

// defined is a zone as the file defines it for a time on its clocks, nil if it does not: names such as
// "W. Europe Standard Time" are known to it alone.
func (e event) defined(id string, at time.Time) (zone *time.Location) {
	var latest time.Time
	for _, c := range e.calendar.Children {
		if c.Name != ical.CompTimezone || text(c, ical.PropTimezoneID) != clean.Line(id) {
			continue
		}
		for _, observance := range c.Children {
			to, err := time.Parse("-0700", text(observance, ical.PropTimezoneOffsetTo))
			if from := onset(observance, at); err == nil && from.After(latest) && !from.After(at) {
				latest, zone = from, time.FixedZone(id, offset(to))
			}
		}
	}
	return zone
}

// onset is when an observance, such as summer time, began last before a time: on a weekday of a month each
// year, or once.
func onset(observance *ical.Component, at time.Time) time.Time {
	first, err := observance.Props.DateTime(ical.PropDateTimeStart, time.UTC)
	rule, wrong := rule(observance)
	if err != nil || wrong != nil || rule == nil || rule.Freq != rrule.YEARLY || len(rule.Bymonth) != 1 || len(rule.Byweekday) != 1 {
		return first
	}
	if !rule.Until.IsZero() && rule.Until.Before(at) {
		at = rule.Until
	}
	n, weekday := rule.Byweekday[0].N(), rule.Byweekday[0].Day()+1
	month := time.Month(rule.Bymonth[0])
	if n < 0 {
		n, month = n+1, month+1
	}
	for year := at.Year(); ; year-- {
		t := time.Date(year, month, 1, first.Hour(), first.Minute(), first.Second(), 0, time.UTC)
		if t = t.AddDate(0, 0, (weekday-int(t.Weekday())+7)%7+7*(n-1)); !t.After(at) {
			return t
		}
	}
}

// rule is the rule by which a component recurs, nil if there is none. Its values are within their bounds.
func rule(c *ical.Component) (*rrule.ROption, error) {
	rule, err := c.Props.RecurrenceRule()
	if err == nil && rule != nil {
		_, err = rrule.NewRRule(*rule)
	}
	return rule, err
}

// repeats says how often an event takes place, "" if once.
func (e event) repeats() string {
	value := e.text(ical.PropRecurrenceRule)
	rule, err := rule(e.Component)
	switch {
	case value == "":
		return ""
	case err != nil, len(value) > 100, len(rule.Bysetpos) > 0 && len(rule.Byweekday) != 1,
		len(rule.Byyearday)+len(rule.Byweekno)+len(rule.Byhour)+len(rule.Byminute)+len(rule.Bysecond) > 0:
		return "by a rule: " + value
	}
	unit := [...]string{"year", "month", "week", "day", "hour", "minute", "second"}[rule.Freq]
	s := "every " + unit
	if rule.Interval > 1 {
		s = "every " + english.Plural(rule.Interval, unit, "")
	}
	before := " on "
	add := func(words string) { s, before = s+before+words, ", " }
	for _, d := range rule.Byweekday {
		name := time.Weekday((d.Day() + 1) % 7).String()
		for _, n := range append(rule.Bysetpos, d.N()) {
			if n != 0 {
				name = nth(n) + " " + name
			}
		}
		add(name)
	}
	for _, n := range rule.Bymonthday {
		add(nth(n) + " day")
	}
	before = " in "
	for _, n := range rule.Bymonth {
		add(time.Month(n).String())
	}
	if rule.Count > 0 {
		s += ", " + english.Plural(rule.Count, "time", "")
	}
	if !rule.Until.IsZero() {
		s += ", until " + rule.Until.Format("2 Jan 2006")
	}
	return s
}

// nth is a place in a month, counted from its end if it is negative.
func nth(n int) string {
	switch {
	case n == -1:
		return "the last"
	case n < 0:
		return "the " + humanize.Ordinal(-n) + " last"
	}
	return "the " + humanize.Ordinal(n)
}
