package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/api"
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
		t.Run(name, func(t *testing.T) { offline(t, o, test) })
	}
}

// meanwhile starts a command; the function it returns waits for it.
func (s *harness) meanwhile(args ...string) func() result {
	var r result
	var running sync.WaitGroup
	running.Go(func() { r = s.run(args...) })
	return func() result { running.Wait(); return r }
}

// codes delivers a message for each of some codes, a second apart.
func (s *harness) codes(address string, codes ...string) {
	s.t.Helper()
	for _, code := range codes {
		s.deliver(address, apitest.Mail{From: "a@acme.example", Subject: "Code", Text: "Your verification code is " + code +
			".\n\nConfirm your e-mail address: https://acme.example/confirm?t=" + code})
		time.Sleep(time.Second)
	}
}

func TestEachCodeIsPrintedOnce(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.codes(inbox.Email, "111111")
		for _, c := range []struct{ args, want string }{
			{"wait --code", "111111\n"},
			{"wait --link", "https://acme.example/confirm?t=111111\n"},
		} {
			s.prints(c.want, strings.Fields(c.args)...)
		}
		s.fails(statusTimeout, []string{"no mail to ada@", "--again"}, "wait", "--code")
		second := s.meanwhile("wait", "--code")
		time.Sleep(time.Second)
		s.codes(inbox.Email, "222222", "333333")
		if r := second(); r.stdout != "222222\n" {
			t.Errorf("the second wait: %+v", r)
		}
		for _, c := range []struct{ args, want string }{
			{"wait --code", "333333\n"},
			{"wait --again --code", "333333\n"},
			{"wait --since 2020-01-01T00:00:00Z --timeout 1s --code --from nobody", ""},
			{"wait --since 10m --link", "https://acme.example/confirm?t=222222\n"},
			{"wait --link", "https://acme.example/confirm?t=333333\n"},
		} {
			if r := s.run(strings.Fields(c.args)...); r.stdout != c.want {
				t.Errorf("%s: %+v", c.args, r)
			}
		}
	})
}

func TestWaitInVain(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		s = s.with("MAYFLY_SMTP=127.0.0.1:2526") // as in mayfly exec
		inbox := s.inbox("ada")
		vain := func(args, want string) {
			t.Helper()
			r := s.run(append([]string{"wait", "--timeout", "1s"}, strings.Fields(args)...)...)
			if want = "mayfly: no mail to " + inbox.Email + want + "\n"; r.status != statusTimeout || r.stderr != want {
				t.Errorf("wait %s: status %d, %q, want %q", args, r.status, r.stderr, want)
			}
		}
		const expected = " within 1s; it was expected at SMTP 127.0.0.1:2526; "
		vain("", expected+"no other mail is there")
		s.codes(inbox.Email, "111111")
		s.prints("111111\n", "wait", "--code")
		vain("--code", " with a code"+expected+`returned before was "Code" from a@acme.example (--again prints the newest)`)
		for n := range 5 {
			time.Sleep(time.Second)
			s.deliver(inbox.Email, apitest.Mail{From: "Ada <ada@shop.example>", Subject: fmt.Sprint("Parcel \u202e", n), Text: "It has left."})
		}
		vain("--code --subject code", ` with a code (subject "code")`+expected+`there is instead "Parcel 4" from Ada <ada@shop.example>, "Parcel 3" from Ada <ada@shop.example>, `+
			`"Parcel 2" from Ada <ada@shop.example>, 2 more; returned before was "Code" from a@acme.example (--again prints the newest)`)

		bob := s.inbox("bob").Email
		one, other := s.meanwhile("wait", bob), s.meanwhile("wait", bob)
		time.Sleep(time.Second)
		s.deliver(bob, apitest.Mail{From: "a@acme.example", Subject: "For one", Text: "Hello"})
		a, b := one(), other()
		if why := a.stderr + b.stderr; a.status+b.status != statusTimeout || !strings.Contains(why, `returned before was "For one"`) {
			t.Errorf("two waits for one message: %+v, %+v", a, b)
		}
	})
}

