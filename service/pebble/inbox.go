package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"mayfly/service"
)

// CreateInbox implements service.Store.
func (s *Store) CreateInbox(ctx context.Context, in service.Inbox) error {
	return s.commit(ctx, 0, func(g *group) error {
		owner, err := g.address(in.Address)
		if err != nil && service.ErrorCode(err) != service.NotFound {
			return err
		}
		if err == nil {
			if owner.keyID != in.KeyID {
				return errTaken
			}
			old, err := g.inbox(owner)
			if err != nil {
				return err
			}
			if !old.gone && in.CreatedAt.Before(old.ExpiresAt) {
				return errTaken
			}
		} else if err := g.untaggedFree(in); err != nil {
			return err
		}
		of := inboxOf{in.KeyID, in.ID}
		g.set(addressKey(in.Address), encodeAddress(of))
		g.set(inboxKey(in.KeyID, in.ID), encodeInbox(in))
		g.set(expiryKey(in.ExpiresAt, in.ID), []byte(in.KeyID))
		g.addresses[in.Address] = of
		g.inboxes[of] = &inboxState{Inbox: in}
		g.touched[in.KeyID] = true
		return nil
	})
}

// untaggedFree returns errTaken if the address of an inbox without some of its tags is another
// key's.
func (g *group) untaggedFree(in service.Inbox) error {
	for _, a := range service.Untagged(in.Address) {
		switch owner, err := g.address(a); {
		case service.ErrorCode(err) == service.NotFound:
		case err != nil:
			return err
		case owner.keyID != in.KeyID:
			return errTaken
		}
	}
	return nil
}

var errTaken = &service.Error{Code: service.Taken, Message: "The address is taken"}

// Inbox implements service.Store.
func (s *Store) Inbox(ctx context.Context, keyID, id string) (service.Inbox, error) {
	return s.inboxes.get(inboxOf{keyID, id}, func() (service.Inbox, error) { return s.inbox(keyID, id) })
}

func (s *Store) inbox(keyID, id string) (service.Inbox, error) {
	if !isName(keyID) || !isName(id) {
		return service.Inbox{}, errNotFound
	}
	value, err := s.get(inboxKey(keyID, id))
	if err != nil {
		return service.Inbox{}, err
	}
	in, err := decodeInbox(keyID, id, value)
	if err != nil {
		return in, s.readError(err)
	}
	return s.counted(in)
}

// counted fills in the count and the version, which the newest message tells: since messages are
// only removed with their inbox, its sequence number is the count.
func (s *Store) counted(in service.Inbox) (service.Inbox, error) {
	start := append(messagesKey(in.ExpiresAt, in.ID), summaryKind)
	err := s.scan(context.Background(), start, after(start), func(key, value []byte) (bool, error) {
		m, err := decodeMessage(value)
		in.Messages, in.Version = int(seqOf(key)), messageVersion(m.ID)
		return false, err
	})
	return in, err
}

// address returns the owner of an address and the inbox that has it or had it last, or NotFound.
func (s *Store) address(address string) (inboxOf, error) {
	if !isName(address) {
		return inboxOf{}, errNotFound
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
func (s *Store) Inboxes(ctx context.Context, keyID string) ([]service.Inbox, uint64, error) {
	if !isName(keyID) {
		return nil, 0, nil
	}
	version := s.versions.of(keyID)
	var ids []string
	prefix := ownerKey(keyID)
	err := s.scan(ctx, prefix, after(prefix), func(key, _ []byte) (bool, error) {
		ids = append(ids, string(key[len(prefix):len(key)-1]))
		return true, nil
	})
	if err != nil {
		return nil, 0, err
	}
	list := make([]service.Inbox, 0, len(ids))
	for _, id := range ids {
		in, err := s.Inbox(ctx, keyID, id)
		switch service.ErrorCode(err) {
		case "":
			list = append(list, in)
		case service.NotFound: // deleted meanwhile
		default:
			return nil, 0, err
		}
	}
	return list, version, nil
}

// InboxesVersion implements service.Store.
func (s *Store) InboxesVersion(ctx context.Context, keyID string) (uint64, error) {
	return s.versions.of(keyID), nil
}

// fewMessages is up to how many messages are deleted one by one, which is then cheaper than a
// range.
const fewMessages = 16

// DeleteInbox implements service.Store.
func (s *Store) DeleteInbox(ctx context.Context, keyID, id string) error {
	return s.commit(ctx, 0, func(g *group) error {
		of := inboxOf{keyID, id}
		in, err := g.inbox(of)
		if err != nil {
			return err
		}
		if in.gone {
			return errNotFound
		}
		messages := messagesKey(in.ExpiresAt, id)
		if in.Messages > fewMessages {
			g.deleteRange(messages, after(messages))
		} else {
			for seq := uint64(1); seq <= uint64(in.Messages); seq++ {
				g.delete(messageKey(messages, summaryKind, seq))
				g.delete(messageKey(messages, bodyKind, seq))
			}
		}
		g.delete(expiryKey(in.ExpiresAt, id))
		g.delete(inboxKey(keyID, id))
		g.inboxes[of] = &inboxState{gone: true}
		g.touched[keyID] = true
		return nil
	})
}

// Sweep implements service.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time, limit int) (service.Swept, error) {
	var swept service.Swept
	err := s.commit(ctx, 0, func(g *group) error {
		var first, last []byte
		prefix := []byte{expiryPrefix}
		err := s.scan(ctx, prefix, after(prefix), func(key, value []byte) (bool, error) {
			if len(key) < 1+8+1 {
				return false, errValue
			}
			expires := time.UnixMilli(int64(binary.BigEndian.Uint64(key[1:]))).UTC()
			if expires.After(now) || len(swept.Inboxes) == limit {
				swept.Next = expires
				return false, nil
			}
			if first == nil {
				first = bytes.Clone(key)
			}
			last = append(last[:0], key...)
			swept.Inboxes = append(swept.Inboxes, service.Inbox{
				ID: string(key[9 : len(key)-1]), KeyID: string(value), ExpiresAt: expires,
			})
			return true, nil
		})
		if err != nil || first == nil {
			return err
		}
		for _, in := range swept.Inboxes {
			g.delete(inboxKey(in.KeyID, in.ID))
			g.inboxes[inboxOf{in.KeyID, in.ID}] = &inboxState{gone: true}
			g.touched[in.KeyID] = true
		}
		g.swept = true
		// Messages are ordered like the expiry index, so those of the swept inboxes are one range.
		end := after(last)
		g.deleteRange(first, end)
		first[0], end[0] = messagePrefix, messagePrefix
		g.deleteRange(first, end)
		if yesterday := service.DayOf(now) - 1; yesterday > g.store.quotaDay {
			g.deleteRange(quotaDay(g.store.quotaDay), quotaDay(yesterday))
			g.store.quotaDay = yesterday
		}
		return nil
	})
	return swept, err
}
