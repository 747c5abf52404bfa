package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/config"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// Commands hand a message to what is outside: to the clipboard by a menu, to commands that it is piped to,
// to the editor, and to the [commands] of config.toml. What comes from a mail reaches a program only by its
// input and its environment, never as part of a shell line.
type Commands struct {
	Configured []config.Command
	Context    context.Context
	Host       *host.Host
	Subject    func() Subject
	View       func() render.View // of messages

	last string // the command that a message was last piped to
}

// Actions are the actions on a message, and those that run the commands of config.toml.
func (c *Commands) Actions() Table {
	need := func() string { return c.Subject().NeedMessage() }
	table := Table{
		{ID: "copy-menu", Title: "Copy a link, a header field or the text", Group: Message, Keys: []string{"Y"}, Where: Anywhere, Why: need, Run: func() any { return c.Subject().Fetch(host.CopyMenu) }},
		{ID: "pipe", Title: "Pipe the message to a command", Group: Message, Keys: []string{"|"}, Where: Anywhere, Why: need, Run: c.pipe},
		{ID: "edit", Title: "Open the message in your editor", Group: Message, Keys: []string{"e"}, Where: Anywhere, Why: need, Run: c.edit},
	}
	for _, configured := range c.Configured {
		line := configured.Line
		table = append(table, &Action{
			ID: "command " + configured.Key, Title: "Run " + render.Clean(line), Group: Message, Keys: []string{configured.Key},
			Where: Anywhere, Why: func() string { return c.need(line) }, Run: func() any { return c.perform(line) },
		})
	}
	return table
}

// need is the reason why a command of config.toml cannot run. Without a message, one can that uses only
// the address.
func (c *Commands) need(line string) string {
	s := c.Subject()
	for _, v := range []string{host.CodeVariable, host.LinkVariable, host.SubjectVariable, host.FromVariable} {
		if s.Message == nil && strings.Contains(line, v) {
			return s.NeedMessage()
		}
	}
	return s.NeedInbox()
}

func (c *Commands) perform(line string) any {
	s := c.Subject()
	if s.Message == nil {
		return c.run(line, host.Program{Input: []byte{}, Environ: []string{host.AddressVariable + "=" + s.Inbox.Email}})
	}
	return s.Fetch(func(m *message.Message, address string) any {
		found := store.Find(m)
		switch {
		case found.Code == "" && strings.Contains(line, host.CodeVariable):
			return intent.Note{Text: "No code was found in this message"}
		case found.Link.URL == "" && strings.Contains(line, host.LinkVariable):
			return intent.Note{Text: "No confirmation link was found in this message"}
		}
		input := m.Raw
		if input == nil { // the service has none
			input = []byte(m.PlainText())
		}
		return c.run(line, host.Program{Input: input, Environ: host.Variables(m, address)})
	})
}

// pipe asks which part of the message goes to which command.
func (c *Commands) pipe() any {
	view := c.View()
	return c.Subject().Fetch(func(m *message.Message, address string) any {
		parts := host.PartsOf(m, view)
		menu := dialog.Menu{Title: "Pipe to a command", Then: func(id string) any {
			p := parts.Named(id)
			if p.Reason != "" {
				return intent.Note{Text: p.Reason}
			}
			return c.prompt(p, host.Variables(m, address))
		}}
		for _, p := range parts {
			menu.Choices = append(menu.Choices, dialog.Choice{ID: p.Title, Title: p.Title, Reason: p.Reason})
		}
		return dialog.NewMenu(menu)
	})
}

// prompt asks for the command that a part goes to.
func (c *Commands) prompt(p host.Part, environ []string) dialog.Dialog {
	return dialog.NewForm(dialog.Form{
		Title: p.Title + " to a command",
		Fields: []dialog.Field{{Value: c.last, Hint: "! first: on the terminal   esc cancels", Check: func(line string) error {
			if strings.TrimLeft(line, "! ") == "" {
				return errors.New("type a command, such as wc -l")
			}
			return nil
		}}},
		Then: func(v []string) any {
			c.last = v[0]
			return c.run(c.last, host.Program{Input: p.Content, Environ: environ})
		},
	})
}

// run runs a program with a line as its command: with an exclamation mark first it gets the terminal,
// otherwise what it writes is shown.
func (c *Commands) run(line string, p host.Program) any {
	if command, ok := strings.CutPrefix(line, "!"); ok {
		p.Line = command
		return c.Host.Lend(c.Context, p, true, func(error) tea.Msg { return nil }) // it has said how it ended
	}
	p.Line = line
	name := render.Clean(line)
	return session.Request{What: "running " + name, Start: func() tea.Cmd {
		return func() tea.Msg {
			written, err := host.Run(c.Context, p)
			return outcome(name, linesOf(written), err)
		}
	}}
}

// outcome shows one line that a command wrote in the bottom line, and more in a dialog.
func outcome(line string, lines []string, err error) tea.Msg {
	switch {
	case len(lines) > 1 && err != nil:
		return intent.Late{Intent: dialog.NewText(line+" · "+err.Error(), lines)}
	case len(lines) > 1:
		return intent.Late{Intent: dialog.NewText(line, lines)}
	case err != nil && len(lines) == 1:
		return intent.Late{Err: fmt.Errorf("%s: %w: %s", line, err, lines[0])}
	case err != nil:
		return intent.Late{Err: fmt.Errorf("%s: %w", line, err)}
	case len(lines) == 1:
		return host.Done{Text: lines[0]}
	}
	return host.Done{Text: "ran " + line}
}

// linesOf returns what a command wrote, without empty lines at its end.
func linesOf(written []byte) []string {
	text := strings.TrimRight(render.CleanLines(string(written)), "\n ")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (c *Commands) edit() any {
	view := c.View()
	return c.Subject().Fetch(func(m *message.Message, address string) any {
		p := host.PartsOf(m, view).First()
		editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), usualEditor())
		program := host.Program{Line: editor, Input: p.Content, File: p.File, Environ: host.Variables(m, address)}
		return c.Host.Lend(c.Context, program, false, func(err error) tea.Msg {
			const notFound = 127 // the shell's status
			var status *exec.ExitError
			switch {
			case err == nil:
				return nil
			case errors.As(err, &status) && status.ExitCode() == notFound:
				return host.Done{Err: fmt.Errorf("%s was not found: set VISUAL or EDITOR to your editor", editor)}
			}
			return host.Done{Err: fmt.Errorf("%s: %w", editor, err)}
		})
	})
}

func usualEditor() string {
	if runtime.GOOS == "windows" {
		return "notepad"
	}
	return "vi"
}
