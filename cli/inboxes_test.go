package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
)

func TestNewPrintsTheAddressAlone(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	s.prints("ada@"+apitest.Domain+"\n", "new", "--username", "ada")
	var inbox api.Inbox
	parse(t, s.does("new", "--ttl", "10m", "--json"), &inbox)
	if inbox.TTL != 600 || inbox.ID == "" || !strings.Contains(inbox.Email, "@") {
		t.Errorf("new --json --ttl 10m gave %+v", inbox)
	}
}

func TestMadeInboxesAreListedByEveryService(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		s.inbox("ada")
		s.deliver("ada@"+apitest.Domain, apitest.Mail{From: "x@acme.example", Subject: "Hello"})
		time.Sleep(time.Second)
		s.inbox("bob")
		lines := strings.Split(strings.TrimSpace(s.does("ls")), "\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "bob@"+apitest.Domain+"\t0\t") || !strings.HasPrefix(lines[1], "ada@"+apitest.Domain+"\t1\t") {
			t.Errorf("ls printed %q", lines)
		}
		for line := range strings.Lines(s.does("ls", "--json")) {
			var fields map[string]any
			parse(t, line, &fields)
			if fields["status"] != "active" || fields["message_count"] == nil {
				t.Errorf("not the object of the API: %s", line)
			}
		}
		s.service.Delete(s.inbox("gone").ID)
		if got := s.does("ls"); !strings.HasPrefix(got, "bob@") || strings.Contains(got, "gone@") {
			t.Errorf("with an inbox that was deleted elsewhere, ls printed %q", got)
		}
	})
}

func TestMessagesAreTheNewestFirst(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	inbox := s.inbox("ada")
	now := time.Now()
	for i, subject := range []string{"second", "third", "first"} {
		s.deliver(inbox.Email, apitest.Mail{
			From: "no-reply@acme.example", FromName: "Acme", Subject: subject,
			ReceivedAt: now.Add([]time.Duration{2, 3, 1}[i] * time.Second),
		})
	}
	var subjects []string
	for line := range strings.Lines(s.does("messages")) {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 || cells[2] != "Acme <no-reply@acme.example>" {
			t.Fatalf("messages printed %q", line)
		}
		subjects = append(subjects, cells[3])
	}
	if strings.Join(subjects, " ") != "third second first" {
		t.Errorf("the order is %q", subjects)
	}
	var list struct {
		Messages []json.RawMessage
		Total    int
	}
	parse(t, s.does("messages", "ada", "--json"), &list)
	if list.Total != 3 || len(list.Messages) != 3 {
		t.Errorf("messages --json gave %+v", list)
	}
}

func TestInboxesAreFoundByIDAddressOrUniqueStart(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		s.fails(statusNotFound, []string{"there is no inbox", "mayfly new"}, "messages")
		otter := s.inbox("quiet-otter")
		s.does("messages", otter.ID[:len(otter.ID)-1])
		s.inbox("quiet-heron")
		s.deliver(otter.Email, apitest.Mail{From: "x@acme.example", Subject: "to the otter"})
		for _, arg := range []string{otter.ID, otter.Email, strings.ToUpper(otter.Email), "quiet-o", "QUIET-OTTER@"} {
			if got := s.does("messages", arg); !strings.Contains(got, "to the otter") {
				t.Errorf("messages %s printed %q", arg, got)
			}
		}
		s.fails(statusUsage, []string{"quiet-heron@", "quiet-otter@", "give more of it"}, "messages", "quiet-")
		s.fails(statusNotFound, []string{"there is no inbox nobody", "mayfly ls"}, "messages", "nobody")
		s.fails(statusNotFound, []string{"there is no message msg_nothing"}, "save", "quiet-o", "msg_nothing")
		s.fails(statusUsage, []string{"an argument is empty"}, "messages", "")
	})
}

func TestAnInboxMadeElsewhereIsFoundByItsID(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	inbox, err := s.service.Create("elsewhere", time.Hour)
	must(t, err)
	s.deliver(inbox.Email, apitest.Mail{From: "x@acme.example", Subject: "Hello"})
	if got := s.does("messages", inbox.ID); !strings.Contains(got, "Hello") {
		t.Errorf("messages printed %q", got)
	}
	s.fails(statusNotFound, nil, "messages", inbox.Email) // which nothing can resolve
}

