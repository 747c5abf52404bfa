package ui

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
)

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
	name := attachmentName(m, i)
	choices := []dialog.Choice{
		{ID: "look", Title: "Look at it here"}, {ID: "open", Title: "Open it with the desktop's program"},
		{ID: "save", Title: "Save it", Aside: host.ShortPath(a.host.Downloads)},
	}
	if !slices.Contains(opened, strings.ToLower(filepath.Ext(name))) {
		choices[1].Reason = "A file of this kind might run: look at it here, or save it"
	}
	if !a.showsHere(m, i) {
		choices = choices[1:]
	}
	return a.show(dialog.NewMenu(dialog.Menu{Title: name, Choices: choices, Then: func(id string) tea.Cmd {
		switch n := slices.IndexFunc(choices, func(c dialog.Choice) bool { return c.ID == id }); {
		case choices[n].Reason != "":
			a.note(choices[n].Reason)
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

// lookAt shows an attachment in a dialog: text as it is, HTML and messages as mails, images in half blocks.
func (a *app) lookAt(m *message.Message, i int) tea.Cmd {
	name, kind := attachmentName(m, i), m.Attachments[i].ContentType
	options := render.Options{Width: max(1, min(a.width-4, 100)), Theme: a.theme.Render(), Images: image.Mode{Protocol: image.Blocks}}
	return a.request(a.session().ReadAttachment(m, i, func(content []byte) (func() tea.Cmd, error) {
		var shown *message.Message
		switch {
		case isImage(kind):
			shown = message.File(name, "html", `<img src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(content)+`">`)
			if n, _ := shown.Mail().CountImages(); n == 0 {
				return nil, errors.New(name + " is no image that can be shown here")
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
