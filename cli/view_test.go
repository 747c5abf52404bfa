package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/api/apitest"
)

// The views of a source are what the mail has in a pipe, lines with --width, and an error where the mail has none.
func TestSourcesInAPipeAreWhatTheMailHas(t *testing.T) {
	link := "https://acme.example/confirm?token=" + strings.Repeat("0123456789", 10) + "abc"
	html := "<p>\tHello \x1b[31m</p>\r\n<a href=\"" + link + "\">Confirm</a>  \r\n\r\n<!--\tend -->"
	text := "Hello\tAda\r\n  " + link + "  \r\n" + strings.Repeat("word ", 40) + "\r\n\r\n"
	s := newHarness(t, apitest.Options{})
	address := s.inbox("ada").Email
	s.deliver(address, apitest.Mail{From: "x@acme.example", Subject: "Both", Text: text, HTML: html})
	var got struct{ Message struct{ Text, HTML string } }
	parse(t, s.does("read", "--json"), &got)
	s.prints(got.Message.Text, "read", "--view", "text")
	s.prints(got.Message.HTML, "read", "--view", "html", "--width", "0")
	if strings.Count(got.Message.Text+got.Message.HTML, link) != 2 || !strings.Contains(got.Message.HTML, "\t") {
		t.Fatalf("the mail is %q", got.Message)
	}
	for line := range strings.Lines(s.does("read", "--view", "html", "--width", "60")) {
		if len(line) > 61 || strings.ContainsAny(line, "\t\r\x1b") {
			t.Errorf("--width 60: %q", line)
		}
	}
	s.deliver(address, apitest.Mail{From: "x@acme.example", Subject: "No text", HTML: "<p>Hello <a href=\"" + link + "\">there</a></p><p>" + strings.Repeat("word ", 40) + "</p>"})
	if got := s.does("read", "--view", "text"); strings.Count(got, "\n") != 3 || !strings.Contains(got, link) {
		t.Errorf("the text of the HTML: %q", got)
	}
	s.deliver(address, apitest.Mail{From: "x@acme.example", Subject: "No HTML", Text: text})
	s.fails(statusError, []string{"no HTML part"}, "read", "--view", "html")
	contents := map[string]string{
		"a.html": html + "\xfc\x00", "b.txt": text + "\xfc", "c.eml": "Subject: " + strings.TrimSpace(strings.Repeat("word ", 40)) + "\nContent-Type: text/plain; charset=iso-8859-1\n\nGr\xfc\xdfe\r\n\t" + link,
	}
	dir := testFiles(t, contents)
	for _, c := range []struct{ view, file, want string }{
		{"html", "a.html", contents["a.html"]}, {"text", "b.txt", contents["b.txt"]}, {"raw", "c.eml", contents["c.eml"]}, {"text", "c.eml", "Grüße\n\t" + link},
		{"headers", "c.eml", "Subject: " + strings.TrimSpace(strings.Repeat("word ", 40)) + "\nContent-Type: text/plain; charset=iso-8859-1\n"},
	} {
		r := run(t, machine(t), "", "preview", "--view", c.view, filepath.Join(dir, c.file))
		if r.status != 0 || strings.ReplaceAll(r.stdout, "\r\n", "\n") != strings.ReplaceAll(c.want, "\r\n", "\n") || c.view != "text" && r.stdout != c.want {
			t.Errorf("%s of %s: %+v, want %q", c.view, c.file, r, c.want)
		}
	}
	r := run(t, machine(t), "", "preview", "--view", "html", "--color", "always", filepath.Join(dir, "a.html"))
	if strings.Count(r.stdout, "\n") != 4 || strings.Contains(r.stdout, "\x1b[31m<") || !strings.Contains(r.stdout, link) {
		t.Errorf("--color always: %q", r.stdout)
	}
	r = run(t, machine(t), "", "preview", "--view", "html", filepath.Join(dir, "a.html"), filepath.Join(dir, "b.txt"), filepath.Join(dir, "a.html"))
	if r.status != statusError || strings.Count(r.stdout, "\n==> ") != 1 || !strings.Contains(r.stderr, "no HTML part") {
		t.Errorf("of several files: %+v", r)
	}
}

