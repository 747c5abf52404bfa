package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
)

func TestFilteringAsOneTypes(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("/")
		s.write("git dev")
		s.see("Please verify your device")
		s.dontSee("Welcome to Acme")
		s.press("backspace", "enter", "esc")
		s.see("Welcome to Acme")
	})
}

func TestSavingAttachments(t *testing.T) {
	play(t, with(func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Files", Text: "Here", Attachments: []api.Attachment{
			{Filename: "../../evil.sh", ContentType: "text/plain", Content: []byte("echo")},
			{Filename: "report.pdf", ContentType: "application/pdf", Content: []byte("%PDF")},
		}})
	}), func(s *stage) {
		s.press("enter", "a")
		s.see("saved 2 files")
		dir := s.app.world.downloads
		for _, name := range []string{"_.._evil.sh", "report.pdf"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		s.press("s")
		s.see("saved ")
		if _, err := os.Stat(filepath.Join(dir, "Files.eml")); err != nil {
			t.Error(err)
		}
	})
}

func TestSavingWhereThereIsNoRawMessage(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: someMail}, func(s *stage) {
		s.press("s")
		s.see("saved ", "Confirm your e-mail address.html")
	})
}

func TestALateAnswerIsDropped(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: someMail}, func(s *stage) {
		s.app.mails = shelf{}
		s.server.SetDelay(2 * time.Second)
		s.press("enter", "h", "j")
		s.app.mails = shelf{}
		s.press("enter")
		generation := s.app.reader.generation
		s.wait(10 * time.Second)
		if s.app.reader.generation != generation || s.app.reader.opened == nil || s.app.reader.opened.letter.Message.ID != s.app.reader.message.id {
			t.Error("the reader does not show what was opened last")
		}
	})
}

func TestSearchingTheMessage(t *testing.T) {
	play(t, setting{width: 80, height: 16, before: func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		text := strings.Repeat("Nothing here.\n\n", 30) + "The needle is here.\n\n" + strings.Repeat("Nor here.\n\n", 30) + "Another NEEDLE.\n"
		s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Hay", Text: text})
	}}, func(s *stage) {
		s.press("enter", "/")
		s.write("needle")
		s.see("/needle", "2 found", "The needle is here.")
		s.press("enter")
		s.see("1 of 2")
		s.press("]")
		s.see("2 of 2", "Another NEEDLE.")
		s.press("]")
		s.see("1 of 2", "The needle is here.")
		s.press("[")
		s.see("2 of 2")
		s.press("esc")
		s.dontSee("of 2")
		s.press("/")
		s.write("nowhere")
		s.press("enter")
		s.see("/nowhere not found")
	})
}

func TestLabelsOpenAndCopyLinks(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("enter", "f", "a")
		s.see("Open this link?", "→ app.acme.example")
		s.press("esc")
		if len(s.opened) != 0 {
			t.Fatalf("opened %q", s.opened)
		}
		s.press("f", "S")
		s.see("copied the link")
		if got := s.copied[len(s.copied)-1]; got != "https://acme.example/unsubscribe" {
			t.Errorf("copied %q", got)
		}
		s.press("f", "s", "o")
		if len(s.opened) != 1 || s.opened[0] != "https://acme.example/unsubscribe" {
			t.Errorf("opened %q", s.opened)
		}
	})
}

func TestOnlyWebLinksAreOpened(t *testing.T) {
	for _, raw := range []string{"javascript:alert(1)", "file:///etc/passwd", "--help", "ftp://x.example/", "http:", "https:///path", "\x00"} {
		if u, err := webURL(raw); err == nil {
			t.Errorf("%q would be opened as %s", raw, u)
		}
	}
}

func TestASafeCopy(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("b")
		s.see("opened a copy that loads nothing")
		page, err := os.ReadFile(s.opened[0])
		if err != nil || !strings.Contains(string(page), "Welcome, Ada") || !strings.Contains(string(page), "default-src 'none'") {
			t.Errorf("the copy is %s, %v", page, err)
		}
	})
}

func TestComparing(t *testing.T) {
	play(t, with(func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Welcome", Text: "Hello Ada\n\nStart: https://x.example/1\n"})
		time.Sleep(time.Second)
		s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Welcome back", Text: "Hello Bob\n\nStart: https://x.example/2\n"})
	}), func(s *stage) {
		s.press("space", "space", "=")
		s.see("- Welcome", "+ Welcome back", "-Hello Ada", "+Hello Bob")
		s.press("v")
		s.see("-https://x.example/1", "+https://x.example/2")
		s.press("v")
		s.see("Subject: Welcome back")
		s.press("esc")
		s.dontSee("Compare")
	})
}

func TestPassingAMessageDoesNotReadIt(t *testing.T) {
	play(t, with(func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		for n := range 6 {
			s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Mail " + itoa(n), ReceivedAt: time.Now().Add(time.Duration(n+1) * time.Minute)})
		}
	}), func(s *stage) {
		s.press("enter", "h")
		if n := s.app.book.totalUnread(); n != 5 {
			t.Fatalf("%d messages are unread", n)
		}
		s.press("j", "j", "j")
		s.see("Mail 2")
		s.wait(time.Second)
		if n := s.app.book.totalUnread(); n != 4 {
			t.Errorf("three messages were passed and the last one seen: %d are unread", n)
		}
	})
}

func TestTheRawMessageIsWaitedFor(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("enter")
		s.server.SetDelay(time.Second)
		s.press("5")
		s.dontSee("not at hand", "Opening…")
		s.wait(200 * time.Millisecond)
		s.see("Opening…")
		s.wait(2 * time.Second)
		s.dontSee("Opening…")
		s.see("Subject: Confirm your e-mail address")
	})
}
