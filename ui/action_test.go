package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/ui/dialog"
	"mayfly/ui/intent"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func someActions() Table {
	never := func() string { return "Select a message first" }
	return Table{
		{ID: "new-inbox", Title: "New inbox", Hint: "new", Group: Flow, Keys: []string{"n"}, Where: Anywhere},
		{ID: "copy-code", Title: "Copy the code", Hint: "code", Group: Flow, Keys: []string{"c"}, Where: Anywhere, Why: never},
		{ID: "page-down", Title: "Page down", Group: Moving, Keys: []string{"pgdown", "ctrl+f"}, Where: Anywhere},
		{ID: "filter", Title: "Filter", Hint: "filter", Group: Moving, Keys: []string{"/"}, Where: InLists},
		{ID: "search", Title: "Search the message", Hint: "search", Group: Moving, Keys: []string{"/"}, Where: InReader},
		{ID: "view-rich", Title: "View: rich", Row: "View: rich text", Group: Message, Keys: []string{"1"}, Where: Anywhere},
		{ID: "view-text", Title: "View: text", Row: "View: rich text", Group: Message, Keys: []string{"2", "t"}, Where: Anywhere},
		{ID: "mark", Title: "Mark", Hint: "mark", Group: Inboxes, Keys: []string{"space"}, Where: InInboxes},
		{ID: "help", Title: "Help", Hint: "help", Group: Application, Keys: []string{"?"}, Where: Anywhere},
		{ID: "palette", Title: "All actions", Group: Application, Keys: []string{":"}, Where: Anywhere},
		{ID: "theme", Title: "Change the theme", Hint: "theme", Group: Application, Where: Anywhere},
	}
}

func TestTheActionOfAKey(t *testing.T) {
	for _, c := range []struct {
		key  string
		want [3]string // in the inboxes, the messages, the reader
	}{
		{"n", [3]string{"new-inbox", "new-inbox", "new-inbox"}},
		{"/", [3]string{"filter", "filter", "search"}},
		{"space", [3]string{"mark", "", ""}},
		{"ctrl+f", [3]string{"page-down", "page-down", "page-down"}},
		{"t", [3]string{"view-text", "view-text", "view-text"}},
		{"pgdn", [3]string{}},
		{"", [3]string{}},
	} {
		for p, want := range c.want {
			got := ""
			if a := someActions().Lookup(c.key, theme.Pane(p)); a != nil {
				got = a.ID
			}
			if got != want {
				t.Errorf("%q in pane %d is %q, want %q", c.key, p, got, want)
			}
		}
	}
}

func TestAKeyMeansTheActionOfFewerPanesWhileThatIsAvailable(t *testing.T) {
	hits := false
	tb := append(Table{{ID: "next-hit", Title: "Next match", Hint: "next", Group: Moving, Keys: []string{"n"}, Where: InReader, Why: func() string {
		if hits {
			return ""
		}
		return "No search matches"
	}}}, someActions()...)
	for _, hits = range []bool{false, true, false} {
		want, first := "new-inbox", "new"
		if hits {
			want, first = "next-hit", "next"
		}
		hints := tb.Hints(theme.Reader, 99)
		if got := tb.Lookup("n", theme.Reader).ID; got != want || hints[0].Hint != first || len(hints) != 3 {
			t.Errorf("with hits %v n means %s and the hints are %v", hits, got, hints)
		}
		if got := tb.Lookup("n", theme.Messages).ID; got != "new-inbox" {
			t.Errorf("with hits %v n means %s in another pane", hits, got)
		}
	}
}

func TestBoundKeys(t *testing.T) {
	tb := someActions()
	tb.Bind(map[string][]string{"new-inbox": {"pgup", "N"}, "filter": {}, "none": {"x"}})
	for _, c := range []struct{ id, keyFor string }{
		{"new-inbox", "pgup"}, {"filter", ": filter"}, {"theme", ": theme"}, {"search", "/"}, {"none", ": none"},
	} {
		if got := tb.KeyFor(c.id); got != c.keyFor {
			t.Errorf("the hint for %s names %q, want %q", c.id, got, c.keyFor)
		}
	}
	if tb.Lookup("n", theme.Inboxes) != nil || tb.Lookup("/", theme.Inboxes) != nil || tb.Lookup("N", theme.Reader).ID != "new-inbox" {
		t.Error("the keys of one's own do not take the place of the usual ones")
	}
	tb.Bind(map[string][]string{"palette": nil})
	if got := tb.KeyFor("theme"); got != "theme" {
		t.Errorf("without a key for the palette a hint names %q", got)
	}
	if got := fmt.Sprint(tb.Keys()["new-inbox"], len(tb.Keys())); got != "[pgup N] 11" {
		t.Errorf("the keys are %s", got)
	}
}

func TestTablesAreJoinedInTheOrderOfTheHelp(t *testing.T) {
	tb := someActions()
	ids := ""
	for _, a := range Join(tb[5:], tb[:5]) {
		ids += a.ID + " "
	}
	if want := "new-inbox copy-code page-down filter search view-rich view-text mark help palette theme "; ids != want {
		t.Errorf("joined they are %s", ids)
	}
}

