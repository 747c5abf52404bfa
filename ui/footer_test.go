package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

// begin begins a request that takes for ever.
func begin(f *footer, r *session.Request) {
	r.Start = func() tea.Cmd { return func() tea.Msg { return nil } }
	f.begin(r, now)
}

func TestTheFooter(t *testing.T) {
	full := errors.New("save the message: write /home/ada/" + strings.Repeat("folder/", 20) + "mail.eml: no space left on device")
	copied := func(f *footer) {
		f.show(outcome{Result: host.Result{Text: "copied quiet-otter-x7@mayfly.test", How: "OSC 52, clipboard", EndMatters: true}}, now)
	}
	for _, c := range []struct {
		name string
		w    int
		do   func(f *footer)
		want string
	}{
		{"keys", 40, func(f *footer) {}, " n new  y copy address  ? help"},
		{"keys with less room", 30, func(f *footer) {}, " n new  ? help"},
		{"a note", 60, func(f *footer) { f.say(func() string { return "Not following" }, now) }, " n new  y copy address  ? help               Not following"},
		{"success", 60, func(f *footer) { f.show(outcome{Result: host.Result{Text: "copied 482913"}}, now) }, " n new  y copy address  ? help             ✓ copied 482913"},
		{"failure", 60, func(f *footer) { f.show(outcome{Result: host.Result{Text: "saved", Err: full}}, now) }, " ! save the message: write /ho…eml: no space left on device"},
		{"a late answer", 60, func(f *footer) {
			f.show(outcome{Result: host.Result{Err: fmt.Errorf("get: %w", context.DeadlineExceeded)}}, now)
		}, " n new  ? help         ! The service did not answer in time"},
		{"an address", 80, copied, " n new  ? help        ✓ copied quiet-otter-x7@mayfly.test (OSC 52, clipboard)"},
		{"an address with less room", 40, copied, "    ✓ copied quiet-otter-x7@mayfly.test"},
		{"an outcome of long ago", 40, func(f *footer) { f.show(outcome{Result: host.Result{Err: errors.New("x")}}, now.Add(-noticeTime)) }, " n new  y copy address  ? help"},
		{"a request", 60, func(f *footer) {
			f.say(func() string { return "x" }, now)
			begin(f, &session.Request{What: "creating an inbox"})
		}, " n new  y copy address  ? help          creating an inbox…"},
		{"an outcome meanwhile", 60, func(f *footer) {
			begin(f, &session.Request{What: "saving"})
			f.show(outcome{Result: host.Result{Text: "copied 4"}}, now)
		}, " n new  y copy address  ? help                    ✓ copied 4"},
		{"an outcome meanwhile, of long ago", 60, func(f *footer) {
			begin(f, &session.Request{What: "saving"})
			f.show(outcome{Result: host.Result{Text: "copied 4"}}, now.Add(-noticeTime))
		}, " n new  y copy address  ? help                       saving…"},
		{"a request again", 60, func(f *footer) {
			begin(f, &session.Request{What: "saving"})
			begin(f, &session.Request{What: "saving"})
		}, " n new  y copy address  ? help                 still saving…"},
		{"the one that is left", 60, func(f *footer) {
			begin(f, &session.Request{What: "saving"})
			begin(f, &session.Request{What: "deleting"})
			f.end(f.latest())
		}, " n new  y copy address  ? help                       saving…"},
		{"steps", 70, func(f *footer) { begin(f, &session.Request{What: "deleting", Done: 1, Total: 3}) }, " n new  y copy address  ? help            deleting 1/3"},
		{"an answer", 40, func(f *footer) {
			begin(f, &session.Request{What: "saving", Done: 1, Total: 3})
			f.end(f.latest())
		}, " n new  y copy address  ? help"},
		{"a subject that reads like an address and an aside", 50, func(f *footer) {
			f.say(func() string { return "Mail for ada: a note for bob@b.example about nothing at all (internal)" }, now)
		}, " Mail for ada: a note for bob@b.example about no…"},
		{"hostile", 60, func(f *footer) { f.show(outcome{Result: host.Result{Err: errors.New(uitest.Hostile)}}, now) }, " n new  y copy address  ? help                ! 👨 ❤ end"},
	} {
		var f footer
		c.do(&f)
		got := uitest.Draw(t, []string{f.draw(uitest.Theme(t), table{actions: fewActions()}, theme.Messages, "", c.w, now)}, c.w).String()
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}
