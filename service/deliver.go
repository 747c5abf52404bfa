package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mayfly/internal/mail"
)

// Recipient is where mail to an address goes.
type Recipient struct {
	Address string `json:"address,omitempty"` // as it was addressed, in lower case
	InboxID string `json:"-"`                 // empty: WithInbox creates the inbox
	KeyID   string `json:"-"`                 // the owner of the inbox
	Refused string `json:"refused,omitempty"` // the reply that refused it; empty if it was accepted

	emailsPerDay int
	plan         Plan   // of an API key
	made         string // the address of an inbox to be created
	login        string // the ID of the key that the session logged in with
}

// Recipient finds the inbox for an address: the one with that address, or else the one without its
// "+tag" unless another key ever had the address with it, or else one that is created when its first message is
// stored, for the key that the session logged in with, whose ID is login, or that of Options.CatchAll. With a
// login, no other key's inbox is found. Without Options.CatchAll, mail for the postmaster is kept for the
// operator. The address is local-part@domain or "postmaster", unquoted and without angle brackets, in any
// case. NotFound: there is no inbox (SMTP 550). Invalid: not an address (553). OverQuota: the owner has
// received all the messages of the day (452). Unauthorized: the key of the login was revoked. With NotFound
// and OverQuota it returns the address and the key that has or had it, if any.
func (s *Service) Recipient(ctx context.Context, login, address string) (Recipient, error) {
	r, err := s.destination(ctx, login, address)
	if err != nil {
		return r, err
	}
	if r.KeyID == postmaster {
		r.emailsPerDay = postmasterPerDay
		return r, s.withinQuota(ctx, r, 1)
	}
	k, err := s.store.Key(ctx, r.KeyID)
	if ErrorCode(err) == NotFound || err == nil && !k.RevokedAt.IsZero() {
		if login != "" {
			return r, errKey()
		}
		return r, errNoAddress()
	}
	if err != nil {
		return Recipient{}, err
	}
	r.plan, r.emailsPerDay = k.Plan, k.Plan.Limits().EmailsPerDay
	if k.ID == s.options.Unlimited {
		r.emailsPerDay = math.MaxInt
		return r, nil
	}
	return r, s.withinQuota(ctx, r, 1)
}

// destination is Recipient whatever the owner has received. Every question which inbox an address means ends here.
func (s *Service) destination(ctx context.Context, login, address string) (Recipient, error) {
	local, domain, err := splitAddress(s.withDomain(address))
	if err != nil {
		return Recipient{}, err
	}
	address = local + "@" + domain
	r := Recipient{Address: address, KeyID: cmp.Or(login, s.options.CatchAll), login: login}
	foreign := !slices.Contains(s.options.Domains, domain)
	if r.made = address; foreign && r.KeyID != "" {
		r.made += scope + r.KeyID
	}
	if s.isPostmaster(local, domain) {
		// Without a domain the address cannot be anybody else's.
		r.KeyID, r.made = postmaster, fmt.Sprintf("%s/%d", postmaster, DayOf(s.now()))
	}
	_, reserved := parseUsername(local) // a login gets no address of the service's own that a request would not
	in, owner, err := s.addressed(ctx, r.made)
	switch {
	case err == nil && (login == "" || in.KeyID == r.KeyID):
		r.InboxID, r.KeyID = in.ID, in.KeyID
	case err != nil && ErrorCode(err) != NotFound:
		return Recipient{}, err
	case r.KeyID == "" || owner != "" && owner != r.KeyID || r.KeyID == login && !foreign && reserved != nil:
		return Recipient{Address: address, KeyID: owner}, errNoAddress()
	}
	return r, nil
}

