//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/mayflytest"
)

// answers are what a door says of a mail.
type answers struct {
	code, link string // no link where there is a code
	files      string // names of the attachments, but for what the body shows
}

const mixed = "From: Acme <no-reply@acme.example>\nTo: ADDRESS\nSubject: Hello\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" +
	"Content-Type: text/html\n\n<p>Your verification code is <b>482913</b>.</p><img src='cid:logo'><p><a href='https://acme.example/confirm?token=abc'>Confirm your e-mail address</a></p>\n--b\n"

func attached(disposition, name, id string) string {
	return "Content-Type: image/png\nContent-Disposition: " + disposition + "; filename=" + name + "\nContent-ID: <" + id + ">\n\nx\n--b\n"
}

// questions are asked at every door, which has to give the same answer.
var questions = []struct {
	name, mail string
	want       answers
}{
	{"a code", "From: a@acme.example\nTo: ADDRESS\nSubject: Your code\n\nYour verification code is 731002.\n", answers{code: "731002"}},
	{"a link", "From: a@acme.example\nTo: ADDRESS\nSubject: Confirm\n\nConfirm your e-mail address:\nhttps://acme.example/confirm?token=abc\n", answers{link: "https://acme.example/confirm?token=abc"}},
	{"a code and a link", strings.Replace(mixed, "<img src='cid:logo'>", "", 1), answers{"482913", "", ""}},
	{"an image that the body shows", mixed + attached("inline", "logo.png", "logo"), answers{"482913", "", ""}},
	{"an inline image that it does not show", mixed + attached("inline", "photo.png", "photo"), answers{"482913", "", "photo.png"}},
	{"an attached image", mixed + attached("attachment", "photo.png", "photo"), answers{"482913", "", "photo.png"}},
}

// The kits read the mails, and print the code and the link that they find in each.
const pythonDoor = `
import json, smtplib, sys, mayfly
answers = []
with mayfly.start() as service, smtplib.SMTP(service.smtp_host, service.smtp_port) as smtp:
    for mail in json.load(sys.stdin):
        inbox = service.inbox()
        smtp.sendmail("a@acme.example", inbox.email, mail)
        found = inbox.wait_for_message()
        answers.append([found.code or "", found.link or ""])
print(json.dumps(answers))
`

const scriptDoor = `
const { execFileSync } = require("node:child_process");
require("@.example/mayfly").start().then(async (service) => {
  const answers = [], env = { ...process.env, MAYFLY_SMTP: service.smtp };
  for (const mail of JSON.parse(require("node:fs").readFileSync(0))) {
    const inbox = await service.newInbox();
    execFileSync(process.env.MAYFLY_BIN, ["sendmail", inbox.email], { input: mail, env });
    const found = await inbox.waitForMessage();
    answers.push([found.code ?? "", found.link ?? ""]);
  }
  console.log(JSON.stringify(answers));
  await service.stop();
})`