func TestSnap(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		s = s.with("MAYFLY_STATE_DIR="+t.TempDir(), "CI=")
		inbox, dir := s.inbox("ada"), t.TempDir()
		mail := func(text string) {
			s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "Code", Text: text})
			time.Sleep(time.Second)
		}
		mail("Hello, your code is 111111.")
		s.prints("", "snap", "signup", "--dir", dir, inbox.Email)
		mail("Hello, your code is 222222.")
		s.prints("", "snap", "signup", "--dir", dir, inbox.Email)
		mail("Goodbye, your code is 222222.")
		r := s.run("snap", "signup", "--dir", dir, inbox.Email)
		if r.status != statusError || r.stdout != "- [-Hello-], your code is «code».\n+ {+Goodbye+}, your code is «code».\n" || !strings.Contains(r.stderr, "--update") {
			t.Errorf("%+v", r)
		}
		for format, want := range map[string]string{
			"github": "/signup.txt,line=",
			"junit":  "&#xA;+ {+Goodbye+}, your code is «code».</failure>",
			"sarif":  `"ruleId":"snapshot"`,
		} {
			if r := s.run("snap", "signup", "--dir", dir, "--format", format, inbox.Email); r.status != statusError || !strings.Contains(r.stdout, want) {
				t.Errorf("%s: %+v, want %q", format, r, want)
			}
		}
		s.prints("", "snap", "signup", "--dir", dir, "--update", inbox.Email)
		s.prints("", "snap", "signup", "--dir", dir, "--format", "github", inbox.Email)
		s.prints("", "snap", "signup", "--dir", dir, inbox.Email)
		file := filepath.Join(dir, "signup.txt")
		kept, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(file, []byte("\ufeff"+string(kept)), 0o600))
		s.prints("", "snap", "signup", "--dir", dir, inbox.Email)
		must(t, os.Truncate(file, 5<<20))
		s.fails(statusError, []string{"larger than"}, "snap", "signup", "--dir", dir, inbox.Email)
		s.with("CI=true").fails(statusError, []string{"commit it"}, "snap", "reset", "--dir", dir, inbox.Email)
		s.fails(statusError, []string{"is no name"}, "snap", "../signup", "--dir", dir, inbox.Email)
		s.fails(statusUsage, []string{"needs a name"}, "snap")
	})
}

func TestNoneAndExactly(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.prints("", "wait", "--none")
		s.codes(inbox.Email, "111111")
		s.prints("111111\n", "wait", "--code", "--exactly", "1")
		s.prints("", "wait", "--code", "--none")
		s.codes(inbox.Email, "222222", "333333")
		if r := s.run("wait", "--code", "--exactly", "1"); r.status != statusError || r.stdout != "222222\n333333\n" || !strings.Contains(r.stderr, "but 1 expected") {
			t.Errorf("%+v", r)
		}
		s.codes(inbox.Email, "444444")
		if r := s.run("wait", "--code", "--none", "--timeout", "1s"); r.status != statusError || r.stdout != "444444\n" || !strings.Contains(r.stderr, "none was expected") {
			t.Errorf("%+v", r)
		}
		s.fails(statusUsage, []string{"cannot be combined"}, "wait", "--none", "--exactly", "2")
		s.fails(statusUsage, []string{"--none"}, "wait", "--exactly", "-1")
		if r := s.run("wait", "--exactly", "2", "--timeout", "1s"); r.status != statusTimeout || !strings.Contains(r.stderr, "only 1 of 2") {
			t.Errorf("%+v", r)
		}
	})
}

func TestWaitForTextInTheBody(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "html", HTML: "<p>Hello <b>Ada</b>,\nyour <a href='https://acme.example/'>parcel</a> has left."})
		time.Sleep(time.Second)
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "text", Text: "Hello Ada, your parcel\nis here."})
		for part, want := range map[string]string{"hello ADA, your": "html text", "parcel has left": "html", "PARCEL IS": "text", "acme.example": ""} {
			got := ""
			for _, subject := range []string{"html", "text"} {
				if r := s.run("wait", "--again", "--subject", subject, "--body", part, "--timeout", "1s"); r.status == 0 {
					got += " " + subject
				}
			}
			if strings.TrimSpace(got) != want {
				t.Errorf("%q is in %q, want %q", part, got, want)
			}
		}
	})
}

func TestWaitForSeveral(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.codes(inbox.Email, "111111", "222222", "333333")
		s.prints("222222\n333333\n", "wait", "--code", "--count", "2")
		ended := s.meanwhile("wait", "--code", "--count", "3", "--timeout", "5m")
		time.Sleep(time.Minute)
		s.codes(inbox.Email, "444444", "555555")
		r := ended()
		expectFailure(t, result{r.status, "", r.stderr}, statusTimeout, []string{"only 2 of 3: no more mail", "within 5m"}, []string{"wait"})
		if r.stdout != "444444\n555555\n" {
			t.Errorf("%+v", r)
		}
		if got := s.does("wait", "--count", "2", "--again"); strings.Count(got, "Subject  Code\n") != 2 || !strings.Contains(got, "\n\nFrom ") {
			t.Errorf("printed %q", got)
		}
	})
}

