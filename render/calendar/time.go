package calendar

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"mayfly/internal/clean"
)

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