// WithInbox returns a recipient with its inbox, which it creates if there is none. NotFound: the address has
// become another key's. OverQuota: the key has too many inboxes.
func (s *Service) WithInbox(ctx context.Context, r Recipient) (Recipient, error) {
	if r.InboxID != "" {
		return r, nil
	}
	ttl := s.options.CatchAllTTL
	switch r.KeyID {
	case postmaster:
		now := s.now()
		ttl = DayOf(now).End().Sub(now) + postmasterTTL
	case r.login:
		ttl = min(ttl, r.plan.Limits().MaxTTL)
	}
	in, err := s.createInbox(ctx, Key{ID: r.KeyID, Plan: r.plan}, r.made, ttl)
	switch r.InboxID = in.ID; ErrorCode(err) {
	case Taken: // another delivery created it a moment ago, or the address belongs to another key
		if r, err = s.Recipient(ctx, r.login, r.Address); err == nil && r.InboxID == "" {
			err = errNoAddress()
		}
	case Forbidden:
		err = &Error{Code: OverQuota, Message: "The key has too many inboxes", Err: err}
	}
	return r, err
}

// withinQuota returns errOverQuota if n messages more are above the day's.
func (s *Service) withinQuota(ctx context.Context, r Recipient, n int) error {
	now := s.now()
	today, err := s.store.EmailsToday(ctx, r.KeyID, DayOf(now))
	if err == nil && today > r.emailsPerDay-n {
		return errOverQuota(now)
	}
	return err
}

func errNoAddress() error { return Errorf(NotFound, "No such inbox here") }

func errOverQuota(now time.Time) error {
	return &Error{
		Code:       OverQuota,
		Message:    "The inbox has received all the messages that its plan allows today",
		RetryAfter: DayOf(now).End().Sub(now),
	}
}

// addressed finds the inbox for an address: its own or, of the same key, that of the address without
// some of its tags. An address that a key has or had is never another key's. With NotFound, owner is that
// key, if any.
func (s *Service) addressed(ctx context.Context, address string) (found Inbox, owner string, err error) {
	// With the shortest first, no change in between makes mail cross keys: once an address has an
	// owner, no other key gets one with more tags.
	for _, a := range append(Untagged(address), address) {
		in, err := s.store.InboxByAddress(ctx, a)
		if ErrorCode(err) == NotFound {
			continue
		}
		if err != nil {
			return Inbox{}, "", err
		}
		if in.KeyID != owner {
			found, owner = Inbox{}, in.KeyID
		}
		if in.ID != "" && !s.expired(in) {
			found = in
		}
	}
	if found.ID == "" {
		return Inbox{}, owner, errNoAddress()
	}
	return found, owner, nil
}

// CatchesAll reports whether a key gets an inbox for each unknown address that mail arrives for, if only in
// sessions that it logs in to.
func (s *Service) CatchesAll(k Key) bool {
	return k.ID != "" && (s.options.Logins || k.ID == s.options.CatchAll)
}

// Delivery is a message with its envelope.
type Delivery struct {
	From    string      // envelope sender, empty for the null reverse-path
	To      []Recipient // from Service.Recipient; an inbox that is in it twice gets one message
	Refused []Recipient // with what is known of them
	Raw     []byte      // the message, neither changed nor kept after Deliver returns
	Session

	Stored func(inboxID, messageID string) // is called for each message that is on disk; may be nil
}

// Deliver stores the message for all recipients and returns nil when it is on disk. With an error
// nothing was stored, except that after Unavailable and Internal, or when inboxes have gone since RCPT, it may have been. NotFound: all
// the inboxes are gone by now. OverQuota: for one of the owners, the message would exceed the day's
// limit. Full: there is no space left.
func (s *Service) Deliver(ctx context.Context, d Delivery) error {
	stored := make(map[string]bool, len(d.To)) // by ID of inbox
	gone, err := s.deliver(ctx, &d, d.To, stored)
	if err != nil {
		return err
	}
	// The inbox that RCPT found may be gone by now, while another RCPT would find one, or have it created.
	var again []Recipient
	for _, r := range gone {
		r, err := s.Recipient(ctx, r.login, r.Address)
		switch ErrorCode(err) {
		case "":
			again = append(again, r)
		case NotFound:
		default:
			return err
		}
	}
	if len(again) > 0 {
		if _, err := s.deliver(ctx, &d, again, stored); err != nil {
			return err
		}
	}
	if len(stored) == 0 {
		return errNoAddress()
	}
	return nil
}

