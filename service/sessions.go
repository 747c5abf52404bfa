package service

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"mayfly/internal/address"
)

// Bounds of a [SessionLog]. A record takes at most 10 KB, and usually a twentieth of that.
const (
	maxSessions          = 200 // of all keys
	maxSessionsOfKey     = 50
	maxSessionsOfKeys    = 4000 // of all keys together, beside maxSessions
	sessionsFor          = time.Hour
	maxSessionMessages   = 5
	maxSessionRecipients = 10 // of each message
	maxSessionValue      = 100
)

// SMTPSession is a session as the log has it: the schema Session of the API. All of its text may be hostile.
type SMTPSession struct {
	Client    string           `json:"client"` // IP address and port
	Connected time.Time        `json:"connected_at"`
	Ended     *time.Time       `json:"ended_at,omitempty"` // nil while it is open
	Hello     string           `json:"hello,omitempty"`
	TLS       string           `json:"tls,omitempty"`
	Login     string           `json:"login,omitempty"`
	Messages  []SessionMessage `json:"messages"` // the last ones, the oldest first
	Earlier   int              `json:"earlier_messages,omitempty"`
	Command   string           `json:"last_command,omitempty"`
	Reply     string           `json:"last_reply,omitempty"`
	End       string           `json:"end,omitempty"` // why it ended
}

// SessionMessage is a message that a client began to send.
type SessionMessage struct {
	Begun      time.Time   `json:"begun_at"`
	From       string      `json:"from"`
	Recipients []Recipient `json:"recipients"`
	More       bool        `json:"more,omitempty"`  // there were more recipients
	Reply      string      `json:"reply,omitempty"` // to its data; empty if that was not sent to the end
}

// SessionList is what a key may read of the sessions, the newest first.
type SessionList struct {
	Sessions     []SMTPSession `json:"sessions"`
	AllKeys      bool          `json:"all_keys"`      // not only those that concern the key
	AllProcesses bool          `json:"all_processes"` // no other process of the service has more
}

// SessionLog has the SMTP sessions of the last hour that this process has served.
type SessionLog struct {
	mu   sync.Mutex
	last []*SessionRecord
	of   map[string][]*SessionRecord // by the ID of a key that they concern
	kept int                         // in of
}

// SessionRecord is the entry of a session, which is kept up to date while the session lasts. A nil record keeps nothing.
type SessionRecord struct {
	log     *SessionLog
	mu      sync.Mutex
	session SMTPSession
	keys    []string // that it is listed for
}

// Open adds a session to the log.
func (l *SessionLog) Open(client string) *SessionRecord {
	if l == nil {
		return nil
	}
	r := &SessionRecord{log: l, session: SMTPSession{Client: client, Connected: time.Now().UTC().Truncate(time.Millisecond)}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last[max(0, len(l.last)-maxSessions+1):], r)
	return r
}

// Update changes what is known of the session.
func (r *SessionRecord) Update(change func(*SMTPSession)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.session
	change(s)
	for _, value := range []*string{&s.Hello, &s.Login, &s.Command, &s.Reply, &s.End} {
		*value = shortened(*value)
	}
}

// Begin adds a message of the session.
func (r *SessionRecord) Begin(from string) {
	r.Update(func(s *SMTPSession) {
		if len(s.Messages) == maxSessionMessages {
			s.Messages = slices.Delete(s.Messages, 0, 1)
			s.Earlier++
		}
		s.Messages = append(s.Messages, SessionMessage{
			Begun: time.Now().UTC().Truncate(time.Millisecond), From: shortened(from), Recipients: []Recipient{},
		})
	})
}

// Add adds a recipient to the last message.
func (r *SessionRecord) Add(to Recipient) {
	r.Update(func(s *SMTPSession) {
		if len(s.Messages) == 0 {
			return
		}
		m := &s.Messages[len(s.Messages)-1]
		if m.More = len(m.Recipients) == maxSessionRecipients; !m.More {
			m.Recipients = append(m.Recipients, Recipient{Address: shortened(to.Address), KeyID: to.KeyID, Refused: shortened(to.Refused)})
		}
	})
	r.Concern(to.KeyID)
}

