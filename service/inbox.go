package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mayfly/internal/address"
)

// Inbox is a temporary mailbox.
type Inbox struct {
	ID        string
	KeyID     string // the owner
	Address   string // in normal form
	CreatedAt time.Time
	ExpiresAt time.Time // from then on, the inbox is gone
	Messages  int       // how many it has
	Last      uint64    // the sequence number of the newest message it ever had; 0: none
	Version   uint64    // differs after each change of it or its messages; compare it for equality only
	Partition int64     // for the store alone: where it keeps the messages; 0: where ExpiresAt says

	LastReceived time.Time // when the newest message it ever had was received; without one, zero or CreatedAt
}

// Receive returns when a message is received that comes now: clocks step back, and differ between processes, but the order of an
// inbox's messages is that of their times.
func (in *Inbox) Receive(now time.Time) time.Time {
	in.LastReceived = slices.MaxFunc([]time.Time{now, in.CreatedAt, in.LastReceived}, time.Time.Compare)
	return in.LastReceived
}

// scope stands between an address at a domain that is not one of Options.Domains and the ID of the key that has it, as
// stores know it: there, other keys can have the same address, and its tags. No address contains it.
const scope = "\x1f"

// shown returns an inbox of a store with its address as users know it.
func shown(in Inbox, err error) (Inbox, error) {
	in.Address, _, _ = strings.Cut(in.Address, scope)
	return in, err
}

// DefaultTTL is the default lifetime of an inbox, MinTTL the shortest.
const (
	DefaultTTL = time.Hour
	MinTTL     = time.Minute
)

// NewInbox describes an inbox to create.
type NewInbox struct {
	Domain   string        // default: the first of Domains
	Username string        // default: a random one
	TTL      time.Duration // whole seconds; default: DefaultTTL
}

// CreateInbox creates an inbox for the key. The messages of Invalid and Taken say what is wrong
// with the request.
func (s *Service) CreateInbox(ctx context.Context, k Key, n NewInbox) (Inbox, error) {
	domain, err := s.domain(n.Domain)
	if err != nil {
		return Inbox{}, err
	}
	ttl, err := lifetime(n.TTL, k.Plan.Limits().MaxTTL)
	if err != nil {
		return Inbox{}, err
	}
	if n.Username != "" {
		username, err := parseUsername(n.Username)
		if err != nil {
			return Inbox{}, err
		}
		return s.createInbox(ctx, k, username+"@"+domain, ttl)
	}
	// A collision of random names is improbable; three in a row have another cause. Each address of a
	// cluster may be on a server that is down.
	var in Inbox
	for taken, down := 0, 0; taken < 3 && down < 20; {
		in, err = s.createInbox(ctx, k, randomUsername()+"@"+domain, ttl)
		switch {
		case errors.Is(err, ErrOtherAddress):
			down++
		case ErrorCode(err) == Taken:
			taken++
		default:
			return in, err
		}
	}
	return in, err
}

// InboxesPerEmail is how many inboxes a key can have at a time for each message it may get on a day.
const InboxesPerEmail = 10

func (s *Service) createInbox(ctx context.Context, k Key, address string, ttl time.Duration) (Inbox, error) {
	now, limit := s.now(), InboxesPerEmail*k.Plan.Limits().EmailsPerDay
	if k.ID == s.options.Unlimited || k.ID == postmaster {
		limit = math.MaxInt
	}
	in := Inbox{ID: newInboxID(now), KeyID: k.ID, Address: address, CreatedAt: now, ExpiresAt: now.Add(ttl)}
	switch err := s.store.CreateInbox(ctx, in, limit); ErrorCode(err) {
	case "":
	case Taken:
		return Inbox{}, Errorf(Taken, "The address %s is taken", address)
	case OverQuota:
		return Inbox{}, Errorf(Forbidden, "The API key has %d inboxes, the limit of its plan: delete some", limit)
	default:
		return Inbox{}, err
	}
	s.hub.notify(k.ID)
	return in, nil
}

// lifetime checks a requested lifetime against the plan's maximum, and fills in the default.
func lifetime(ttl, limit time.Duration) (time.Duration, error) {
	if ttl == 0 {
		ttl = min(DefaultTTL, limit)
	}
	if ttl < MinTTL || ttl > limit || ttl%time.Second != 0 {
		return 0, Errorf(Invalid, "ttl must be a whole number of seconds from %d to %d", MinTTL/time.Second, limit/time.Second)
	}
	return ttl, nil
}

// Inbox returns an inbox of the key, or NotFound.
func (s *Service) Inbox(ctx context.Context, k Key, id string) (Inbox, error) {
	in, err := shown(s.store.Inbox(ctx, k.ID, id))
	if ErrorCode(err) == NotFound || err == nil && s.expired(in) {
		return Inbox{}, errNoInbox()
	}
	return in, err
}

