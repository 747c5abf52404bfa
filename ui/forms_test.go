package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"mayfly/api/apitest"
	"mayfly/keys"
	"mayfly/ui/dialog"
	"mayfly/ui/session"
	"mayfly/ui/uitest"
)

// press gives keys to a dialog until it closes or asks.
func press(d dialog.Dialog, names ...string) (r dialog.Result) {
	for _, k := range uitest.Keys(names...) {
		if r = d.Update(k); r.Close || r.Do != nil {
			break
		}
	}
	return r
}

func TestTheFormThatConnects(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		wrong string
		want  string // what is connected to
	}{
		{[]string{"https://a.example/", "tab", "k-1", "tab", "work", "enter"}, "", "{work https://a.example k-1}"},
		{[]string{"http://[::1]:8080/x", "enter"}, "", "{ http://[::1]:8080/x }"},
		{[]string{"https://a.example", "tab", "k-1", "enter"}, "", "{ https://a.example k-1}"},
		{[]string{"enter"}, "! a URL such as https://mail.example.com", ""},
		{[]string{"a.example", "enter"}, "! a URL such as https://mail.example.com", ""},
		{[]string{"ftp://a.example", "enter"}, "! a URL such as https://mail.example.com", ""},
		{[]string{"https://u@a.example", "enter"}, "! must not contain a login or a query", ""},
		{[]string{"https://a.example/?q", "enter"}, "! must not contain a login or a query", ""},
		{[]string{"https://a.example/#f", "enter"}, "! must not contain a login or a query", ""},
		{[]string{"https://a.example", "tab", "a b", "enter"}, "! a key contains no spaces", ""},
		{[]string{"https://a.example", "tab", "ключ", "enter"}, "! a key contains no spaces", ""},
		{[]string{"https://a.example", "tab", "tab", "Work", "enter"}, "! a-z 0-9 _ -, at most 32", ""},
		{[]string{"https://a.example", "tab", "tab", strings.Repeat("a", 33), "enter"}, "! a-z 0-9 _ -, at most 32", ""},
	} {
		a, did := starting(t, now), ""
		a.connection = session.NewConnection(t.Context(), session.Options{
			Connect: func(_ context.Context, target session.Target) (*session.Service, error) {
				did = fmt.Sprint(target)
				return nil, errors.New("no")
			},
		}, a.log, now)
		d := a.connecting.form(nil)
		r := press(d, c.keys...)
		if r.Do != nil {
			r.Do()()
		}
		if did != c.want {
			t.Errorf("%q leads to %q, want %q", c.keys, did, c.want)
		}
		uitest.DrawDialog(t, d, 80, 24).See(c.wrong)
		uitest.DrawDialog(t, d, 80, 24).DontSee("k-1", "a b")
		if c.want != "" {
			uitest.DrawDialog(t, a.connecting.form(nil), 80, 24).See("> http")
		}
	}
}

// What a key is missing for is asked for at once, what is wrong with the answer is said in the form, and where there
// is no keyring it asks before it keeps the key in the file.
func TestAMissingKeyIsAskedFor(t *testing.T) {
	for _, profile := range []session.Profile{{Name: "work", BaseURL: "https://mail.example/v2"}, {BaseURL: "https://mail.example/v2"}} {
		set := setting{width: 80, height: 24, start: profile}
		set.connect = func(*harness) (*session.Service, error) {
			return nil, fmt.Errorf("%w for https://mail.example/v2", keys.ErrNone)
		}
		var kept []string
		set.save = func(p session.Profile, key string, where keys.Place) error {
			kept = append(kept, fmt.Sprint(p, key, where))
			if where == keys.Keyring {
				return keys.ErrNoKeyring
			}
			return nil
		}
		play(t, set, func(h *harness) {
			h.see("╭ Connect to a service", "> https://mail.example/v2", "> "+cmp.Or(profile.Name, "not saved"))
			h.step("esc n", "No API key: K connects with one")
			h.step("K enter", "╭ Connect to a service", "│ ! no API key for https://mail.example/v2")
			if profile.Name == "" {
				h.press("tab", "home", "team", "shift+tab")
			}
			h.step("secret-key enter", "╭ Store the API key in a file?", "y store it in a file   esc forget it on exit")
			h.step("y", "✓ saved the API key to a file only you can read")
			name := cmp.Or(profile.Name, "team")
			if got, want := fmt.Sprint(kept), fmt.Sprintf("[{%[1]s https://mail.example/v2}secret-key0 {%[1]s https://mail.example/v2}secret-key1]", name); got != want {
				t.Errorf("kept %s, want %s", got, want)
			}
		})
	}
}

