package ui

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"mayfly/letter"
	"mayfly/render"
	"mayfly/save"
	"mayfly/ui/cell"
	"mayfly/ui/safecopy"
)

func (a *app) copyCode() tea.Cmd {
	m := a.current()
	return a.toClipboard(m.peek.code, m.peek.code)
}

// openLink shows where the confirm link leads; o again, or enter, opens it.
func (a *app) openLink() tea.Cmd {
	m := a.current()
	return a.askOpen(render.Link{URL: m.peek.linkURL, Text: m.peek.linkText, Via: m.peek.linkVia, Warning: m.peek.linkWarning})
}

// askOpen shows the host of a link before anything is opened.
func (a *app) askOpen(l render.Link) tea.Cmd {
	if l.URL == "" {
		return nil
	}
	u, err := webURL(l.URL)
	if err != nil {
		return a.fail(err)
	}
	whole := render.Clean(u.String())
	q := &ask{
		title: "Open this link?", yes: []string{"o", "enter"}, does: "open", keep: "leave it",
		text:   []string{"→ " + render.Clean(u.Hostname())},
		detail: func(w, most int) []string { return shorten(whole, cell.Wrap(whole, w), w, min(most, 6)) },
		act:    func(a *app) tea.Cmd { return a.openURL(u) },
		also:   map[string]func(*app) tea.Cmd{"y": func(a *app) tea.Cmd { return a.toClipboard(u.String(), "the link") }},
		more:   []string{"y", "copy"},
	}
	if l.Via != "" {
		q.text = append(q.text, "It passes through "+render.Clean(l.Via)+".")
	}
	if l.Warning != "" {
		q.text = append(q.text, "! "+render.Clean(l.Warning))
	}
	return a.push(q)
}

// doneMsg is the outcome of work outside: what to say.
type doneMsg struct {
	text string
	err  error
}

func (m doneMsg) apply(a *app) tea.Cmd {
	if m.err != nil {
		return a.fail(m.err)
	}
	return a.say(done, m.text)
}

func (a *app) openURL(u *url.URL) tea.Cmd {
	open := a.world.open
	return func() tea.Msg {
		return doneMsg{"opened " + render.Clean(u.Hostname()), open(u.String())}
	}
}

// downloads is where messages and attachments are saved.
func (a *app) downloads() string {
	if a.cfg.DownloadDir != "" {
		return expandHome(a.cfg.DownloadDir)
	}
	return a.world.downloads
}

func expandHome(dir string) string {
	if rest, ok := cutTilde(dir); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return dir
}

func cutTilde(dir string) (rest string, ok bool) {
	if dir == "~" {
		return "", true
	}
	if len(dir) > 1 && dir[0] == '~' && os.IsPathSeparator(dir[1]) {
		return dir[2:], true
	}
	return dir, false
}

// saveMessage saves the raw message; where the service has none, its text and its HTML.
func (a *app) saveMessage() tea.Cmd {
	m, dir, s := a.current(), a.downloads(), a.session
	inboxID, id := m.inboxID, m.id
	return s.do(func(ctx context.Context) tea.Msg {
		l, err := letter.Fetch(ctx, s.conn.Client, inboxID, id)
		if err != nil {
			return doneMsg{err: err}
		}
		subject := render.Clean(l.Message.Subject) // the name is that of the screen
		var paths []string
		if l.Raw == nil {
			paths, err = save.Bodies(dir, subject, l.Message.Text, l.Message.HTML)
		} else {
			var path string
			path, err = save.Message(dir, l.Raw, subject)
			paths = []string{path}
		}
		switch {
		case err != nil:
			return doneMsg{err: err}
		case len(paths) == 0:
			return doneMsg{err: errors.New("there is nothing in this message to save")}
		}
		return doneMsg{text: "saved " + shortPath(paths[len(paths)-1])}
	})
}

// savingMsg is the progress of saving attachments.
type savingMsg struct {
	session *session
	dir     string
	files   []attachmentAt
	done    int
	first   string // path of the first file saved
	err     error
}

func (a *app) saveAttachments() tea.Cmd {
	o, m := a.reader.opened, a.reader.message
	var files []attachmentAt
	for _, at := range o.letter.Message.Attachments {
		files = append(files, attachmentAt{m.inboxID, m.id, at})
	}
	a.work = progress{what: "Saving", total: len(files)}
	return savingMsg{session: a.session, dir: a.downloads(), files: files}.next()
}

// next saves one attachment.
func (m savingMsg) next() tea.Cmd {
	return m.session.do(func(ctx context.Context) tea.Msg {
		at := m.files[m.done]
		content, err := m.session.conn.Client.AttachmentContent(ctx, at.inboxID, at.messageID, at.attachment)
		if err == nil {
			var paths []string
			paths, err = save.Attachments(m.dir, []save.File{{Name: at.attachment.Filename, Content: content}}, nil)
			if m.first == "" && len(paths) > 0 {
				m.first = paths[0]
			}
		}
		m.done, m.err = m.done+1, err
		return m
	})
}

func (m savingMsg) apply(a *app) tea.Cmd {
	a.work.done = m.done
	if m.err == nil && m.done < len(m.files) && m.session == a.session {
		return m.next()
	}
	a.work = progress{}
	switch {
	case m.err != nil:
		return a.fail(m.err)
	case len(m.files) == 1:
		return a.say(done, "saved "+shortPath(m.first))
	}
	return a.say(done, "saved "+itoa(m.done)+" files in "+shortPath(m.dir))
}

// openCopy opens a copy in the browser that loads nothing from anywhere.
func (a *app) openCopy() tea.Cmd {
	m, s, open, copies := a.current(), a.session, a.world.open, a.world.copies
	inboxID, id := m.inboxID, m.id
	return s.do(func(ctx context.Context) tea.Msg {
		msg, err := s.conn.Client.Message(ctx, inboxID, id)
		if err != nil {
			return doneMsg{err: err}
		}
		images := inlineImages(ctx, s.conn.Client, inboxID, msg)
		path, err := copies.Write(safecopy.Mail{
			Subject: msg.Subject, From: msg.From, To: msg.To, Text: msg.Text, HTML: msg.HTML, Images: images,
		})
		if err != nil {
			return doneMsg{err: err}
		}
		return doneMsg{"opened a copy that loads nothing", open(path)}
	})
}

// shortPath writes a path below the home folder with a tilde.
func shortPath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return render.Clean(path)
	}
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
		return render.Clean(filepath.Join("~", rel))
	}
	return render.Clean(path)
}
