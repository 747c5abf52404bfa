package smtp

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"mayfly/api"
	"mayfly/internal/address"
	"mayfly/service"
)

// Bounds of a sessionLog. A record takes at most 10 KB, and usually a twentieth of that.
const (
	maxSessions          = 200  // of all keys
	maxSessionsOfKey     = 50   // beside these
	maxLogged            = 4000 // in all
	sessionsFor          = time.Hour
	maxSessionMessages   = 5
	maxSessionRecipients = 10 // of each message; and the keys that a session concerns
	maxSessionValue      = 100
)

// sessionLog has the sessions of the last hour, the oldest first.
type sessionLog struct {
	mu  sync.Mutex
	all []*sessionRecord
}

// sessionRecord is what is known of a session, which may be open. All of its text may be hostile.
type sessionRecord struct {
	mu       sync.Mutex
	session  api.Session // without its messages
	messages []loggedMessage
	keys     []string // that it concerns: the client logged in with them, or mail for them came
}

type loggedMessage struct {
	api.SessionMessage // without its recipients
	to                 []loggedRecipient
}

type loggedRecipient struct {
	api.Recipient
	owner string // the ID of the key that has the address
}

// open adds a session.
func (l *sessionLog) open(client string) *sessionRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == maxLogged {
		l.tidy()
	}
	r := &sessionRecord{session: api.Session{Client: client, Connected: stamp()}}
	l.all = append(l.all, r)
	return r
}

func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// tidy keeps the last sessions, and the last of each key: keys that are idle lose no more than those that are busy.
func (l *sessionLog) tidy() {
	kept := l.newest("")
	kept = kept[:min(len(kept), maxLogged/2)]
	slices.Reverse(kept)
	l.all = kept
}

// newest returns the last sessions and the last that concern a key, or any key for "", the newest first. The caller has
// locked l.mu.
func (l *sessionLog) newest(keyID string) (list []*sessionRecord) {
	of := map[string]int{}
	for i, r := range slices.Backward(l.all) {
		r.mu.Lock()
		wanted := i >= len(l.all)-maxSessions
		for _, k := range r.keys {
			if k == keyID || keyID == "" {
				of[k]++
				wanted = wanted || of[k] <= maxSessionsOfKey
			}
		}
		if ended := r.session.Ended; ended != nil && time.Since(*ended) > sessionsFor {
			wanted = false
		}
		if r.mu.Unlock(); wanted {
			list = append(list, r)
		}
	}
	return list
}

// concern notes a key that the session is about.
func (r *sessionRecord) concern(keyID string) {
	if keyID != "" && len(r.keys) < maxSessionRecipients && !slices.Contains(r.keys, keyID) {
		r.keys = append(r.keys, keyID)
	}
}

// logReply notes the reply to a command.
func (c *conn) logReply(verb string) {
	r := c.record
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.session
	s.TLS = c.tls
	if verb != "QUIT" {
		s.Command, s.Reply = shortened(verb), shortened(c.last)
	}
	switch last := len(r.messages) - 1; verb {
	case "EHLO", "HELO", "STARTTLS", "AUTH":
		s.Hello, s.Login = shortened(c.hello), shortened(c.login)
		r.concern(c.keyID)
	case "MAIL":
		if !c.tx.open || !strings.HasPrefix(c.last, "2") {
			return
		}
		if len(r.messages) == maxSessionMessages {
			r.messages = slices.Delete(r.messages, 0, 1)
			s.Earlier++
		}
		r.messages = append(r.messages, loggedMessage{SessionMessage: api.SessionMessage{Begun: stamp(), From: shortened(c.tx.from)}})
	case "DATA":
		if !c.tx.open && last >= 0 {
			r.messages[last].Reply = shortened(c.last)
		}
	}
}

// logRecipient notes a recipient of the message that the client sends.
func (c *conn) logRecipient(to service.Recipient) {
	r := c.record
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &r.messages[len(r.messages)-1]
	if m.More = len(m.to) == maxSessionRecipients; !m.More {
		m.to = append(m.to, loggedRecipient{api.Recipient{Address: shortened(to.Address), Refused: shortened(to.Refused)}, to.KeyID})
	}
	r.concern(to.KeyID)
}

// logEnd notes why the session ended.
func (c *conn) logEnd(err error) {
	r, now := c.record, stamp()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session.Ended, r.session.TLS = &now, c.tls
	switch {
	case err == errQuit:
	case errors.Is(err, io.EOF):
		r.session.End = "the client closed the connection"
	default:
		r.session.End = shortened(err.Error())
	}
}

// shortened bounds a value, and the memory behind it.
func shortened(s string) string {
	if len(s) <= maxSessionValue {
		return s
	}
	return strings.Clone(strings.ToValidUTF8(s[:maxSessionValue], "")) + "…"
}

// Sessions returns the sessions that concern a key, without what concerns others: those in which it was logged in with, mail
// came for its addresses, or was refused for one that nobody has and that is within two letters of one of them. The unlimited
// key reads all.
func (s *Server) Sessions(ctx context.Context, k service.Key) (api.SessionList, error) {
	list := api.SessionList{Sessions: []api.Session{}, AllKeys: s.service.IsUnlimited(k), AllProcesses: !s.service.IsShared()}
	var inboxes service.InboxList // the newest of the key
	if !list.AllKeys {
		var err error
		if inboxes, err = s.service.Inboxes(ctx, k, service.Page{}); err != nil {
			return list, err
		}
	}
	concerns := func(to loggedRecipient) bool {
		if list.AllKeys || to.owner != "" || to.Address == "" {
			return list.AllKeys || to.owner == k.ID
		}
		return slices.ContainsFunc(inboxes.Inboxes, func(in service.Inbox) bool { return address.Near(in.Address, to.Address) })
	}
	s.log.mu.Lock()
	records := s.log.newest(k.ID)
	s.log.mu.Unlock()
	for _, r := range records {
		r.mu.Lock()
		session, own := r.session, list.AllKeys || slices.Contains(r.keys, k.ID)
		session.Messages = []api.SessionMessage{}
		for _, logged := range r.messages {
			m := logged.SessionMessage
			m.Recipients = []api.Recipient{}
			for _, to := range logged.to {
				if concerns(to) {
					m.Recipients = append(m.Recipients, to.Recipient)
				}
			}
			if len(m.Recipients) > 0 || len(logged.to) == 0 && own {
				session.Messages = append(session.Messages, m)
			}
		}
		if r.mu.Unlock(); own || len(session.Messages) > 0 {
			list.Sessions = append(list.Sessions, session)
		}
	}
	return list, nil
}