func TestHintsFitTheRoom(t *testing.T) {
	for _, helpKeys := range [][]string{{"?"}, {"ctrl+shift+h"}, nil} {
		tb := someActions()
		tb.Bind(map[string][]string{"help": helpKeys})
		for p, all := range []string{"new filter mark", "new filter", "new search"} {
			all := strings.TrimSpace(all + strings.Repeat(" help", len(helpKeys)))
			for room := range 60 {
				hints := tb.Hints(theme.Pane(p), room)
				x, names := 0, ""
				for _, h := range hints {
					if h.X != x || h.W != len(h.Key)+len(h.Hint)+3 {
						t.Errorf("the hint for %s is %d cells wide at %d", h.ID, h.W, h.X)
					}
					x += h.W
					names = strings.TrimSpace(names + " " + h.ID)
				}
				if last := len(hints) - 1; x > room || len(helpKeys) > 0 && room >= len(helpKeys[0])+7 && (last < 0 || hints[last].ID != "help") {
					t.Errorf("%d cells have %s, of %d cells", room, names, x)
				}
				if got := strings.ReplaceAll(names, "new-inbox", "new"); room == 59 && got != all {
					t.Errorf("in pane %d the hints are %q, want %q", p, got, all)
				}
			}
		}
	}
}

func TestHelp(t *testing.T) {
	for p, want := range []string{
		"Keys for inboxes|Essentials|n  New inbox|c  Copy the code|Navigation|pgdn ctrl+f  Page down|/  Filter|Message|12  View: rich text|Inboxes|space  Mark|Application|?  Help|:  All actions",
		"Keys for messages|Essentials|n  New inbox|c  Copy the code|Navigation|pgdn ctrl+f  Page down|/  Filter|Message|12  View: rich text|Application|?  Help|:  All actions",
		"Keys for the message|Essentials|n  New inbox|c  Copy the code|Navigation|pgdn ctrl+f  Page down|/  Search the message|Message|12  View: rich text|Application|?  Help|:  All actions",
	} {
		var got []string
		for _, row := range uitest.DrawDialog(t, someActions().Help(theme.Pane(p)), 50, 30).Rows {
			if row = strings.Trim(row, " ╭╮╰╯─│"); row != "" {
				key, does, ok := strings.Cut(row, "  ")
				if ok {
					row = key + "  " + strings.TrimSpace(does)
				}
				got = append(got, row)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("the help is\n%s, want\n%s", strings.Join(got, "|"), want)
		}
	}
}

func TestThePalette(t *testing.T) {
	tb := someActions()
	d := tb.Palette(theme.Messages)
	rows := uitest.DrawDialog(t, d, 50, 30)
	at := func(text string) int { return strings.Index(rows.String(), text) }
	rows.See("pgdn ctrl+f", "Change the theme")
	rows.DontSee("All actions", "Search the message", "Mark")
	if at("Filter") < at("Change the theme") {
		t.Errorf("navigation is not the last:\n%s", rows)
	}
	var r dialog.Result
	for _, k := range uitest.Keys("cpycd") {
		r = d.Update(k)
	}
	uitest.DrawDialog(t, d, 50, 30).See("! Select a message first")
	if r = d.Update(uitest.Keys("enter")[0]); !r.Close || r.Intent != (intent.Perform{ActionID: "copy-code"}) {
		t.Errorf("it leads to %+v", r)
	}
}

func TestReasons(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	in := &store.Inbox{Expires: now.Add(time.Hour)}
	gone := &store.Inbox{Expires: now}
	m := func(f *store.Findings) *store.Message { return &store.Message{Findings: f} }
	link := func(c session.Connection) *session.Link {
		return &session.Link{Session: &session.Session{Connection: &c}}
	}
	online, smtp, none := link(session.Connection{}), link(session.Connection{SMTPAddr: "127.0.0.1:2525"}), &session.Link{}
	empty, some := store.New(now), store.New(now)
	some.Order = []string{"a"}
	for _, c := range []struct {
		name   string
		s      Subject
		reason func(Subject) string
		want   string
	}{
		{"service", Subject{Link: none}, Subject.NeedService, "Not connected yet"},
		{"service", Subject{Link: online}, Subject.NeedService, ""},
		{"inbox", Subject{Link: none, Inbox: in}, Subject.NeedInbox, "Not connected yet"},
		{"inbox", Subject{Link: online, Store: empty}, Subject.NeedInbox, "There are no inboxes yet: n creates one"},
		{"inbox", Subject{Link: online, Store: some}, Subject.NeedInbox, "Select an inbox first"},
		{"inbox", Subject{Link: online, Inbox: gone}, Subject.NeedInbox, ""},
		{"live inbox", Subject{Link: online, Store: some}, Subject.NeedLive, "Select an inbox first"},
		{"live inbox", Subject{Link: online, Inbox: gone}, Subject.NeedLive, "This inbox is gone: n creates a new one"},
		{"live inbox", Subject{Link: online, Inbox: in}, Subject.NeedLive, ""},
		{"SMTP", Subject{Link: online, Inbox: in}, Subject.NeedSMTP, "Sample messages can only be sent to the local service"},
		{"SMTP", Subject{Link: none}, Subject.NeedSMTP, "Not connected yet"},
		{"SMTP", Subject{Link: smtp, Inbox: in}, Subject.NeedSMTP, ""},
		{"message", Subject{}, Subject.NeedMessage, "Select a message first"},
		{"message", Subject{Message: m(nil)}, Subject.NeedMessage, ""},
	} {
		c.s.Keys, c.s.Now = someActions(), now
		if got := c.reason(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
