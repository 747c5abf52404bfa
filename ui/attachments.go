package ui

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/dustin/go-humanize/english"
	"golang.org/x/net/html/charset"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/session"
)

// attachments shows, opens and saves attachments (a).
type attachments struct{ *common }

func (t attachments) actions() []*action {
	return []*action{
		{ID: "attachments", Title: "Attachments: view, open or save", Hint: "files", Keys: []string{"a"}, Where: anywhere,
			DisabledReason: func() string { return t.reader.RequireAttachments() }, Run: t.menu},
	}
}

// menu lists the attachments of the message; with one, what can be done with it.
func (t attachments) menu() tea.Cmd {
	f := attached{t.common, t.session(), t.reader.Opened}
	all := f.message.Files()
	if len(all) == 1 {
		return f.choose(all[0])
	}
	menu := dialog.Menu{Title: "Attachments"}
	for _, i := range all {
		menu.Choices = append(menu.Choices, dialog.Choice{Title: attachmentName(f.message, i), Aside: render.Bytes(f.message.Attachments[i].Size), Do: func() tea.Cmd { return f.choose(i) }})
	}
	if !t.host.Away {
		menu.Choices = append(menu.Choices, dialog.Choice{Title: fmt.Sprintf("Save all %d", len(all)), Aside: host.ShortPath(t.host.Downloads), Do: func() tea.Cmd { return f.save(all...) }})
	}
	return t.show(dialog.NewMenu(menu))
}

// attached are the attachments of a message, in the session in which their menu was opened.
type attached struct {
	*common
	from    *session.Session
	message *message.Message
}

func attachmentName(m *message.Message, i int) string {
	at := m.Attachments[i]
	return cmp.Or(render.CleanName(at.Filename), render.Clean(at.ContentType), "attachment")
}

// save saves attachments, by index.
func (f attached) save(which ...int) tea.Cmd {
	m, dir := f.message, f.host.Downloads
	r := session.Ask(f.from, "saving "+english.Plural(len(which), "attachment", ""), m.InboxID+m.ID+fmt.Sprint(which), func(ctx context.Context) (host.Result, error) {
		return f.from.SaveAttachments(ctx, m, which, dir)
	}, f.report)
	r.Limit = time.Duration(len(which)) * session.SaveTimeout
	return f.begin(r)
}

// read fetches an attachment. Prepare is called with its content in the command; what it returns is done unless the
// user has gone on to something else.
func (f attached) read(i int, prepare func(content []byte) (do func() tea.Cmd, err error)) tea.Cmd {
	m := f.message
	return f.begin(session.Ask(f.from, "reading the attachment", m.InboxID+m.ID+strconv.Itoa(i), func(ctx context.Context) (func() tea.Cmd, error) {
		got, err := m.Attachment(ctx, f.from.Client, i)
		if err != nil {
			return nil, err
		}
		return prepare(got.Content)
	}, f.unlessBusy))
}

// choose lists what can be done with an attachment. What a program may run instead of showing it is not opened.
func (f attached) choose(i int) tea.Cmd {
	m := f.message
	name, refused := attachmentName(m, i), ""
	if !slices.Contains(opened, strings.ToLower(filepath.Ext(m.FileName(i)))) {
		refused = "This file type could be executed; save it instead"
	}
	look := func() tea.Cmd { return f.lookAt(i) }
	if f.host.Away && f.showsHere(i) {
		return look()
	} else if f.host.Away {
		f.note(insteadAway["save-message"])
		return nil
	}
	open := func() tea.Cmd {
		if refused != "" {
			f.note(refused)
			return nil
		}
		return f.read(i, func(content []byte) (func() tea.Cmd, error) {
			file, err := f.host.Copies.Attachment(m, i, content)
			return func() tea.Cmd { return f.host.OpenFile(f.ctx, f.terminal.Env, file, name) }, err
		})
	}
	choices := []dialog.Choice{{Title: "Open in the default application", Reason: refused, Do: open},
		{Title: "Save it", Aside: host.ShortPath(f.host.Downloads), Do: func() tea.Cmd { return f.save(i) }}}
	if f.showsHere(i) {
		choices = append([]dialog.Choice{{Title: "View here", Do: look}}, choices...)
	}
	return f.show(dialog.NewMenu(dialog.Menu{Title: name, Choices: choices}))
}

// opened are the extensions of files that programs show and do not run.
var opened = []string{
	".bmp", ".csv", ".docx", ".eml", ".gif", ".ics", ".jpeg", ".jpg", ".md", ".mp3", ".mp4", ".odp", ".ods", ".odt", ".ogg", ".pdf", ".png",
	".pptx", ".tif", ".tiff", ".txt", ".vcf", ".wav", ".webm", ".webp", ".xlsx",
}

// showsHere reports whether an attachment says that it is text, or an image that the terminal can show.
func (f attached) showsHere(i int) bool {
	at := f.message.Attachments[i]
	if isImage(at.ContentType) {
		return f.terminal.ImageMode().Protocol != image.Off
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
func (f attached) lookAt(i int) tea.Cmd {
	m := f.message
	name, kind := attachmentName(m, i), m.Attachments[i].ContentType
	options := render.Options{Width: max(1, min(f.width-4, 100)), Theme: f.theme.Render(), Images: image.Mode{Protocol: image.Blocks}}
	return f.read(i, func(content []byte) (func() tea.Cmd, error) {
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
			d := dialog.NewText(name, linesOf(decoded(content[:min(len(content), maxShown)], kind+"; charset="+m.Attachments[i].Charset)))
			return func() tea.Cmd { return f.show(d) }, nil
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
		return func() tea.Cmd { return f.show(d) }, nil
	})
}

// decoded returns text of a content type as UTF-8. What neither is that nor says what it is, is read as windows-1252.
func decoded(content []byte, kind string) []byte {
	if utf8.Valid(content) {
		return content
	}
	encoding, _, _ := charset.DetermineEncoding(content, kind)
	if text, err := encoding.NewDecoder().Bytes(content); err == nil {
		return text
	}
	return content
}
