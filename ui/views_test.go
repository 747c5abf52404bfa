package ui

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/render"
)

const invitation = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Quarterly planning\r\nDTSTART:20260324T140000Z\r\nDTEND:20260324T150000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

// TestAnInvitationIsShown: of the raw message where the service has it, else of what the message contains.
func TestAnInvitationIsShown(t *testing.T) {
	for _, service := range []apitest.Options{extended, {}} {
		play(t, setting{width: 120, height: 36, service: service, before: func(h *harness) {
			in := h.inboxNamed("ada", time.Hour)
			part := "Content-Type: text/calendar; method=REQUEST\r\n\r\n" + invitation + "\r\n"
			h.mail(in.Email, apitest.Mail{
				From: "a@b.example", Subject: "Come", Text: "See you there", Attachments: []api.Attachment{{Filename: "invite.ics", ContentType: "text/calendar", Content: []byte(invitation)}},
				Raw: []byte("Subject: Come\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\nSee you there\r\n" + strings.Repeat("--m\r\n"+part, 2) + "--m--\r\n"),
			})
		}}, func(h *harness) {
			h.step("enter", "Invitation: Quarterly planning", "When    Tue 24 Mar 2026, 14:00–15:00 (UTC)", "See you there", "1 file")
		})
	}
}

// TestAViewHoldsForItsMail: another mail begins in the rich view, and without one there is nothing to see.
func TestAViewHoldsForItsMail(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		for _, name := range []string{"Dan", "Cid", "Bob"} {
			h.deliver(adas, coded(name, "11111"+strconv.Itoa(len(name)), 0))
			h.wait(time.Second)
		}
		for _, c := range []struct {
			keys    []string
			subject string // of the mail that is shown, which is the selected one
			view    render.View
		}{
			{[]string{"j", "4"}, "Cid", render.Headers},
			{[]string{"j"}, "Dan", render.Rich},
			{[]string{"k"}, "Cid", render.Rich},
			{[]string{"enter", "6", "h", "l"}, "Cid", render.Checks}, // another pane, and back
			{[]string{"Z", "Z"}, "Cid", render.Checks},
			{[]string{"h", "/", "Bob", "enter"}, "Bob", render.Rich},
			{[]string{"3", "/", "xyz"}, "", render.Rich},
			{[]string{"esc", "esc"}, "Bob", render.Rich},
		} {
			h.press(c.keys...)
			r := h.app.reader
			if r.Message == nil && c.subject == "" {
				h.dontSee("Your verification code is", "Nothing is open")
			} else if r.Message == nil || r.Message.Sender != c.subject || r.View != c.view || h.app.messages.Message() != r.Message {
				h.t.Fatalf("after %q: %v in view %d, want %s in %d:\n%s", c.keys, r.Message, r.View, c.subject, c.view, strings.Join(h.text(), "\n"))
			}
		}
	})
}
