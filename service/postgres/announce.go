package postgres

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// announcer announces to other processes what this one has changed. Since a NOTIFY in each
// transaction would serialise commits, announcements are gathered for a moment and sent in a
// transaction of their own, which writes nothing. If one gets lost with its process, those who wait
// for the change find it a few seconds later (see recheckInterval in package service).
type announcer struct {
	process string // ID of this process, to recognise its own announcements
	mu      sync.Mutex
	topics  map[string]bool
	more    chan struct{} // has an element if there may be topics
}

const (
	channel        = "mayfly"
	gatherTime     = 10 * time.Millisecond
	maxPayload     = 7900   // PostgreSQL's limit is below 8000 bytes
	maxTopics      = 50_000 // beyond that, everything is announced
	everything     = "*"
	reconnectDelay = time.Second
)

func (a *announcer) init() {
	a.process = rand.Text()
	a.topics = make(map[string]bool)
	a.more = make(chan struct{}, 1)
}

// announce announces topics, such as the IDs of inboxes that have changed and of keys that have new ones.
func (a *announcer) announce(ids ...string) {
	if len(ids) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		a.topics[id] = true
	}
	if len(a.topics) > maxTopics {
		a.topics = map[string]bool{everything: true}
	}
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// payloads returns the topics announced since the last call, which may be none.
func (a *announcer) payloads() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	var b strings.Builder
	for id := range a.topics {
		if b.Len() > 0 && b.Len()+1+len(id) > maxPayload {
			list = append(list, b.String())
			b.Reset()
		}
		if b.Len() == 0 {
			b.WriteString(a.process)
		}
		b.WriteByte(' ')
		b.WriteString(id)
	}
	clear(a.topics)
	if b.Len() > 0 {
		list = append(list, b.String())
	}
	return list
}

func (s *Store) runAnnouncements() {
	for {
		select {
		case <-s.announcer.more:
		case <-s.ctx.Done():
			return
		}
		select {
		case <-time.After(gatherTime):
		case <-s.ctx.Done():
		}
		payloads := s.announcer.payloads()
		if len(payloads) == 0 {
			continue // the previous announcement had them all
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.timeout)
		_, err := s.coordinator.Exec(ctx, "SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload", channel, payloads)
		cancel()
		if err != nil && s.ctx.Err() == nil {
			s.announcer.announce(everything)
			select {
			case <-time.After(reconnectDelay):
			case <-s.ctx.Done():
			}
		}
	}
}

// Listen implements service.Shared. It reconnects when the connection is lost.
func (s *Store) Listen(ctx context.Context, changed func(id string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	lost := false
	for ctx.Err() == nil {
		err := s.listen(ctx, func() {
			if lost {
				s.log.Info("listening to changes by other processes again")
			}
			lost = false
			changed("")
		}, changed)
		if ctx.Err() != nil {
			break
		}
		if !lost {
			s.log.Warn("cannot listen to changes by other processes, trying again", "error", err)
			lost = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectDelay):
		}
	}
	return nil
}

// pingInterval is after how long without a notification the connection is tested.
const pingInterval = 10 * time.Second

// listen listens on a connection of its own until it is lost.
func (s *Store) listen(ctx context.Context, connected func(), changed func(id string)) error {
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(bounded, s.coordinator.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(bounded, "LISTEN "+channel); err != nil {
		return err
	}
	connected()
	for {
		waiting, cancel := context.WithTimeout(ctx, pingInterval)
		n, err := conn.WaitForNotification(waiting)
		timedOut := waiting.Err() != nil
		cancel()
		switch {
		case err == nil:
			s.onNotification(n.Payload, changed)
		case ctx.Err() != nil:
			return ctx.Err()
		case timedOut && !conn.IsClosed():
			bounded, cancel := context.WithTimeout(ctx, s.timeout)
			err := conn.Ping(bounded)
			cancel()
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// onNotification handles an announcement of another process.
func (s *Store) onNotification(payload string, changed func(id string)) {
	process, topics, _ := strings.Cut(payload, " ")
	if process == s.announcer.process {
		return
	}
	for id := range strings.SplitSeq(topics, " ") {
		if id == everything {
			id = ""
		}
		changed(id)
	}
}
