package watch

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"time"

	"mayfly/api"
)

// Target is what a wait is for.
type Target string

// The targets.
const (
	Message Target = "message" // all of it
	Code    Target = "code"    // its one-time code
	Link    Target = "link"    // its confirmation link
)

// Consumed records which messages of one inbox have been returned by waits, once per target. The zero value records none;
// [json.Marshal] keeps it, in at most 40 KB. It
// is not safe for concurrent use.
//
// A wait for the code, for example, is
//
//	_, err := Await(ctx, client, inboxID, consumed.After(Code), Match{
//		Fits: func(m api.Message) bool { … whether it has a code … },
//		Take: func(f Found) bool { return consumed.Take(Code, f) },
//	})
//
// Take must run under the lock that protects consumed, since another wait on the same inbox may take
// the message first. A wait that takes the newest in any case starts with [Newest] and records with
// [Consumed.Add]; one for what came since a moment starts with [Consumed.Since] or [Consumed.Ago].
type Consumed struct {
	// Last is when the last message returned was received. Passed are those that were received at the
	// same time and come before it.
	Last   time.Time `json:"last"`
	Passed []string  `json:"passed,omitempty"` // hashes of IDs
	// For has the messages returned for each target, the last of them last.
	For map[Target][]string `json:"for,omitempty"` // hashes of IDs
	// Vain is when the last wait timed out, by the service's clock; see [Late].
	Vain time.Time `json:"vain,omitzero"`
}

// InVain records that a wait timed out just now.
func (d *Consumed) InVain(c *api.Client) { d.Vain = c.ServiceTime() }

// maxConsumed bounds each list of a [Consumed]; the oldest go. It matters only to a wait that goes
// back beyond as many messages.
const maxConsumed = 500

// Summary returns the message as a list has it.
func (f Found) Summary() api.Summary {
	return api.Summary{ID: f.ID, Subject: f.Subject, ReceivedAt: f.received}
}

// Found is a message that fits, and what comes before it in its inbox.
type Found struct {
	api.Message
	received time.Time // as listed
	passed   []string
}

// Cursor says which messages a wait considers; see [Newest] and [Consumed].
type Cursor struct {
	// Newest is how many of the messages already there are considered: those that fit, the newest of
	// them, in the order in which they arrived. 0 considers all that the other fields include.
	Newest int

	since  time.Time       // by the service's clock
	ago    time.Duration   // before the beginning of the wait, instead of since
	except map[string]bool // by the hash of the ID: those that were consumed
	passed map[string]bool // likewise, those that come before
}

// Newest considers the newest n messages that fit, consumed or not, and those that arrive later. It
// fetches at most 20 in search of them.
func Newest(n int) Cursor { return Cursor{Newest: n} }

// Cursor considers the last message consumed and those after it, except those that were consumed for
// the same target. If nothing was consumed yet, it is Newest(1).
func (d Consumed) Cursor(t Target) Cursor {
	if len(d.For) == 0 {
		return Newest(1)
	}
	return Cursor{since: d.Last, except: set(d.For[t]), passed: set(d.Passed)}
}

// Since considers what was received at a time, by the service's clock, or later, except what was consumed
// for the same target.
func (d Consumed) Since(t Target, at time.Time) Cursor {
	return Cursor{since: at, except: set(d.For[t])}
}

// Ago is Since a time before the wait begins, whatever the clock of this machine says.
func (d Consumed) Ago(t Target, before time.Duration) Cursor {
	return Cursor{ago: before, except: set(d.For[t])}
}

// longestAgo tells how long ago a moment was from a Unix time.
const longestAgo = 10 * 365 * 24 * time.Hour

// ParseMoment reads how long ago a moment was, as [api.ParseDuration] does, or else its time as RFC 3339
// has it; ago is 0 with a time, and else positive.
func ParseMoment(s string) (at time.Time, ago time.Duration, err error) {
	if ago, err = api.ParseDuration(s); err == nil && ago >= 0 && ago < longestAgo {
		return at, max(ago, 1), nil
	}
	// `date --rfc-3339=seconds` writes a space, which RFC 3339, 5.6, allows.
	at, err = time.Parse(time.RFC3339, strings.Replace(s, " ", "T", 1))
	return at, 0, err
}

// Has reports whether the message with an ID was consumed for a target.
func (d Consumed) Has(t Target, id string) bool { return slices.Contains(d.For[t], hash(id)) }

// Take records that a message is consumed for a target, unless that was done already.
func (d *Consumed) Take(t Target, f Found) bool {
	if d.Has(t, f.ID) {
		return false
	}
	d.Add(t, f)
	return true
}

// Add records that a message is consumed for a target, perhaps again.
func (d *Consumed) Add(t Target, f Found) {
	id := hash(f.ID)
	if d.For == nil {
		d.For = map[Target][]string{}
	}
	before := slices.DeleteFunc(slices.Clone(d.For[t]), func(other string) bool { return other == id })
	d.For[t] = bounded(append(before, id))
	d.Last, d.Passed, d.Vain = f.received, bounded(f.passed), time.Time{}
}

// Undo takes back what turned before into after, and leaves what was recorded since.
func (d *Consumed) Undo(before, after Consumed) {
	if reflect.DeepEqual(*d, after) {
		*d = before
		return
	}
	for t, ids := range after.For {
		d.For[t] = slices.DeleteFunc(d.For[t], func(id string) bool { return slices.Contains(ids, id) && !slices.Contains(before.For[t], id) })
	}
	d.Last, d.Passed = after.Last, after.Passed
}

func bounded(hashes []string) []string { return hashes[max(0, len(hashes)-maxConsumed):] }

func (a Cursor) includes(s api.Summary) bool {
	return !s.ReceivedAt.Before(a.since) && !a.except[hash(s.ID)] && !a.passed[hash(s.ID)]
}

// olderOfThatTime returns the messages that a list, the newest first, has after its nth and that were
// received at the same time.
func olderOfThatTime(list []api.Summary, n int) []string {
	var older []string
	for _, s := range list[n+1:] {
		if !s.ReceivedAt.Equal(list[n].ReceivedAt) {
			break
		}
		older = append(older, hash(s.ID))
	}
	slices.Reverse(older)
	return older
}

// hash bounds an ID, which comes from a service.
func hash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

func set(list []string) map[string]bool {
	all := map[string]bool{}
	for _, s := range list {
		all[s] = true
	}
	return all
}
