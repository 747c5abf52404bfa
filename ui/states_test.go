package ui

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/keys"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// state is a state of the screen that was designed; scene brings it about.
type state struct {
	name  string
	set   setting
	scene func(h *harness)
}

// extended is a service with the extensions of our own.
var extended = apitest.Options{Extensions: true}

func ada(h *harness) { h.inboxNamed("ada", time.Hour) }

// someMail is an hour in the life of an inbox.
func someMail(h *harness) { mailUntil(h, time.Hour) }

// mailUntil is mail in an inbox that expires after a while.
func mailUntil(h *harness, expiry time.Duration) {
	h.inboxNamed("ci-run-881", 4*time.Minute)
	time.Sleep(time.Second)
	in := h.inboxNamed("ada", expiry)
	for n, m := range []apitest.Mail{
		{From: "noreply@github.example", FromName: "GitHub", Subject: "[GitHub] Please verify your device", Text: "Verification code: 731002"},
		{From: "hello@acme.example", FromName: "Acme", Subject: "Welcome to Acme", Text: "Welcome!"},
		{From: "grace@navy.example", FromName: "קבוצת גרייס 旅の家族", Subject: "עברית, 日本語, e\u0301 and \U0001F468\u200d\U0001F469\u200d\U0001F467", Text: "Shalom"},
		{From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", HTML: confirmHTML},
	} {
		m.ReceivedAt = time.Now().Add(time.Duration(n-40) * time.Minute)
		h.mail(in.Email, m)
	}
}

// faultyMail is a mail with something to find in its HTML.
func faultyMail(h *harness) {
	const html = `<!doctype html>
<html>
<head>
<style>
  /* the brand */
  .button { background: #0b7a63; color: #fff }
</style>
</head>
<body>
<!-- the head -->
<h1>Welcome, {{first_name}}</h1>
<p>Follow <a href="#" class='button'>this link</a> &amp; sign in.</p>
<img src="https://cdn.acme.example/logo.png" width=120 height=40>
</body>
</html>
`
	in := h.inboxNamed("ada", time.Hour)
	h.mail(in.Email, apitest.Mail{
		From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", HTML: html,
		Raw: []byte("From: Acme <no-reply@acme.example>\r\nMessage-ID: <1@acme.example>\r\nDate: Sat, 1 Jan 2000 00:00:00 +0000\r\n" +
			"Subject: Confirm your e-mail address\r\nContent-Type: text/html\r\n\r\n" + html),
	})
}

const confirmHTML = `<h1>Welcome, Ada</h1><p>Enter this code to finish signing up:</p><p style="font-size:32px">482 913</p>` +
	`<p>or use the button:</p><p><a href="https://app.acme.example/confirm?token=5b1f9a" style="background:#0b7a63;color:#fff;padding:12px">Confirm e-mail</a></p>` +
	`<p><a href="https://acme.example/unsubscribe">unsubscribe</a></p>`

var states = []state{
	{"starting", setting{connect: never}, func(h *harness) { h.wait(200 * time.Millisecond) }},
	{"empty", setting{before: ada, smtp: "127.0.0.1:2525"}, func(h *harness) { h.wait(90 * time.Second) }},
	{"list", setting{before: someMail, service: extended}, func(h *harness) { h.press("down", "down") }},
	{"reading", setting{before: someMail, service: extended}, func(h *harness) { h.press("enter") }},
	{"all", setting{before: someMail}, func(h *harness) { h.press("h", "g", "l") }},
	{"loading", setting{before: someMail}, func(h *harness) {
		h.server.SetDelay(5 * time.Second)
		h.app.store.Opened = store.Cache{}
		h.press("j", "enter")
		h.wait(200 * time.Millisecond)
	}},
	{"no-key", setting{connect: noKey}, nil},
	{"refused", setting{before: refuse}, nil},
	{"not-in-plan", setting{before: func(h *harness) { h.server.Fail(apitest.Forbidden, -1) }}, nil},
	{"limited", setting{before: someMail}, func(h *harness) {
		h.server.Fail(apitest.Limited, -1)
		h.wait(90 * time.Second)
	}},
	{"away", setting{before: someMail}, func(h *harness) {
		h.server.Fail(apitest.Cut, -1)
		h.wait(90 * time.Second)
	}},
	{"expired", setting{before: func(h *harness) { mailUntil(h, 5*time.Minute) }}, func(h *harness) {
		h.press("enter")
		h.wait(6 * time.Minute)
	}},
	{"deleted-elsewhere", setting{before: ada}, func(h *harness) {
		h.server.Delete(h.app.store.Order[0])
		h.wait(90 * time.Second)
	}},
	{"delete", setting{before: someMail}, func(h *harness) { h.press("d") }},
	{"help", setting{before: someMail}, func(h *harness) { h.press("?") }},
	{"palette", setting{before: someMail}, func(h *harness) { h.press(":", "copy") }},
	{"form", setting{before: someMail}, func(h *harness) { h.press("N", "ada..x") }},
	{"filter", setting{before: someMail}, func(h *harness) { h.press("/", "acme") }},
	{"checks", setting{before: faultyMail, service: extended}, func(h *harness) { h.press("enter", "6", "j") }},
	{"source", setting{before: faultyMail, service: extended}, func(h *harness) { h.press("enter", "6", "j", "enter") }},
	{"compare", setting{before: templates, service: extended}, func(h *harness) { h.press("=") }},
	{"labels", setting{before: someMail, service: extended}, func(h *harness) { h.press("enter", "f") }},
}

func never(*harness) (*session.Service, error) {
	time.Sleep(24 * time.Hour)
	return nil, api.ErrUnavailable
}

func noKey(*harness) (*session.Service, error) {
	return nil, fmt.Errorf("connect: %w", keys.ErrNone)
}

// refuse has a service that does not know the key.
func refuse(h *harness) {
	h.server = apitest.New(h.t, apitest.Options{Key: "another-key-0123456789abcdef0123456789"})
}

// sizes are those that behaviour is tried at, from one pane to three.
var sizes = []struct{ w, h int }{{40, 12}, {80, 24}, {120, 36}, {200, 60}}

// look is a terminal to draw on.
type look struct {
	name          string
	width, height int
	background    color.Color          // black when nil
	profile       colorprofile.Profile // true colour when zero
}

// Each state is drawn in the two common sizes, and three of them in every look.
var (
	everyLook = []look{{name: "dark", width: 120, height: 36}, {name: "dark", width: 80, height: 24}}
	moreLooks = []look{
		{name: "dark", width: 40, height: 12},
		{name: "dark", width: 200, height: 60},
		{name: "light", width: 120, height: 36, background: color.White},
		{name: "nocolor", width: 120, height: 36, profile: colorprofile.ASCII},
		{name: "16", width: 80, height: 24, profile: colorprofile.ANSI},
	}
	inMoreLooks = []string{"all", "reading", "form"}
)

func TestStates(t *testing.T) {
	for _, st := range states {
		looks := everyLook
		if slices.Contains(inMoreLooks, st.name) {
			looks = slices.Concat(everyLook, moreLooks)
		}
		for _, l := range looks {
			name := fmt.Sprintf("%s/%s-%dx%d", st.name, l.name, l.width, l.height)
			t.Run(name, func(t *testing.T) {
				t.Parallel() // with those beside it alone
				set := st.set
				set.width, set.height, set.background, set.profile = l.width, l.height, l.background, l.profile
				play(t, set, func(h *harness) {
					h.wait(200 * time.Millisecond) // what is not in view is listed too
					if st.scene != nil {
						st.scene(h)
					}
					h.golden(name)
					if l == everyLook[0] { // nothing depends on colour alone
						h.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
						h.settle()
						if frame := h.app.View().Content; strings.Contains(frame, "\x1b[38;") || strings.Contains(frame, "\x1b[48;") {
							t.Error("a colour on a terminal that has none")
						}
					}
				})
			})
		}
	}
}

func TestTooSmall(t *testing.T) {
	for _, size := range []struct{ w, h int }{{19, 6}, {20, 5}, {1, 1}, {3, 30}} {
		play(t, setting{width: size.w, height: size.h}, func(h *harness) {
			h.press("n", "d", "y", "?")
			if len(h.app.dialogs) != 0 || len(h.copied) != 0 {
				t.Error("keys did something on a screen that shows nothing")
			}
			h.golden(fmt.Sprintf("too-small/dark-%dx%d", size.w, size.h))
		})
	}
}
