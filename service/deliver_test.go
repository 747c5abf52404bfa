package service_test

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"mayfly/internal/fortest"
	"mayfly/service"
)

func TestSummaryIsBounded(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{})
	in := create(t, s, k, "ada")
	deliver(t, s, "Subject: "+strings.Repeat("ü", 5000)+"\r\n\r\n", in.Address)
	got := list(t, s, k, in.ID).Messages[0]
	if len(got.Subject) > 1000 || !utf8.ValidString(got.Subject) {
		t.Errorf("a subject of %d bytes, valid %v", len(got.Subject), utf8.ValidString(got.Subject))
	}
	if got.From != "envelope@sender.example" {
		t.Errorf("without a header From the sender is %q", got.From)
	}
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{})
	ada := create(t, s, k, "ada")
	tagged := create(t, s, k, "ada+own")
	for address, want := range map[string]string{
		"ada@x.test":           ada.ID,
		"Ada@X.TEST":           ada.ID,
		"ada@x.test.":          ada.ID,
		"ada+news@x.test":      ada.ID,
		"ada+a+b+c@x.test":     ada.ID,
		"ada+@x.test":          ada.ID,
		"ada+own@x.test":       tagged.ID,
		"ada+own+more@x.test":  tagged.ID,
		"ada@y.test":           "",
		"bob@x.test":           "",
		"+ada@x.test":          "",
		"ad@x.test":            "",
		"ada@x.test@x.test":    "",
		"ada+news@example.com": "",
	} {
		r, err := s.Recipient(t.Context(), "", address)
		if want == "" {
			wantCode(t, err, service.NotFound)
		} else if must(t, err); r.InboxID != want || r.Address != strings.TrimSuffix(strings.ToLower(address), ".") {
			t.Errorf("%s goes to %+v, want %s", address, r, want)
		}
	}
	for _, address := range []string{"", "ada", "@x.test", "ada@", "a\nb@x.test", "ada@x.test\x00", strings.Repeat("a", 300) + "@x.test", strings.Repeat("+", 250) + "@x.test"} {
		_, err := s.Recipient(t.Context(), "", address)
		if code := service.ErrorCode(err); code != service.Invalid && code != service.NotFound {
			t.Errorf("%q: %v", address, err)
		}
	}

	// Two addresses of one inbox are one message.
	deliver(t, s, plainMail, "ada+1@x.test", "ada@x.test", "ada+own@x.test")
	for _, in := range []service.Inbox{ada, tagged} {
		if n := list(t, s, k, in.ID).Total; n != 1 {
			t.Errorf("%s has %d messages", in.Address, n)
		}
	}
}

// All spellings of an address are one inbox, whichever mail comes to first.
func TestSpellingsOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, spellings := range [][]string{
		{"josé@any.example", "josÉ@any.example", "jose\u0301@ANY.example.", "josé+tag@any.example"},
		{"ada@bücher.example", "ada@xn--bcher-kva.example", "ADA@BÜCHER.example.", "ada+x@XN--BCHER-KVA.example"},
	} {
		for first := range spellings[:3] {
			s, k := start(t, service.Dev, service.Options{CatchAll: "new"})
			var inbox string
			for n := range spellings {
				spelling := spellings[(first+n)%len(spellings)]
				if n == 0 {
					_, err := s.InboxAt(t.Context(), k, spelling)
					wantCode(t, err, service.NotFound)
				}
				deliver(t, s, plainMail, spelling)
				in, err := s.InboxAt(t.Context(), k, spelling)
				must(t, err)
				if inbox = cmp.Or(inbox, in.ID); in.ID != inbox || in.Messages != n+1 && n < 3 {
					t.Errorf("%s after %s: %+v", spelling, spellings[first], in)
				}
			}
		}
	}
}

func TestCatchAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Enterprise, service.Options{CatchAll: "new", CatchAllTTL: 2 * time.Minute})
		other := createKey(t, s)
		inboxOf := func(address string) service.Inbox {
			t.Helper()
			deliver(t, s, plainMail, address)
			r, err := s.Recipient(t.Context(), "", address)
			must(t, err)
			in, err := s.Inbox(t.Context(), k, r.InboxID)
			must(t, err)
			return in
		}
		if !s.CatchesAll(k) || s.CatchesAll(other) {
			t.Error("the wrong key gets the inboxes")
		}
		in := inboxOf("Anyone@Any.Example")
		if in.Address != "anyone@any.example" || in.ExpiresAt.Sub(in.CreatedAt) != 2*time.Minute {
			t.Errorf("inbox %+v", in)
		}
		if again := inboxOf("anyone@any.example"); again.ID != in.ID {
			t.Error("the second mail makes a second inbox")
		}
		if tag := inboxOf("anyone+tag@any.example"); tag.ID != in.ID {
			t.Error("a tag makes an inbox")
		}
		if dotted := inboxOf(`"odd local part"@any.example`); dotted.ID == in.ID {
			t.Error("two addresses have one inbox")
		}
		must(t, s.DeleteInbox(t.Context(), k, in.ID))
		fresh := inboxOf("anyone@any.example")
		if fresh.ID == in.ID {
			t.Error("the deleted inbox is back")
		}
		time.Sleep(2 * time.Minute)
		if later := inboxOf("anyone@any.example"); later.ID == fresh.ID {
			t.Error("the expired inbox is back")
		}

		// An address of another key stays that key's, even when its inbox is gone.
		theirs := create(t, s, other, "theirs")
		r, err := s.Recipient(t.Context(), "", theirs.Address)
		must(t, err)
		if r.InboxID != theirs.ID {
			t.Error("mail for another key goes to the catch-all key")
		}
		must(t, s.DeleteInbox(t.Context(), other, theirs.ID))
		for _, address := range []string{theirs.Address, "theirs+tag@x.test"} {
			wantCode(t, fortest.Failure(s.Recipient(t.Context(), "", address)), service.NotFound)
		}

		// Simultaneous mails for one address create one inbox, after all of them were addressed.
		before := inboxes(t, s, k)
		d := service.Delivery{Raw: []byte(plainMail)}
		for _, address := range []string{"together@any.example", "Together@any.example", "alone@any.example"} {
			r, err := s.Recipient(t.Context(), "", address)
			must(t, err)
			d.To = append(d.To, r)
		}
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() { must(t, s.Deliver(t.Context(), d)) })
		}
		wg.Wait()
		if n := inboxes(t, s, k) - before; n != 2 {
			t.Errorf("%d inboxes for two addresses", n)
		}
		for _, to := range []string{"together@any.example", "alone@any.example"} {
			if n := list(t, s, k, inboxOf(to).ID).Total; n != 17 {
				t.Errorf("%s has %d messages", to, n)
			}
		}

		// What is gone since it was addressed is made anew, and each recipient gets the message once.
		gone := recipients(t, s, "alone@any.example", "together@any.example", "together+tag@any.example", "expires@any.example")
		deliver(t, s, plainMail, "expires@any.example")
		expiring := recipients(t, s, "expires@any.example").To
		gone.To = append(gone.To, expiring...)
		must(t, fortest.Failure(s.ExtendInbox(t.Context(), k, inboxOf("alone@any.example").ID, time.Hour)))
		must(t, s.DeleteInbox(t.Context(), k, inboxOf("together@any.example").ID))
		time.Sleep(2 * time.Minute)
		gone.Raw = []byte(plainMail)
		must(t, s.Deliver(t.Context(), gone))
		for address, want := range map[string]int{"alone@any.example": 20, "together@any.example": 2, "expires@any.example": 2} {
			if n := list(t, s, k, inboxOf(address).ID).Total; n != want {
				t.Errorf("%s has %d messages, want %d", address, n, want)
			}
		}
		must(t, s.DeleteInbox(t.Context(), k, inboxOf("alone@any.example").ID))
		gone.To = gone.To[:1]
		must(t, s.Deliver(t.Context(), gone))

		// What became another key's after it was addressed is not mail for it.
		r, err = s.Recipient(t.Context(), "", "late@x.test")
		must(t, err)
		late := create(t, s, other, "late")
		must(t, s.DeleteInbox(t.Context(), other, late.ID))
		wantCode(t, s.Deliver(t.Context(), service.Delivery{To: []service.Recipient{r}, Raw: []byte("x")}), service.NotFound)
	})
}

