package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/internal/server"
)

// notOverSSH are the commands and flags that a session does not have: they need the machine of the service, or a desktop.
var notOverSSH = map[string]string{
	"mayfly": "version debug profile base-url insecure",
	"read":   "screenshot phone dark dkim-key",
	"save":   "dir",
	"snap":   "dir",
	"exec":   "", "preview": "", "mcp": "", "up": "", "down": "", "serve": "", "admin": "", "health": "", "key": "", "doctor": "", "man": "", "completion": "",
	"version": "", localCommand: "", sshCommandName: "",
}

// Of each command and flag it is known whether a session over SSH has it: a new one needs a decision.
func TestCommandsOverSSH(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	for _, c := range append(root.Commands(), root) {
		has, ok := overSSH[c.Name()]
		not, refused := notOverSSH[c.Name()]
		if !ok && !refused {
			t.Errorf("the command %s: list it in overSSH with its flags if it needs nothing of the machine it runs on, else in notOverSSH", c.Name())
		}
		if !ok {
			continue
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains(strings.Fields(has), f.Name) == slices.Contains(strings.Fields(not), f.Name) && f.Name != "help" {
				t.Errorf("the flag --%s of %s: list it in overSSH if it needs nothing of the machine it runs on, else in notOverSSH", f.Name, c.Name())
			}
		})
	}
}

// The help and the examples of a session name nothing that is not there.
func TestHelpOverSSH(t *testing.T) {
	t.Parallel()
	var pages func(a *app, c *cobra.Command)
	pages = func(a *app, c *cobra.Command) {
		text := a.visit.page(pageOf(c)).terminal(100)
		for _, absent := range []string{"mayfly", "this machine", "config.toml", "MAYFLY_", "local service", "--profile", "--base-url", "--debug", "--dir", "screenshot", "man page"} {
			if at := strings.Index(text, absent); at >= 0 {
				t.Errorf("the help of %s names what is not there: …%s…", c.CommandPath(), text[max(0, at-60):min(len(text), at+60)])
			}
		}
		for _, sub := range c.Commands() {
			pages(a, sub)
		}
	}
	for _, smtp := range []string{"", "127.0.0.1:25"} {
		a := &app{visit: &visit{SessionSettings: server.SessionSettings{SMTP: smtp}}}
		root := a.root()
		if has := slices.Contains(commandNames(root), "sendmail"); has != (smtp != "") {
			t.Errorf("with SMTP at %q there is sendmail: %v", smtp, has)
		}
		pages(a, root)
	}
}
