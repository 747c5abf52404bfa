package smtp

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
)

func TestChaosRules(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{"rcpt=451", "rcpt=451:5%, data=slow:2s", "data=slow:1m30s:2x", "connect=drop:0.5%", "data=lost,data=drop:1x", "helo=559:100%"} {
		if parsed, err := parseChaos(rules); err != nil || parsed == nil {
			t.Errorf("%s: %v", rules, err)
		}
	}
	for _, rule := range []string{"rcpt", "rcpt=", "noop=451", "RCPT=451", "rcpt=250", "rcpt=360", "rcpt=460", "rcpt=4511", "rcpt=slow", "rcpt=slow:2", "rcpt=slow:0s",
		"rcpt=slow:-1s", "rcpt=lost", "rcpt=451:5", "rcpt=451:101%", "rcpt=451:-1%", "rcpt=451:1.2.3%", "rcpt=451:0x", "rcpt=451:5%:2x", "rcpt=451:99999999999999999999x", ""} {
		_, err := parseChaos("rcpt=451," + rule + ",mail=drop")
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), `"`+rule+`"`) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	if _, err := New(&inboxes{}, Options{Chaos: "x,y"}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
}

// chaosStages is what the client does before a stage, and at it, and what the server answers without
// chaos.
var chaosStages = map[string]struct{ before, at, answer string }{
	"connect":  {"", "", "220"},
	"helo":     {"→ 220", "EHLO me", "250"},
	"starttls": {"→ 220\nEHLO me → 250", "STARTTLS", "220"},
	"auth":     {"→ 220\nEHLO me → 250\nAUTH LOGIN → 334\neA== → 334", "eA==", "235"},
	"mail":     {"→ 220\nEHLO me → 250", "MAIL FROM:<x@y.test>", "250"},
	"rcpt":     {"→ 220\nEHLO me → 250\nMAIL FROM:<x@y.test> → 250", "RCPT TO:<a@box.test>", "250 2.1.5"},
	"data":     {"→ 220\nEHLO me → 250\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<a@box.test> → 250\nDATA → 354\ntext", ".", "250 2.0.0 Stored"},
	"quit":     {"→ 220", "QUIT", "221"},
}

func TestChaosAtEachStage(t *testing.T) {
	t.Parallel()
	for stage, s := range chaosStages {
		for _, test := range []struct {
			fault, answer string
			slow          time.Duration
			stored        bool
		}{
			{fault: "451", answer: "451 4.3.0 On purpose"},
			{fault: "550", answer: "550 5.1.1 On purpose"},
			{fault: "421", answer: "421 4.3.2 On purpose"},
			{fault: "drop"},
			{fault: "lost", stored: true},
			{fault: "slow:2m", answer: s.answer, slow: 2 * time.Minute, stored: true},
			{fault: "slow:20m," + stage + "=slow:1s," + stage + "=452," + stage + "=554", answer: "452 4.3.1", slow: 20*time.Minute + time.Second},
			{fault: "slow:1s," + stage + "=drop", slow: time.Second},
			{fault: "451:0%", answer: s.answer, stored: true},
		} {
			if test.fault == "lost" && stage != "data" {
				continue
			}
			t.Run(stage+"="+test.fault, func(t *testing.T) {
				t.Parallel()
				tlsConfig, _ := fortest.Certificate()
				synctest.Test(t, func(t *testing.T) {
					l, svc := fortest.NewPipes(), &inboxes{}
					server := serveOn(t, l, svc, Options{AuthAny: true, TLS: tlsConfig, Chaos: stage + "=" + test.fault})
					c := newClient(t, l.Dial())
					if s.before != "" {
						c.run(s.before)
					}
					begun := time.Now()
					if s.at != "" {
						c.send(s.at + "\r\n")
					}
					ends := test.answer == "" || strings.HasPrefix(test.answer, "421") || stage == "connect" && test.answer != s.answer
					if test.answer != "" {
						c.expect(test.answer)
					}
					if waited := time.Since(begun); test.answer != "" && waited != test.slow {
						t.Errorf("answered after %v", waited)
					}
					switch {
					case ends:
						c.expectEnd()
					case test.answer != s.answer || stage != "starttls" && stage != "quit":
						c.run("NOOP → 250")
					}
					c.Close()
					synctest.Wait()
					want := 0
					if test.stored && stage == "data" {
						want = 1
					}
					if st := server.stats(); len(svc.mails()) != want || st.accepted != want || st.inFlight != 0 || st.connections != 0 {
						t.Errorf("stored %d mails, stats %+v", len(svc.mails()), st)
					}
				})
			})
		}
	}
}