func inboxes(t *testing.T, s *service.Service, k service.Key) int {
	t.Helper()
	l, err := s.Inboxes(t.Context(), k, service.Page{})
	must(t, err)
	return len(l.Inboxes)
}

// An address without a message leaves nothing: no inbox, and no owner of the address.
func TestNoInboxWithoutAMessage(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{CatchAll: "new"})
	for n := range 200 {
		_, err := s.Recipient(t.Context(), "", fmt.Sprintf("n%d@x.test", n))
		must(t, err)
	}
	create(t, s, createKey(t, s), "n7")
	var many service.Delivery // of more messages than the day has left
	for n := range service.Dev.Limits().EmailsPerDay + 1 {
		r, err := s.Recipient(t.Context(), "", fmt.Sprintf("m%d@x.test", n))
		must(t, err)
		many.To = append(many.To, r)
	}
	wantCode(t, s.Deliver(t.Context(), many), service.OverQuota)
	if n := inboxes(t, s, k); n != 0 {
		t.Errorf("%d inboxes without a message", n)
	}

	s, _ = start(t, service.Dev, service.Options{})
	_, err := s.Recipient(t.Context(), "", "postmaster@x.test")
	must(t, err)
	if n := inboxes(t, s, service.Key{ID: "postmaster"}); n != 0 {
		t.Errorf("the postmaster has %d inboxes", n)
	}
	for range 2 {
		deliver(t, s, plainMail, "postmaster", "postmaster@y.test")
	}
	kept, err := s.Inboxes(t.Context(), service.Key{ID: "postmaster"}, service.Page{})
	must(t, err)
	if last := service.DayOf(time.Now()).End(); len(kept.Inboxes) != 1 || kept.Inboxes[0].ExpiresAt.Before(last.Add(14*24*time.Hour)) {
		t.Errorf("mail for the postmaster is kept in %+v", kept.Inboxes)
	}
	all, err := s.PostmasterMail(t.Context())
	must(t, err)
	if len(all) != 2 || inboxes(t, s, service.Key{ID: "postmaster"}) != 1 {
		t.Errorf("the postmaster has %v", all)
	}
}

func TestEmailsPerDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		// A second before the end of a day in UTC.
		now := time.Now()
		time.Sleep(service.DayOf(now).End().Sub(now) - time.Second)
		in, err := s.CreateInbox(t.Context(), k, service.NewInbox{Username: "ada", TTL: 24 * time.Hour})
		must(t, err)
		r, err := s.Recipient(t.Context(), "", in.Address)
		must(t, err)

		var accepted atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 60 {
					err := s.Deliver(t.Context(), service.Delivery{To: []service.Recipient{r}, Raw: []byte("x")})
					switch service.ErrorCode(err) {
					case "":
						accepted.Add(1)
					case service.OverQuota:
					default:
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if accepted.Load() != 1000 || list(t, s, k, in.ID).Total != 1000 {
			t.Errorf("%d accepted, %d stored, want 1000", accepted.Load(), list(t, s, k, in.ID).Total)
		}
		_, err = s.Recipient(t.Context(), "", in.Address)
		wantCode(t, err, service.OverQuota)
		if got := retryAfter(err); got != time.Second {
			t.Errorf("to be tried again after %v", got)
		}
		time.Sleep(time.Second - time.Millisecond)
		wantCode(t, fortest.Failure(s.Recipient(t.Context(), "", in.Address)), service.OverQuota)
		time.Sleep(time.Millisecond)
		deliver(t, s, plainMail, in.Address)
	})
}

func TestUnlimited(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{Unlimited: "new"})
	for n := range 2 * service.Dev.Limits().RequestsPerMinute {
		if q, err := s.Allow(t.Context(), k); err != nil || q != (service.Quota{}) {
			t.Fatalf("request %d: quota %+v, %v", n, q, err)
		}
	}
	in, err := s.CreateInbox(t.Context(), k, service.NewInbox{Username: "ada", TTL: time.Hour})
	must(t, err)
	for range service.Dev.Limits().EmailsPerDay + 1 {
		deliver(t, s, plainMail, in.Address)
	}

	other := createKey(t, s)
	if q, err := s.Allow(t.Context(), other); err != nil || q.Limit == 0 {
		t.Errorf("another key has the quota %+v, %v", q, err)
	}
}