func TestWidthZeroWrapsNothing(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", 60))
	dir := testFiles(t, map[string]string{"a.html": "<html lang=en><h1>" + words + "</h1><ul><li>" + words + "</ul><table role=none><tr><td>" + words + "<td>9.00</table><p align=right>end</p><blockquote>" + words + "</blockquote><hr>"})
	path := filepath.Join(dir, "a.html")
	for _, args := range [][]string{{"preview", path, "--width", "0"}, {"preview", path, "--width", "0", "--json"}, {"preview", path, "--width", "0", "--color", "always"}} {
		shown := run(t, machine(t), "", args...).stdout
		if args[len(args)-1] == "--json" {
			var got report
			must(t, json.Unmarshal([]byte(shown), &got))
			shown = got.Rendered
		}
		if strings.Count(shown, words) != 4 || len(shown) > 10*len(words) {
			t.Errorf("%q: %q", args, shown)
		}
	}
	if shown := run(t, machine(t), "", "preview", path, "--view", "checks").stdout; strings.Count(shown, "\n") != len([]string{"1 note", "its text", "its ID"}) {
		t.Errorf("a check is wrapped: %q", shown)
	}
}

// Each of these was ignored, or printed what no program could read.
func TestNoFlagIsIgnored(t *testing.T) {
	environ, mail := machine(t), filepath.Join(testFiles(t, map[string]string{"a.html": "<p>Hello</p>"}), "a.html")
	for flags, says := range map[string]string{
		"read --json --view raw":                            "--view and --json cannot be combined",
		"read --screenshot a.png --json":                    "--json and --screenshot cannot be combined",
		"preview --explain --json " + mail:                  "--json and --explain cannot be combined",
		"preview --screenshot a.png --format sarif " + mail: "--format and --screenshot cannot be combined",
		"preview --images blocks --json " + mail:            "--images and --json cannot be combined",
		"preview --view text --images kitty " + mail:        "--view and --images cannot be combined",
		"preview --width 40 --explain " + mail:              "--width and --explain cannot be combined",
		"preview --dark " + mail:                            "--dark needs --screenshot",
		"wait --settle 3s":                                  "--settle needs --exactly",
		"wait --code --link":                                "--code and --link cannot be combined",
		"admin postmaster --view raw":                       "--view and --width need the ID of a message",
		"exec --no-pictures true":                           "--no-pictures needs --keep-mails",
	} {
		args := strings.Fields(flags)
		expectFailure(t, run(t, environ, "", args...), statusUsage, []string{says}, args)
	}
	if r := run(t, environ, "", "preview", "--json", "--format", "text", "--width", "40", mail); r.status != 0 {
		t.Errorf("flags that fit: %+v", r)
	}
}

