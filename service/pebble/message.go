package pebble

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math/rand/v2"

	"mayfly/service"
)

// Append implements service.Store.
func (s *Store) Append(ctx context.Context, a service.Append) error {
	size := len(a.Raw)
	for i := range a.Messages {
		size += sizeOfSummary(&a.Messages[i])
	}
	if err := s.stuck(); err != nil {
		return err
	}
	if err := s.disk.acquire(size); err != nil {
		return err
	}
	defer s.disk.release(size)
	return s.commit(ctx, size, func(g *group) error {
		inboxes := make([]*inboxState, len(a.Messages))
		emails := make(map[string]service.Emails, 1)
		day := service.DayOf(a.Received)
		stored, last := 0, int64(0)
		for i, m := range a.Messages {
			in, err := g.inbox(inboxOf{m.KeyID, m.InboxID})
			if err != nil {
				return err
			}
			if in.gone || !a.Received.Before(in.ExpiresAt) {
				continue
			}
			inboxes[i], stored, last = in, stored+1, max(last, partition(in.Inbox))
			e, ok := emails[m.KeyID]
			if !ok {
				if e, err = g.emailsOf(m.KeyID); err != nil {
					return err
				}
			}
			if e.Add(day, 1); e.On(day) > m.EmailsPerDay {
				return service.ErrOverQuota
			}
			emails[m.KeyID] = e
		}
		var shared []byte
		switch stored {
		case 0:
			return service.ErrNotFound
		case 1:
		default:
			shared = newBody(last, len(a.Raw))
			g.set(prefixed(bodyPrefix, shared), a.Raw)
			g.setCount(sharers(shared), stored)
			g.shares = true
		}
		for i, in := range inboxes {
			if in != nil {
				g.append(in, a, &a.Messages[i], shared)
			}
		}
		for keyID, e := range emails {
			g.set(prefixed(emailsPrefix, keyID), encodeEmails(e))
			g.emails[keyID] = e
		}
		return nil
	})
}

// append adds a message to an inbox, with a body of its own, or one that it shares.
func (g *group) append(in *inboxState, a service.Append, n *service.NewMessage, shared []byte) {
	seq := in.Last + 1
	n.ID, n.ReceivedAt = service.NewMessageID(seq), in.Receive(a.Received)
	m := service.Message{
		Summary: service.Summary{
			ID:         n.ID,
			From:       n.From,
			FromName:   n.FromName,
			Subject:    n.Subject,
			ReceivedAt: n.ReceivedAt,
			Size:       int64(len(a.Raw)),
		},
		To: n.To,
	}
	messages := messagesKey(in.Inbox)
	g.set(messageKey(messages, summaryKind, seq), encodeMessage(m, n.Delivery))
	if shared == nil {
		g.set(messageKey(messages, bodyKind, seq), a.Raw)
	} else {
		g.set(shareKey(in.Inbox, seq), shared)
	}
	in.Messages, in.Last, in.Version = in.Messages+1, seq, messageVersion(m.ID)
}

// DeleteMessages implements service.Store.
func (s *Store) DeleteMessages(ctx context.Context, of service.Inbox, messageID string) error {
	return s.remove(ctx, func(g *group) error {
		in, err := g.inbox(inboxOf{of.KeyID, of.ID})
		if err != nil {
			return err
		}
		if in.gone {
			return service.ErrNotFound
		}
		if messageID == "" {
			if err := g.deleteMessages(in.Inbox); err != nil {
				return err
			}
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
			share := shareKey(in.Inbox, seq)
			shares, err := g.sharesOf(keyRange{share, append(share, 0)})
			if err != nil {
				return err
			}
			g.deleteMessage(messagesKey(in.Inbox), seq)
			g.unshare(shares)
			in.Messages--
			g.removed[messageID] = true
		}
		g.update(in)
		return nil
	})
}

// deleteMessages removes all messages of an inbox.
func (g *group) deleteMessages(in service.Inbox) error {
	messages := messagesOf(in)
	shares, err := g.sharesOf(messages)
	if err != nil {
		return err
	}
	g.unshare(shares)
	if in.Last > fewMessages {
		g.deleteRange(messages.start, messages.end)
		return nil
	}
	for seq := uint64(1); seq <= in.Last; seq++ {
		g.deleteMessage(messages.start, seq)
	}
	return nil
}

func (g *group) deleteMessage(messages []byte, seq uint64) {
	g.delete(messageKey(messages, summaryKind, seq))
	g.delete(messageKey(messages, bodyKind, seq))
}

// shares are what messages have of the bodies that they share with others.
type shares struct {
	keys [][]byte
	left map[string]int // how many messages have a body without them, by its name
}

// sharesOf returns the shares of the messages in ranges of their keys.
func (g *group) sharesOf(messages ...keyRange) (shares, error) {
	s := shares{left: make(map[string]int)}
	for _, r := range messages {
		start, end := prefixed(sharePrefix, r.start[1:]), prefixed(sharePrefix, r.end[1:])
		err := g.store.scan(context.Background(), start, end, func(key, body []byte) (_ bool, err error) {
			left, known := s.left[string(body)]
			if !known {
				left, err = g.count(sharers(body))
			}
			s.left[string(body)] = max(0, left-1)
			s.keys = append(s.keys, bytes.Clone(key))
			return true, err
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// unshare removes shares, and the bodies that no message has without them.
func (g *group) unshare(s shares) {
	for _, key := range s.keys {
		g.delete(key)
	}
	for name, left := range s.left {
		body := []byte(name)
		if g.setCount(sharers(body), left); left == 0 {
			g.err = cmp.Or(g.err, g.batch.DeleteSized(prefixed(bodyPrefix, body), bodySize(body), nil))
		}
		g.shares = true
	}
}

// update stores an inbox that was changed otherwise than by a delivery.
func (g *group) update(in *inboxState) {
	in.Version = rand.Uint64()
	g.set(inboxKey(in.KeyID, in.ID), encodeInbox(in.Inbox))
}

// EmailsToday implements service.Store.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	e, err := s.emailsOf(keyID)
	return e.On(day), err
}

func (s *Store) emailsOf(keyID string) (service.Emails, error) {
	return s.emails.get(keyID, func() (service.Emails, error) {
		value, err := s.get(prefixed(emailsPrefix, keyID))
		if service.ErrorCode(err) == service.NotFound {
			return service.Emails{}, nil
		}
		if err != nil {
			return service.Emails{}, err
		}
		e, err := decodeEmails(value)
		return e, s.readError(err)
	})
}

func (s *Store) count(key string) (int, error) {
	return s.counts.get(key, func() (int, error) { return s.readCount(key) })
}

func (s *Store) readCount(key string) (int, error) {
	value, err := s.get([]byte(key))
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
	if service.ErrorCode(err) != service.NotFound {
		return m, err
	}
	shared, err := s.get(shareKey(in, seq))
	if err == nil {
		m.Raw, err = s.get(prefixed(bodyPrefix, shared))
	}
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
