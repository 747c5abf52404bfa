package pebble

import (
	"bytes"
	"context"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"mayfly/service"
)

// CreateInbox implements service.Store.
func (s *Store) CreateInbox(ctx context.Context, in service.Inbox, limit int) error {
	if err := s.disk.check(); err != nil { // else mail to any address would use up what deletions need
		return err
	}
	return s.commit(ctx, 0, func(g *group) error {
		if err := g.free(in); err != nil {
			return err
		}
		n, err := g.count(inboxCountKey(in.KeyID))
		if err != nil {
			return err
		}
		if n >= limit {
			return service.ErrOverQuota
		}
		g.setCount(inboxCountKey(in.KeyID), n+1)
		of := inboxOf{in.KeyID, in.ID}
		g.set(addressKey(in.Address), encodeAddress(of))
		g.set(inboxKey(in.KeyID, in.ID), encodeInbox(in))
		g.set(listKey(in.KeyID, in.CreatedAt, in.ID), nil)
		g.set(expiryKey(in), encodeExpiry(in))
		g.addresses[in.Address] = of
		g.inboxes[of] = &inboxState{Inbox: in}
		return nil
	})
}

// free returns ErrTaken if an inbox has the address of a new one, or another key ever had it, or, if no key
// ever had it, another key's address is the same without some of its tags.
func (g *group) free(in service.Inbox) error {
	for i, a := range append([]string{in.Address}, service.Untagged(in.Address)...) {
		owner, err := g.address(a)
		switch {
		case service.ErrorCode(err) == service.NotFound:
			continue
		case err != nil:
			return err
		case owner.keyID != in.KeyID:
			return service.ErrTaken
		case i > 0:
			continue
		}
		old, err := g.inbox(owner)
		if err == nil && !old.gone && in.CreatedAt.Before(old.ExpiresAt) {
			err = service.ErrTaken
		}
		return err
	}
	return nil
}

// Inbox implements service.Store.
func (s *Store) Inbox(ctx context.Context, keyID, id string) (service.Inbox, error) {
	return s.inboxes.get(inboxOf{keyID, id}, func() (service.Inbox, error) { return s.inbox(keyID, id) })
}

func (s *Store) inbox(keyID, id string) (service.Inbox, error) {
	if !isName(keyID) || !isName(id) {
		return service.Inbox{}, service.ErrNotFound
	}
	var in service.Inbox
	err := s.read(func(v *pebbledb.Snapshot) error { // both as of one moment
		value, err := getFrom(v, inboxKey(keyID, id))
		if err == nil {
			in, err = decodeInbox(keyID, id, value)
		}
		if err == nil {
			in, err = counted(v, in)
		}
		return err
	})
	return in, err
}

// counted adds the messages that have arrived since the inbox was stored. The newest tells how many: one
// that is removed has the inbox stored again.
func counted(v *pebbledb.Snapshot, in service.Inbox) (service.Inbox, error) {
	start := append(messagesKey(in), summaryKind)
	err := scanFrom(context.Background(), v, start, after(start), func(key, value []byte) (bool, error) {
		seq := seqOf(key)
		if seq <= in.Last {
			return false, nil
		}
		m, _, err := decodeMessage(value)
		in.Messages, in.Last, in.Version, in.LastReceived = in.Messages+int(seq-in.Last), seq, messageVersion(m.ID), m.ReceivedAt
		return false, err
	})
	return in, err
}

// address returns the owner of an address and the inbox that has it or had it last, or NotFound.
func (s *Store) address(address string) (inboxOf, error) {
	if !isName(address) {
		return inboxOf{}, service.ErrNotFound
	}
	value, err := s.get(addressKey(address))
	if err != nil {
		return inboxOf{}, err
	}
	of, err := decodeAddress(value)
	return of, s.readError(err)
}

// InboxByAddress implements service.Store.
func (s *Store) InboxByAddress(ctx context.Context, address string) (service.Inbox, error) {
	of, err := s.addresses.get(address, func() (inboxOf, error) { return s.address(address) })
	var in service.Inbox
	if err == nil {
		in, err = s.Inbox(ctx, of.keyID, of.id)
		if service.ErrorCode(err) == service.NotFound {
			return service.Inbox{KeyID: of.keyID, Address: address}, nil
		}
	}
	return in, err
}

// Inboxes implements service.Store.
func (s *Store) Inboxes(ctx context.Context, p service.PageOfInboxes) (page []service.Inbox, total int, err error) {
	if !isName(p.KeyID) {
		return nil, 0, nil
	}
	list := append(prefixed(listPrefix, p.KeyID), 0)
	// One byte more leaves the inbox itself out.
	err = s.scan(ctx, append(listKey(p.KeyID, p.CreatedAt, p.ID), 0), after(list), func(key, _ []byte) (bool, error) {
		in, err := s.Inbox(ctx, p.KeyID, string(key[len(list)+8:len(key)-1]))
		if service.ErrorCode(err) == service.NotFound { // deleted meanwhile
			return true, nil
		}
		page = append(page, in)
		return len(page) < p.Limit, err
	})
	if err == nil {
		total, err = s.count(inboxCountKey(p.KeyID))
	}
	return page, total, err
}

