package watch

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"mayfly/api"
)

// Question is what a wait asks of a message.
type Question string

// The questions.
const (
	Message Question = "message" // all of it
	Code    Question = "code"    // its one-time code
	Link    Question = "link"    // its confirmation link
)

// Handed is what waits handed over of the messages of one inbox: each message once for each
// question. The zero value is an inbox of which nothing was handed over yet; [json.Marshal] keeps
// it, in at most 40 KB. It is not safe for concurrent use.
//
// A wait for the code, for example, is
//
//	_, err := Await(ctx, client, inboxID, handed.After(Code), Match{
//		Fits: func(m api.Message) bool { … whether it has a code … },
//		Take: func(f Found) bool { return handed.Take(Code, f) },
//	})
//
// where Take must run under the lock that protects handed, since another wait on the same inbox may
// take the message first. A wait that takes the newest whatever was handed over starts with
// [Newest] and records with [Handed.Add] instead, one for what came since a moment starts with
// [Handed.Since] or [Handed.Ago].
type Handed struct {
	// Last is when the message was received that was handed over last, and Passed are those received
	// at the same time that come before it.
	Last   time.Time `json:"last"`
	Passed []string  `json:"passed,omitempty"` // hashes of IDs
	// For has the messages that were handed over for each question, the last of them last.
	For map[Question][]string `json:"for,omitempty"` // hashes of IDs
}

// maxHanded bounds each list of a [Handed]; the oldest are dropped. It matters only to a wait that
// goes back beyond as many messages.
const maxHanded = 500

// Found is a message that fits, and its place in its inbox.
type Found struct {
	api.Message
	received time.Time // as listed
	passed   []string
}

// After says which messages a wait considers; see [Newest] and [Handed].
type After struct {
	// Newest is how many of the messages already there are considered: those that fit, the newest of
	// them, in the order in which they arrived. 0 considers all that the other fields include.
	Newest int

	since  time.Time       // by the service's clock
	ago    time.Duration   // before the beginning of the wait, instead of since
	except map[string]bool // by the hash of the ID
}

// Newest considers the newest n messages that fit, handed over or not, and those that arrive later. It
// fetches at most 20 in search of them.
func Newest(n int) After { return After{Newest: n} }

// After considers the message handed over last and those after it, except those that were handed
// over for the same question. If nothing was handed over yet, it is Newest(1).
func (h Handed) After(q Question) After {
	if len(h.For) == 0 {
		return Newest(1)
	}
	return After{since: h.Last, except: set(h.Passed, h.For[q])}
}

// Since considers what was received at t, by the service's clock, or later, except what was handed
// over for the same question.
func (h Handed) Since(q Question, t time.Time) After { return After{since: t, except: set(h.For[q])} }

// Ago is Since the time d before the wait begins, whatever the clock of this machine says.
func (h Handed) Ago(q Question, d time.Duration) After { return After{ago: d, except: set(h.For[q])} }

// ParseMoment reads how long ago a moment was, as [api.ParseDuration] does, or else its time as RFC 3339
// has it; ago is 0 with a time, and else positive.
func ParseMoment(s string) (at time.Time, ago time.Duration, err error) {
	if ago, err = api.ParseDuration(s); err == nil && ago >= 0 {
		return at, max(ago, 1), nil
	}
	// `date --rfc-3339=seconds` writes a space, which RFC 3339, 5.6, allows.
	at, err = time.Parse(time.RFC3339, strings.Replace(s, " ", "T", 1))
	return at, 0, err
}

// Has reports whether the message with an ID was handed over for a question.
func (h Handed) Has(q Question, id string) bool { return slices.Contains(h.For[q], hash(id)) }

// Take records that a message is handed over for a question, unless that was done already.
func (h *Handed) Take(q Question, f Found) bool {
	if h.Has(q, f.ID) {
		return false
	}
	h.Add(q, f)
	return true
}

// Add records that a message is handed over for a question, perhaps again.
func (h *Handed) Add(q Question, f Found) {
	id := hash(f.ID)
	if h.For == nil {
		h.For = map[Question][]string{}
	}
	before := slices.DeleteFunc(slices.Clone(h.For[q]), func(other string) bool { return other == id })
	h.For[q] = bounded(append(before, id))
	h.Last, h.Passed = f.received, bounded(f.passed)
}

func bounded(hashes []string) []string { return hashes[max(0, len(hashes)-maxHanded):] }

func (a After) includes(s api.Summary) bool {
	return !s.ReceivedAt.Before(a.since) && !a.except[hash(s.ID)]
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

func set(lists ...[]string) map[string]bool {
	all := map[string]bool{}
	for _, s := range slices.Concat(lists...) {
		all[s] = true
	}
	return all
}