// Concern lists the session for a key: mail for it came, or the client logged in with it.
func (r *SessionRecord) Concern(keyID string) {
	if r == nil || keyID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.keys, keyID) || len(r.keys) == maxSessionRecipients {
		return
	}
	r.keys = append(r.keys, keyID)
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || l.kept >= maxSessionsOfKeys {
		l.tidy()
	}
	own := l.of[keyID]
	if len(own) == maxSessionsOfKey {
		own = own[1:]
		l.kept--
	}
	l.of[keyID] = append(own, r)
	l.kept++
}

// tidy removes what is too old, and of each key the older half: keys that are idle lose no more than those that are busy.
func (l *SessionLog) tidy() {
	of := make(map[string][]*SessionRecord, len(l.of))
	l.kept = 0
	for keyID, own := range l.of {
		own = slices.DeleteFunc(slices.Clone(own[len(own)/2:]), func(r *SessionRecord) bool { return time.Since(r.session.Connected) > sessionsFor })
		if len(own) > 0 {
			of[keyID] = own
			l.kept += len(own)
		}
	}
	if l.kept > maxSessionsOfKeys/2 { // a session or two of each of many keys
		clear(of)
		l.kept = 0
	}
	l.of = of
}

// records returns what may concern a key, the newest first.
func (l *SessionLog) records(keyID string) []*SessionRecord {
	l.mu.Lock()
	all := slices.Concat(l.of[keyID], l.last)
	l.mu.Unlock()
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *SessionRecord) int { return b.session.Connected.Compare(a.session.Connected) })
	seen := make(map[*SessionRecord]bool, len(all))
	return slices.DeleteFunc(all, func(r *SessionRecord) bool {
		twice := seen[r]
		seen[r] = true
		return twice
	})
}

// shortened bounds a value, and the memory behind it.
func shortened(s string) string {
	if len(s) <= maxSessionValue {
		return s
	}
	return strings.Clone(clip(s, maxSessionValue)) + "…"
}

// SessionLog returns the log that the SMTP server keeps.
func (s *Service) SessionLog() *SessionLog { return &s.sessions }

// Sessions returns the sessions that concern a key, without what concerns others: those in which it was logged in with, mail
// came for its addresses, or was refused for one that nobody has and that is within two letters of one of them. The unlimited
// key reads all.
func (s *Service) Sessions(ctx context.Context, k Key) (SessionList, error) {
	list := SessionList{Sessions: []SMTPSession{}, AllKeys: k.ID == s.options.Unlimited, AllProcesses: s.shared == nil}
	var inboxes *InboxList // the newest of the key
	var failed error
	concerns := func(to Recipient) bool {
		if list.AllKeys || to.KeyID != "" || to.Address == "" {
			return list.AllKeys || to.KeyID == k.ID
		}
		if inboxes == nil && failed == nil {
			var l InboxList
			l, failed = s.Inboxes(ctx, k, Page{})
			inboxes = &l
		}
		return failed == nil && slices.ContainsFunc(inboxes.Inboxes, func(in Inbox) bool { return address.Near(in.Address, to.Address) })
	}
	for _, r := range s.sessions.records(k.ID) {
		r.mu.Lock()
		session, own := r.session, list.AllKeys || slices.Contains(r.keys, k.ID)
		messages := slices.Clone(session.Messages)
		r.mu.Unlock()
		if time.Since(session.Connected) > sessionsFor && session.Ended != nil && time.Since(*session.Ended) > sessionsFor {
			continue
		}
		session.Messages = []SessionMessage{}
		for _, m := range messages {
			named := len(m.Recipients)
			m.Recipients = slices.DeleteFunc(slices.Clone(m.Recipients), func(to Recipient) bool { return !concerns(to) })
			if len(m.Recipients) > 0 || named == 0 && own {
				session.Messages = append(session.Messages, m)
			}
		}
		if own || len(session.Messages) > 0 {
			list.Sessions = append(list.Sessions, session)
		}
	}
	return list, failed
}
