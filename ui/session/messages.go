package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/dustin/go-humanize/english"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/store"
)

// Opened is the outcome of opening or prefetching a message.
type Opened struct {
	Key        string
	Generation uint64           // of the reader that asked; 0 for a prefetch
	Message    *message.Message // nil when it could not be fetched
	Findings   *store.Extracted
	Text       *store.Text
	Err        error
}

// Open fetches and parses a message, and calls prepare in the same goroutine before it is shown.
func (s *Session) Open(m *store.Message, generation uint64, prepare func(*render.Mail), apply func(Opened) tea.Cmd) tea.Cmd {
	row := *m
	return background(s, requestTimeout, func(ctx context.Context) Opened { return s.open(ctx, s.Client, row, generation, prepare) }, apply)
}

// prefetchTime is how long messages are prefetched before those read so far are returned.
const prefetchTime = 100 * time.Millisecond

// Prefetch fetches messages one after the other for their codes, links and texts, as the budget allows what nobody asked for.
func (s *Session) Prefetch(messages []*store.Message, apply func([]Opened) tea.Cmd) tea.Cmd {
	rows := make([]store.Message, len(messages))
	for n, m := range messages {
		rows[n] = *m
	}
	return background(s, forever, func(ctx context.Context) (read []Opened) {
		for began := time.Now(); len(read) < len(rows) && time.Since(began) <= prefetchTime; {
			s.giveWay(ctx)
			limited, cancel := context.WithTimeout(ctx, requestTimeout)
			out := s.open(limited, s.Client.Background(), rows[len(read)], 0, func(*render.Mail) {})
			cancel()
			if errors.Is(out.Err, api.ErrRateLimited) || ctx.Err() != nil {
				break
			}
			read = append(read, out)
		}
		return read
	}, apply)
}

func (s *Session) open(ctx context.Context, c *api.Client, m store.Message, generation uint64, prepare func(*render.Mail)) Opened {
	out := Opened{Key: m.Key, Generation: generation}
	out.Message, out.Err = s.fetch(ctx, c, m.InboxID, m.Summary)
	if out.Err == nil {
		out.Message.Rules = s.Rules
		out.Findings, out.Text = read(out.Message), store.TextOf(out.Message.Mail())
		prepare(out.Message.Mail())
	}
	return out
}

// maxEagerRaw is the size in bytes up to which the raw message, with its attachments, is fetched first.
const maxEagerRaw = 1 << 20

// fetch fetches a message: in raw form from the local service, since it has everything; as the
// API's object from others, since requests are limited there and the raw form may never be needed.
func (s *Session) fetch(ctx context.Context, c *api.Client, inboxID string, summary api.Summary) (*message.Message, error) {
	if s.Local && summary.Size <= maxEagerRaw {
		return message.FetchRaw(ctx, c, inboxID, summary)
	}
	return message.FetchObject(ctx, c, inboxID, summary.ID)
}

// read computes everything the screen shows of a message, so that drawing need not.
func read(m *message.Message) *store.Extracted {
	mail := m.Mail()
	mail.Checks()
	mail.CountImages()
	return store.Find(m)
}

// FetchRaw adds the delivery details of a message, and the raw form if it was opened without it. It fails with [api.ErrUnsupported] if the
// service provides no raw messages.
func (s *Session) FetchRaw(key string, m *message.Message, apply func(Opened) tea.Cmd) tea.Cmd {
	return background(s, requestTimeout, func(ctx context.Context) Opened {
		out := Opened{Key: key}
		out.Message, out.Err = m.WithRaw(ctx, s.Client)
		switch {
		case out.Err != nil:
		case out.Message.Raw == nil:
			out.Err = api.ErrUnsupported
		default:
			out.Message.AddDelivery(ctx, s.Client)
			read(out.Message)
		}
		return out
	}, apply)
}

