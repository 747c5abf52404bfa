package calendar

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"mayfly/internal/clean"
)

const (
	date     = "20060102"
	dateTime = "20060102T150405"
	day      = "Mon 2 Jan 2006"
	clock    = "15:04"
)

// moment is a value of DTSTART or DTEND.
type moment struct {
	time.Time
	zone    string // as the file names it, "" if it names none
	allDay  bool   // a date
	instant bool   // else the zone is not known, and Time is in UTC
}

// when is when an event takes place, in its own zone and, where that is another time of day, in that of here.
func (e event) when(here *time.Location) (own, local string) {
	start, ok := e.moment(ical.PropDateTimeStart)
	if !ok {
		return "", ""
	}
	end, ok := e.moment(ical.PropDateTimeEnd)
	if length := e.Props.Get(ical.PropDuration); !ok && length != nil {
		d, err := length.Duration()
		end, ok = start, err == nil
		end.Time = start.Add(d)
	}
	if !ok || !end.After(start.Time) {
		end = start
	}
	if start.allDay {
		if last := end.AddDate(0, 0, -1); last.After(start.Time) {
			return start.Format(day) + " – " + last.Format(day) + ", all day", ""
		}
		return start.Format(day) + ", all day", ""
	}
	own = between(start.Time, end.In(start.Location()))
	if start.zone != "" {
		own += " (" + start.zone + ")"
	}
	in := start.In(here)
	if _, there := start.Zone(); start.instant && there != offset(in) {
		local = between(in, end.In(here)) + " (" + in.Format("MST") + ")"
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
	case end.Format(date) == start.Format(date):
		return s + "–" + end.Format(clock)
	}
	return s + " – " + end.Format(day+", "+clock)
}

// moment reads a date or a time.
func (e event) moment(name string) (moment, bool) {
	p := e.Props.Get(name)
	if p == nil {
		return moment{}, false
	}
	value := strings.TrimSpace(p.Value)
	if t, err := time.Parse(date, value); err == nil {
		return moment{Time: t, allDay: true}, true
	}
	if t, err := time.Parse(dateTime+"Z", value); err == nil {
		return moment{Time: t, zone: "UTC", instant: true}, true
	}
	t, err := time.Parse(dateTime, value)
	if err != nil {
		return moment{}, false
	}
	id := p.Params.Get(ical.ParamTimezoneID)
	m := moment{Time: t, zone: clean.Line(id)}
	if zone := e.location(id, t); zone != nil {
		m.Time, m.instant = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone), true
	}
	return m, true
}

// location is the zone of a name, as the machine knows it or else as the file defines it at a time; nil if
// neither does.
func (e event) location(id string, at time.Time) *time.Location {
	if id == "" || id == "Local" {
		return nil
	}
	if zone, err := time.LoadLocation(id); err == nil {
		return zone
	}
	if seconds, ok := e.defined(id, at); ok {
		return time.FixedZone(id, seconds)
	}
	return nil
}

// defined is how far east of UTC a zone is at a time on its clocks, in seconds, as the file defines it: names
// such as "W. Europe Standard Time" are known to it alone.
func (e event) defined(id string, at time.Time) (seconds int, ok bool) {
	var latest time.Time
	for _, zone := range e.calendar.Children {
		if p := zone.Props.Get(ical.PropTimezoneID); zone.Name != ical.CompTimezone || p == nil || p.Value != id || ok {
			continue
		}
		for _, observance := range zone.Children[:min(len(zone.Children), maxObservances)] {
			from := onset(observance, at)
			to, err := time.Parse("-0700", strings.TrimSpace(text(observance, ical.PropTimezoneOffsetTo)))
			if err == nil && !from.After(at) && (!ok || from.After(latest)) {
				latest, seconds, ok = from, offset(to), true
			}
		}
	}
	return seconds, ok
}

// onset is when an observance, such as summer time, began last before a time, or first.
func onset(observance *ical.Component, at time.Time) time.Time {
	first, err := time.Parse(dateTime, text(observance, ical.PropDateTimeStart))
	if err != nil {
		return at.AddDate(1, 0, 0) // never
	}
	rule, err := observance.Props.RecurrenceRule()
	if err != nil || rule == nil || rule.Freq != rrule.YEARLY || len(rule.Bymonth) != 1 || len(rule.Byweekday) != 1 {
		return first
	}
	if !rule.Until.IsZero() && rule.Until.Before(at) {
		at = rule.Until
	}
	in := func(year int) time.Time {
		n, weekday := rule.Byweekday[0].N(), time.Weekday((rule.Byweekday[0].Day()+1)%7)
		t := time.Date(year, time.Month(rule.Bymonth[0]), 1, first.Hour(), first.Minute(), first.Second(), 0, time.UTC)
		if n < 0 {
			t = t.AddDate(0, 1, 0)
		}
		ahead := (int(weekday) - int(t.Weekday()) + 7) % 7
		if n < 0 {
			return t.AddDate(0, 0, ahead+7*n)
		}
		return t.AddDate(0, 0, ahead+7*(n-1))
	}
	last := in(at.Year())
	if last.After(at) {
		last = in(at.Year() - 1)
	}
	if last.Before(first) {
		return first
	}
	return last
}

// repeats says how often an event takes place, "" if once.
func (e event) repeats() string {
	p := e.Props.Get(ical.PropRecurrenceRule)
	if p == nil {
		return ""
	}
	rule, err := e.Props.RecurrenceRule()
	if err == nil {
		_, err = rrule.NewRRule(*rule) // which checks its values
	}
	if err != nil || len(rule.Byweekday) > 7 || len(rule.Bymonth)+len(rule.Bymonthday) > 5 || len(rule.Bysetpos) > 0 && len(rule.Byweekday) != 1 ||
		len(rule.Bysetpos) > 1 || rule.Byyearday != nil || rule.Byweekno != nil || rule.Byhour != nil || rule.Byminute != nil || rule.Bysecond != nil {
		return "by a rule: " + clean.Line(p.Value)
	}
	unit := [...]string{"year", "month", "week", "day", "hour", "minute", "second"}[rule.Freq]
	s := "every " + unit
	if rule.Interval > 1 {
		s = "every " + count(rule.Interval, unit)
	}
	var days, months []string
	for _, d := range rule.Byweekday {
		n := d.N()
		if len(rule.Bysetpos) > 0 {
			n = rule.Bysetpos[0]
		}
		days = append(days, strings.TrimSpace(nth(n)+" "+time.Weekday((d.Day()+1)%7).String()))
	}
	if slices.Equal(days, []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}) {
		days = []string{"weekdays"}
	}
	for _, n := range rule.Bymonthday {
		days = append(days, map[bool]string{true: nth(n) + " day", false: fmt.Sprintf("day %d", n)}[n < 0])
	}
	for _, n := range rule.Bymonth {
		months = append(months, time.Month(n).String())
	}
	if len(days) > 0 {
		s += " on " + strings.Join(days, ", ")
	}
	if len(months) > 0 {
		s += " in " + strings.Join(months, ", ")
	}
	if rule.Count > 0 {
		s += ", " + count(rule.Count, "time")
	}
	if !rule.Until.IsZero() {
		s += ", until " + rule.Until.Format("2 Jan 2006")
	}
	return s
}

// nth is a place in a month, counted from its end if it is negative; "" for 0.
func nth(n int) string {
	switch n {
	case 0:
		return ""
	case 1, 2, 3, 4, 5:
		return "the " + [...]string{"first", "second", "third", "fourth", "fifth"}[n-1]
	case -1:
		return "the last"
	case -2:
		return "the second last"
	}
	return fmt.Sprintf("number %d", n)
}
