package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func someActions() table {
	never := func() string { return "Select a message first" }
	return table{actions: []*action{
		{ID: "new-inbox", Title: "New inbox", Hint: "new", Group: essentials, Keys: []string{"n"}, Where: anywhere},
		{ID: "copy-code", Title: "Copy the code", Hint: "code", Group: essentials, Keys: []string{"c"}, Where: anywhere, DisabledReason: never},
		{ID: "page-down", Title: "Page down", Group: navigation, Keys: []string{"pgdown", "ctrl+f"}, Where: anywhere},
		{ID: "filter", Title: "Filter", Hint: "filter", Group: navigation, Keys: []string{"/"}, Where: inLists},
		{ID: "search", Title: "Search the message", Hint: "search", Group: navigation, Keys: []string{"/"}, Where: inReader},
		{ID: "view-rich", Title: "View: rich", Group: ofMessage, Keys: []string{"1"}, Where: anywhere},
		{ID: "view-text", Title: "View: text", Group: ofMessage, Keys: []string{"2", "t"}, Where: anywhere},
		{ID: "mark", Title: "Mark", Hint: "mark", Group: ofInboxes, Keys: []string{"space"}, Where: inInboxes},
		{ID: "help", Title: "Help", Hint: "help", Group: application, Keys: []string{"?"}, Where: anywhere},
		{ID: "palette", Title: "All actions", Group: application, Keys: []string{":"}, Where: anywhere},
		{ID: "theme", Title: "Change the theme", Hint: "theme", Group: application, Where: anywhere},
	}}
}

func TestWhichRowsCanBeOpenedAndMarked(t *testing.T) {
	a := online(t)
	all := a.actions(nil)
	why := func(id string) string { return table{actions: all}.byID(id).reason() }
	a.focus = theme.Messages
	if open, mark := why("open"), why("mark"); open != "No message to open" || mark != "No message to mark" {
		t.Errorf("in an empty list: %q, %q", open, mark)
	}
	a.focus = theme.Inboxes
	if got := why("mark"); got != "" {
		t.Errorf("an inbox: %q", got)
	}
	a.selectInbox(store.All)
	if open, mark := why("open"), why("mark"); open != "" || mark != "No inbox to mark" {
		t.Errorf("the row of all inboxes: %q, %q", open, mark)
	}
}

func TestAKeyMeansTheActionOfFewerPanesWhileThatIsAvailable(t *testing.T) {
	hits := false
	tb := someActions()
	tb.actions = append([]*action{{ID: "next-match", Title: "Next match", Hint: "next", First: true, Group: navigation, Keys: []string{"n"}, Where: inReader, DisabledReason: func() string {
		if hits {
			return ""
		}
		return "No search matches"
	}}}, tb.actions...)
	for _, hits = range []bool{false, true, false} {
		want, first := "new-inbox", "new"
		if hits {
			want, first = "next-match", "next"
		}
		hints := tb.hints(theme.Reader, 99)
		if got := tb.lookup("n", theme.Reader).ID; got != want || hints[0].Hint != first || len(hints) != 3 {
			t.Errorf("with hits %v n means %s and the hints are %v", hits, got, hints)
		}
		if got := tb.lookup("n", theme.Messages).ID; got != "new-inbox" {
			t.Errorf("with hits %v n means %s in another pane", hits, got)
		}
	}
}

func TestBoundKeys(t *testing.T) {
	tb := someActions()
	tb.bind(map[string][]string{"new-inbox": {"pgup", "N"}, "filter": {}, "none": {"x"}})
	for _, c := range []struct{ id, keyFor string }{
		{"new-inbox", "pgup"}, {"filter", ": filter"}, {"theme", ": theme"}, {"search", "/"}, {"none", ": none"},
	} {
		if got := tb.keyFor(c.id); got != c.keyFor {
			t.Errorf("the hint for %s names %q, want %q", c.id, got, c.keyFor)
		}
	}
	if tb.lookup("n", theme.Inboxes) != nil || tb.lookup("/", theme.Inboxes) != nil || tb.lookup("N", theme.Reader).ID != "new-inbox" {
		t.Error("the keys of one's own do not take the place of the usual ones")
	}
	tb.bind(map[string][]string{"palette": nil})
	if got := tb.keyFor("theme"); got != "theme" {
		t.Errorf("without a key for the palette a hint names %q", got)
	}
}