func TestWaitForAnAddressWithoutAnInbox(t *testing.T) {
	offline(t, apitest.Options{Extensions: true, CatchAll: true}, func(t *testing.T, s *harness) {
		s.inbox("other")
		ended := s.meanwhile("wait", "Ada@"+apitest.Domain, "--code", "--count", "2", "--timeout", "10m")
		time.Sleep(time.Minute)
		s.codes("ada@"+apitest.Domain, "111111", "222222")
		if r := ended(); r.status != 0 || r.stdout != "111111\n222222\n" {
			t.Errorf("%+v", r)
		}
		s.codes("ada@"+apitest.Domain, "333333")
		s.prints("333333\n", "wait", "ada+tag@"+apitest.Domain, "--code")
		s.fails(statusTimeout, []string{"no mail to bob@" + apitest.Domain + " within 5m"}, "wait", "bob@"+apitest.Domain, "--timeout", "5m")
		s.fails(statusNotFound, []string{"there is no inbox bob"}, "wait", "bob")
	})
	offline(t, apitest.Options{Extensions: true}, func(t *testing.T, s *harness) {
		begin := time.Now()
		s.fails(statusNotFound, []string{"there is no inbox bob@"}, "wait", "bob@"+apitest.Domain)
		if time.Since(begin) > time.Second {
			t.Errorf("it took %v", time.Since(begin))
		}
	})
}

// An address that is made anew has another inbox, of which nothing was printed yet.
func TestWaitForAnAddressMadeAnew(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.codes(inbox.Email, "111111")
		s.prints("111111\n", "wait", inbox.Email, "--code")
		s.service.Delete(inbox.ID)
		anew, err := s.service.Create("ada", time.Hour)
		must(t, err)
		s.codes(anew.Email, "222222")
		arg := anew.ID
		if _, err := s.service.Client(api.Options{}).Inboxes(t.Context()); err == nil {
			arg = anew.Email // otherwise nobody could know
		}
		s.prints("222222\n", "wait", arg, "--code")
	})
}

func TestWaitMakesFewRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		args func(i api.Inbox) []string
		want int
	}{
		{"by address", func(i api.Inbox) []string { return []string{"wait", i.Email, "--code"} }, 4},
		{"by ID", func(i api.Inbox) []string { return []string{"wait", i.ID, "--code"} }, 3},
		{"whole", func(i api.Inbox) []string { return []string{"wait", i.ID} }, 4},
	} {
		offline(t, apitest.Options{Extensions: true}, func(t *testing.T, s *harness) {
			inbox := s.inbox("ada")
			s.codes(inbox.Email, "111111")
			before := len(s.service.Requests())
			s.does(c.args(inbox)...)
			if n := len(s.service.Requests()) - before; n != c.want {
				t.Errorf("%s: %d requests, want %d", c.name, n, c.want)
			}
			time.Sleep(time.Second)
			before = len(s.service.Requests())
			ended := s.meanwhile(c.args(inbox)...)
			time.Sleep(20 * time.Second)
			s.codes(inbox.Email, "222222")
			if r := ended(); r.status != 0 {
				t.Fatalf("%+v", r)
			}
			if n := len(s.service.Requests()) - before; n != c.want+1 { // the list before
				t.Errorf("%s, still to come: %d requests, want %d", c.name, n, c.want+1)
			}
		})
	}
}

