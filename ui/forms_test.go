package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mayfly/ui/dialog"
	"mayfly/ui/session"
	"mayfly/ui/uitest"
)

// press gives keys to a dialog until it closes.
func press(d dialog.Dialog, names ...string) (r dialog.Result) {
	for _, k := range uitest.Keys(names...) {
		if r = d.Update(k); r.Close {
			break
		}
	}
	return r
}

func TestTheFormThatConnects(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		wrong string
		want  string // what is connected to, and what is saved
	}{
		{[]string{"https://a.example/", "enter", "k-1", "enter", "work", "enter"}, "", "{work https://a.example k-1} {work https://a.example} k-1"},
		{[]string{"http://[::1]:8080/x", "enter", "enter", "enter"}, "", "{ http://[::1]:8080/x }"},
		{[]string{"https://a.example", "enter", "k-1", "enter", "enter"}, "", "{ https://a.example k-1}"},
		{[]string{"enter"}, "! a URL such as https://mail.example.com", ""},
		{[]string{"a.example", "enter"}, "! a URL such as https://mail.example.com", ""},
		{[]string{"ftp://a.example", "enter"}, "! a URL such as https://mail.example.com", ""},
		{[]string{"https://u@a.example", "enter"}, "! the URL alone", ""},
		{[]string{"https://a.example/?q", "enter"}, "! the URL alone", ""},
		{[]string{"https://a.example/#f", "enter"}, "! the URL alone", ""},
		{[]string{"https://a.example", "enter", "a b", "enter"}, "! a key contains no spaces", ""},
		{[]string{"https://a.example", "enter", "ключ", "enter"}, "! a key contains no spaces", ""},
		{[]string{"https://a.example", "enter", "enter", "Work", "enter"}, "! a-z 0-9 _ -, at most 32", ""},
		{[]string{"https://a.example", "enter", "enter", strings.Repeat("a", 33), "enter"}, "! a-z 0-9 _ -, at most 32", ""},
	} {
		a, did := starting(t, now), ""
		a.connection = session.NewConnection(t.Context(), session.Options{
			Connect: func(_ context.Context, target session.Target) (*session.Service, error) {
				did = fmt.Sprint(target)
				return nil, errors.New("no")
			},
			SaveProfile: func(_ context.Context, p session.Profile, key string) error {
				did += fmt.Sprint(" ", p, " ", key)
				return nil
			},
		}, a.log, now)
		d := a.connectForm()
		r := press(d, c.keys...)
		if r.Do != nil {
			r.Do()()
		}
		if r.Close != (c.wrong == "") || did != c.want {
			t.Errorf("%q leads to %q, want %q", c.keys, did, c.want)
		}
		uitest.DrawDialog(t, d, 80, 24).See(c.wrong)
		uitest.DrawDialog(t, d, 80, 24).DontSee("k-1", "a b")
		if c.want != "" {
			uitest.DrawDialog(t, a.connectForm(), 80, 24).See("> http")
		}
	}
}

func TestProfiles(t *testing.T) {
	a := online(t)
	if got := a.needProfiles(); got != "Only one profile: K adds another" {
		t.Errorf("without profiles: %q", got)
	}
	service := a.session()
	service.Profile = "local"
	a.connection = session.NewConnection(t.Context(), session.Options{Profiles: []session.Profile{
		{Name: "local"}, {Name: "work", BaseURL: "https://work.example"}, {Name: "ho\x1b[31mme", BaseURL: "https://\x07home.example"},
	}}, a.log, now)
	a.connection.Session = service
	if got := a.needProfiles(); got != "" {
		t.Errorf("with three profiles: %q", got)
	}
	d := a.profilesMenu()
	uitest.DrawDialog(t, d, 80, 24).See("local", "this machine", "work", "https://work.example", "home", "https://home.example", "! in use")
	press(d, "work", "enter").Do()
	if got := a.connection.Asked(); got != (session.Profile{Name: "work", BaseURL: "https://work.example"}) {
		t.Errorf("it connects to %+v", got)
	}
}
