package mail

import (
	"net/mail"
	"strings"
	"time"
)

var dateLayouts = [...]string{
	"2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04:05",
	"2 Jan 2006 15:04 -0700",
	"2 Jan 2006 15:04",
	"2 Jan 06 15:04:05 -0700",
	"2 Jan 06 15:04:05",
	"2-Jan-2006 15:04:05 -0700",
	"2-Jan-06 15:04:05 -0700",
	"2 January 2006 15:04:05 -0700",
	"Jan 2 15:04:05 2006 -0700",
	"Jan 2 15:04:05 2006",
	"Jan 2 2006 15:04:05 -0700",
	"Jan 2 2006 15:04:05",
	"January 2 2006 15:04:05 -0700",
	"January 2 2006 15:04:05",
	"2 Jan 2006 3:04:05 PM",
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05",
	"2006-01-02",
	"2 Jan 2006",
	"2006/01/02 15:04:05 -0700",
	"2006/01/02 15:04:05",
}

// Zones by name: the obsolete ones of RFC 5322 and the usual ones beside them.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "BST": "+0100", "WET": "+0000", "WEST": "+0100", "CET": "+0100",
	"MET": "+0100", "CEST": "+0200", "MEST": "+0200", "EET": "+0200", "EEST": "+0300", "MSK": "+0300", "IST": "+0530", "JST": "+0900",
	"KST": "+0900", "AEST": "+1000", "AEDT": "+1100", "NZST": "+1200", "NZDT": "+1300",
}

// parseDate reads a Date field, even in forms that RFC 5322 does not allow. Without a zone it is
// UTC.
func parseDate(s string) (time.Time, bool) {
	if len(s) > 200 {
		return time.Time{}, false
	}
	if t, err := time.Parse(usualLayout, usualDate(s)); err == nil && plausible(t) {
		return t, true
	}
	if t, err := mail.ParseDate(s); err == nil && plausible(t) && !namedZone(t) {
		return t, true
	}
	s = tidyDate(s)
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil && plausible(t) {
			return t, true
		}
	}
	return time.Time{}, false
}

// usualLayout is the layout of nearly all mail. It is tried first, since a failed try costs more
// than a parse.
const usualLayout = "Mon, 2 Jan 2006 15:04:05 -0700"

// usualDate drops a comment at the end, and writes GMT as an offset.
func usualDate(s string) string {
	if strings.HasSuffix(s, ")") {
		if open := strings.IndexByte(s, '('); open > 0 {
			s = strings.TrimRight(s[:open], " ")
		}
	}
	if date, ok := strings.CutSuffix(s, " GMT"); ok {
		return date + " +0000"
	}
	return s
}

// namedZone reports whether t's zone was a name whose offset package time does not know.
func namedZone(t time.Time) bool {
	name, offset := t.Zone()
	return offset == 0 && name != "" && name != "UTC" && name != "GMT"
}

// plausible rejects years that JSON cannot hold.
func plausible(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// tidyDate drops comments, the day of the week and commas, and turns zone names into offsets.
func tidyDate(s string) string {
	if open := strings.IndexByte(s, '('); open >= 0 {
		s = s[:open]
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	out := words[:0]
	for i, w := range words {
		if i == 0 && isWeekday(w) {
			continue
		}
		up := strings.ToUpper(w)
		for _, name := range [...]string{"GMT", "UTC"} { // GMT+0200, UTC+02:00
			if offset, ok := strings.CutPrefix(up, name); ok && offset != "" {
				up = offset
			}
		}
		if zone, ok := zones[up]; ok && i > 1 {
			w = zone
		} else if len(up) >= 5 && (up[0] == '+' || up[0] == '-') {
			w = strings.Replace(up, ":", "", 1)
		}
		if strings.Count(w, ":") == 2 { // fractions of a second
			w, _, _ = strings.Cut(w, ".")
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

func isWeekday(w string) bool {
	w = strings.ToLower(strings.TrimRight(w, "."))
	for _, day := range [...]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		if strings.HasPrefix(w, day) {
			return true
		}
	}
	return false
}
