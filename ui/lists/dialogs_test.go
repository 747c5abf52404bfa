package lists

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/uitest"
)

// press gives keys to a dialog until it closes or asks.
func press(d dialog.Dialog, names ...string) dialog.Result {
	var r dialog.Result
	for _, k := range uitest.Keys(names...) {
		if r = d.Update(k); r.Close || r.Do != nil {
			break
		}
	}
	return r
}

// done is what the outcome of a dialog says it does.
func done(r dialog.Result) string {
	if r.Do == nil {
		return ""
	}
	return r.Do()().(string)
}

func says(what ...any) tea.Cmd { return func() tea.Msg { return fmt.Sprint(what...) } }

func TestTheFormOfANewInbox(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		// As fast as a program types.
		{[]string{"bob", "enter"}, "{ bob 3600}"},
		{[]string{"enter"}, "{  3600}"},
		{[]string{"Bob", "tab", "Test.EXAMPLE", "tab", "ctrl+u", "10m", "enter"}, "{test.example bob 600}"},
		{[]string{"tab", "tab", "ctrl+u", "90", "enter"}, "{  90}"}, // seconds, as on the command line
		{[]string{"tab", "test", "right", "enter"}, "{test.example  3600}"},
		{[]string{"tab", "right", "right", "enter"}, "{b.example  3600}"},
		{[]string{"a..b", "enter", "backspace", "backspace", "backspace", "enter"}, "{ a 3600}"},
		{[]string{"tab", "other.example", "enter", "ctrl+u", "enter"}, "{  3600}"},
		{[]string{"bob", "esc"}, ""},
	} {
		d := NewInboxForm([]string{"test.example", "b.example"}, nil, func(in api.CreateInbox) tea.Cmd { return says(in) })
		if r := press(d, c.keys...); done(r) != c.want {
			t.Errorf("%q leads to %+v", c.keys, done(r))
		}
	}
	create := func(in api.CreateInbox) tea.Cmd { return says(in) }
	d := NewInboxForm([]string{"test.example", "b.exa\x1b[31mmple"}, []string{"c.example"}, create)
	press(d, "tab")
	uitest.DrawDialog(t, d, 80, 24).See("Username", "> random", "┃ → test.example, b.example", "> test.example", "TTL", "> 1h")
	press(d, "c.example", "enter")
	uitest.DrawDialog(t, d, 80, 24).See("┃ ! one of test.example, b.example")
	d = NewInboxForm(nil, []string{"c.example"}, create) // of a service that names none
	uitest.DrawDialog(t, d, 80, 24).See("> the service's own")
	if got := done(press(d, "tab", "c", "right", ".org", "enter")); got != "{c.example.org  3600}" {
		t.Errorf("it leads to %q", got)
	}
}

func TestTheFieldsOfANewInbox(t *testing.T) {
	for _, c := range []struct {
		check func(string) error
		name  string
		will  []string
		wont  map[string]string
	}{
		{checkUsername, "name", []string{"", "a", "ada.l-1+x_y", "ADA", strings.Repeat("a", 64)}, map[string]string{
			strings.Repeat("a", 65): "at most 64 characters", "a..b": "no two dots in a row", "a b": "both ends", ".a": "both ends", "a.": "both ends",
			"añb": "a-z 0-9", "a@b": "a-z 0-9", "a\n": "a-z 0-9",
		}},
		{checkDomain, "domain", []string{"", "localhost", "a.b-c.example"}, map[string]string{"a b": "a domain such as", "x@a.b": "a domain such as"}},
		{checkTTL, "TTL", []string{"60s", "1m", "60", "1h30m", "2d", "2d1h", "30d", "1H", "720h"}, map[string]string{
			"": "a duration such as", "x": "a duration such as", "-1d": "such as", "1d2d": "such as", "d": "such as", "1h1d": "such as", "9d9": "such as",
			"0": "at least a minute", "59s": "at least a minute", "10": "at least a minute", "-5m": "at least a minute", "0d30s": "at least a minute",
			"31d": "at most 30 days", "366d": "at most 30 days", "30d1s": "at most 30 days", "9999999": "at most 30 days",
		}},
	} {
		for _, v := range c.will {
			if err := c.check(v); err != nil {
				t.Errorf("%s %q: %v", c.name, v, err)
			}
		}
		for v, want := range c.wont {
			if err := c.check(v); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: %v, want %q", c.name, v, err, want)
			}
		}
	}
	for v, want := range map[string]time.Duration{"90s": 90 * time.Second, "600": 10 * time.Minute, "2d1h30m": 49*time.Hour + 30*time.Minute, "1H": time.Hour} {
		if got, err := parseTTL(v); got != want || err != nil {
			t.Errorf("%q lasts %v, %v", v, got, err)
		}
	}
}

func TestPrompts(t *testing.T) {
	s := store.New(start)
	i, _ := s.Put(api.Inbox{ID: "inbox_1", Email: "ada@b.example"}, start)
	label := func() dialog.Dialog {
		return LabelPrompt(i, func(id, label string) tea.Cmd { return says(id, " ", label) })
	}
	adopt := func() dialog.Dialog { return AdoptPrompt(s, func(id string) tea.Cmd { return says(id) }) }
	for _, c := range []struct {
		open  func() dialog.Dialog
		keys  []string
		wrong string
		want  string
	}{
		{adopt, []string{" inbox_2 ", "enter"}, "", "inbox_2"},
		{adopt, []string{"enter"}, "! an ID such as inbox_…", ""},
		{adopt, []string{"a/b", "enter"}, "! an ID has no spaces and no slashes", ""},
		{adopt, []string{"a b", "enter"}, "! an ID has no spaces and no slashes", ""},
		{adopt, []string{"inbox_1", "enter"}, "! this inbox is already on the list", ""},
		{label, []string{"signup ✓", "enter"}, "", "inbox_1 signup ✓"},
		{label, []string{"enter"}, "", "inbox_1 "},
		{label, []string{strings.Repeat("日", 20), "enter"}, "", "inbox_1 " + strings.Repeat("日", 20)},
		{label, []string{strings.Repeat("日", 20) + "x", "enter"}, "! at most 40 characters", ""},
	} {
		d := c.open()
		r := press(d, c.keys...)
		if done(r) != c.want || (r.Do != nil) != (c.wrong == "") {
			t.Errorf("%q leads to %+v", c.keys, r)
		}
		uitest.DrawDialog(t, d, 80, 12).See(c.wrong)
	}
	i.Label = "old"
	d := label()
	uitest.DrawDialog(t, d, 80, 12).See("Label old", "› old")
}
