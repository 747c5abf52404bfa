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
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// commands gives a message to commands that it is piped to (|), to the editor (e), and to the [commands] of config.toml.
// What comes from a message reaches a program only by its input and its environment, never as part of a shell line.
type commands struct {
	*common
	reading *reading
	pipedTo string // the command that a message was last piped to
}

func (c *commands) actions() []*action {
	return []*action{
		withItem(action{ID: "pipe", Title: "Pipe the message to a command", Keys: []string{"|"}, Where: anywhere}, c.theMessage, c.pipe),
		withItem(action{ID: "edit", Title: "Open the message in your editor", Keys: []string{"e"}, Where: anywhere}, c.theMessage, c.edit),
	}
}

// configured are the actions that run the commands of config.toml.
func (c *commands) configured(lines []config.Command) []*action {
	var table []*action
	for _, l := range lines {
		table = append(table, &action{
			ID: "command " + l.Key, Title: "Run " + render.Clean(l.Line), Group: ofMessage, Keys: []string{l.Key}, Where: anywhere,
			DisabledReason: func() string { return c.require(l.Line) }, Run: func() tea.Cmd { return c.runConfigured(l.Line) },
		})
	}
	return table
}

// require is why a command of config.toml cannot run. One that uses only the address needs no message.
func (c *commands) require(line string) string {
	for _, v := range []string{host.CodeVariable, host.LinkVariable, host.SubjectVariable, host.FromVariable} {
		if c.message() == nil && strings.Contains(line, v) {
			return "Select a message first"
		}
	}
	_, reason := c.theInbox()
	return reason
}

func (c *commands) runConfigured(line string) tea.Cmd {
	from := c.message()
	if from == nil {
		return c.run(line, host.Program{Input: []byte{}, Environ: []string{host.AddressVariable + "=" + c.inbox().Email}})
	}
	return c.reading.readMessage(from, func(m *message.Message, address string) func() tea.Cmd {
		found, missing := store.Find(m), ""
		switch {
		case found.Code == "" && strings.Contains(line, host.CodeVariable):
			missing = "No code was found in this message"
		case found.Link.URL == "" && strings.Contains(line, host.LinkVariable):
			missing = "No confirmation link was found in this message"
		}
		p := host.Program{Input: m.Raw, Environ: host.Variables(m, address)}
		if p.Input == nil { // the service has none
			p.Input = []byte(m.PlainText())
		}
		return func() tea.Cmd {
			if missing != "" {
				c.note(missing)
				return nil
			}
			return c.run(line, p)
		}
	})
}

// pipe asks for a command, and then which part of the message it gets.
func (c *commands) pipe(from *store.Message) tea.Cmd {
	view := c.reader.View
	return c.show(dialog.NewForm(dialog.Form{
		Title: "Pipe to a command",
		Fields: []dialog.Field{{Value: c.pipedTo, Hint: "! prefix: run in the terminal   esc cancels", Check: func(line string) error {
			if strings.TrimLeft(line, "! ") == "" {
				return errors.New("type a command, such as wc -l")
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd {
			c.pipedTo = v[0]
			return c.reading.readMessage(from, func(m *message.Message, address string) func() tea.Cmd {
				parts, environ := host.PartsOf(m, view), host.Variables(m, address)
				return func() tea.Cmd { return c.show(c.partMenu(v[0], parts, environ)) }
			})
		},
	}))
}

// partMenu asks which part of a message a command gets.
func (c *commands) partMenu(line string, parts []host.Part, environ []string) dialog.Dialog {
	menu := dialog.Menu{Title: "Pipe to " + render.Clean(line)}
	for _, p := range parts {
		menu.Choices = append(menu.Choices, dialog.Choice{Title: p.Title, Reason: p.Reason, Do: func() tea.Cmd {
			if p.Reason != "" {
				c.note(p.Reason)
				return nil
			}
			return c.run(line, host.Program{Input: p.Content, Environ: environ})
		}})
	}
	return dialog.NewMenu(menu)
}

// run runs a line of the user: with ! first it gets the terminal, otherwise what it writes is shown.
func (c *commands) run(line string, p host.Program) tea.Cmd {
	if command, ok := strings.CutPrefix(line, "!"); ok {
		p.Line = command
		return c.host.RunInTerminal(c.ctx, p, true, func(error) tea.Msg { return nil }) // it has said how it ended
	}
	p.Line = line
	name := render.Clean(line)
	var failed error
	return c.begin(session.Ask(nil, "running "+name, "", func(context.Context) (lines []string, _ error) {
		written, err := host.Run(c.ctx, p)
		failed = err
		return linesOf(written), nil
	}, func(lines []string) tea.Cmd { return c.onRan(name, lines, failed) }))
}

// onRan shows one line that a command wrote in the bottom line, and more in a dialog.
func (c *commands) onRan(title string, lines []string, err error) tea.Cmd {
	switch {
	case len(lines) > 1:
		if err != nil {
			title += " · " + err.Error()
		}
		return c.unlessBusy(func() tea.Cmd { return c.show(dialog.NewText(title, lines)) })
	case err != nil:
		return c.report(host.Result{Err: errors.New(strings.Join(append([]string{title, err.Error()}, lines...), ": "))})
	}
	return c.report(host.Result{Text: append(lines, "ran "+title)[0]})
}

// linesOf returns what a command wrote, without empty lines at its end.
func linesOf(written []byte) []string {
	text := strings.TrimRight(render.CleanLines(string(written)), "\n ")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (c *commands) edit(from *store.Message) tea.Cmd {
	view := c.reader.View
	return c.reading.readMessage(from, func(m *message.Message, address string) func() tea.Cmd {
		p := host.FirstPart(host.PartsOf(m, view))
		editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), usualEditor())
		program := host.Program{Line: editor, Input: p.Content, File: p.File, Environ: host.Variables(m, address)}
		return func() tea.Cmd {
			return c.host.RunInTerminal(c.ctx, program, false, func(err error) tea.Msg { return edited(editor, err) })
		}
	})
}

// edited is the outcome of an editor, nil if it ended well.
func edited(editor string, err error) tea.Msg {
	const notFound = 127 // the shell's status
	var status *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status) && status.ExitCode() == notFound:
		return host.Result{Err: fmt.Errorf("editor %s not found: set VISUAL or EDITOR", editor)}
	}
	return host.Result{Err: fmt.Errorf("%s: %w", editor, err)}
}

func usualEditor() string {
	if runtime.GOOS == "windows" {
		return "notepad"
	}
	return "vi"
}