// InboxAt returns the inbox of the key that mail to an address goes to, as Recipient decides it with its login, or
// NotFound. It does the same work for another key's inbox as for none. Invalid: not an address.
func (s *Service) InboxAt(ctx context.Context, k Key, address string) (Inbox, error) {
	r, err := s.destination(ctx, k.ID, address)
	if err != nil && ErrorCode(err) != NotFound {
		return Inbox{}, err
	}
	return s.Inbox(ctx, k, r.InboxID)
}

func errNoInbox() error { return Errorf(NotFound, "No such inbox") }

func (s *Service) expired(in Inbox) bool { return !s.now().Before(in.ExpiresAt) }

// ExtendInbox sets the end of an inbox of the key to ttl from now, sooner or later than it was. Invalid: the
// plan does not allow that.
func (s *Service) ExtendInbox(ctx context.Context, k Key, id string, ttl time.Duration) (Inbox, error) {
	ttl, err := lifetime(ttl, k.Plan.Limits().MaxTTL)
	if err != nil {
		return Inbox{}, err
	}
	now := s.now()
	in, err := shown(s.store.ExtendInbox(ctx, k.ID, id, now, now.Add(ttl)))
	return in, s.changed(id, err, errNoInbox())
}

// changed wakes those who wait for an inbox after a change to it, or returns why that was not made.
func (s *Service) changed(inboxID string, err, notFound error) error {
	if ErrorCode(err) == NotFound {
		return notFound
	}
	if err == nil {
		s.hub.notify(inboxID)
	}
	return err
}

// InboxList is a page of a key's list of inboxes, newest first.
type InboxList struct {
	Inboxes []Inbox
	Total   int    // inboxes of the key, whatever the page; may count some that have just expired
	Version uint64 // differs after each change of the page; compare it for equality only
}

// maxInboxes is how many inboxes a page has at most.
const maxInboxes = 1000

// Inboxes returns a page of the key's list of inboxes, which has maxInboxes unless it asks for fewer.
// NotFound: After is no ID that an inbox can have. Invalid: Address is no address.
func (s *Service) Inboxes(ctx context.Context, k Key, p Page) (InboxList, error) {
	if p.Address != "" {
		in, err := s.InboxAt(ctx, k, p.Address)
		switch ErrorCode(err) {
		case "":
			return newInboxList([]Inbox{in}, 1), nil
		case NotFound:
			return newInboxList(nil, 0), nil
		}
		return InboxList{}, err
	}
	list, limit := InboxList{}, min(cmp.Or(p.Limit, maxInboxes), maxInboxes)
	from := PageOfInboxes{KeyID: k.ID, CreatedAt: s.now().AddDate(1, 0, 0), Limit: limit}
	if p.After != "" {
		ms, ok := numberIn(p.After, "inbox_")
		if !ok || ms > uint64(from.CreatedAt.UnixMilli()) {
			return list, errNoInbox()
		}
		from.CreatedAt, from.ID = time.UnixMilli(int64(ms)).UTC(), p.After
	}
	for more := true; more && len(list.Inboxes) < limit; {
		page, total, err := s.store.Inboxes(ctx, from)
		if err != nil {
			return InboxList{}, err
		}
		for _, in := range page {
			if from.CreatedAt, from.ID = in.CreatedAt, in.ID; !s.expired(in) {
				in, _ = shown(in, nil)
				list.Inboxes = append(list.Inboxes, in)
			}
		}
		list.Total = total
		if more = len(page) == limit; !more && p.After == "" {
			list.Total = len(list.Inboxes)
		}
	}
	return newInboxList(list.Inboxes[:min(limit, len(list.Inboxes))], list.Total), nil
}

// newInboxList returns a page with its version.
func newInboxList(page []Inbox, total int) InboxList {
	var state []byte
	for _, in := range page {
		state = binary.BigEndian.AppendUint64(append(state, in.ID...), in.Version)
	}
	sum := sha256.Sum256(state)
	return InboxList{Inboxes: page, Total: total, Version: binary.BigEndian.Uint64(sum[:])}
}

// DeleteInbox removes an inbox of the key with all its messages, or returns NotFound.
func (s *Service) DeleteInbox(ctx context.Context, k Key, id string) error {
	if _, err := s.Inbox(ctx, k, id); err != nil {
		return err
	}
	return s.changed(id, s.store.DeleteInbox(ctx, k.ID, id), errNoInbox())
}

const (
	maxLocalPart = 64  // RFC 5321, 4.5.3.1.1
	maxAddress   = 254 // RFC 5321, 4.5.3.1.3, without the angle brackets
)