func TestFailOnAndIgnoredChecks(t *testing.T) {
	const body = `<html lang="en"><p>Hello there <a href="http://localhost:3000/x">x</a> <a href="#">y</a> <a href="http://acme.example/">z</a></p>`
	path := filepath.Join(testFiles(t, map[string]string{"a.html": body, "b.html": "<p>Hello</p>", "c.html": `<p>Hello <a href="/` + strings.Join(strings.Split("abcdefg", ""), `">x</a> <a href="/`) + `">x</a></p>`}), "a.html")
	s := newHarness(t, apitest.Options{})
	s.deliver(s.inbox("ada").Email, apitest.Mail{From: "x@acme.example", Subject: "Links", Text: "Hello there x y z", HTML: body})
	for _, c := range []struct {
		ignore, args string
		status       int
		stderr       string // part of its one line; none if it is empty
		ids          string // of the checks that are printed
	}{
		{"", "read --json --fail-on error", statusError, ": 1 fault found: link-empty\n", "link-empty link-http link-private preheader-missing"},
		{"", "read --json --fail-on warning", statusError, ": 2 faults found: link-empty, link-http\n", "link-empty link-http link-private preheader-missing"},
		{`"link-empty", "link-private"`, "read --json --fail-on error", 0, "", "link-http preheader-missing"},
		{`"link-empty", "link-private"`, "wait --json", 0, "", "link-http preheader-missing"},
		{`"link-empty"`, "preview --json --fail-on error " + path, statusError, "a.html: 1 fault found: link-private\n", "link-private link-http preheader-missing"},
		{`"link-empty", "link-private", "link-http"`, "preview --json --fail-on warning " + path, 0, "", "preheader-missing"},
		{"", "preview --fail-on error " + path, statusError, "a.html: 2 faults found: link-private, link-empty\n", ""},
		{"", "preview --fail-on error " + strings.ReplaceAll(path, "a.html", "b.html"), 0, "", ""},
		{"", "preview --fail-on error " + strings.ReplaceAll(path, "a.html", "c.html"), statusError, "c.html: 7 faults found: link-relative\n", ""},
	} {
		configure(t, s.environ, "[checks]\nignore = ["+c.ignore+"]\n")
		r := s.run(strings.Fields(c.args)...)
		if r.status != c.status || !strings.HasSuffix(r.stderr, c.stderr) || (r.stderr == "") != (c.stderr == "") || strings.Count(r.stderr, "\n") > 1 || !strings.Contains(r.stdout, "Hello") {
			t.Errorf("%s without %s: %+v", c.args, c.ignore, r)
		}
		if strings.Contains(c.args, "--json") {
			var got report
			parse(t, r.stdout, &got)
			var ids []string
			for _, found := range got.Checks {
				ids = append(ids, found.ID)
			}
			if strings.Join(ids, " ") != c.ids {
				t.Errorf("%s without %s found %q, want %s", c.args, c.ignore, ids, c.ids)
			}
		}
	}
	s.fails(statusUsage, []string{"--fail-on", "error, warning or client"}, "read", "--fail-on", "note")
}

func TestDKIMKey(t *testing.T) {
	const key = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=" // of RFC 8463
	dir := testFiles(t, map[string]string{"a.eml": "From: a@acme.example\n\nHello\n", "key.txt": key, "mail.txt": "v=DKIM1; p=AAAA"})
	preview := func(key string) result {
		return run(t, machine(t), "", "preview", filepath.Join(dir, "a.eml"), "--view", "checks", "--dkim-key", filepath.Join(dir, key))
	}
	if r := preview("key.txt"); r.status != 0 || !strings.Contains(r.stdout, "no DKIM signature") {
		t.Errorf("with a key: %+v", r)
	}
	for _, none := range []string{"mail.txt", "absent.txt"} {
		if r := preview(none); r.status != statusError || !strings.Contains(r.stderr, none) {
			t.Errorf("%s: %+v", none, r)
		}
	}
}

