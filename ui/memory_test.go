package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/letter"
)

func TestLargeMessagesAreKeptWithinBounds(t *testing.T) {
	var s shelf
	for n := range 100 {
		l := letter.Letter{Message: api.Message{Text: strings.Repeat("a", n<<10), HTML: strings.Repeat("b", n<<12)}, Raw: make([]byte, n<<13)}
		s.put(fmt.Sprint(n), &opened{letter: l})
		kept := 0
		for _, o := range s.mails {
			kept += o.weight()
		}
		if last := s.get(fmt.Sprint(n)); last == nil || kept-last.weight() > shelfBytes {
			t.Fatalf("after %d messages %d bytes are kept", n+1, kept)
		}
		if len(s.mails) > shelfSize || len(s.keys) != len(s.mails) {
			t.Fatalf("%d messages are kept by %d keys", len(s.mails), len(s.keys))
		}
	}
}

func TestAMessageIsNotKeptAsItCame(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("enter")
		if o := s.app.reader.opened; o == nil || o.letter.Message.Raw != nil {
			t.Errorf("the open message is %+v", o)
		}
	})
}

func TestLargeMessagesAreLookedIntoOneAtATime(t *testing.T) {
	set := with(func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		for n := range 4 {
			s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: fmt.Sprint("Large ", n), Text: strings.Repeat("some words ", 50<<10)})
		}
		s.server.SetDelay(time.Second)
	})
	play(t, set, func(s *stage) {
		most := 0
		for range 40 {
			s.wait(200 * time.Millisecond)
			most = max(most, len(s.app.peeking))
		}
		if most != 1 {
			t.Errorf("%d large messages were looked into at the same time", most)
		}
	})
}