func TestRemovingInboxes(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	a, b, c := s.inbox("a1"), s.inbox("b1"), s.inbox("c1")

	s.fails(statusUsage, []string{"--yes"}, "rm", a.Email)
	s.fails(statusUsage, []string{"--all"}, "rm", "--yes")
	s.fails(statusUsage, []string{"--all"}, "rm", "--yes", "--all", a.Email)
	s.fails(statusUsage, []string{"empty"}, "rm", "--yes", "")

	s.does("rm", "--yes", a.Email, a.ID) // one inbox, named twice
	s.fails(statusNotFound, nil, "rm", "--yes", a.Email)

	r := s.run("rm", "--yes", b.Email, "nobody", "nothing")
	if r.status != statusError || strings.Count(r.stderr, "\n") != 3 || !strings.Contains(r.stderr, "nobody") || !strings.Contains(r.stderr, "nothing") {
		t.Errorf("two unknown names gave status %d: %q", r.status, r.stderr)
	}
	if got := s.does("ls"); !strings.Contains(got, c.Email) || !strings.Contains(got, b.Email) {
		t.Errorf("ls printed %q", got)
	}
	s.does("rm", "--all", "--yes")
	s.prints("", "ls")
}

func TestEmptyingAndExtendingInboxes(t *testing.T) {
	both(t, func(t *testing.T, s *harness) {
		able := strings.HasSuffix(t.Name(), "extensions")
		a, b := s.inbox("a1"), s.inbox("b1")
		for range 2 {
			s.deliver(a.Email, apitest.Mail{From: "x@acme.example", Subject: "Hello"})
		}
		if !able {
			s.fails(statusError, []string{"does not offer this"}, "rm", "--messages", "--yes", a.Email)
			s.fails(statusError, []string{"does not offer this"}, "extend", a.Email)
			return
		}
		s.fails(statusUsage, []string{"--yes"}, "rm", "--messages", a.Email)
		s.prints("", "rm", "--messages", "--yes", a.Email, b.Email)
		s.prints("", "messages", a.Email)
		s.fails(statusNotFound, []string{"nobody"}, "rm", "--messages", "--yes", "nobody")
		if got := s.does("ls"); !strings.Contains(got, a.Email+"\t0\t") || !strings.Contains(got, b.Email) {
			t.Errorf("ls printed %q", got)
		}
		for _, args := range [][]string{{"extend", a.Email, "--ttl", "2d"}, {"extend", "--ttl", "12h"}} { // the newest
			end, err := time.Parse(time.RFC3339, strings.TrimSpace(s.does(args...)))
			want, _ := api.ParseDuration(args[len(args)-1])
			if left := time.Until(end); err != nil || left > want || left < want-time.Minute {
				t.Errorf("%q: %v left, %v", args, left, err)
			}
		}
		var inbox api.Inbox
		parse(t, s.does("extend", b.ID, "--json"), &inbox)
		if left := time.Until(inbox.ExpiresAt); inbox.ID != b.ID || left > time.Hour || left < 59*time.Minute || inbox.MessageCount == nil {
			t.Errorf("extend --json gave %+v", inbox)
		}
		s.fails(statusError, []string{"a positive number of seconds"}, "extend", "--ttl", "0")
		s.fails(statusNotFound, []string{"nobody"}, "extend", "nobody")
	})
}

func TestExitStatusOfWhatTheServiceAnswers(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	s.inbox("ada")
	s.fails(statusError, []string{"ada@" + apitest.Domain + " is taken"}, "new", "--username", "ada")

	bad := s.with("MAYFLY_API_KEY=another-0123456789")
	bad.fails(statusKey, []string{"Invalid API key", "mayfly key"}, "ls")

	nobody := s.with("MAYFLY_API_KEY=")
	nobody.fails(statusKey, []string{"no API key for " + s.url, "mayfly key set ", "--base-url " + s.url, "MAYFLY_API_KEY"}, "ls")

	torn := s.with("MAYFLY_API_KEY=two\nlines")
	torn.fails(statusKey, []string{"MAYFLY_API_KEY", "invalid API key"}, "ls")

	s.service.Fail(apitest.HTML, -1)
	s.fails(statusError, nil, "new")
}

func TestExitStatusOfFailuresThatAreTriedAgain(t *testing.T) {
	offline(t, apitest.Options{}, func(t *testing.T, s *harness) {
		s.service.Fail(apitest.Limited, -1)
		s.fails(statusRateLimit, []string{"try again in 2 s"}, "new")
		s.service.Fail(apitest.Cut, -1)
		s.fails(statusError, []string{"cannot be reached"}, "ls")
		s.service.Fail(apitest.BadGateway, -1)
		s.fails(statusError, []string{"502"}, "messages", "inbox_1")
	})
}

func TestAMistypedPathMakesNoStore(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	for _, args := range [][]string{{"key", "list"}, {"key", "revoke", "key_01"}, {"key", "rotate", "key_01"}, {"key", "plan", "key_01", "dev"}, {"backup", store + "2"}} {
		args = append([]string{"admin", "--store", store}, args...)
		expectFailure(t, run(t, machine(t), "", args...), statusNotFound, []string{"no store in"}, args)
	}
	if _, err := os.Stat(store); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the store: %v", err)
	}
}

