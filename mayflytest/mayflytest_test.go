package mayflytest_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/mayflytest"
)

// shop is an application to test: whoever signs up gets a link to confirm with, whoever logs in a code,
// and the owner a note on each.
type shop struct {
	smtpAddr string
	logins   int
	site     *httptest.Server
}

func openShop(t *testing.T, smtpAddr string) *shop {
	s := &shop{smtpAddr: smtpAddr}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /signup", func(w http.ResponseWriter, r *http.Request) {
		send(t, s.smtpAddr, r.FormValue("email"), "Confirm your address", "Welcome to the shop!\n\nConfirm your address: "+s.site.URL+"/confirm?token=t0k3n\n")
		send(t, s.smtpAddr, "owner@shop.example", "New customer", r.FormValue("email")+" has signed up.\n")
	})
	mux.HandleFunc("GET /confirm", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.FormValue("token")) })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		s.logins++
		send(t, s.smtpAddr, r.FormValue("email"), "Your login", fmt.Sprintf("Your login code is %d.\n", 482912+s.logins))
	})
	s.site = httptest.NewServer(mux)
	t.Cleanup(s.site.Close)
	return s
}

func (s *shop) post(t *testing.T, action, email string) {
	t.Helper()
	answer, err := http.PostForm(s.site.URL+"/"+action, map[string][]string{"email": {email}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

func send(t testing.TB, smtpAddr, to, subject, text string) {
	t.Helper()
	message := "From: Shop <no-reply@shop.example>\nTo: " + to + "\nSubject: " + subject + "\n\n" + text
	message = strings.ReplaceAll(message, "\n", "\r\n")
	if err := smtp.SendMail(smtpAddr, nil, "no-reply@shop.example", []string{to}, []byte(message)); err != nil {
		t.Error(err)
	}
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	m := mayflytest.Start(t)
	app := openShop(t, m.SMTPAddr)
	ada, owner := m.Inbox(t), m.InboxFor(t, "owner@shop.example")

	app.post(t, "signup", ada.Email)
	answer, err := http.Get(ada.Link(t))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if token, err := io.ReadAll(answer.Body); string(token) != "t0k3n" {
		t.Errorf("confirmed with %q, %v", token, err)
	}
	app.post(t, "login", ada.Email)
	app.post(t, "login", ada.Email)
	if first, second := ada.Code(t), ada.Code(t); first != "482913" || second != "482914" {
		t.Errorf("codes %s and %s", first, second)
	}
	if note := owner.Next(t); note.Subject != "New customer" || note.Text != ada.Email+" has signed up.\r\n" && note.Text != ada.Email+" has signed up.\n" {
		t.Errorf("the owner got %q: %q", note.Subject, note.Text)
	}
	app.post(t, "signup", "bob@shop.example")
	if note := m.InboxFor(t, "Owner@shop.example").Next(t); !strings.HasPrefix(note.Text, "bob@shop.example ") {
		t.Errorf("asked for anew, the owner's inbox begins again with %q", note.Text)
	}
	all := ada.All(t)
	if len(all) != 3 || all[0].Link == "" || all[0].From.Name != "Shop" || all[1].Code != "482913" || all[2].Code != "482914" {
		t.Errorf("%+v", all)
	}
}

// Each thing that is asked goes its own way through the mails, and none goes back.
func TestEachMailIsReturnedOnceForEachThing(t *testing.T) {
	t.Parallel()
	m := mayflytest.Start(t)
	in := m.Inbox(t)
	for _, code := range []string{"111222", "333444"} {
		send(t, m.SMTPAddr, in.Email, "News", "Nothing to do.\n")
		send(t, m.SMTPAddr, in.Email, "Code "+code, "Your code is "+code+". Or follow this link to log in: https://shop.example/login?token="+code+"\n")
	}
	if subject := in.Next(t).Subject; subject != "News" {
		t.Error(subject)
	}
	if code, link, mail := in.Code(t), in.Link(t), in.Next(t); code != "111222" || !strings.HasSuffix(link, code) || mail.Code != code {
		t.Error(code, link, mail.Subject)
	}
	if code, mail := in.Code(t), in.Next(t); code != "333444" || mail.Code != code {
		t.Error(code, mail.Subject)
	}

	var both sync.WaitGroup
	codes := make([]string, 2)
	for i := range codes {
		both.Go(func() { codes[i] = in.Code(t) })
		send(t, m.SMTPAddr, in.Email, "Code", fmt.Sprintf("Your code is 55566%d.\n", i))
	}
	if both.Wait(); codes[0] == codes[1] {
		t.Errorf("two that wait at once got %s", codes)
	}
}

func TestChaos(t *testing.T) {
	t.Parallel()
	m := mayflytest.Start(t, mayflytest.Chaos("data=451:1x,data=lost:1x"))
	in := m.Inbox(t)
	for _, want := range []string{"4.3.0 On purpose (chaos)", "EOF", "<nil>"} {
		err := smtp.SendMail(m.SMTPAddr, nil, "no-reply@shop.example", []string{in.Email}, []byte("Subject: Your order\r\n\r\n"))
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if n := len(in.All(t)); n != 2 {
		t.Errorf("%d mails came, want the one without an answer, and its duplicate", n)
	}
}

// failing is a test that may fail.
type failing struct {
	testing.TB
	dir      string
	text     string
	failed   bool
	cleanups []func()
	deadline time.Time
}

func (f *failing) Helper()                     {}
func (f *failing) Failed() bool                { return f.failed }
func (f *failing) Cleanup(do func())           { f.cleanups = append(f.cleanups, do) }
func (f *failing) ArtifactDir() string         { return f.dir }
func (f *failing) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }
func (f *failing) Fatalf(text string, args ...any) {
	f.Fatal(fmt.Sprintf(text, args...))
}

func (f *failing) Fatal(args ...any) {
	f.text, f.failed = fmt.Sprint(args...), true
	runtime.Goexit()
}

func (f *failing) run(test func(t testing.TB)) {
	var running sync.WaitGroup
	running.Go(func() { test(f) })
	running.Wait()
	for len(f.cleanups) > 0 {
		last := len(f.cleanups) - 1
		do := f.cleanups[last]
		f.cleanups = f.cleanups[:last]
		do()
	}
}

func TestAFailureShowsWhatCame(t *testing.T) {
	t.Parallel()
	f := &failing{TB: t, dir: t.TempDir()}
	var email string
	f.run(func(t testing.TB) {
		m := mayflytest.Start(t)
		in := m.Inbox(t)
		email = in.Email
		send(t, m.SMTPAddr, in.Email, "Your login \x1b[31m", "Hello Ada!\n\nYour login code is 482913.\n\nThe\n\nShop\n")
		send(t, m.SMTPAddr, "bob@shop.example", "Your login", "Your login code is 482914.\n")
		in.Code(t)
		m.Timeout = time.Second
		in.Code(t)
	})
	for _, want := range []string{
		"no mail to " + email + ` with a code within 1s; mail arrived at another inbox: bob@shop.example; returned before was "Your login"`,
		"; 1 message arrived:\n",
		"\n    from Shop <no-reply@shop.example>, ",
		"\n    code 482913 (was returned before)\n    | Hello Ada!\n    | Your login code is 482913.\n    | The\n    | …",
	} {
		if !strings.Contains(f.text, want) {
			t.Errorf("no %q in %s", want, f.text)
		}
	}
	if strings.Contains(f.text, "\x1b") {
		t.Errorf("%q", f.text)
	}
	if kept, err := filepath.Glob(filepath.Join(f.dir, "*.eml")); len(kept) != 2 {
		t.Errorf("kept %q, %v", kept, err)
	}
}

func TestAFailureSaysWhereTheServiceIs(t *testing.T) {
	t.Parallel()
	f := &failing{TB: t, deadline: time.Now().Add(time.Second)}
	var addr string
	f.run(func(t testing.TB) {
		m := mayflytest.Start(t)
		addr = m.SMTPAddr
		m.Inbox(t).Next(t)
	})
	if !strings.Contains(f.text, " within 0s; nothing has connected to SMTP "+addr+" in the last ") {
		t.Error(f.text)
	}
}

// A test leaves neither goroutines nor ports nor, if it does not fail, files.
func TestNothingIsLeft(t *testing.T) {
	f := &failing{TB: t, dir: filepath.Join(t.TempDir(), "none")}
	var addrs []string
	f.run(func(t testing.TB) {
		m := mayflytest.Start(t)
		addrs = []string{m.SMTPAddr, strings.TrimPrefix(m.BaseURL, "http://")}
		in := m.Inbox(t)
		send(t, m.SMTPAddr, in.Email, "Hello", "Hello.\n")
		in.Next(t)
	})
	for _, addr := range addrs {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Errorf("%s is still served", addr)
		}
	}
	var stacks bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	if strings.Contains(stacks.String(), "/service") {
		t.Errorf("left running:\n%s", &stacks)
	}
	if _, err := os.Stat(f.dir); err == nil {
		t.Error("mails of a test that passed were kept")
	}
}

// talk is an SMTP session: the server's greeting, and lines with their replies. It ends without QUIT.
func talk(t testing.TB, addr string, lines ...string) {
	t.Helper()
	c, err := textproto.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, line := range append([]string{""}, lines...) {
		if line != "" {
			c.PrintfLine("%s", line)
		}
		c.ReadResponse(0)
	}
}

func TestAWaitInVainSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chaos string
		do    func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox)
		want  string // with ADDR for the service, AT for the inbox and CLIENT for what connected
	}{
		"nothing connected": {want: "nothing has connected to SMTP ADDR in the last 1 s"},
		"nothing was said": {do: func(t testing.TB, m *mayflytest.Service, _ *mayflytest.Inbox) {
			talk(t, m.SMTPAddr, "EHLO app", "STARTTLS")
		}, want: `a client connected from CLIENT (EHLO app), but delivered no message: its last command was STARTTLS, answered "502 5.5.1 STARTTLS is not offered"; it ended with: the client closed the connection`},
		"TLS without asking": {do: func(t testing.TB, m *mayflytest.Service, _ *mayflytest.Inbox) {
			tls.Dial("tcp", m.SMTPAddr, nil)
		}, want: "a client connected from CLIENT, but delivered no message; it ended with: This is SMTP without TLS: send STARTTLS first, or connect to the port for SMTPS"},
		"refused at RCPT": {chaos: "rcpt=550", do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			talk(t, m.SMTPAddr, "EHLO app", "MAIL FROM:<a@b.example>", "RCPT TO:<"+in.Email+">", "QUIT")
		}, want: `a client connected from CLIENT (EHLO app), but delivered no message: RCPT was answered "550 5.1.1 On purpose (chaos)"`},
		"refused after the data": {chaos: "data=452", do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			talk(t, m.SMTPAddr, "EHLO app", "MAIL FROM:<a@b.example>", "RCPT TO:<"+in.Email+">", "DATA", ".", "QUIT")
		}, want: `a client connected from CLIENT (EHLO app), but delivered no message: its data was answered "452 4.3.1 On purpose (chaos)"`},
		"a typo": {do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			send(t, m.SMTPAddr, in.Email[1:], "Welcome", "Hello.")
		}, want: "mail went to TYPO, which is nearly AT"},
		"another domain": {do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			local, _, _ := strings.Cut(in.Email, "@")
			send(t, m.SMTPAddr, local+"@acme.example", "Welcome", "Hello.")
		}, want: "mail went to LOCAL@acme.example, at another domain than AT"},
		"another inbox": {do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			send(t, m.SMTPAddr, "bob@shop.example", "Welcome", "Hello.")
		}, want: "mail arrived at another inbox: bob@shop.example"},
		"returned before": {do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			send(t, m.SMTPAddr, in.Email, "Your login", "Your login code is 482913.\n")
			in.Code(t)
		}, want: `returned before was "Your login" from Shop <no-reply@shop.example> (All returns it again)`},
		"no code in it": {do: func(t testing.TB, m *mayflytest.Service, in *mayflytest.Inbox) {
			send(t, m.SMTPAddr, in.Email, "Welcome", "Hello.\n")
		}, want: `there is instead "Welcome" from Shop <no-reply@shop.example>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &failing{TB: t, dir: t.TempDir()}
			var fill *strings.Replacer
			f.run(func(t testing.TB) {
				m := mayflytest.Start(t, mayflytest.Chaos(c.chaos))
				in := m.Inbox(t)
				local, _, _ := strings.Cut(in.Email, "@")
				fill = strings.NewReplacer("ADDR", m.SMTPAddr, "AT", in.Email, "LOCAL", local, "TYPO", in.Email[1:])
				if c.do != nil {
					c.do(t, m, in)
				}
				m.Timeout = time.Second
				in.Code(t)
			})
			got := regexp.MustCompile(`from 127\.0\.0\.1:\d+`).ReplaceAllString(f.text, "from CLIENT")
			if want := " within 1s; " + fill.Replace(c.want); !strings.Contains(got+"\n", want+"\n") && !strings.Contains(got, want+"; 1 message arrived:\n") {
				t.Errorf("%s\nlacks %s", got, want)
			}
		})
	}
}

func TestNoneAndExactly(t *testing.T) {
	t.Parallel()
	f := &failing{TB: t, dir: t.TempDir()}
	f.run(func(t testing.TB) {
		m := mayflytest.Start(t)
		m.Timeout = time.Second
		in := m.Inbox(t)
		in.ExpectNone(t)
		send(t, m.SMTPAddr, in.Email, "One", "Hello.")
		send(t, m.SMTPAddr, in.Email, "Two", "Hello.")
		if all := in.Messages(t, 2); all[0].Subject != "One" || all[1].Subject != "Two" {
			t.Errorf("%q, %q", all[0].Subject, all[1].Subject)
		}
		in.ExpectNone(t)
		send(t, m.SMTPAddr, in.Email, "Three", "Hello.")
		send(t, m.SMTPAddr, in.Email, "Four", "Hello.")
		in.Messages(t, 1)
	})
	if !strings.HasPrefix(f.text, "only 1 message expected at ") || !strings.Contains(f.text, ", but these arrived:\n  Four\n") {
		t.Error(f.text)
	}
}

func TestSnapshot(t *testing.T) { // not parallel: snapshots are beside the test
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	mail := "Hello Ada,\n\nyour login code is 482913.\n"
	f := &failing{TB: t, dir: t.TempDir()}
	f.run(func(t testing.TB) {
		m := mayflytest.Start(t)
		in := m.Inbox(t)
		for _, text := range []string{mail, strings.Replace(mail, "482913", "731002", 1), strings.Replace(mail, "Hello", "Dear", 1)} {
			send(t, m.SMTPAddr, in.Email, "Your login", text)
		}
		in.Snapshot(t, "login")
		in.Snapshot(t, "login")
		in.Code(t)
		in.Snapshot(t, "login")
	})
	if want := "\n- [-Hello-] Ada,\n+ {+Dear+} Ada,\nMAYFLY_UPDATE=1 accepts it"; !strings.HasSuffix(f.text, want) {
		t.Errorf("%s\nlacks %s", f.text, want)
	}
}
