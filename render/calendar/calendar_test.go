package calendar

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // where the machine has none

	"mayfly/render/doc"
)

const outlook = `BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
`

// file is a calendar with one event of the given lines; those in capitals before a "|" are of the calendar.
func file(lines string) string {
	head, event, ok := strings.Cut(lines, "|")
	if !ok {
		head, event = "METHOD:REQUEST\n", lines
	}
	return "BEGIN:VCALENDAR\nVERSION:2.0\n" + head + "BEGIN:VEVENT\nSUMMARY:Lunch\n" + event + "\nEND:VEVENT\nEND:VCALENDAR\n"
}

// shown is a block as lines.
func shown(b *doc.Block) string {
	if b == nil {
		return ""
	}
	var lines []string
	for _, c := range b.Children {
		lines = append(lines, strings.Join(strings.Fields(c.Marker+" "+c.Text()), " "))
	}
	return strings.Join(lines, "\n")
}

func TestBlock(t *testing.T) {
	here, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	const start = "DTSTART:20260324T140000Z\n"
	for name, c := range map[string]struct{ file, want string }{
		"in UTC":              {file(start + "DTEND:20260324T150000Z"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00–15:00 (UTC)\nHere Tue 24 Mar 2026, 10:00–11:00 (EDT)"},
		"a zone by name":      {file("DTSTART;TZID=Europe/Berlin:20260324T140000\nDTEND;TZID=Europe/Berlin:20260325T013000"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00 – Wed 25 Mar 2026, 01:30 (Europe/Berlin)\nHere Tue 24 Mar 2026, 09:00–20:30 (EDT)"},
		"here already":        {file("DTSTART;TZID=America/New_York:20260324T140000\nDURATION:PT1H30M"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00–15:30 (America/New_York)"},
		"Outlook in winter":   {file(outlook + "|DTSTART;TZID=W. Europe Standard Time:20260324T140000"), "Event: Lunch\nWhen Tue 24 Mar 2026, 14:00 (W. Europe Standard Time)\nHere Tue 24 Mar 2026, 09:00 (EDT)"},
		"Outlook in summer":   {file(outlook + "|DTSTART;TZID=\"W. Europe Standard Time\":20260329T140000"), "Event: Lunch\nWhen Sun 29 Mar 2026, 14:00 (W. Europe Standard Time)\nHere Sun 29 Mar 2026, 08:00 (EDT)"},
		"an unknown zone":     {file("DTSTART;TZID=Mars/Base:20260324T140000"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00 (Mars/Base)"},
		"no zone":             {file("DTSTART:20260324T140000"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00"},
		"the machine's file":  {file("DTSTART;TZID=../../etc/passwd:20260324T140000"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00 (../../etc/passwd)"},
		"all day":             {file("DTSTART;VALUE=DATE:20260324\nDTEND;VALUE=DATE:20260325"), "Invitation: Lunch\nWhen Tue 24 Mar 2026, all day"},
		"three days":          {file("DTSTART;VALUE=DATE:20260324\nDTEND;VALUE=DATE:20260327"), "Invitation: Lunch\nWhen Tue 24 Mar 2026 – Thu 26 Mar 2026, all day"},
		"updated":             {file("SEQUENCE:2\nLOCATION:Room 4\\, Berlin, second\n  floor"), "Updated invitation: Lunch\nWhere Room 4, Berlin, second floor"},
		"cancelled":           {file("METHOD:CANCEL\n|SEQUENCE:1"), "Cancelled: Lunch"},
		"cancelled by status": {file("STATUS:CANCELLED"), "Cancelled: Lunch"},
		"a reply":             {file("METHOD:REPLY\n|ATTENDEE;PARTSTAT=DECLINED;CN=Bob:mailto:bob@x.example"), "Bob declined: Lunch\nWith Bob"},
		"people":              {file("ORGANIZER;CN=\"Lovelace, Ada\":mailto:ada@x.example\nATTENDEE:MAILTO:bob@x.example\nATTENDEE;CN=Cid:mailto:c@x.example"), "Invitation: Lunch\nFrom Lovelace, Ada\nWith bob@x.example; Cid"},
		"many people":         {file(strings.Repeat("ATTENDEE;CN=Cid:mailto:c@x.example\n", 40)), "Invitation: Lunch\nWith Cid; Cid; Cid; Cid; 36 more"},
		"several events":      {file("|RRULE:FREQ=DAILY\nEND:VEVENT\nBEGIN:VEVENT\nSUMMARY:Dinner"), "Event: Lunch\nRepeats every day"},
		"lines it cannot read": {file("DTSTART;TZID=Europe\nX;=:\nATTENDEE;CN=\"a\"b:c\nDESCRIPTION:" + strings.Repeat("long", 2000) + "\n" + start),
			"Invitation: Lunch\nWhen Tue 24 Mar 2026, 14:00 (UTC)\nHere Tue 24 Mar 2026, 10:00 (EDT)"},
		"control sequences": {file("LOCATION:\x1b[31mRoom\\n\u202e4"), "Invitation: Lunch\nWhere Room 4"},
		"no event":          {"BEGIN:VCALENDAR\nBEGIN:VTODO\nEND:VTODO\nEND:VCALENDAR\n", ""},
		"cut off":           {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lunch\n", ""},
		"nothing":           {"", ""},
	} {
		if got := shown(Block([]byte(c.file), here)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if got := shown(Block([]byte(strings.ReplaceAll(c.file, "\n", "\r\n")), here)); got != c.want {
			t.Errorf("%s, with CRLF:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestRepeats(t *testing.T) {
	for rule, want := range map[string]string{
		"FREQ=DAILY":                                              "every day",
		"FREQ=WEEKLY;BYDAY=TU;COUNT=10":                           "every week on Tuesday, 10 times",
		"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE":                      "every 2 weeks on Monday, Wednesday",
		"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20260603T220000Z": "every week on Monday, Tuesday, Wednesday, Thursday, Friday, until 3 Jun 2026",
		"FREQ=MONTHLY;BYMONTHDAY=15":                              "every month on the 15th day",
		"FREQ=MONTHLY;BYMONTHDAY=-1":                              "every month on the last day",
		"FREQ=MONTHLY;BYDAY=-1FR":                                 "every month on the last Friday",
		"FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2":                        "every month on the 2nd Tuesday",
		"FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24":                    "every year on the 24th day in December",
		"FREQ=YEARLY;BYWEEKNO=20":                                 "by a rule: FREQ=YEARLY;BYWEEKNO=20",
		"FREQ=MONTHLY;BYMONTH=13":                                 "by a rule: FREQ=MONTHLY;BYMONTH=13",
		"FREQ=WHENEVER":                                           "by a rule: FREQ=WHENEVER",
	} {
		if got := shown(Block([]byte(file("RRULE:"+rule)), time.UTC)); got != "Invitation: Lunch\nRepeats "+want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte(file(outlook + "|DTSTART;TZID=W. Europe Standard Time:20260324T140000\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31")))
	f.Add([]byte(file("METHOD:REPLY\n|ATTENDEE;PARTSTAT=DECLINED;CN=\"Bob\":mailto:bob@x.example\nDURATION:-P9W\nDTSTART;VALUE=DATE:00010101")))
	f.Fuzz(func(t *testing.T, file []byte) {
		if b := Block(file, time.UTC); b != nil && strings.ContainsAny(shown(b), "\x1b\u202e\r\t") {
			t.Errorf("%q", shown(b))
		}
	})
}
