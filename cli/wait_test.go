package cli

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api/apitest"
)

const (
	withCode    = "Welcome to Acme. Your verification code is 482913. It expires in ten minutes."
	withoutCode = "Thank you for your order. It is on its way to you."
)

// both runs a test on a service with the contract alone and on one with our extensions, each in a
// bubble of its own.
func both(t *testing.T, test func(t *testing.T, s *harness)) {
	for name, o := range map[string]apitest.Options{"contract alone": {}, "extensions": {Extensions: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newOfflineHarness(t, o)) })
		})
	}
}

// meanwhile starts a command; the function it returns waits for it.
func (s *harness) meanwhile(args ...string) func() result {
	var r result
	var running sync.WaitGroup
	running.Go(func() { r = s.run(args...) })
	return func() result { running.Wait(); return r }
}

func TestWaitReturnsWhatIsThere(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "older", Text: withCode})
		time.Sleep(time.Second)
		s.deliver(inbox.Email, apitest.Mail{From: "b@acme.example", Subject: "newer", Text: withoutCode})
		begin := time.Now()
		var report struct{ Message struct{ Subject string } }
		parse(t, s.does("wait", "--json"), &report)
		if report.Message.Subject != "newer" {
			t.Errorf("the newest is %q", report.Message.Subject)
		}
		if got := s.does("wait", "ada", "--code"); got != "482913\n" {
			t.Errorf("--code printed %q", got)
		}
		if waited := time.Since(begin); waited > time.Second {
			t.Errorf("what was there took %v", waited)
		}
	})
}

func TestWaitGoesOnUntilAMessageMatches(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		ended := s.meanwhile("wait", "ada", "--from", "ACME", "--subject", "Code", "--code", "--timeout", "10m")
		for _, m := range []apitest.Mail{
			// Another sender, another subject, no code, and the right one.
			{From: "x@other.example", Subject: "your code", Text: withCode},
			{From: "x@acme.example", Subject: "hello", Text: withCode},
			{From: "x@acme.example", Subject: "no code yet", Text: withoutCode},
			{From: "no-reply@mail.example", FromName: "Acme Inc.", Subject: "your code", Text: withCode},
		} {
			time.Sleep(70 * time.Second)
			s.deliver(inbox.Email, m)
		}
		begin := time.Now()
		if r := ended(); r.status != 0 || r.stdout != "482913\n" || r.stderr != "" {
			t.Errorf("%+v", r)
		}
		if waited := time.Since(begin); waited > 30*time.Second {
			t.Errorf("the message was noticed after %v", waited)
		}
	})
}

func TestWaitTimesOut(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		s.inbox("ada")
		begin := time.Now()
		s.fails(statusTimeout, []string{"no mail to ada@apitest.example with a code within 5m"}, "wait", "--code", "--timeout", "5m")
		if waited := time.Since(begin); waited != 5*time.Minute {
			t.Errorf("it waited %v", waited)
		}
	})
}

func TestWaitOutlastsAServiceThatFails(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.service.Fail(apitest.BadGateway, -1)
		ended := s.meanwhile("wait", inbox.Email, "--code", "--timeout", "30m")
		time.Sleep(3 * time.Minute)
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "code", Text: withCode})
		s.service.Fail(apitest.None, 0)
		if r := ended(); r.status != 0 || r.stdout != "482913\n" {
			t.Errorf("%+v", r)
		}
	})
}

func TestWaitTellsWhyNothingCame(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.service.Fail(apitest.BadGateway, -1)
		s.fails(statusTimeout, []string{"within 5m; at last the service failed: list", "502"}, "wait", inbox.Email, "--timeout", "5m")
		s.service.Fail(apitest.None, 0)
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "S", Text: withCode})
		s.service.FailIf(apitest.HTML, -1, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/messages/") })
		s.fails(statusTimeout, []string{"within 5m; at last the service failed: get the message", "text/html"}, "wait", inbox.Email, "--timeout", "5m")
	})
}

func TestWaitEndsWithItsInbox(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		ended := s.meanwhile("wait", inbox.Email, "--timeout", "0")
		time.Sleep(time.Minute)
		s.service.Delete(inbox.ID)
		args := []string{"wait", inbox.Email}
		expectFailure(t, ended(), statusNotFound, []string{"gone"}, args)
		s.fails(statusNotFound, nil, args...)
	})
}

func TestWatchTellsEveryMessageOnce(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "before"})
		ended := s.meanwhile("watch", inbox.Email)
		for _, subject := range []string{"one", "two", "three"} {
			time.Sleep(2 * time.Minute)
			s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", FromName: "Acme", Subject: subject})
		}
		time.Sleep(2 * time.Minute)
		s.service.Delete(inbox.ID)
		r := ended() // the only inbox is gone
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		if r.status != 0 || len(lines) != 4 {
			t.Fatalf("%+v", r)
		}
		for i, want := range []string{
			"arrived ada@apitest.example: “one”, from Acme <a@acme.example>", "arrived ada@apitest.example: “two”",
			"arrived ada@apitest.example: “three”", "deleted ada@apitest.example",
		} {
			if !strings.Contains(lines[i], want) {
				t.Errorf("line %d is %q, want %q", i, lines[i], want)
			}
		}
	})
}

func TestWatchTellsFailureAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOfflineHarness(t, apitest.Options{})
		inbox := s.inbox("ada")
		ended := s.meanwhile("watch", inbox.Email)
		time.Sleep(2 * time.Minute)
		s.service.Fail(apitest.InternalError, -1)
		time.Sleep(10 * time.Minute)
		s.service.Fail(apitest.None, 0)
		time.Sleep(10 * time.Minute)
		s.service.Delete(inbox.ID)
		out := ended().stdout
		failed, recovered := strings.Index(out, " failed "), strings.Index(out, " recovered ")
		if strings.Count(out, " failed ") != 1 || strings.Count(out, " recovered ") != 1 || recovered < failed || !strings.Contains(out, "500") || !strings.Contains(out, "next attempt at") {
			t.Errorf("%s", out)
		}
	})
}