func TestMailClients(t *testing.T) {
	path := filepath.Join(testFiles(t, map[string]string{"a.html": `<html lang="en"><div style="display:none">One step left</div><p style="display:flex">Hello</p>` + "\n" + `<b style="border-radius:4px / 2px">x</b>`}), "a.html")
	environ := machine(t)
	for _, c := range []struct {
		checks, level string
		status        int
		stderr        string
		found         string
	}{
		{"", "warning", 0, "", "client-layout client-style client-style"},
		{"", "client", statusError, "a.html: 1 fault found: client-layout\n", "client-layout client-style client-style"},
		{`clients = ["apple-mail"]`, "client", 0, "", ""},
		{`clients = ["yahoo"]`, "client", 0, "", "client-style"},
		{`ignore = ["client-layout"]`, "client", 0, "", "client-style client-style"},
	} {
		configure(t, environ, "[checks]\n"+c.checks+"\n")
		r := run(t, environ, "", "preview", path, "--json", "--fail-on", c.level)
		var got report
		parse(t, r.stdout, &got)
		var found []string
		for _, f := range got.Checks {
			found = append(found, f.ID)
		}
		if r.status != c.status || !strings.HasSuffix(r.stderr, c.stderr) || strings.Join(found, " ") != c.found {
			t.Errorf("%s %s: %d %q %q", c.checks, c.level, r.status, r.stderr, found)
		}
		if c.checks == "" {
			if flex := got.Checks[0]; flex.Where != "HTML, line 1" || flex.Level != "layout" || len(flex.Clients) != 3 || fmt.Sprint(flex.Clients[0]) != "{outlook-windows 2019 no}" || flex.Clients[2].Client != "gmail-ios" || flex.Clients[2].Support != "partly" {
				t.Errorf("%+v", flex)
			}
			if round := got.Checks[1]; round.Where != "HTML, line 2" || round.Level != "decoration" {
				t.Errorf("%+v", round)
			}
		}
	}
	if got := finding(t, run(t, environ, "", "doctor"), "clients"); !strings.Contains(got, "caniemail's data of 20") {
		t.Errorf("doctor says %q of the data", got)
	}
}

// How a mail came stands above its headers for people, and in the report. What pipes get has not changed.
func TestHowAMailCame(t *testing.T) {
	s := newHarness(t, apitest.Options{Extensions: true})
	s.deliver(s.inbox("ada").Email, apitest.Mail{From: "x@acme.example", Subject: "Hello", Delivery: api.Delivery{
		Client: "192.0.2.7:40000", Hello: "EHLO app\x1b[31m", TLS: "TLS 1.3", Login: "ad\x9ba", Parameters: "SIZE=2048 BODY=8BITMIME", Recipients: []api.Recipient{
			{Address: "typo@x.test", Refused: "550 5.1.1 No such inbox"}, {Refused: "452 4.5.3 Too many recipients"}, {Address: "ada@x.test"}, {Address: "bob@x.test"},
		}, More: true, Message: 4, After: 1250,
	}})
	piped := s.does("read", "--view", "headers")
	if !strings.HasPrefix(piped, "From: ") || strings.Contains(piped, "192.0.2.7") {
		t.Errorf("a pipe gets %q", piped)
	}
	shown := s.does("read", "--view", "headers", "--width", "80")
	for _, line := range []string{
		"Connection: 192.0.2.7:40000, TLS 1.3, EHLO app", "Envelope from: <> SIZE=2048 BODY=8BITMIME", "Envelope to: ada@x.test, bob@x.test, …",
		"Refused: 550 5.1.1 No such inbox: typo@x.test", "Refused: 452 4.5.3 Too many recipients", "Accepted: 1.25s after connecting, message 4 of the connection",
	} {
		before, _, ok := strings.Cut(shown, line)
		if !ok || strings.Count(before, "\n\n") > 0 {
			t.Errorf("%q is not above the headers:\n%s", line, shown)
		}
	}
	if strings.ContainsAny(shown, "\x1b\u009b") || !strings.HasSuffix(shown, "\n\n"+piped) {
		t.Errorf("%q", shown)
	}
	var got struct{ Delivery api.Delivery }
	parse(t, s.does("read", "--json"), &got)
	if got.Delivery.Client != "192.0.2.7:40000" || got.Delivery.Message != 4 {
		t.Errorf("%+v", got)
	}
	if report := s.does("wait", "--json"); strings.Contains(report, `"delivery"`) {
		t.Errorf("a wait asks for more than it needs: %s", report)
	}
	s = newHarness(t, apitest.Options{})
	s.deliver(s.inbox("ada").Email, apitest.Mail{From: "x@acme.example", Subject: "Hello"})
	if report := s.does("read", "--json"); strings.Contains(report, `"delivery"`) {
		t.Errorf("without the extension: %s", report)
	}
}
