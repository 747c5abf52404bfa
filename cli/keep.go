package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/internal/browser"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/service"
)

// picturesTime is how long all screenshots of a failed command may take.
const picturesTime = 20 * time.Second

// keptMails are the messages of a command, in a directory from their arrival on: what ends the command may end this
// process, too, and inboxes expire.
type keptMails struct {
	dir       string // "" to keep none
	unpainted bool   // without pictures
	summary   string // file that a summary is appended to; "" for none

	mu    sync.Mutex
	files []keptMail
	err   error // of those that could not be written
}

type keptMail struct {
	message.Saved
	to string
}

func (k *keptMails) keep(a service.Arrival) {
	k.mu.Lock()
	defer k.mu.Unlock()
	file, err := message.Keep(k.dir, a.ReceivedAt, a.To, a.Subject, a.Raw)
	if err != nil {
		k.err = errors.Join(k.err, err)
		return
	}
	k.files = append(k.files, keptMail{file, a.To})
}

// discard removes what was kept, and the directory unless it has anything else.
func (k *keptMails) discard() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, file := range k.files {
		if !file.Before {
			_ = os.Remove(file.Path) // somebody else may have
		}
	}
	if len(k.files) > 0 {
		_ = os.Remove(k.dir)
	}
}

// finish adds readable files to those that were kept, and reports them on stderr.
func (k *keptMails) finish(ctx context.Context, a *app) {
	k.mu.Lock() // what arrives now waits until the service is gone
	defer k.mu.Unlock()
	failed, all := k.err, make([]*message.Message, 0, len(k.files))
	for _, file := range k.files {
		m, err := writeText(file.Path)
		failed = errors.Join(failed, err)
		if m != nil {
			all = append(all, m)
		}
	}
	fmt.Fprintf(a.env.Stderr, "mayfly: %s kept in %s\n", english.Plural(len(k.files), "message", ""), render.Clean(k.dir))
	if failed != nil {
		fmt.Fprintln(a.env.Stderr, errorLine(fmt.Errorf("keeping the messages: %w", failed)))
	}
	if !k.unpainted {
		paintAll(ctx, a, all)
	}
}

// maxSummary is how many messages a summary lists: CI systems bound its size.
const maxSummary = 200

// summarise appends to a file, as Markdown, which messages arrived and what the checks found in them, and where they are kept if
// they are. Markdown is not read within the table, where everything is from messages.
func (k *keptMails) summarise(a *app, kept bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	columns := 3
	if kept {
		columns = 4
	}
	cells := func(tag string, values ...string) {
		b.WriteString("<tr>")
		for _, v := range values[:columns] {
			fmt.Fprintf(&b, "<%s>%s</%[1]s>", tag, v)
		}
		b.WriteString("</tr>\n")
	}
	fmt.Fprintf(&b, "### Mail\n\n%s arrived.\n\n<table>\n", english.Plural(len(k.files), "message", ""))
	cells("th", "To", "Subject", "Checks", "Kept as")
	for _, file := range k.files[:min(len(k.files), maxSummary)] {
		raw, err := os.ReadFile(file.Path)
		if err != nil {
			return fmt.Errorf("reading a message again: %w", err)
		}
		m := message.File(file.Path, "eml", string(raw))
		m.Rules = a.rules()
		m.Rules.Local = true
		var found, files []string
		for _, f := range m.Mail().Checks() {
			if f.Level >= check.Warning && f.Alike > 0 {
				found = append(found, fmt.Sprintf("%s <code>%s</code>", f.Level, f.ID))
			}
		}
		for _, name := range []string{file.Path, pictureOf(file.Path)} {
			if _, err := os.Stat(name); err == nil {
				files = append(files, "<code>"+html.EscapeString(render.Clean(filepath.ToSlash(name)))+"</code>")
			}
		}
		cells("td", "<code>"+html.EscapeString(render.Clean(file.to))+"</code>", html.EscapeString(render.Clean(m.Subject)), strings.Join(found, "<br>"), strings.Join(files, "<br>"))
	}
	b.WriteString("</table>\n\n")
	f, err := os.OpenFile(k.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(b.String())
		err = errors.Join(err, f.Close())
	}
	return err
}

func pictureOf(file string) string { return strings.TrimSuffix(file, ".eml") + ".png" }

// writeText writes the text of a message in a file beside it, and returns the message, whose ID is the file.
func writeText(file string) (*message.Message, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a message again: %w", err)
	}
	m := message.File(file, "eml", string(raw))
	var text bytes.Buffer
	if err = show(&text, m, render.Rich, render.Options{Width: 80, Unfold: true}); err == nil {
		err = os.WriteFile(strings.TrimSuffix(file, ".eml")+".txt", text.Bytes(), 0o600)
	}
	return m, err
}

// paintAll writes screenshots of messages next to their files, as many as there is time for, and names the others.
func paintAll(ctx context.Context, a *app, all []*message.Message) {
	ctx, cancel := context.WithTimeoutCause(ctx, picturesTime, fmt.Errorf("screenshots may take %v in all", picturesTime))
	defer cancel()
	painter := a.painter()
	var without []string
	var why error
	for _, m := range all {
		_, err := writePicture(ctx, painter, nil, m, browser.Viewport{}, pictureOf(m.ID))
		if errors.Is(err, browser.ErrNone) {
			return
		}
		if err != nil {
			without, why = append(without, render.Clean(filepath.Base(m.ID))), err
		}
	}
	if why != nil {
		fmt.Fprintf(a.env.Stderr, "mayfly: no screenshot: %s (%v)\n", strings.Join(without, ", "), why)
	}
}
