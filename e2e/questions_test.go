//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/internal/message"
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

const pythonDoor = `
import json, smtplib, sys, mayfly
with mayfly.start() as service:
    inbox = service.inbox_for("ada@mail.test")
    with smtplib.SMTP(service.smtp_host, service.smtp_port) as smtp:
        smtp.sendmail("a@acme.example", "ada@mail.test", sys.stdin.read())
    mail = inbox.wait_for_message()
    print(json.dumps([mail.code or "", mail.link or ""]))
`

func TestEveryDoorGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	app := m.openApplication()
	service, agent := m.localService(), m.mcp(t)
	client, err := api.New(service.BaseURL, service.Key, api.Options{})
	must(t, err)
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

		if python, err := exec.LookPath("python3"); err == nil {
			cmd := exec.CommandContext(t.Context(), python, "-c", pythonDoor)
			cmd.Env, cmd.Stdin = append(m.environ, "MAYFLY_BIN="+program, "PYTHONPATH="+filepath.Join("..", "clients", "python", "src"), "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME")), strings.NewReader(mail)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("Python: %v: %s", err, err.(*exec.ExitError).Stderr)
			}
			var told [2]string
			must(t, json.Unmarshal(out, &told))
			check("Python", answers{told[0], told[1], q.want.files}) // which has those of the API
		}

		app.typeKeys(".")
		app.waitFor(append([]string{q.want.code}, strings.Fields(q.want.files)...)...)
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

	// How long a time is.
	for _, ttl := range []string{"1H", "3600", "60m", " 1h "} {
		left := m.mustRun("new", "--json", "--ttl", ttl)
		var made struct{ TTL int }
		if err := json.Unmarshal([]byte(left), &made); err != nil || made.TTL != 3600 {
			t.Errorf("%q is %s, %v", ttl, left, err)
		}
	}
}

// fileAnswers is what `mayfly preview` says of a mail in a file.
func fileAnswers(t *testing.T, m *machine, mail string, names func(string) string) answers {
	file := m.write("mail.eml", mail)
	var printed struct{ Code, Link string }
	must(t, json.Unmarshal([]byte(m.mustRun("preview", "--json", file)), &printed))
	return answers{printed.Code, printed.Link, names(m.mustRun("preview", file))}
}
