package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/internal/browser"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/service"
)

// picturesTime is how long all pictures of a failed command may take.
const picturesTime = 20 * time.Second

// keptMails are the messages of a command, in a folder from their arrival on: what ends the command may end this
// process, too, and inboxes expire.
type keptMails struct {
	dir       string // "" to keep none
	unpainted bool   // without pictures

	mu    sync.Mutex
	files []message.Saved
	err   error // of those that could not be written
}

func (k *keptMails) keep(a service.Arrival) {
	k.mu.Lock()
	defer k.mu.Unlock()
	file, err := message.Keep(k.dir, a.ReceivedAt, a.To, a.Subject, a.Raw)
	if err != nil {
		k.err = errors.Join(k.err, err)
		return
	}
	k.files = append(k.files, file)
}

// discard removes what was kept, and the folder unless it has anything else.
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

// finish adds what people read to what was kept, and says so on stderr.
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

// paintAll writes pictures of messages beside their files, as many as there is time for, and names the others.
func paintAll(ctx context.Context, a *app, all []*message.Message) {
	ctx, cancel := context.WithTimeoutCause(ctx, picturesTime, fmt.Errorf("pictures may take %v in all", picturesTime))
	defer cancel()
	painter := a.painter()
	var without []string
	var why error
	for _, m := range all {
		_, err := writePicture(ctx, painter, nil, m, browser.Viewport{}, strings.TrimSuffix(m.ID, ".eml")+".png")
		if errors.Is(err, browser.ErrNone) {
			return
		}
		if err != nil {
			without, why = append(without, render.Clean(filepath.Base(m.ID))), err
		}
	}
	if why != nil {
		fmt.Fprintf(a.env.Stderr, "mayfly: without a picture: %s (%v)\n", strings.Join(without, ", "), why)
	}
}
