package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// postmaster is the local part that every domain accepts mail for (RFC 5321, section 4.5.1), and
// the owner of the inboxes with that mail, which is no API key. There is an inbox for each day, so
// that each message is kept for postmasterTTL.
const (
	postmaster       = "postmaster"
	postmasterTTL    = 14 * 24 * time.Hour
	postmasterPerDay = 100 // messages
)

// isPostmaster reports whether mail for an address is the operator's. With a catch-all key it is
// that key's.
func (s *Service) isPostmaster(local, domain string) bool {
	return local == postmaster && s.options.CatchAll == "" && slices.Contains(s.options.Domains, domain)
}

// withDomain completes the address "postmaster", which needs none.
func (s *Service) withDomain(address string) string {
	if strings.EqualFold(address, postmaster) && len(s.options.Domains) > 0 {
		return postmaster + "@" + s.options.Domains[0]
	}
	return address
}

// postmasterInbox returns the inbox for today's mail.
func (s *Service) postmasterInbox(ctx context.Context) (Inbox, error) {
	// Without a domain it cannot be anybody else's.
	address := fmt.Sprintf("%s/%d", postmaster, DayOf(s.now()))
	in, err := s.store.InboxByAddress(ctx, address)
	if ErrorCode(err) != NotFound {
		return in, err
	}
	in, err = s.createInbox(ctx, postmaster, address, postmasterTTL)
	if ErrorCode(err) == Taken { // by another delivery, a moment ago
		return s.store.InboxByAddress(ctx, address)
	}
	return in, err
}

// PostmasterMail lists the mail for the postmaster of all domains, newest first.
func (s *Service) PostmasterMail(ctx context.Context) ([]Summary, error) {
	inboxes, _, err := s.Inboxes(ctx, Key{ID: postmaster})
	if err != nil {
		return nil, err
	}
	var all []Summary
	for _, in := range inboxes {
		list, err := s.store.Messages(ctx, in, uint64(in.Messages)+1, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Summary) int { return b.ReceivedAt.Compare(a.ReceivedAt) })
	return all, nil
}

// PostmasterMessage returns a message for the postmaster, or NotFound.
func (s *Service) PostmasterMessage(ctx context.Context, id string) (Message, error) {
	inboxes, _, err := s.Inboxes(ctx, Key{ID: postmaster})
	if err != nil {
		return Message{}, err
	}
	for _, in := range inboxes {
		m, err := s.Message(ctx, Key{ID: postmaster}, in.ID, id)
		if ErrorCode(err) != NotFound {
			return m, err
		}
	}
	return Message{}, errNoMessage()
}