func TestChaosKeepsThePipelineInOrder(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		svc := &inboxes{}
		serveOn(t, l, svc, Options{Chaos: "rcpt=slow:1m:1x,rcpt=451:1x,data=slow:1s"})
		c := newClient(t, l.Dial())
		text := strings.Repeat("x", 100<<10) + "\r\n"
		go io.WriteString(c, envelope+"RCPT TO:<b@box.test>\r\nDATA\r\n"+text+".\r\nNOOP\r\nQUIT\r\n")
		c.expect("220")
		for _, want := range []string{"250", "250 2.1.0", "451 4.3.0 On purpose", "250 2.1.5", "354", "250 2.0.0 Stored", "250", "221"} {
			c.expect(want)
		}
		c.expectEnd()
		if got := svc.mails(); len(got) != 1 || got[0].raw != text || got[0].to[0] != "b@box.test" {
			t.Errorf("got %d mails", len(got))
		}
	})
}

// A slow answer comes at once when the server shuts down.
func TestChaosSlowAnswerEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rules, sent, answer string }{
		{"connect=slow:50m", "", "220"},
		{"mail=slow:50m", "EHLO me\r\nMAIL FROM:<x@y.test>\r\n", "250 2.1.0"},
		{"data=slow:50m", envelope + "DATA\r\n.\r\n", "250 2.0.0 Stored"},
		{"data=slow:50m,data=451", envelope + "DATA\r\n.\r\n", "451 4.3.0"},
	} {
		t.Run(test.rules, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := fortest.NewPipes()
				s := serveOn(t, l, &inboxes{}, Options{Chaos: test.rules})
				c := newClient(t, l.Dial())
				begun := time.Now()
				if test.sent != "" { // which a pipe would bring as a read of nothing
					go io.WriteString(c, test.sent)
				}
				replies := make(chan []string)
				go func() {
					all, _ := io.ReadAll(c.r)
					replies <- strings.SplitAfter(strings.TrimSpace(string(all)), "\n")
				}()
				synctest.Wait()
				must(t, s.Shutdown(context.Background()))
				lines := <-replies
				if n := len(lines); n < 2 || !strings.HasPrefix(lines[n-2], test.answer) || !strings.HasPrefix(lines[n-1], "421 4.3.2 mx.test Shutting down") {
					t.Errorf("got %q", lines)
				}
				if waited := time.Since(begun); waited > 15*time.Second { // a transaction has ten to end, lingering takes five at most
					t.Errorf("ended after %v", waited)
				}
			})
		})
	}
}

// An address asks for a fault of its own, where that is allowed, and other recipients get what they would without it.
func TestAddressFaults(t *testing.T) {
	t.Parallel()
	svc := &inboxes{}
	_, address := serve(t, svc, Options{AddressFaults: true})
	c := dial(t, address)
	c.expect("220")
	c.run(`
		EHLO me → 250
		MAIL FROM:<x@y.test> → 250
		RCPT TO:<nobody+smtp-lost@box.test> → 550 5.1.1 No such inbox
		RCPT TO:<d+SMTP-550@box.test> → 550 5.1.1 On purpose
		RCPT TO:<d+tag+smtp-451@box.test> → 451 4.3.0
		RCPT TO:<nobody+smtp-slow-1ms@box.test> → 550 5.1.1 No such inbox
		RCPT TO:<nobody+smtp-600@box.test> → 550 5.1.1 No such inbox
		RCPT TO:<a@box.test> → 250
		DATA → 354
		.
		→ 250
		MAIL FROM:<x@y.test> → 250
		RCPT TO:<a@box.test> → 250
		RCPT TO:<d+smtp-lost@box.test> → 250
		DATA → 354
		.`)
	c.expectEnd()
	c = dial(t, address)
	c.expect("220")
	c.run("EHLO me → 250\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<a+smtp-drop@box.test>")
	c.expectEnd()
	svc.mails() // locks
	if len(svc.deliveries) != 2 || said(svc.deliveries[0].Refused[1:3]) != "d+SMTP-550@box.test 550 5.1.1 On purpose (chaos)\nd+tag+smtp-451@box.test 451 4.3.0 On purpose (chaos)" {
		t.Errorf("%+v", svc.deliveries)
	}
	_, address = serve(t, &inboxes{}, Options{})
	c = dial(t, address)
	c.expect("220")
	c.run("EHLO me → 250\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<d+smtp-451@box.test> → 550 5.1.1 No such inbox")
}