// deliver stores the message for some of the recipients, in inboxes where it is not stored yet, and returns those whose
// inbox is gone.
func (s *Service) deliver(ctx context.Context, d *Delivery, to []Recipient, stored map[string]bool) (gone []Recipient, err error) {
	if slices.ContainsFunc(to, func(r Recipient) bool { return r.InboxID == "" }) {
		to = slices.Clone(to)
	}
	sum := mail.Summarize(d.Raw)
	from := sum.From.Addr
	if from == "" {
		from = d.From
	}
	a := Append{Received: s.now(), Raw: d.Raw, Messages: make([]NewMessage, 0, len(to))}
	records := make(map[string][]byte, 1) // by ID of key
	for i, r := range to {
		if r.InboxID == "" {
			if r, err = s.forDelivery(ctx, r, to); err != nil {
				return nil, err
			}
			to[i] = r
		}
		if stored[r.InboxID] {
			continue
		}
		stored[r.InboxID] = true
		if records[r.KeyID] == nil {
			records[r.KeyID] = d.record(r.KeyID, a.Received)
		}
		a.Messages = append(a.Messages, NewMessage{
			KeyID:        r.KeyID,
			InboxID:      r.InboxID,
			EmailsPerDay: r.emailsPerDay,
			To:           r.Address,
			From:         clip(from, 511),
			FromName:     clip(sum.From.Name, 256),
			Subject:      clip(sum.Subject, 1000),
			Delivery:     records[r.KeyID],
		})
	}
	switch err := s.store.Append(ctx, a); ErrorCode(err) {
	case "", NotFound:
	case OverQuota:
		return nil, errOverQuota(a.Received)
	default:
		return nil, err
	}
	for _, m := range a.Messages {
		if m.ID == "" {
			delete(stored, m.InboxID)
			continue
		}
		s.hub.notify(m.InboxID)
		if d.Stored != nil {
			d.Stored(m.InboxID, m.ID)
		}
		if s.options.Arrived != nil && m.KeyID != postmaster {
			s.options.Arrived(Arrival{KeyID: m.KeyID, InboxID: m.InboxID, To: m.To, Raw: d.Raw, Summary: Summary{
				ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject, ReceivedAt: m.ReceivedAt, Size: int64(len(d.Raw)),
			}})
		}
	}
	for _, r := range to {
		if !stored[r.InboxID] {
			gone = append(gone, r)
		}
	}
	return gone, nil
}

// forDelivery creates the inbox of one of a message's recipients, unless a quota refuses the message: no inbox
// stays without one.
func (s *Service) forDelivery(ctx context.Context, r Recipient, all []Recipient) (Recipient, error) {
	n := 0 // messages of the same key
	for _, other := range all {
		if other.KeyID == r.KeyID {
			n++
		}
	}
	if err := s.withinQuota(ctx, r, n); err != nil {
		return r, err
	}
	return s.WithInbox(ctx, r)
}

// clip cuts a string to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// postmaster is the local part that every domain accepts mail for (RFC 5321, section 4.5.1), and
// the owner of the inboxes with that mail, which is no API key. There is an inbox for each day, so
// that each message is kept for postmasterTTL at least.
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

// PostmasterMail lists the mail for the postmaster of all domains, newest first.
func (s *Service) PostmasterMail(ctx context.Context) ([]Summary, error) {
	inboxes, err := s.Inboxes(ctx, Key{ID: postmaster}, Page{})
	if err != nil {
		return nil, err
	}
	var all []Summary
	for _, in := range inboxes.Inboxes {
		list, err := s.store.Messages(ctx, in, in.Last+1, 0)
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
	inboxes, err := s.Inboxes(ctx, Key{ID: postmaster}, Page{})
	if err != nil {
		return Message{}, err
	}
	for _, in := range inboxes.Inboxes {
		m, err := s.Message(ctx, Key{ID: postmaster}, in.ID, id)
		if ErrorCode(err) != NotFound {
			return m, err
		}
	}
	return Message{}, errNoMessage()
}
