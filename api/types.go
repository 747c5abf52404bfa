package api

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// CreateInbox is the request body of [Client.CreateInbox]. A zero field is left out, and the
// service chooses.
type CreateInbox struct {
	Domain   string `json:"domain,omitempty"`   // one of the domains of the service
	Username string `json:"username,omitempty"` // local part of the address; random when empty
	TTL      int    `json:"ttl,omitempty"`      // lifetime in seconds; 3600 when 0
}

// Inbox is a temporary inbox.
type Inbox struct {
	ID        string
	Email     string
	CreatedAt time.Time
	ExpiresAt time.Time
	// TTL is the granted lifetime in seconds. Only the answer to a creation has it.
	TTL int
	// MessageCount is nil in the answer to a creation, and if the service omits it.
	MessageCount *int
	// Status is "active" or another word of the service; empty in the answer to a creation.
	Status string
	// ETag differs after each change of the inbox or its messages. Only an [InboxList] has it, on Mayfly's own
	// service.
	ETag string
	Raw  json.RawMessage // as the service sent it; nil in an object made here
}

// InboxList is the list of the inboxes of a key, an extension of the contract.
type InboxList struct {
	Inboxes []Inbox
	Total   int // inboxes of the key, of which a page has fewer
	// Domains are those that inboxes can be created at, the first unless another is asked for. Empty if
	// the service does not say.
	Domains []string
	// RelayAllow is to whom messages can be released: addresses, and *@domain for those of a domain that begin
	// with a letter or digit and have only letters, digits and . _ + - before the @. Empty without a relay.
	RelayAllow []string
	ETag       string          // the entity tag of the answer (RFC 9110, 8.8.3), empty when it had none
	Waited     bool            // the service applied the preference to wait (RFC 7240)
	Raw        json.RawMessage // as the service sent it; nil in an object made here
	has        bool            // whether there was a list in the object
}

// Summary is a message in a list.
type Summary struct {
	ID       string
	From     string // the bare address
	FromName string // the display name; empty when there is none
	Subject  string
	// ReceivedAt is the zero time if the service sent none that can be read.
	ReceivedAt time.Time
	// Size is in bytes on Mayfly's own service; the contract does not say.
	Size int64
	Raw  json.RawMessage // as the service sent it; nil in an object made here
}

// List is a list of messages, the newest first.
type List struct {
	Messages []Summary
	// Total is the number of messages in the inbox. A part of the list has fewer.
	Total  int
	ETag   string          // the entity tag of the answer (RFC 9110, 8.8.3), empty when it had none
	Waited bool            // the service applied the preference to wait (RFC 7240)
	Raw    json.RawMessage // as the service sent it; nil in an object made here
}

// Message is a whole message.
type Message struct {
	ID         string
	From       string // the bare address
	FromName   string // the display name; empty when there is none
	To         string
	Subject    string
	Text       string
	HTML       string
	ReceivedAt time.Time
	// Attachments is never written as null.
	Attachments []Attachment
	Raw         json.RawMessage // as the service sent it; nil in an object made here
}

// Attachment is a part of a message other than its text. The contract does not name its fields;
// these are those of Mayfly's own service, and names that other services are likely to use are
// read, too.
type Attachment struct {
	ID          string
	Filename    string
	ContentType string
	Size        int64  // bytes, decoded
	ContentID   string // without the angle brackets (RFC 2392)
	Inline      bool

	// Content is the decoded content, if the service sends it within the message. It is not
	// written.
	Content []byte
	// URL is where the content is, according to the service. It is not written.
	URL string
	Raw json.RawMessage // as the service sent it; nil in an object made here
}

// Deleted is the answer to a deletion.
type Deleted struct {
	Deleted bool `json:"deleted"`
}

// Delivery has the delivery details of a message: what its sender did in the SMTP session, an extension of the contract.
type Delivery struct {
	Client     string      `json:"client"`               // IP address and port
	Hello      string      `json:"hello"`                // EHLO or HELO, and the client's name
	TLS        string      `json:"tls,omitempty"`        // the version; empty without TLS
	Login      string      `json:"login,omitempty"`      // a name, or "?"; empty without a login
	From       string      `json:"from"`                 // envelope sender; empty for the null reverse-path
	Parameters string      `json:"parameters,omitempty"` // of MAIL, such as SIZE=2048 BODY=8BITMIME
	Recipients []Recipient `json:"recipients"`           // of no other key, those that were refused first
	More       bool        `json:"more,omitempty"`       // there were more recipients
	Message    int         `json:"message_number"`       // in the session, from 1
	After      int64       `json:"accepted_after_ms"`    // in milliseconds since the client connected
}

// Recipient is one of those that the sender named.
type Recipient struct {
	Address string `json:"address,omitempty"` // empty if it was refused unread
	Refused string `json:"refused,omitempty"` // the reply; empty if it was accepted
}

// SessionList has the SMTP sessions of the last hour that concern a key, the newest first: an extension of the contract.
type SessionList struct {
	Sessions     []Session `json:"sessions"`
	AllKeys      bool      `json:"all_keys"`      // not only those that concern the key
	AllProcesses bool      `json:"all_processes"` // no other process of the service has more
}

// Session is what a client did in an SMTP session. Values that are not known are empty.
type Session struct {
	Client    string           `json:"client"` // IP address and port
	Connected time.Time        `json:"connected_at"`
	Ended     *time.Time       `json:"ended_at,omitempty"` // nil while it is open
	Hello     string           `json:"hello,omitempty"`
	TLS       string           `json:"tls,omitempty"`
	Login     string           `json:"login,omitempty"`
	Messages  []SessionMessage `json:"messages"`                   // the last ones, the oldest first
	Earlier   int              `json:"earlier_messages,omitempty"` // how many there were before
	Command   string           `json:"last_command,omitempty"`     // but QUIT
	Reply     string           `json:"last_reply,omitempty"`
	End       string           `json:"end,omitempty"` // why it ended; empty after QUIT
}

// SessionMessage is a message that a client began to send.
type SessionMessage struct {
	Begun      time.Time   `json:"begun_at"`
	From       string      `json:"from"`
	Recipients []Recipient `json:"recipients"`
	More       bool        `json:"more,omitempty"`  // there were more recipients
	Reply      string      `json:"reply,omitempty"` // to its data; empty if that was not sent to the end
}

// Released has the addresses that a message was released to, an extension of the contract.
type Released struct {
	To []string `json:"to"`
}

// States is what clients keep of the inboxes of a key, by their IDs, an extension of the contract. What it means is theirs.
type States struct {
	States map[string][]byte `json:"states"`
}

// StateChange replaces what clients keep of an inbox, an extension of the contract.
type StateChange struct {
	Before []byte `json:"before"` // null at first
	After  []byte `json:"after"`
}

// ErrorBody is the body of every answer that is an error.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail says what went wrong; Code equals the HTTP status.
type ErrorDetail struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// TimeFormat is how times are written: RFC 3339 in UTC with milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// ParseDuration reads a duration as people write it, in any case: as [time.ParseDuration] does, also one that
// begins with whole days, of which there are at most 65,535 (2d, 1d12h), or a number of seconds alone.
func ParseDuration(s string) (time.Duration, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if _, err := strconv.ParseUint(s, 10, 32); err == nil {
		s += "s"
	}
	before, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(before, 10, 16)
	days := time.Duration(n) * 24 * time.Hour
	if err != nil || rest == "" {
		return days, err
	}
	d, err := time.ParseDuration(rest)
	if err == nil && (d < 0 || days+d < 0) {
		err = errors.New("the duration is negative or too long")
	}
	return days + d, err
}
