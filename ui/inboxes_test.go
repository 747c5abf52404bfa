package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/dialog"
	"mayfly/ui/uitest"
)

func TestTheFormOfANewInbox(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string // what is created, with its lifetime; what the form says instead
	}{
		{[]string{"bob", "enter"}, "bob@apitest.example 1h0m0s"},
		{[]string{"Bob", "tab", "apitest.EXAMPLE", "tab", "ctrl+u", "10m", "enter"}, "bob@apitest.example 10m0s"},
		{[]string{"bob", "tab", "tab", "ctrl+u", "90", "enter"}, "bob@apitest.example 1m30s"}, // seconds, as on the command line
		{[]string{"bob", "tab", "api", "right", "enter"}, "bob@apitest.example 1h0m0s"},
		{[]string{"b..b", "enter", "backspace", "backspace", "backspace", "ob", "enter"}, "bob@apitest.example 1h0m0s"},
		{[]string{"tab", "third.example", "enter"}, "┃ ! must be one of apitest.example, other.example"},
		{[]string{"bob", "esc"}, ""},
	} {
		play(t, setting{width: 80, height: 24, service: apitest.Options{Extensions: true}, before: ada}, func(h *harness) {
			h.press(append([]string{"N"}, c.keys...)...)
			h.wait(time.Second)
			if strings.HasPrefix(c.want, "┃") {
				h.see(c.want)
				return
			}
			got := ""
			for _, i := range h.app.store.Inboxes {
				if i.Email != "ada@apitest.example" {
					got = fmt.Sprint(i.Email, " ", i.Expires.Sub(i.Created).Round(time.Second))
				}
			}
			if got != c.want {
				t.Errorf("%q leads to %q, want %q", c.keys, got, c.want)
			}
		})
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

func TestPromptsOfAnInbox(t *testing.T) {
	a := online(t)
	i := a.store.Inboxes["a"]
	label := func() { a.inboxActions.label(i) }
	adopt := func() { a.inboxActions.adopt(a.session()) }
	for _, c := range []struct {
		open func()
		keys []string
		want string // what the dialog says is wrong, "" for nothing
	}{
		{adopt, []string{" inbox_2 ", "enter"}, ""},
		{adopt, []string{"enter"}, "! an ID such as inbox_…"},
		{adopt, []string{"a/b", "enter"}, "! an ID cannot contain spaces or slashes"},
		{adopt, []string{"a b", "enter"}, "! an ID cannot contain spaces or slashes"},
		{adopt, []string{"a", "enter"}, "! this inbox is already on the list"},
		{label, []string{"signup ✓", "enter"}, ""},
		{label, []string{strings.Repeat("日", 20), "enter"}, ""},
		{label, []string{strings.Repeat("日", 20) + "x", "enter"}, "! at most 40 characters"},
	} {
		a.dialogs = nil
		c.open()
		d := a.dialogs[0]
		if r := press(d, c.keys...); (r.Do != nil) != (c.want == "") {
			t.Errorf("%q leads to %+v", c.keys, r)
		}
		uitest.DrawDialog(t, d, 80, 12).See(c.want)
	}
	i.Label = "old"
	label()
	uitest.DrawDialog(t, a.dialogs[1], 80, 12).See("Label old", "› old")
	hostile, _ := a.store.Put(api.Inbox{ID: uitest.Hostile, Email: uitest.Hostile + "@" + uitest.Hostile, ExpiresAt: now.Add(time.Hour)}, now)
	for _, open := range []func(){func() { a.inboxActions.label(hostile) }, func() { a.inboxActions.extend(hostile) }} {
		a.dialogs = nil
		open()
		var d dialog.Dialog = a.dialogs[0]
		uitest.DrawDialog(t, d, 20, 6)
		uitest.DrawDialog(t, d, 64, 14)
	}
}

// Time is added to what is left, and the end is said before and after.
func TestExtendingAddsTime(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: apitest.Options{Extensions: true}, before: func(h *harness) {
		time.Sleep(30 * time.Second) // seconds that are cut off change no minute
		h.inboxNamed("ada", 5*time.Hour)
	}}, func(h *harness) {
		end := h.app.inboxes.Inbox().Expires
		h.step("+", "+1h: expires "+end.Add(time.Hour).Format("15:04"))
		h.step("ctrl+u 90 enter", "! add a unit, such as 90m or 90h")
		h.press("m")
		h.wait(time.Minute)
		h.press("enter")
		h.wait(time.Second)
		h.see("✓ +90m: expires " + end.Add(90*time.Minute).Format("15:04"))
		if got := h.app.inboxes.Inbox().Expires.Sub(end); got > 90*time.Minute || got < 90*time.Minute-time.Second { // a ttl is of whole seconds
			t.Errorf("the inbox has %v more", got)
		}
		h.step("+ ctrl+u 2d", "+2d: expires "+end.Add(90*time.Minute+48*time.Hour).Format("2 Jan 15:04"))
	})
}

// What the service says of its inboxes and messages is compared with its own clock, wherever that and this machine's go.
func TestTheClockOfTheServiceCounts(t *testing.T) {
	for _, ahead := range []time.Duration{0, -3 * time.Hour, 3 * time.Hour} {
		play(t, setting{width: 120, height: 36, service: apitest.Options{Extensions: true, Ahead: ahead}, before: func(h *harness) {
			h.mail(h.inboxNamed("ada", time.Hour).Email, apitest.Mail{FromName: "Acme", Subject: "Before the start"})
		}}, func(h *harness) {
			h.wait(time.Second)
			h.step("y", "● 60 min left", " now │")
			h.server.SetAhead(ahead + 25*time.Hour)
			h.wait(time.Minute)
			h.see("✕ expired 24 h ago")
			h.server.SetAhead(ahead)
			h.wait(time.Minute)
			h.see("● 58 min left", "58 min left · ● live", "2 min │")
			h.dontSee("no longer exists")
			h.mail("ada@apitest.example", apitest.Mail{FromName: "Acme", Subject: "After all"})
			h.wait(2 * time.Second)
			h.see("After all", "last mail after 2 min · 58 min left · ● live", "2 min after you copied")
		})
	}
}