func TestTheListOfActionsBeginsWithThePane(t *testing.T) {
	tb := someActions()
	menu := func(p theme.Pane) dialog.Dialog {
		return tb.menu("Actions", p, func(c *action) tea.Cmd { return func() tea.Msg { return c.ID } })
	}
	for p, want := range map[theme.Pane][]string{
		theme.Inboxes:  {"In this pane", "Filter", "Inboxes", "Mark", "Essentials", "Navigation", "Message", "Application"},
		theme.Messages: {"In this pane", "Filter", "Message", "Essentials", "Navigation", "Application"},
		theme.Reader:   {"In this pane", "Search the message", "Message", "Essentials", "Navigation", "Application"},
	} {
		rows := uitest.DrawDialog(t, menu(p), 50, 40)
		rest := rows.String()
		for _, text := range want {
			_, after, ok := strings.Cut(rest, text)
			if !ok {
				t.Errorf("pane %d: %q does not come next in\n%s", p, text, rows)
			}
			rest = after
		}
	}
	d := menu(theme.Messages)
	uitest.DrawDialog(t, d, 50, 40).See("pgdown ctrl+f", "Change the theme")
	uitest.DrawDialog(t, d, 50, 40).DontSee("Search the message")
	r := press(d, "cpycd")
	uitest.DrawDialog(t, d, 50, 40).See("! Select a message first")
	if r = press(d, "enter"); !r.Close || r.Do()() != "copy-code" {
		t.Errorf("it leads to %+v", r)
	}
}

func TestReasons(t *testing.T) {
	smtp := func(a *app) { a.session().SMTP = smtpAt("127.0.0.1:2525", "") }
	gone := func(a *app) { a.inbox().Expires = now }
	all := func(a *app) { a.selectInbox(store.All) }
	none := func(a *app) { a.store.Forget("a"); a.updateLists() }
	offline := func(a *app) { *a.common = *starting(t, now).common }
	message := func(a *app) {
		a.store.Apply(watch.Event{Kind: watch.Listed, InboxID: "a", Messages: []api.Summary{{ID: "1"}}}, now)
		a.updateLists()
	}
	for _, c := range []struct {
		name   string
		change func(*app)
		id     string // of the action
		want   string
	}{
		{"service", offline, "new-inbox", "Not connected yet"},
		{"service", all, "new-inbox", ""},
		{"inbox", offline, "label-inbox", "Not connected yet"},
		{"inbox", none, "label-inbox", "No inboxes yet: n creates one"},
		{"inbox", all, "label-inbox", "Select an inbox first"},
		{"inbox", gone, "label-inbox", ""},
		{"live inbox", all, "copy-address", "Select an inbox first"},
		{"live inbox", gone, "copy-address", "This inbox has expired or was deleted: n creates a new one"},
		{"live inbox", smtp, "copy-address", ""},
		{"SMTP", gone, "send-sample", "Sample messages can only be sent to the local service"},
		{"SMTP", offline, "send-sample", "Not connected yet"},
		{"SMTP", smtp, "send-sample", ""},
		{"message", all, "save-message", "Select a message first"},
		{"messages", all, "compare", "Select a message first"},
		{"a code", gone, "copy-code", "There are no messages yet"},
		{"message", message, "save-message", ""},
	} {
		a := online(t)
		c.change(a)
		if got := (table{actions: a.actions(nil)}).byID(c.id).reason(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
