package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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
	origin
	Key        string
	Generation uint64           // of the reader that asked; 0 for a prefetch
	Message    *message.Message // nil when it could not be fetched
	Findings   *store.Findings
	Err        error
}

// Open fetches and parses a message, and calls prepare in the same goroutine before it is shown.
func (s *Session) Open(m *store.Message, generation uint64, prepare func(*render.Mail)) tea.Cmd {
	return s.opening(s.Client, m, generation, prepare)
}

// Prefetch fetches a message for its code and link, as soon as the budget allows what nobody asked for.
func (s *Session) Prefetch(m *store.Message) tea.Cmd {
	n := *m
	return func() tea.Msg {
		for {
			c, wait := s.Client.Reserve()
			if c != nil {
				return s.opening(c, &n, 0, func(*render.Mail) {})()
			}
			select {
			case <-time.After(wait):
			case <-s.ctx.Done():
				return nil
			}
		}
	}
}

func (s *Session) opening(c *api.Client, m *store.Message, generation uint64, prepare func(*render.Mail)) tea.Cmd {
	key, inboxID, summary := m.Key, m.InboxID, m.Summary
	return s.request(requestTimeout, func(ctx context.Context) tea.Msg {
		out := Opened{origin: origin{s}, Key: key, Generation: generation}
		out.Message, out.Err = s.fetch(ctx, c, inboxID, summary)
		if out.Err == nil {
			out.Message.Rules = s.Rules
			out.Findings = read(out.Message)
			prepare(out.Message.Mail())
		}
		return out
	})
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
func read(m *message.Message) *store.Findings {
	mail := m.Mail()
	mail.Checks()
	mail.CountImages()
	return store.Find(m)
}

// RawFetched is the outcome of fetching the raw form of a message that is open.
type RawFetched struct {
	origin
	Key     string
	Message *message.Message
	Err     error // [api.ErrUnsupported] if the service provides no raw messages
}

// FetchRaw adds how a message came, and the raw form if it was opened without it.
func (s *Session) FetchRaw(key string, m *message.Message) tea.Cmd {
	return s.request(requestTimeout, func(ctx context.Context) tea.Msg {
		out := RawFetched{origin: origin{s}, Key: key}
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
	})
}

// FreeMemory returns memory after a message of 1 MiB or more: the collector may not run for minutes.
func FreeMemory(m *message.Message) tea.Cmd {
	if m == nil || m.Weight() < 1<<20 {
		return nil
	}
	return func() tea.Msg { debug.FreeOSMemory(); return nil }
}

// Read is the outcome of reading messages for the user.
type Read struct {
	origin
	Do  func() tea.Cmd // what to do with them
	Err error          // why they could not be read
}

// Source is a message to read. Opened is what was read of it before; it may be nil.
type Source struct {
	InboxID, ID string
	Opened      *message.Message
}

// Read reads messages with their raw form, if the service has one, and asks only for what is missing.
// Prepare is called with them in the command; what it returns is for the owner to call.
func (s *Session) Read(what string, prepare func(read ...*message.Message) (do func() tea.Cmd), sources ...Source) Request {
	return s.ask(what, func(ctx context.Context) tea.Msg {
		read := make([]*message.Message, len(sources))
		for n, from := range sources {
			var err error
			if read[n], err = s.whole(ctx, from); err != nil {
				return Read{origin: origin{s}, Err: err}
			}
		}
		return Read{origin: origin{s}, Do: prepare(read...)}
	})
}

// whole is a message with its raw form, if the service has one.
func (s *Session) whole(ctx context.Context, from Source) (*message.Message, error) {
	switch {
	case from.Opened == nil:
		return message.Fetch(ctx, s.Client, from.InboxID, from.ID)
	case from.Opened.Raw == nil:
		return from.Opened.WithRaw(ctx, s.Client)
	}
	return from.Opened, nil
}

// SaveMessage saves the raw message to dir, or its text and HTML without one.
func (s *Session) SaveMessage(from Source, dir string) Request {
	return s.ask("saving the message", func(ctx context.Context) tea.Msg {
		m, err := s.whole(ctx, from)
		if err != nil {
			return host.Done{Err: err}
		}
		files, err := m.Save(dir)
		switch {
		case err != nil:
			return host.Done{Err: err}
		case len(files) == 0:
			return host.Done{Err: errors.New("this message has nothing to save")}
		}
		return savedFile(files[len(files)-1])
	})
}

// NeedRelay is why the service sends no message on, "" if it does.
func (s *Session) NeedRelay() string {
	switch _, allow := s.Client.Offers(); {
	case len(allow) > 0:
		return ""
	case s.Local:
		return "No relay: set one up under [relay] in config.toml, then mayfly down"
	}
	return "This service has no relay: only its operator can set one up"
}

// savedFile says that a file was saved, or was there already.
func savedFile(file message.Saved) host.Done {
	if file.Before {
		return host.Done{Text: "already there: " + host.ShortPath(file.Path), EndMatters: true}
	}
	return host.Done{Text: "saved " + host.ShortPath(file.Path), EndMatters: true}
}

// sendOnTimeout bounds sending a message on, which the service does within 90 seconds.
const sendOnTimeout = 100 * time.Second

// SendOn sends a message on to an address by the relay of the service.
func (s *Session) SendOn(inboxID, id, to string) Request {
	shown := render.Clean(to)
	return Request{What: "sending it to " + shown, Start: func() tea.Cmd {
		return s.request(sendOnTimeout, func(ctx context.Context) tea.Msg {
			err := s.Client.Release(ctx, inboxID, id, []string{to})
			return host.Done{Text: "sent to " + shown, EndMatters: true, Err: err}
		})
	}}
}

// SaveAttachments saves attachments of a message, by index.
func (s *Session) SaveAttachments(m *message.Message, files []int, dir string) Request {
	return Request{What: "saving " + english.Plural(len(files), "attachment", ""), Start: func() tea.Cmd {
		return s.request(time.Duration(len(files))*requestTimeout, func(ctx context.Context) tea.Msg {
			var file message.Saved
			before := 0
			for _, i := range files {
				content, err := m.AttachmentContent(ctx, s.Client, i)
				if err == nil {
					file, err = m.SaveAttachment(dir, i, content)
				}
				if err != nil {
					return host.Done{Err: err}
				}
				if file.Before {
					before++
				}
			}
			if len(files) == 1 {
				return savedFile(file)
			}
			text := "saved " + english.Plural(len(files)-before, "file", "") + " in " + host.ShortPath(dir)
			if before > 0 {
				text += fmt.Sprintf(", %d already there", before)
			}
			return host.Done{Text: text}
		})
	}}
}

// ReadAttachment fetches an attachment. Prepare is called with its content in the command; what it returns is for the
// owner to call.
func (s *Session) ReadAttachment(m *message.Message, file int, prepare func(content []byte) (do func() tea.Cmd, err error)) Request {
	return s.ask("reading the attachment", func(ctx context.Context) tea.Msg {
		out := Read{origin: origin{s}}
		content, err := m.AttachmentContent(ctx, s.Client, file)
		if out.Err = err; err == nil {
			out.Do, out.Err = prepare(content)
		}
		return out
	})
}

// OpenCopy opens a safe copy of a message in the browser. Opened is what was read of it, nil for nothing.
func (s *Session) OpenCopy(m *store.Message, opened *message.Message, copies *host.Copies, open func(path string) tea.Cmd) Request {
	inboxID, summary := m.InboxID, m.Summary
	return s.ask("opening a safe copy", func(ctx context.Context) tea.Msg {
		m, err := opened, error(nil)
		if m == nil {
			m, err = s.fetch(ctx, s.Client, inboxID, summary)
		}
		if err != nil {
			return host.Done{Err: err}
		}
		path, err := copies.Write(browser.SafeCopy(ctx, s.Client, m))
		if err != nil {
			return host.Done{Err: err}
		}
		return open(path)()
	})
}

// textsTime is how long bodies are read before those read so far are handed over.
const textsTime = 100 * time.Millisecond

// Text is the body of a message that was read for a search.
type Text struct {
	Key      string
	Text     *store.Text     // nil when it could not be read
	Findings *store.Findings // nil then too
}

// TextsRead are bodies read for a search: not all of those asked for.
type TextsRead struct {
	origin
	Texts []Text
}

// ReadTexts reads the bodies of messages for a search one after the other, or takes them from the cache.
func (s *Session) ReadTexts(messages []*store.Message, opened *store.Cache) tea.Cmd {
	if len(messages) == 0 {
		return nil
	}
	rows, bodies := make([]store.Message, len(messages)), make([]*message.Message, len(messages))
	for n, m := range messages {
		rows[n], bodies[n] = *m, opened.Get(m.Key)
	}
	return s.request(requestTimeout, func(ctx context.Context) tea.Msg {
		out := TextsRead{origin: origin{s}}
		began := time.Now()
		for n, m := range bodies {
			key, err := rows[n].Key, error(nil)
			if m == nil {
				s.giveWay(ctx)
				m, err = s.fetch(ctx, s.Client.Background(), rows[n].InboxID, rows[n].Summary)
			}
			switch {
			case errors.Is(err, api.ErrRateLimited) || ctx.Err() != nil:
				return out
			case err != nil:
				out.Texts = append(out.Texts, Text{Key: key})
			default:
				out.Texts = append(out.Texts, Text{key, store.TextOf(m.Mail()), store.Find(m)})
			}
			if time.Since(began) > textsTime {
				break
			}
		}
		return out
	})
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
