package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
)

// inbox finds the inbox that arg names by its ID, its address, or a unique prefix of either; "" is
// the newest.
func (s *connection) inbox(ctx context.Context, arg string) (api.Inbox, error) {
	if known, ok := s.knownAs(arg); ok {
		return known, nil
	}
	return s.listedAs(ctx, arg)
}

// knownAs finds the inbox that arg names by its whole ID or address among those this machine knows.
// It may be gone.
func (s *connection) knownAs(arg string) (api.Inbox, bool) {
	known, err := s.known.List()
	if arg == "" || err != nil {
		return api.Inbox{}, false // the service knows them too
	}
	for _, k := range known {
		if k.ID == arg || strings.EqualFold(k.Email, arg) && k.ExpiresAt.After(time.Now()) {
			return k.API(), true
		}
	}
	return api.Inbox{}, false
}

// listedAs finds the inbox that arg names as inbox does, but asks the service.
func (s *connection) listedAs(ctx context.Context, arg string) (api.Inbox, error) {
	all, err := s.inboxes(ctx)
	if err != nil {
		return api.Inbox{}, err
	}
	if arg == "" {
		if len(all) == 0 {
			return api.Inbox{}, notFoundf("make one with `mayfly new`", "there is no inbox")
		}
		return all[0], nil
	}
	return s.pick(ctx, all, arg)
}

// pick chooses among all by an ID or address, or a unique prefix of either. What is none of them
// may still be the ID of an inbox that was made elsewhere.
func (s *connection) pick(ctx context.Context, all []api.Inbox, arg string) (api.Inbox, error) {
	found, ok, err := choose(all, arg, func(i api.Inbox) string {
		switch {
		case strings.HasPrefix(i.ID, arg):
			return i.ID
		case hasPrefixFold(i.Email, arg):
			return i.Email
		}
		return ""
	})
	if ok || err != nil {
		return found, err
	}
	if !strings.Contains(arg, "@") {
		found, err := s.client.Inbox(ctx, arg)
		if err == nil || !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrInvalid) {
			return found, err
		}
	}
	return api.Inbox{}, notFoundf("`mayfly ls` lists them", "there is no inbox %s", render.Clean(arg))
}

// choose returns the one of all that arg names in full, else the only one whose name begins with
// arg. name returns the name of an element that begins with arg, "" if none does.
func choose[T any](all []T, arg string, name func(T) string) (found T, ok bool, err error) {
	var names []string
	for _, one := range all {
		switch n := name(one); len(n) {
		case 0:
		case len(arg):
			return one, true, nil
		default:
			names, found = append(names, n), one
		}
	}
	if len(names) > 1 {
		err = ambiguous(arg, names)
	}
	return found, len(names) == 1, err
}

// inboxes are the inboxes that have not expired, newest first; see [registry.Registry.Inboxes].
func (s *connection) inboxes(ctx context.Context) ([]api.Inbox, error) {
	all, _, err := s.known.Inboxes(ctx, s.client)
	return all, err
}

// message finds the message that arg names by its ID or a unique prefix of it; "" is the newest.
func (s *connection) message(ctx context.Context, inbox api.Inbox, arg string) (api.Summary, error) {
	list, err := s.client.Messages(ctx, inbox.ID)
	if err != nil {
		return api.Summary{}, err
	}
	if arg == "" {
		if len(list.Messages) == 0 {
			return api.Summary{}, notFoundf("`mayfly wait` waits for one", "%s has no message", render.Clean(inbox.Email))
		}
		return list.Messages[0], nil
	}
	found, ok, err := choose(list.Messages, arg, func(m api.Summary) string {
		if strings.HasPrefix(m.ID, arg) {
			return m.ID
		}
		return ""
	})
	if err == nil && !ok {
		err = notFoundf("`mayfly messages "+render.Clean(inbox.Email)+"` lists them", "there is no message %s", render.Clean(arg))
	}
	return found, err
}

// ambiguous is the error for a prefix that several candidates have.
func ambiguous(arg string, candidates []string) error {
	const shown = 8
	more := ""
	if n := len(candidates) - shown; n > 0 {
		candidates, more = candidates[:shown], fmt.Sprintf(" and %d more", n)
	}
	return &failure{
		status: statusUsage,
		err:    fmt.Errorf("%s is the beginning of %s%s", render.Clean(arg), render.Clean(strings.Join(candidates, ", ")), more),
		next:   "give more of it",
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// argument is args[n], or "" if it was left out.
func argument(args []string, n int) string {
	if n < len(args) {
		return args[n]
	}
	return ""
}

// summary connects and finds the message that the arguments INBOX and MESSAGE mean.
func (a *app) summary(ctx context.Context, args []string) (s *connection, inbox api.Inbox, m api.Summary, err error) {
	if s, err = a.connect(ctx); err == nil {
		inbox, err = s.inbox(ctx, argument(args, 0))
	}
	if err == nil {
		m, err = s.message(ctx, inbox, argument(args, 1))
	}
	return s, inbox, m, err
}

func (a *app) message(ctx context.Context, args []string) (*connection, *message.Message, error) {
	s, inbox, summary, err := a.summary(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	m, err := message.Fetch(ctx, s.client, inbox.ID, summary.ID)
	if err == nil {
		m.Rules = s.rules
	}
	return s, m, err
}