func TestDoctorReportsAFailureAtOnce(t *testing.T) {
	offline(t, apitest.Options{}, func(t *testing.T, s *harness) {
		s.service.Fail(apitest.LimitedNoTime, -1)
		begin := time.Now()
		if r := s.run("doctor"); r.status != statusRateLimit || !strings.Contains(r.stdout, "429") {
			t.Errorf("%+v", r)
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestTheKeyIsInNoOutput(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	for _, args := range [][]string{{"new"}, {"ls", "--json"}, {"key", "status"}, {"doctor"}, {"messages", "nobody"}} {
		if r := s.run(args...); strings.Contains(r.stdout+r.stderr, apitest.Key) {
			t.Errorf("%q prints the key", args)
		}
	}
}

func TestHostileTextIsCleaned(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	inbox := s.inbox("ada")
	hostile := "\x1b]0;owned\x07\x9b31m\u202eevil\r\nnext\u2028x"
	s.deliver(inbox.Email, apitest.Mail{From: "x@acme.example", FromName: hostile, Subject: hostile, Text: hostile})
	for _, args := range [][]string{{"messages"}, {"messages", "--json"}} {
		for _, r := range s.does(args...) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028 {
				t.Errorf("%q prints %U", args, r)
			}
		}
	}
	var list struct{ Messages []api.Summary }
	parse(t, s.does("messages", "--json"), &list)
	if want := strings.ToValidUTF8(hostile, "\ufffd"); list.Messages[0].Subject != want {
		t.Errorf("JSON changed the subject to %q, want %q", list.Messages[0].Subject, want)
	}
}

func TestUsageErrors(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	for _, args := range []string{
		"nonsense", "key", "key nonsense", "admin", "admin key", "admin key create", "admin key revoke", "new extra", "new --nonsense",
		"new --ttl soon", "new --ttl -5m", "new --ttl 0", "messages a b", "save a b c", "--color pink ls", "key set extra", "serve extra", "rm",
		"--base-url ::: ls", "--base-url ftp://x.example ls", "--profile nobody ls", "wait --code --link", "wait --again --since 2m", "wait --count 0", "wait --exactly 0",
		"preview", "preview -", "preview - - --type txt", "preview x.txt --type pdf", "preview x.txt --view pretty", "preview x.txt --width 10001", "preview x.txt --width -4",
	} {
		s.fails(statusUsage, nil, strings.Fields(args)...)
	}
	for args, part := range map[string]string{
		"read --width wide": `--width "wide": must be an integer; see`, "ls --json=maybe": `--json "maybe": must be true or false; see`,
		"messages a b": "at most 1 argument, but", "wait --since 1795341600": "must be an age",
		"--base-url http://user:password@127.0.0.1 ls": "a password; see",
	} {
		s.fails(statusUsage, []string{part}, strings.Fields(args)...)
	}
	s.environ = append(s.environ, "MAYFLY_BASE_URL=http://mail.example")
	s.fails(statusUsage, []string{"--insecure allows it"}, "ls")
}

func TestEmbeddedServiceThatDoesNotRun(t *testing.T) {
	environ := machine(t)
	for _, args := range [][]string{{"new"}, {"ls"}, {"messages"}, {"rm", "--yes", "x"}} {
		expectFailure(t, run(t, environ, "", args...), statusError, []string{"no local service is running: start it with `mayfly up`"}, args)
	}
	expectFailure(t, run(t, environ, ""), statusUsage, []string{"needs a terminal", "`mayfly watch`"}, nil)
}

// What answers every path with a page is no such service; one without a list is, but has nothing to show.
func TestAnEmptyListIsExplainedWhereTheServiceHasNone(t *testing.T) {
	for name, o := range map[string]apitest.Options{"contract": {}, "a page": {}, "extensions": {Extensions: true}} {
		s := newHarness(t, o)
		if name == "a page" {
			s.service.Fail(apitest.NotFoundHTML, -1)
		}
		r := s.run("ls")
		if r.status != statusDone || r.stdout != "" || strings.Contains(r.stderr, "`mayfly doctor`") == o.Extensions {
			t.Errorf("%s: %+v", name, r)
		}
		if doctor := s.run("doctor"); strings.Contains(doctor.stdout, "is the base URL right?") != (name == "a page") {
			t.Errorf("%s: doctor says %s", name, doctor.stdout)
		}
	}
}

func TestTheClockOfTheServiceDecidesWhatHasExpired(t *testing.T) {
	s := newHarness(t, apitest.Options{Ahead: -3 * time.Hour, Extensions: true})
	s.inbox("a1")
	if got := s.does("__complete", "rm", ""); !strings.Contains(got, "60 min left") && !strings.Contains(got, "61 min left") {
		t.Errorf("completed as %q", got)
	}
}