func TestWaitWhereNothingCanBeKept(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.codes(inbox.Email, "111111", "222222")
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, nil, 0o600))
		s = s.with("XDG_STATE_HOME=" + file)
		for range 2 {
			r := s.run("wait", inbox.ID, "--code")
			if r.status != 0 || r.stdout != "222222\n" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "as --again does") {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestMoment(t *testing.T) {
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]timeFlag{
		"2m": {ago: 2 * time.Minute}, "1d": {ago: 24 * time.Hour}, "0s": {ago: 1},
		"2026-11-22T10:00:00Z": {time: at}, "2026-11-22 11:00:00+01:00": {time: at}, "2026-11-22T10:00:00.000Z": {time: at},
	} {
		var got timeFlag
		if err := got.Set(text); err != nil || got.ago != want.ago || !got.time.Equal(want.time) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "120", "1795341600", "yesterday", "-2m", "2026-11-22", "10:00"} {
		if err := new(timeFlag).Set(text); err == nil {
			t.Errorf("%q is a moment", text)
		}
	}
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
		s.fails(statusTimeout, []string{"within 5m; the service was failing: find", "502"}, "wait", inbox.Email, "--timeout", "5m")
		s.service.Fail(apitest.None, 0)
		begin := time.Now()
		s.fails(statusTimeout, []string{"no mail to ada@apitest.example with a code within 5m"}, "wait", "--code", "--timeout", "5m")
		if waited := time.Since(begin); waited != 5*time.Minute {
			t.Errorf("it waited %v", waited)
		}
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "S", Text: withCode})
		s.service.FailIf(apitest.HTML, -1, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/messages/") })
		s.fails(statusTimeout, []string{"within 5m; the service was failing: get the message", "text/html"}, "wait", inbox.Email, "--timeout", "5m")
	})
}

func TestWaitEndsWithItsInbox(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		ended := s.meanwhile("wait", inbox.Email, "--timeout", "0")
		time.Sleep(time.Minute)
		s.service.Delete(inbox.ID)
		args := []string{"wait", inbox.Email}
		expectFailure(t, ended(), statusNotFound, []string{"expired or was deleted"}, args)
		s.fails(statusNotFound, nil, args...)
	})
}

func TestWatchTellsEveryMessageOnce(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		inbox := s.inbox("ada")
		s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "before"})
		ended := s.meanwhile("watch", inbox.Email)
		const link = "https://acme.example/confirm?token=abc"
		texts := map[string]string{"one": "Your verification code is 482913.", "two": "Confirm your e-mail address: " + link}
		for _, subject := range []string{"one", "two", "three"} {
			time.Sleep(2 * time.Minute)
			s.deliver(inbox.Email, apitest.Mail{From: "a@acme.example", FromName: "Acme", Subject: subject, Text: texts[subject]})
		}
		time.Sleep(2 * time.Minute)
		s.service.Delete(inbox.ID)
		r := ended() // the only inbox is gone
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		if r.status != 0 || len(lines) != 4 {
			t.Fatalf("%+v", r)
		}
		for i, want := range []string{
			"arrived ada@apitest.example: “one”, from Acme <a@acme.example> (msg_", "arrived ada@apitest.example: “two”, from Acme <a@acme.example> (msg_",
			"arrived ada@apitest.example: “three”, from Acme <a@acme.example> (msg_", "deleted ada@apitest.example",
		} {
			if what := []string{"), code 482913", "), link " + link, ")", ""}[i]; !strings.Contains(lines[i], want) || !strings.HasSuffix(lines[i], what) {
				t.Errorf("line %d is %q, want %q and %q", i, lines[i], want, what)
			}
		}
	})
}

func TestWatchTellsFailureAndRecovery(t *testing.T) {
	offline(t, apitest.Options{}, func(t *testing.T, s *harness) {
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

// Each command means by an address the inbox that mail to it goes to now, whatever this machine knows.
func TestAnAddressMeansTheSameToEachCommand(t *testing.T) {
	t.Parallel()
	offline(t, apitest.Options{Extensions: true}, func(t *testing.T, s *harness) {
		old := strings.TrimSpace(s.does("new", "--username", "ada"))
		known := s.does("ls", "--json")
		for _, spelling := range []string{old, "ADA@" + apitest.Domain + ".", "ada+tag@" + apitest.Domain} {
			for _, i := range []string{known, s.does("ls", "--json")} {
				var in api.Inbox
				must(t, json.Unmarshal([]byte(i), &in))
				s.service.Delete(in.ID)
			}
			anew, err := s.service.Create("ada", time.Hour)
			must(t, err)
			s.codes(old, "111111")
			for _, args := range [][]string{{"messages"}, {"read"}, {"wait", "--code"}, {"extend", "--ttl", "2h"}, {"save", "--dir", t.TempDir()}, {"rm", "--messages", "--yes"}} {
				s.does(append([]string{args[0], spelling}, args[1:]...)...)
			}
			if got, err := s.service.Client(api.Options{}).Messages(t.Context(), anew.ID); err != nil || got.Total != 0 {
				t.Errorf("%s: %d messages are left, %v", spelling, got.Total, err)
			}
		}
	})
}
