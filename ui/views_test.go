package ui

import (
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
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
			h.press("enter")
			h.see("Invitation: Quarterly planning", "When    Tue 24 Mar 2026, 14:00–15:00 (UTC)", "See you there", "1 file")
		})
	}
}
