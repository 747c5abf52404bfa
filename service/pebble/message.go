package pebble

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"mayfly/service"
)

// Append implements service.Store.
func (s *Store) Append(ctx context.Context, a service.Append) error {
	size := len(a.Raw) * len(a.Messages)
	if err := s.stuck(); err != nil {
		return err
	}
	if err := s.disk.acquire(size); err != nil {
		return err
	}
	defer s.disk.release(size)
	return s.commit(ctx, size, func(g *group) error {
		inboxes := make([]*inboxState, len(a.Messages))
		more := make(map[quotaOf]int, 1)
		day := service.DayOf(a.Received)
		for i, m := range a.Messages {
			in, err := g.inbox(inboxOf{m.KeyID, m.InboxID})
			if err != nil {
				return err
			}
			if in.gone || !a.Received.Before(in.ExpiresAt) {
				continue
			}
			inboxes[i] = in
			q := quotaOf{m.KeyID, day}
			if more[q] == 0 {
				if more[q], err = g.count(q); err != nil {
					return err
				}
			}
			if more[q]++; more[q] > m.EmailsPerDay {
				return service.ErrOverQuota
			}
		}
		if len(more) == 0 {
			return service.ErrNotFound
		}
		for i, in := range inboxes {
			if in != nil {
				g.append(in, a, &a.Messages[i])
			}
		}
		for q, n := range more {
			g.setCount(q, n)
		}
		return nil
	})
}

func (g *group) append(in *inboxState, a service.Append, n *service.NewMessage) {
	seq := in.Last + 1
	n.ID = service.NewMessageID(seq)
	m := service.Message{
		Summary: service.Summary{
			ID:         n.ID,
			From:       n.From,
			FromName:   n.FromName,
			Subject:    n.Subject,
			ReceivedAt: a.Received,
			Size:       int64(len(a.Raw)),
		},
		To: n.To,
	}
	messages := messagesKey(in.Inbox)
	g.set(messageKey(messages, summaryKind, seq), encodeMessage(m, n.Delivery))
	g.set(messageKey(messages, bodyKind, seq), a.Raw)
	in.Messages, in.Last, in.Version = in.Messages+1, seq, messageVersion(m.ID)
}

// DeleteMessages implements service.Store.
func (s *Store) DeleteMessages(ctx context.Context, of service.Inbox, messageID string) error {
	return s.commit(ctx, 0, func(g *group) error {
		in, err := g.inbox(inboxOf{of.KeyID, of.ID})
		if err != nil {
			return err
		}
		if in.gone {
			return service.ErrNotFound
		}
		if messageID == "" {
			g.deleteMessages(in.Inbox)
			in.Messages = 0
			g.removed[in.ID] = true
		} else {
			seq, _ := service.MessageSeq(messageID)
			m, _, err := s.message(in.Inbox, seq)
			if err == nil && (m.ID != messageID || g.removed[in.ID] || g.removed[messageID]) {
				err = service.ErrNotFound
			}
			if err != nil {
				return err
			}
			g.deleteMessage(messagesKey(in.Inbox), seq)
			in.Messages--
			g.removed[messageID] = true
		}
		g.update(in)
		return nil
	})
}

// deleteMessages removes all messages of an inbox.
func (g *group) deleteMessages(in service.Inbox) {
	messages := messagesKey(in)
	if in.Last > fewMessages {
		g.deleteRange(messages, after(messages))
		return
	}
	for seq := uint64(1); seq <= in.Last; seq++ {
		g.deleteMessage(messages, seq)
	}
}

func (g *group) deleteMessage(messages []byte, seq uint64) {
	g.delete(messageKey(messages, summaryKind, seq))
	g.delete(messageKey(messages, bodyKind, seq))
}

// update stores an inbox that was changed otherwise than by a delivery.
func (g *group) update(in *inboxState) {
	in.Version = rand.Uint64()
	g.set(inboxKey(in.KeyID, in.ID), encodeInbox(in.Inbox))
}

// EmailsToday implements service.Store.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	return s.count(quotaOf{keyID, day})
}

func (s *Store) count(q quotaOf) (int, error) {
	return s.quotas.get(q, func() (int, error) { return s.readCount(q) })
}

func (s *Store) readCount(q quotaOf) (int, error) {
	value, err := s.get(quotaKey(q.keyID, q.day))
	if service.ErrorCode(err) == service.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, size := binary.Uvarint(value)
	if size <= 0 {
		return 0, s.readError(errValue)
	}
	return int(n), nil
}

// Messages implements service.Store.
func (s *Store) Messages(ctx context.Context, in service.Inbox, before uint64, limit int) ([]service.Summary, error) {
	if before <= 1 || !isName(in.ID) {
		return nil, nil
	}
	start := messageKey(messagesKey(in), summaryKind, before-1)
	end := append(messagesKey(in), summaryKind+1)
	size := min(uint64(in.Messages), before-1)
	if limit > 0 {
		size = min(size, uint64(limit))
	}
	list := make([]service.Summary, 0, size)
	err := s.scan(ctx, start, end, func(key, value []byte) (bool, error) {
		m, _, err := decodeMessage(value)
		list = append(list, m.Summary)
		return len(list) != limit, err
	})
	return list, err
}

// Summary implements service.Store.
func (s *Store) Summary(ctx context.Context, in service.Inbox, seq uint64) (service.Summary, error) {
	m, _, err := s.message(in, seq)
	return m.Summary, err
}

// Message implements service.Store.
func (s *Store) Message(ctx context.Context, in service.Inbox, seq uint64) (service.Message, error) {
	m, _, err := s.message(in, seq)
	if err != nil {
		return m, err
	}
	m.Raw, err = s.get(messageKey(messagesKey(in), bodyKind, seq))
	return m, err
}

// Delivery implements service.Store.
func (s *Store) Delivery(ctx context.Context, in service.Inbox, seq uint64) ([]byte, error) {
	_, delivery, err := s.message(in, seq)
	if err == nil && len(delivery) == 0 {
		err = service.ErrNotFound
	}
	return delivery, err
}

func (s *Store) message(in service.Inbox, seq uint64) (m service.Message, delivery []byte, err error) {
	if !isName(in.ID) {
		return m, nil, service.ErrNotFound
	}
	value, err := s.get(messageKey(messagesKey(in), summaryKind, seq))
	if err != nil {
		return m, nil, err
	}
	m, delivery, err = decodeMessage(value)
	return m, delivery, s.readError(err)
}
