package session

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/ui/store"
)

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

// ReadTexts reads the bodies of messages for a search, one after the other, those that were
// opened from the cache.
func (s *Session) ReadTexts(messages []*store.Message, opened *store.Cache) tea.Cmd {
	if len(messages) == 0 {
		return nil
	}
	type body struct {
		key, inboxID string
		summary      api.Summary
		opened       *message.Message
	}
	bodies := make([]body, len(messages))
	for n, m := range messages {
		bodies[n] = body{m.Key, m.InboxID, m.Summary, opened.Get(m.Key)}
	}
	return s.request(func(ctx context.Context) tea.Msg {
		out := TextsRead{origin: origin{s}}
		began := time.Now()
		for _, b := range bodies {
			m, err := b.opened, error(nil)
			if m == nil {
				s.giveWay(ctx)
				m, err = s.fetch(ctx, s.Client.Background(), b.inboxID, b.summary)
			}
			switch {
			case errors.Is(err, api.ErrRateLimited) || ctx.Err() != nil:
				return out
			case err != nil:
				out.Texts = append(out.Texts, Text{Key: b.key})
			default:
				out.Texts = append(out.Texts, Text{b.key, store.TextOf(m.Mail()), store.Find(m)})
			}
			if time.Since(began) > textsTime {
				break
			}
		}
		return out
	})
}

// giveWay waits until a request in the background may be made. While the budget is tight it leaves the
// watcher half of those.
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