// fewMessages is up to how many messages are deleted one by one, which is then cheaper than a
// range.
const fewMessages = 16

// DeleteInbox implements service.Store.
func (s *Store) DeleteInbox(ctx context.Context, keyID, id string) error {
	return s.remove(ctx, func(g *group) error {
		of := inboxOf{keyID, id}
		in, err := g.inbox(of)
		if err != nil {
			return err
		}
		if in.gone {
			return service.ErrNotFound
		}
		n, err := g.count(inboxCountKey(keyID))
		if err != nil {
			return err
		}
		if err := g.deleteMessages(in.Inbox); err != nil {
			return err
		}
		g.delete(expiryKey(in.Inbox))
		if in.Partition != 0 {
			g.delete(movedKey(in.Inbox))
		}
		g.deleteInbox(in.Inbox)
		g.setCount(inboxCountKey(keyID), n-1)
		return nil
	})
}

// deleteInbox removes an inbox, but not what is ordered by its expiry.
func (g *group) deleteInbox(in service.Inbox) {
	g.delete(inboxKey(in.KeyID, in.ID))
	g.delete(listKey(in.KeyID, in.CreatedAt, in.ID))
	g.setValue(stateKey(in.KeyID, in.ID), nil)
	g.inboxes[inboxOf{in.KeyID, in.ID}] = &inboxState{gone: true}
}

// ExtendInbox implements service.Store. The messages stay where they are.
func (s *Store) ExtendInbox(ctx context.Context, keyID, id string, now, expires time.Time) (service.Inbox, error) {
	var extended service.Inbox
	err := s.commit(ctx, 0, func(g *group) error {
		in, err := g.inbox(inboxOf{keyID, id})
		if err != nil {
			return err
		}
		if in.gone || !now.Before(in.ExpiresAt) {
			return service.ErrNotFound
		}
		g.delete(expiryKey(in.Inbox))
		in.Partition, in.ExpiresAt = partition(in.Inbox), expires
		g.set(expiryKey(in.Inbox), encodeExpiry(in.Inbox))
		g.set(movedKey(in.Inbox), nil)
		g.update(in)
		g.moved = true
		extended = in.Inbox
		return nil
	})
	return extended, err
}

// Sweep implements service.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time, limit int) (service.Swept, error) {
	var swept service.Swept
	err := s.remove(ctx, func(g *group) error {
		if g.moved { // which cannot be read yet
			swept.Next = now
			return nil
		}
		var first, last []byte
		prefix := []byte{expiryPrefix}
		err := s.scan(ctx, prefix, after(prefix), func(key, value []byte) (bool, error) {
			in, err := decodeExpiry(key, value)
			if err != nil {
				return false, err
			}
			if in.ExpiresAt.After(now) || len(swept.Inboxes) == limit {
				swept.Next = in.ExpiresAt
				return false, nil
			}
			if first == nil {
				first = bytes.Clone(key)
			}
			last = append(last[:0], key...)
			swept.Inboxes = append(swept.Inboxes, in)
			return true, nil
		})
		if err != nil || first == nil {
			return err
		}
		end := after(last)
		messages, err := s.partitions(ctx, first, end)
		if err != nil {
			return err
		}
		for _, in := range swept.Inboxes {
			if in.Partition != 0 {
				messages = append(messages, messagesOf(in))
			}
		}
		shares, err := g.sharesOf(messages...)
		if err != nil {
			return err
		}
		left := make(map[string]int, 1)
		for _, in := range swept.Inboxes {
			count := inboxCountKey(in.KeyID)
			if _, ok := left[count]; !ok {
				if left[count], err = g.count(count); err != nil {
					return err
				}
			}
			if old := g.inboxes[inboxOf{in.KeyID, in.ID}]; old == nil || !old.gone { // the group may have deleted it
				left[count]--
			}
		}
		for count, n := range left {
			g.setCount(count, n)
		}
		for _, in := range swept.Inboxes {
			g.deleteInbox(in)
			if in.Partition != 0 {
				g.delete(movedKey(in))
			}
		}
		g.deleteRange(first, end)
		for _, r := range messages {
			g.deleteRange(r.start, r.end)
		}
		g.unshare(shares)
		return nil
	})
	return swept, err
}

type keyRange struct{ start, end []byte }

func messagesOf(in service.Inbox) keyRange {
	messages := messagesKey(in)
	return keyRange{messages, after(messages)}
}

// partitions returns where the messages of all inboxes in a range of the expiry index are, but for those
// whose expiry was changed.
func (s *Store) partitions(ctx context.Context, start, end []byte) ([]keyRange, error) {
	start, end = start[1:], end[1:] // without the prefix of the index
	var list []keyRange
	next := prefixed(messagePrefix, start)
	err := s.scan(ctx, prefixed(movedPrefix, start), prefixed(movedPrefix, end), func(key, _ []byte) (bool, error) {
		messages := prefixed(messagePrefix, key[1:])
		list = append(list, keyRange{next, messages})
		next = after(messages)
		return true, nil
	})
	return append(list, keyRange{next, prefixed(messagePrefix, end)}), err
}
