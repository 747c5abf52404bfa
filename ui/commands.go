package ui

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/config"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// A message goes to commands that it is piped to, to the editor, and to the [commands] of config.toml. What
// comes from a message reaches a program only by its input and its environment, never as part of a shell line.

// configured are the actions that run the commands of config.toml.
func configured(commands []config.Command) []*action {
	var table []*action
	for _, c := range commands {
		table = append(table, &action{
			ID: "command " + c.Key, Title: "Run " + render.Clean(c.Line), Group: ofMessage, Keys: []string{c.Key}, Where: anywhere,
			Why: func(a *app) string { return a.needCommand(c.Line) }, Run: func(a *app) tea.Cmd { return a.runConfigured(c.Line) },
		})
	}
	return table
}

// needCommand is why a command of config.toml cannot run. One that uses only the address needs no message.
func (a *app) needCommand(line string) string {
	for _, v := range []string{host.CodeVariable, host.LinkVariable, host.SubjectVariable, host.FromVariable} {
		if a.message() == nil && strings.Contains(line, v) {
			return a.needMessage()
		}
	}
	return a.needInbox()
}

func (a *app) runConfigured(line string) tea.Cmd {
	if a.message() == nil {
		return a.run(line, host.Program{Input: []byte{}, Environ: []string{host.AddressVariable + "=" + a.inbox().Email}})
	}
	return a.read(func(m *message.Message, address string) func() tea.Cmd {
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
				a.note(missing)
				return nil
			}
			return a.run(line, p)
		}
	})
}

// pipe asks which part of the message goes to which command.
func (a *app) pipe() tea.Cmd {
	view := a.reader.View
	return a.read(func(m *message.Message, address string) func() tea.Cmd {
		parts, environ := host.PartsOf(m, view), host.Variables(m, address)
		menu := dialog.Menu{Title: "Pipe to a command", Then: func(id string) tea.Cmd {
			p := parts.Named(id)
			if p.Reason != "" {
				a.note(p.Reason)
				return nil
			}
			return a.show(a.commandPrompt(p, environ))
		}}
		for _, p := range parts {
			menu.Choices = append(menu.Choices, dialog.Choice{ID: p.Title, Title: p.Title, Reason: p.Reason})
		}
		return func() tea.Cmd { return a.show(dialog.NewMenu(menu)) }
	})
}

