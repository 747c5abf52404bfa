package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api/apitest"
	"mayfly/ui/theme"
)

// manyInboxes are three inboxes with a mail each, and a fourth that is looked at.
func manyInboxes(h *harness) {
	for n, m := range []apitest.Mail{
		{From: "noreply@github.example", FromName: "GitHub", Subject: "Please verify your device", Text: "Verification code: 731002"},
		{From: "hello@acme.example", FromName: "Acme", Subject: "Welcome", Text: "The account number is QX-77.\n\nSincerely, Zoë"},
		{From: "grace@navy.example", FromName: "Grace", Subject: "Your order", HTML: "<p>" + strings.Repeat("Nothing here. ", 80) + "</p><p>The parcel is a <b>needle</b> in a haystack.</p>"},
	} {
		in := h.inboxNamed(fmt.Sprintf("inbox-%d", n), time.Hour)
		m.ReceivedAt = time.Now().Add(time.Duration(n-40) * time.Minute)
		h.mail(in.Email, m)
		time.Sleep(time.Second)
	}
	h.inboxNamed("ada", time.Hour)
}

func TestSearchingAllMessages(t *testing.T) {
	play(t, with(manyInboxes), func(h *harness) {
		h.wait(time.Second) // every inbox is listed
		h.press("g")        // what is shown is read
		before := strings.Join(h.text(), "\n")
		h.step("ctrl+f", "Search all messages")
		h.step("GITHUB", "1 found", "GitHub · inbox-0", "Please verify your device")
		h.press("esc")
		if after := strings.Join(h.text(), "\n"); after != before {
			t.Fatalf("after esc the screen is\n%s\nand was\n%s", after, before)
		}
		h.press("ctrl+f", "needle")
		h.wait(10 * time.Second)
		h.see("The parcel is a needle in a haystack.")
		h.step("enter", "1 of 1", "The parcel is a needle in a haystack.", "n next")
		h.selected("Grace")
		if i := h.app.inboxes.Inbox(); i.Name() != "inbox-2" || h.app.focus != theme.Reader {
			t.Errorf("enter went to inbox %s, pane %d", i.Name(), h.app.focus)
		}
		h.step("ctrl+f", "1 found", "Grace · inbox-2")
		h.step("zz", "0 found", "› zz")
	})
}

func TestASearchReadsBodiesAndLeavesTheWatcherItsRequests(t *testing.T) {
	limited := apitest.Options{Extensions: true, RequestsPerMinute: 60}
	play(t, setting{width: 120, height: 36, service: limited, before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		for n := range 60 {
			h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: fmt.Sprintf("Mail %02d", n), Text: fmt.Sprintf("Body of %d, which every mail has", n), ReceivedAt: time.Now().Add(time.Duration(n-100) * time.Minute)})
		}
		h.inboxNamed("grace", time.Hour)
	}}, func(h *harness) {
		h.wait(time.Second)
		h.press("ctrl+f", "every")
		known := func() (n int) {
			for _, m := range h.app.store.Messages {
				if m.Text != nil {
					n++
				}
			}
			return n
		}
		was := known()
		h.see(fmt.Sprintf("%d found so far · text of %d of 60 messages searched", was, was))
		h.wait(time.Minute)
		now := known()
		h.see(fmt.Sprintf("%d found so far · text of %d of 60 messages searched", now, now))
		if now-was < 10 || now-was > 45 {
			t.Errorf("in a minute %d bodies were read with a budget of 60 requests", now-was)
		}
		h.mail(h.app.store.Inboxes[h.app.store.Order[1]].Email, apitest.Mail{From: "new@b.example", Subject: "Every new mail"})
		h.wait(5 * time.Second)
		h.see(fmt.Sprintf("2/%d", h.found()))
		h.step("up", "new@b.example · ada")
		h.press("down", "down")
		selected := h.row("▌●")
		h.wait(time.Minute)
		if got := h.row("▌●"); got != selected || known() <= now {
			t.Errorf("with %d bodies more the selection went from row %d to %d", known()-now, selected, got)
		}
		h.press("esc")
		now = known()
		h.wait(time.Minute)
		if known() > now+1 {
			t.Errorf("%d bodies were read after the search was closed", known()-now)
		}
	})
}

// found is the number of hits on the screen.
func (h *harness) found() (n int) {
	h.t.Helper()
	y := h.row(" found")
	if _, err := fmt.Sscanf(strings.Trim(h.text()[y], "│ "), "%d found", &n); y < 0 || err != nil {
		h.t.Fatal("the screen does not say how many were found: ", err)
	}
	return n
}

// row is the first row of the screen that contains a text, -1 if none does.
func (h *harness) row(text string) int {
	for y, row := range h.text() {
		if strings.Contains(row, text) {
			return y
		}
	}
	return -1
}