func TestAProfileWithoutAKeyOpensOnTheFormThatAsksForIt(t *testing.T) {
	set := with(ada)
	set.profiles = []session.Profile{{Name: "local"}, {Name: "work", BaseURL: "https://work.example"}}
	set.connect = onlyOnce(func() error { return keys.ErrNone })
	play(t, set, func(h *harness) {
		h.step("P work enter", "╭ Connect to a service", "> https://work.example", "┃ API key", "> work", "! no API key")
		h.step("esc", "ada")
	})
}

func TestANewInboxThatIsRefusedKeepsItsForm(t *testing.T) {
	set := with(ada)
	set.service.Extensions = true
	play(t, set, func(h *harness) {
		h.step("N ada enter", "╭ New inbox", "> ada", "is taken (400)")
		h.press("2", "tab", "right", "right", "tab", "ctrl+u", "30m", "enter")
		h.dontSee("╭ New inbox")
		if want := "ada2@other.example"; len(h.copied) != 1 || h.copied[0] != want {
			t.Errorf("copied %q, want %q", h.copied, want)
		}
		h.see("30 min")
		h.server.SetDelay(2 * time.Second)
		h.step("N bob enter", "waiting for the service…")
		h.press("esc", "y") // goes on without the form
		h.wait(3 * time.Second)
		h.see("bob")
	})
}

func TestAMessageIsSentOnToWhomTheRelayMaySend(t *testing.T) {
	for reason, service := range map[string]apitest.Options{"! This service has no relay: only its operator can set one up": extended, "This service has no relay": {}} {
		play(t, setting{width: 120, height: 36, before: someMail, service: service}, func(h *harness) {
			h.step("R", strings.TrimPrefix(reason, "! "))
			h.dontSee("╭ Send")
		})
	}
	set := setting{width: 80, height: 24, before: someMail, service: apitest.Options{Extensions: true, RelayAllow: []string{"*@example.org", "qa@example.com"}}}
	play(t, set, func(h *harness) {
		h.step("R", "╭ Release this message", "→ *@example.org, qa@example.com")
		h.server.FailIf(apitest.Forbidden, 2, func(r *http.Request) bool { return r.Method == http.MethodPost })
		h.step("bob@example.net enter", "╭ Release this message", "› bob@example.net", "│ ! release the message: Your plan does not allow this")
		h.step("ctrl+u bob right", "› bob@example.org", "→ *@example.org, qa@example.com")
		h.step("enter", "╭ Release this message", "› bob@example.org", "! ")
		h.press("enter")
		h.dontSee("╭ Release this message")
		h.see("✓ released to bob@example.org")
		h.step("R", "› bob@example.org")
	})
}

func TestProfiles(t *testing.T) {
	a := online(t)
	reason := func() string { return table{actions: a.actions(nil)}.byID("profiles").reason() }
	if got := reason(); got != "Only one profile: K adds another" {
		t.Errorf("without profiles: %q", got)
	}
	service := a.session()
	service.Profile = "local"
	a.connection = session.NewConnection(t.Context(), session.Options{Profiles: []session.Profile{
		{Name: "local"}, {Name: "work", BaseURL: "https://work.example"}, {Name: "ho\x1b[31mme", BaseURL: "https://\x07home.example"},
	}}, a.log, now)
	a.connection.Session = service
	if got := reason(); got != "" {
		t.Errorf("with three profiles: %q", got)
	}
	d := a.connecting.profiles()
	uitest.DrawDialog(t, d, 80, 24).See("local", "this machine", "work", "https://work.example", "home", "https://home.example", "! in use")
	press(d, "work", "enter").Do()
	if got := a.connection.AskedProfile(); got != (session.Profile{Name: "work", BaseURL: "https://work.example"}) {
		t.Errorf("it connects to %+v", got)
	}
}