// kits returns what the kits answer, by their language: those that can run here.
func (m *machine) kits(t *testing.T) map[string][][2]string {
	t.Helper()
	mails := make([]string, len(questions))
	for i, q := range questions {
		mails[i] = q.mail
	}
	input, err := json.Marshal(mails)
	must(t, err)
	modules, answers := os.Getenv("MAYFLY_PLAYWRIGHT"), map[string][][2]string{}
	for _, kit := range []struct{ language, program, script, variable string }{
		{"Python", "python3", pythonDoor, "PYTHONPATH=" + filepath.Join("..", "clients", "python", "src")},
		{"JavaScript", "node", scriptDoor, "NODE_PATH=" + filepath.Join(modules, "node_modules")},
	} {
		if kit.program == "node" && modules == "" {
			t.Logf("JavaScript: NOT asked: set MAYFLY_PLAYWRIGHT to a folder with the npm packages, see .ci/run")
			continue
		}
		cmd := exec.CommandContext(t.Context(), kit.program, map[string]string{"python3": "-c", "node": "-e"}[kit.program], kit.script)
		if cmd.Err != nil {
			t.Logf("%s: NOT asked: %v", kit.language, cmd.Err)
			continue
		}
		cmd.Env, cmd.Stdin = append(m.environ, "MAYFLY_BIN="+program, kit.variable, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME")), bytes.NewReader(input)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		var all [][2]string
		if err == nil {
			err = json.Unmarshal(out, &all)
		}
		if err != nil || len(all) != len(questions) {
			t.Fatalf("%s: %v: %s%s", kit.language, err, out, &complaints)
		}
		answers[kit.language] = all
	}
	return answers
}

func TestEveryDoorGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	app := m.openApplication()
	service, agent := m.localService(), m.mcp(t)
	client, err := api.New(service.BaseURL, service.Key, api.Options{})
	must(t, err)
	kits, tests := m.kits(t), mayflytest.Start(t)
	for n, q := range questions {
		address := "door" + string(rune('a'+n)) + "@mail.test"
		mail := strings.ReplaceAll(q.mail, "ADDRESS", address)
		send(t, app.smtp, address, mail)
		names := func(text string) string { // as far as they are in a text
			return strings.Join(slices.DeleteFunc([]string{"logo.png", "photo.png"}, func(name string) bool { return !strings.Contains(text, name) }), " ")
		}
		check := func(door string, got answers) {
			if got != q.want {
				t.Errorf("%s: %s answers %+v, want %+v", q.name, door, got, q.want)
			}
		}

		var printed struct{ Code, Link, Rendered string }
		must(t, json.Unmarshal([]byte(m.mustRun("read", strings.ToUpper(address), "--json")), &printed))
		check("the command line", answers{printed.Code, printed.Link, names(m.mustRun("read", address))})
		check("a file", fileAnswers(t, m, mail, names))

		said := agent.call("wait_for_message", map[string]any{"inbox": strings.ToUpper(address)})
		check("MCP", answers{said["code"], said["link"], q.want.files}) // which lists all attachments, for agents to open

		found, err := client.InboxAt(t.Context(), address, 0)
		must(t, err)
		list, err := client.Messages(t.Context(), found.ID)
		must(t, err)
		opened, err := message.Fetch(t.Context(), client, found.ID, list.Messages[0].ID)
		must(t, err)
		code, _ := opened.Mail().Code()
		link, _ := opened.Mail().Confirm()
		var files []string
		for _, i := range opened.Files() {
			files = append(files, opened.Attachments[i].Filename)
		}
		check("Go", answers{code.Value, link.URL, strings.Join(files, " ")})

		for language, all := range kits {
			check(language, answers{all[n][0], all[n][1], q.want.files}) // which has those of the API
		}
		in := tests.InboxFor(t, address)
		send(t, tests.SMTPAddr, address, mail)
		next := in.Next(t)
		check("mayflytest", answers{next.Code, next.Link, q.want.files}) // which has all attachments

		unread := regexp.MustCompile(address + " +1/1")
		app.waitUntil("it is unread", unread.MatchString)
		app.step(".", append([]string{q.want.code}, strings.Fields(q.want.files)...)...)
		if text := app.text(); !strings.Contains(q.want.files, "logo") && strings.Contains(text, "logo.png") {
			t.Errorf("%s: the application shows %s", q.name, text)
		}
	}

	app.typeKeys("q") // it would forget what is gone
	app.exitStatus()
	// An inbox of this machine that is gone is deleted, a name that nobody knows is a mistake.
	known := strings.TrimSpace(m.mustRun("new"))
	gone, err := client.InboxAt(t.Context(), known, 0)
	must(t, err)
	must(t, client.DeleteInbox(t.Context(), gone.ID))
	m.mustRun("rm", "--yes", known)
	m.fails(3, "no inbox", "rm", "--yes", known)
	made := agent.call("create_inbox", nil)
	must(t, client.DeleteInbox(t.Context(), made["id"]))
	agent.call("delete_inbox", map[string]any{"inbox": made["address"]})
	if result, err := agent.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete_inbox", Arguments: map[string]any{"inbox": made["address"]}}); err != nil || !result.IsError {
		t.Errorf("deleted what nobody knows: %v, %v", result, err)
	}
}

// fileAnswers is what `mayfly preview` says of a mail in a file.
func fileAnswers(t *testing.T, m *machine, mail string, names func(string) string) answers {
	file := m.write("mail.eml", mail)
	var printed struct{ Code, Link string }
	must(t, json.Unmarshal([]byte(m.mustRun("preview", "--json", file)), &printed))
	return answers{printed.Code, printed.Link, names(m.mustRun("preview", file))}
}
