package ui

import (
	"cmp"
	"os/exec"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/store"
)

// copiedTests opens the menu of what can be copied, and copies the line for each runner.
func copiedTests(h *harness) string {
	h.t.Helper()
	h.copied = nil
	for _, runner := range []string{"shell", "playwright", "pytest"} {
		h.press("Y", "test", "enter", runner, "enter")
	}
	return strings.Join(h.copied, "\n")
}

func TestAMessageAsATest(t *testing.T) {
	hostile := "482913 is Bob's \"$(touch x)`id`\\ \x1b[31m\u202e code"
	for _, c := range []struct {
		name  string
		mails []apitest.Mail // the first is the newest
		want  string
	}{
		{"it is alone", []apitest.Mail{{From: "a@shop.example", Subject: hostile, Text: "Your code is 482913."}},
			"CODE=$(mayfly wait --code ada@apitest.example)\nconst code = await inbox.waitForCode();\ncode = inbox.wait_for_code()"},
		{"the subject tells, without its code", []apitest.Mail{{From: "a@shop.example", Subject: "482913 is your sign-in code", Text: "Your code is 482913."}, {From: "a@shop.example", Subject: "Reset it", Text: "Your code is 123456."}},
			"CODE=$(mayfly wait --subject 'is your sign-in code' --code ada@apitest.example)\nconst code = await inbox.waitForCode({ subject: 'is your sign-in code' });\ncode = inbox.wait_for_code(subject=\"is your sign-in code\")"},
		{"others have no code", []apitest.Mail{{From: "a@shop.example", Subject: "One", Text: "Your code is 482913."}, {From: "b@shop.example", Subject: "Two", Text: "Hello"}},
			"CODE=$(mayfly wait --code ada@apitest.example)\nconst code = await inbox.waitForCode();\ncode = inbox.wait_for_code()"},
		{"the sender tells", []apitest.Mail{{From: "o'brien@shop.example", Subject: "Hi", Text: "Hello"}, {From: "b@shop.example", Subject: "Hi", Text: "Hello"}},
			`mayfly wait --from 'o'\''brien@shop.example' ada@apitest.example` + "\n" + `const message = await inbox.waitForMessage({ from: 'o\'brien@shop.example' });` + "\n" + `message = inbox.wait_for_message(sender="o'brien@shop.example")`},
		{"both tell", []apitest.Mail{{From: "a@shop.example", Subject: "Hi", Text: "Hello"}, {From: "a@shop.example", Subject: "Ho", Text: "Hello"}, {From: "b@shop.example", Subject: "Hi", Text: "Hello"}},
			"mayfly wait --subject Hi --from a@shop.example ada@apitest.example\nconst message = await inbox.waitForMessage({ subject: 'Hi', from: 'a@shop.example' });\nmessage = inbox.wait_for_message(subject=\"Hi\", sender=\"a@shop.example\")"},
		{"a hostile subject", []apitest.Mail{{From: "a@shop.example", Subject: hostile, Text: "Your code is 482913."}, {From: "a@shop.example", Subject: "Reset it", Text: "Your code is 123456."}},
			`CODE=$(mayfly wait --subject 'is Bob'\''s "$(touch x)` + "`id`" + `\' --code ada@apitest.example)` + "\n" + `const code = await inbox.waitForCode({ subject: 'is Bob\'s "$(touch x)` + "`id`" + `\\' });` + "\n" + `code = inbox.wait_for_code(subject="is Bob's \"$(touch x)` + "`id`" + `\\")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, setting{width: 120, height: 36, service: extended, before: func(h *harness) {
				in := h.inboxNamed("ada", time.Hour)
				for n, m := range c.mails {
					m.ReceivedAt = time.Now().Add(-time.Duration(n+1) * time.Minute)
					h.mail(in.Email, m)
				}
			}}, func(h *harness) {
				h.wait(time.Second)
				if got := copiedTests(h); got != c.want {
					t.Errorf("copied\n%s\nwant\n%s", got, c.want)
				}
				h.see("copied the line for pytest")
			})
		})
	}
}

// TestLinesMeanWhatWasQuoted has each language say what its lines have in quotes.
func TestLinesMeanWhatWasQuoted(t *testing.T) {
	others := []*store.Message{{Summary: api.Summary{Subject: "-"}}}
	programs := map[string]string{
		"sh":      `mayfly() { printf '%s\n' "$3" "$5"; }` + "\n",
		"node":    `const inbox = { waitForMessage: (o) => console.log(o.subject + "\n-rf;id@x.example") };` + "\n(async () => {\n",
		"python3": "class M: pass\ninbox = M(); inbox.wait_for_message = lambda subject: print(subject + '\\n-rf;id@x.example')\n",
	}
	want := ""
	for _, subject := range []string{`'`, `\`, `\'`, `a"b'c\`, "$(id) `id` ${x} !! %s", `"; import os #`, `${'x'}`, "漢字 é", "--subject", "-", `\u \x \n \`} {
		lines := waitFor(api.Summary{Subject: subject + " tail", From: "a@b.example"}, &store.Extracted{}, "-rf;id@x.example", others)
		programs["sh"] += lines[0][1] + "\n"
		programs["node"] += "{ " + lines[1][1] + " }\n"
		programs["python3"] += lines[2][1] + "\n"
		want += subject + " tail\n-rf;id@x.example\n"
	}
	programs["node"] += "})()"
	for name, program := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: its quotes are not tried", name)
			continue
		}
		option := map[string]string{"node": "-e"}
		cmd := exec.Command(name, cmp.Or(option[name], "-c"), program)
		cmd.Env = append(cmd.Environ(), "PYTHONUTF8=1")
		if got, err := cmd.CombinedOutput(); err != nil || string(got) != want {
			t.Errorf("%s: %v, %q, want %q", name, err, got, want)
		}
	}
}