// commandPrompt asks for the command that a part goes to.
func (a *app) commandPrompt(p host.Part, environ []string) dialog.Dialog {
	return dialog.NewForm(dialog.Form{
		Title: p.Title + " to a command",
		Fields: []dialog.Field{{Value: a.pipedTo, Hint: "! first: on the terminal   esc cancels", Check: func(line string) error {
			if strings.TrimLeft(line, "! ") == "" {
				return errors.New("type a command, such as wc -l")
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd {
			a.pipedTo = v[0]
			return a.run(v[0], host.Program{Input: p.Content, Environ: environ})
		},
	})
}

// run runs a line of the user: with ! first it gets the terminal, otherwise what it writes is shown.
func (a *app) run(line string, p host.Program) tea.Cmd {
	if command, ok := strings.CutPrefix(line, "!"); ok {
		p.Line = command
		return a.host.Release(a.ctx, p, true, func(error) tea.Msg { return nil }) // it has said how it ended
	}
	p.Line = line
	name := render.Clean(line)
	return a.request(session.Request{What: "running " + name, Start: func() tea.Cmd {
		return func() tea.Msg {
			written, err := host.Run(a.ctx, p)
			return ran{name, linesOf(written), err}
		}
	}})
}

// ran is the outcome of a command.
type ran struct {
	line  string
	lines []string // what it wrote
	err   error
}

// onRan shows one line that a command wrote in the bottom line, and more in a dialog.
func (a *app) onRan(m ran) tea.Cmd {
	title := m.line
	switch {
	case len(m.lines) > 1:
		if m.err != nil {
			title += " · " + m.err.Error()
		}
		return a.onRead(func() tea.Cmd { return a.show(dialog.NewText(title, m.lines)) }, nil)
	case m.err != nil:
		a.report(host.Done{Err: errors.New(strings.Join(append([]string{title, m.err.Error()}, m.lines...), ": "))})
	default:
		a.report(host.Done{Text: append(m.lines, "ran "+title)[0]})
	}
	return nil
}

// linesOf returns what a command wrote, without empty lines at its end.
func linesOf(written []byte) []string {
	text := strings.TrimRight(render.CleanLines(string(written)), "\n ")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (a *app) edit() tea.Cmd {
	view := a.reader.View
	return a.read(func(m *message.Message, address string) func() tea.Cmd {
		p := host.PartsOf(m, view).First()
		editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), usualEditor())
		program := host.Program{Line: editor, Input: p.Content, File: p.File, Environ: host.Variables(m, address)}
		return func() tea.Cmd {
			return a.host.Release(a.ctx, program, false, func(err error) tea.Msg { return edited(editor, err) })
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
		return host.Done{Err: fmt.Errorf("%s was not found: set VISUAL or EDITOR to your editor", editor)}
	}
	return host.Done{Err: fmt.Errorf("%s: %w", editor, err)}
}

func usualEditor() string {
	if runtime.GOOS == "windows" {
		return "notepad"
	}
	return "vi"
}

// attachments lists the attachments of the message; with one, what can be done with it.
func (a *app) attachments() tea.Cmd {
	m := a.reader.Opened
	files := m.Files()
	if len(files) == 1 {
		return a.attachment(m, files[0])
	}
	menu := dialog.Menu{Title: "Attachments", Then: func(id string) tea.Cmd {
		if i, err := strconv.Atoi(id); err == nil {
			return a.attachment(m, i)
		}
		return a.request(a.session().SaveAttachments(m, files, a.host.Downloads))
	}}
	for _, i := range files {
		menu.Choices = append(menu.Choices, dialog.Choice{ID: strconv.Itoa(i), Title: attachmentName(m, i), Aside: render.Bytes(m.Attachments[i].Size)})
	}
	menu.Choices = append(menu.Choices, dialog.Choice{ID: "all", Title: fmt.Sprintf("Save all %d", len(files)), Aside: host.ShortPath(a.host.Downloads)})
	return a.show(dialog.NewMenu(menu))
}

func attachmentName(m *message.Message, i int) string {
	at := m.Attachments[i]
	return cmp.Or(render.CleanName(at.Filename), render.Clean(at.ContentType), "attachment")
}

// attachment lists what can be done with an attachment. What a program may run instead of showing it is not opened.
func (a *app) attachment(m *message.Message, i int) tea.Cmd {
	name, refused := attachmentName(m, i), ""
	if !slices.Contains(opened, strings.ToLower(filepath.Ext(m.FileName(i)))) {
		refused = "A file of this kind might run: save it instead"
	}
	var choices []dialog.Choice
	if a.showsHere(m, i) {
		choices = append(choices, dialog.Choice{ID: "look", Title: "Look at it here"})
	}
	choices = append(choices, dialog.Choice{ID: "open", Title: "Open it with the desktop's program", Reason: refused},
		dialog.Choice{ID: "save", Title: "Save it", Aside: host.ShortPath(a.host.Downloads)})
	return a.show(dialog.NewMenu(dialog.Menu{Title: name, Choices: choices, Then: func(id string) tea.Cmd {
		switch {
		case id == "open" && refused != "":
			a.note(refused)
			return nil
		case id == "look":
			return a.lookAt(m, i)
		case id == "open":
			return a.request(a.session().ReadAttachment(m, i, func(content []byte) (func() tea.Cmd, error) {
				file, err := a.host.Copies.Attachment(m, i, content)
				return func() tea.Cmd { return a.host.OpenFile(a.ctx, a.terminal.Env, file, name) }, err
			}))
		}
		return a.request(a.session().SaveAttachments(m, []int{i}, a.host.Downloads))
	}}))
}

// opened are the extensions of files that programs show and do not run.
var opened = []string{
	".bmp", ".csv", ".docx", ".eml", ".gif", ".ics", ".jpeg", ".jpg", ".md", ".mp3", ".mp4", ".odp", ".ods", ".odt", ".ogg", ".pdf", ".png",
	".pptx", ".tif", ".tiff", ".txt", ".vcf", ".wav", ".webm", ".webp", ".xlsx",
}

// showsHere reports whether an attachment says that it is text, or an image that the terminal can show.
func (a *app) showsHere(m *message.Message, i int) bool {
	at := m.Attachments[i]
	if isImage(at.ContentType) {
		return a.terminal.ImageMode().Protocol != image.Off
	}
	for _, kind := range []string{at.ContentType, mime.TypeByExtension(strings.ToLower(filepath.Ext(at.Filename)))} {
		for _, text := range []string{"text/", "message/", "json", "xml", "yaml"} {
			if strings.Contains(kind, text) {
				return true
			}
		}
	}
	return false
}

func isImage(kind string) bool { return strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" }

// maxShown bounds the text of an attachment that is shown, in bytes.
const maxShown = 256 << 10

// lookAt shows an attachment in a dialog: text as it is, HTML and messages laid out, images in half blocks.
func (a *app) lookAt(m *message.Message, i int) tea.Cmd {
	name, kind := attachmentName(m, i), m.Attachments[i].ContentType
	options := render.Options{Width: max(1, min(a.width-4, 100)), Theme: a.theme.Render(), Images: image.Mode{Protocol: image.Blocks}}
	return a.request(a.session().ReadAttachment(m, i, func(content []byte) (func() tea.Cmd, error) {
		var shown *message.Message
		switch {
		case isImage(kind):
			shown = message.File(name, "html", `<img src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(content)+`">`)
			if n, _ := shown.Mail().CountImages(); n == 0 {
				return nil, errors.New(name + " is not an image that can be shown here")
			}
		case kind == "text/html":
			shown = message.File(name, "html", string(content))
		case kind == "message/rfc822":
			shown = message.File(name, "eml", string(content))
		default:
			d := dialog.NewText(name, linesOf(content[:min(len(content), maxShown)]))
			return func() tea.Cmd { return a.show(d) }, nil
		}
		page := func(w int) []string {
			options.Width = w
			var lines []string
			for _, l := range shown.Mail().Lines(render.Rich, options) {
				lines = append(lines, l.Styled)
			}
			return lines
		}
		d := dialog.NewPage(name, options.Width, page)
		return func() tea.Cmd { return a.show(d) }, nil
	}))
}
