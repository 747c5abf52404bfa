//go:build unix

package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// coded is a mail with a code.
func coded(to, code string) string {
	return fmt.Sprintf("From: Acme <no-reply@acme.example>\r\nTo: %s\r\nSubject: Your code\r\n\r\nYour verification code is %s.\r\n", to, code)
}

// clipboard returns what was copied through the terminal (OSC 52), the last one at the end.
func (s *terminal) clipboard() (copied []string) {
	for _, rest := range strings.Split(s.output(), "\x1b]52;c;")[1:] {
		end := strings.IndexAny(rest, "\a\x1b")
		if end < 0 {
			break // of the last one only a part was read
		}
		text, _ := base64.StdEncoding.DecodeString(rest[:end])
		copied = append(copied, string(text))
	}
	return copied
}

func TestTheCodeCopiedIsTheNewest(t *testing.T) {
	t.Parallel()
	app := newMachine(t).openApplication()
	for _, code := range []string{"111111", "222222"} {
		send(t, app.smtp, app.address, coded(app.address, code))
		app.waitFor(code)
		app.typeKeys("c")
		app.waitFor("copied " + code)
	}
	app.typeKeys("h") // the inboxes
	for n := range 5 {
		code := fmt.Sprint(333333 + n)
		send(t, app.smtp, app.address, coded(app.address, code))
		app.waitFor(code)
		app.typeKeys("c")
		app.waitFor("copied " + code)
	}
	app.waitUntil("seven codes were copied", func(string) bool { return len(app.clipboard()) >= 7 }) // what is said may be drawn first
	if copied := app.clipboard(); len(copied) != 7 || copied[6] != "333337" {
		t.Errorf("the clipboard got %q", copied)
	}
}

func TestUnreadSurvivesARestart(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	app := m.openApplication()
	for n := range 3 {
		send(t, app.smtp, "someone@any.example", coded("someone@any.example", fmt.Sprint(111111+n)))
	}
	app.waitFor("someone", "3/3")
	app.typeKeys("hgjl\r") // someone's newest message
	app.waitFor("2/3")
	app.typeKeys("q")
	app.exitStatus()
	startInTerminal(t, m.command()).waitFor("someone", "2/3")
}