// FreeMemory returns memory after a message of 1 MiB or more: the collector may not run for minutes.
func FreeMemory(m *message.Message) tea.Cmd {
	if m == nil || m.MemorySize() < 1<<20 {
		return nil
	}
	return func() tea.Msg { host.FreeMemory(); return nil }
}

// Source is a message to read. Opened is what was read of it before; it may be nil.
type Source struct {
	InboxID, ID string
	Opened      *message.Message
}

// Read reads a message with its raw form, if the service has one, and asks only for what is missing.
func (s *Session) Read(ctx context.Context, from Source) (*message.Message, error) {
	switch {
	case from.Opened == nil:
		return message.Fetch(ctx, s.Client, from.InboxID, from.ID)
	case from.Opened.Raw == nil:
		return from.Opened.WithRaw(ctx, s.Client)
	}
	return from.Opened, nil
}

// SaveMessage saves the raw message to dir, or its text and HTML without one.
func (s *Session) SaveMessage(ctx context.Context, from Source, dir string) (host.Result, error) {
	m, err := s.Read(ctx, from)
	if err != nil {
		return host.Result{}, err
	}
	files, err := m.Save(dir)
	switch {
	case err != nil:
		return host.Result{}, err
	case len(files) == 0:
		return host.Result{}, errors.New("this message has nothing to save")
	}
	return savedFile(files[len(files)-1]), nil
}

// RequireRelay returns why the service releases no messages, or "" if it does.
func (s *Session) RequireRelay() (disabledReason string) {
	switch _, allow := s.Client.Advertised(); {
	case len(allow) > 0:
		return ""
	case s.Local:
		return "No relay: configure [relay] in config.toml, then restart with `mayfly down`"
	}
	return "This service has no relay: only its operator can set one up"
}

// savedFile says that a file was saved, or was there already.
func savedFile(file message.Saved) host.Result {
	if file.Before {
		return host.Result{Text: "already there: " + host.ShortPath(file.Path), EndMatters: true}
	}
	return host.Result{Text: "saved " + host.ShortPath(file.Path), EndMatters: true}
}

// ReleaseTimeout bounds the release of a message, which the service does within 90 seconds.
const ReleaseTimeout = 100 * time.Second

// SaveTimeout bounds saving each attachment.
const SaveTimeout = requestTimeout

// SaveAttachments saves attachments of a message, by index.
func (s *Session) SaveAttachments(ctx context.Context, m *message.Message, files []int, dir string) (host.Result, error) {
	var file message.Saved
	before := 0
	for _, i := range files {
		got, err := m.Attachment(ctx, s.Client, i)
		if err == nil {
			file, err = m.SaveAttachment(dir, i, got.Content)
		}
		if err != nil {
			return host.Result{}, err
		}
		if file.Before {
			before++
		}
	}
	if len(files) == 1 {
		return savedFile(file), nil
	}
	text := "saved " + english.Plural(len(files)-before, "file", "") + " in " + host.ShortPath(dir)
	if before > 0 {
		text += fmt.Sprintf(", %d already there", before)
	}
	return host.Result{Text: text}, nil
}

// WriteCopy writes a safe copy of a message for the browser. Opened is what was read of it, nil for nothing.
func (s *Session) WriteCopy(ctx context.Context, m store.Message, opened *message.Message, copies *host.Copies) (path string, err error) {
	if opened == nil {
		if opened, err = s.fetch(ctx, s.Client, m.InboxID, m.Summary); err != nil {
			return "", err
		}
	}
	return copies.Write(browser.SafeCopy(ctx, s.Client, opened))
}

// giveWay waits until a request in the background may be made. While the budget is tight, it leaves the watcher half
// of those.
func (s *Session) giveWay(ctx context.Context) {
	budget := s.Client.Budget()
	perMinute, wait := budget.Background()
	if budget.Usage().Tight {
		wait = max(wait, 2*time.Minute/time.Duration(perMinute))
	}
	if wait > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