// reserved are the local parts that stand for the domain itself (RFC 2142, and those that
// certificate authorities use to verify a domain).
var reserved = strings.Fields(`
abuse admin administrator hostmaster mailer-daemon no-reply nobody noc noreply postmaster root
security ssladmin ssladministrator sslwebmaster sysadmin webmaster www
`)

// parseUsername returns the local part for a requested username, or an error that says what is
// wrong with it.
func parseUsername(s string) (string, error) {
	if len(s) > maxLocalPart {
		return "", Errorf(Invalid, "username must have 1 to %d characters", maxLocalPart)
	}
	for _, r := range s { // before letters of other alphabets may become ours
		if c := unicode.ToLower(r); r >= utf8.RuneSelf || !alphanumeric(byte(c)) && !strings.ContainsRune("._+-", c) {
			return "", Errorf(Invalid, "username may have only the characters a-z 0-9 . _ + -")
		}
	}
	s = address.Local(s)
	if s == "" || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return "", Errorf(Invalid, "username must start and end with a letter or a digit")
	}
	if strings.Contains(s, "..") {
		return "", Errorf(Invalid, "username must not have two dots in a row")
	}
	if slices.Contains(reserved, s) {
		return "", Errorf(Invalid, "The username %s is reserved", s)
	}
	return s, nil
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// Domains returns the domains that inboxes can be created at, the default first.
func (s *Service) Domains() []string { return s.options.Domains }

// domain returns the requested domain as Options have it, or the default, or an error that lists those
// there are.
func (s *Service) domain(d string) (string, error) {
	if len(s.options.Domains) == 0 {
		return "", Errorf(Invalid, "this service has no domains for inboxes")
	}
	if d == "" {
		return s.options.Domains[0], nil
	}
	d = address.Domain(d)
	if !slices.Contains(s.options.Domains, d) {
		return "", Errorf(Invalid, "domain must be one of %s", strings.Join(s.options.Domains, ", "))
	}
	return d, nil
}

// splitAddress returns the local part and the domain of an address in normal form.
func splitAddress(text string) (local, domain string, err error) {
	text = address.Normalise(text)
	at := strings.LastIndexByte(text, '@')
	if at <= 0 || at == len(text)-1 || len(text) > maxAddress ||
		strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", "", Errorf(Invalid, "not an email address")
	}
	return text[:at], text[at+1:], nil
}

// Untagged returns the addresses that an address has without some of its tags, the shortest first:
// for a+b+c@x.test they are a@x.test and a+b@x.test.
func Untagged(address string) []string {
	local, domain, _ := strings.Cut(address, "@")
	if len(local) > maxLocalPart {
		return nil
	}
	var list []string
	for i := 1; i < len(local); i++ {
		if local[i] == '+' {
			list = append(list, local[:i]+"@"+domain)
		}
	}
	return list
}

// randomUsername returns one of 5 billion local parts that are easy to read aloud, of at most 16 characters: a narrow pane
// shows them whole.
func randomUsername() string {
	const suffix = "23456789bcdfghjkmnpqrstvwxz" // no look-alikes, and no vowels to make words of
	var b strings.Builder
	b.WriteString(pick(adjectives) + "-" + pick(animals) + "-")
	for range 4 {
		b.WriteByte(suffix[rand.IntN(len(suffix))])
	}
	return b.String()
}

func pick(words []string) string { return words[rand.IntN(len(words))] }

var adjectives = strings.Fields(`
able agile airy alert amber ample apt aqua azure bold brave brisk calm chief civic clean clear
cosy crisp curly deep deft dewy dusky eager early easy elder elfin epic even fair fancy fast
fleet fond free fresh glad grand green handy happy hardy hazel icy ideal jade jolly keen kind
lean level light lilac loyal lucid lucky lunar merry mild mint misty mossy neat noble novel opal
olive plum prime proud quick quiet rapid ready regal rosy royal ruby sage sandy sharp shy sleek
snowy solar solid sound spry still sunny sure swift tawny tidy vivid warm wary whole windy wise
witty zesty
`)

var animals = strings.Fields(`
adder ant auk bat bear bee bison boar camel carp cat civet clam cobra cod colt coot coral crab
crane crow deer dingo dove eagle eel egret eider elk emu fawn finch fox frog gecko goat goose
grebe gull hare hawk heron ibex ibis jay kite kiwi koala lark lemur lion llama loon lynx mole
moose moth newt otter owl panda perch pike pipit pony puma quail raven robin rook seal shrew
snipe squid stoat stork swan swift tapir teal tern tiger toad trout viper vole whale wolf wren
yak zebra
`)
