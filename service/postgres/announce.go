package postgres

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// announcer tells the other processes what this one has changed. A NOTIFY in each transaction would have commits wait
// for each other; so what has changed is gathered for a moment and told in a transaction of its own, which writes
// nothing. One that gets lost with its process costs who waits a few seconds, see recheck in package service.
type announcer struct {
	process string // names this process to itself
	mu      sync.Mutex
	topics  map[string]bool
	some    chan struct{}
}

const (
	channel     = "mayfly"
	gatherFor   = 10 * time.Millisecond
	payloadSize = 7900   // a payload has less than 8000 bytes
	maxTopics   = 50_000 // more than that are told as everything
	everything  = "*"
)

func (a *announcer) init() {
	a.process = rand.Text()
	a.topics = make(map[string]bool)
	a.some = make(chan struct{}, 1)
}

// tell has the others told that inboxes and keys have changed, given their IDs.
func (a *announcer) tell(ids ...string) {
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
	case a.some <- struct{}{}:
	default: // they are being gathered already
	}
}

// Announce tells a topic to the processes that listen.
func (s *Store) Announce(topic string) { s.told.tell(topic) }

// payloads returns what is to be told since the last call, which may be nothing.
func (a *announcer) payloads() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	var b strings.Builder
	for id := range a.topics {
		if b.Len() > 0 && b.Len()+1+len(id) > payloadSize {
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
		case <-s.told.some:
		case <-s.ctx.Done():
			return
		}
		select {
		case <-time.After(gatherFor):
		case <-s.ctx.Done():
		}
		payloads := s.told.payloads()
		if len(payloads) == 0 {
			continue // all that was there was told with what came before
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.timeout)
		_, err := s.pool.Exec(ctx, "SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload", channel, payloads)
		cancel()
		if err != nil && s.ctx.Err() == nil {
			s.told.tell(everything)
			select {
			case <-time.After(time.Second):
			case <-s.ctx.Done():
			}
		}
	}
}

// Listen hears what other processes have changed. It connects again when the connection is lost.
func (s *Store) Listen(ctx context.Context, changed func(id string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	away := false
	for ctx.Err() == nil {
		err := s.listen(ctx, func() {
			if away {
				s.log.Info("changes by other processes are heard again")
			}
			away = false
			changed("")
		}, changed)
		if ctx.Err() != nil {
			break
		}
		if !away {
			s.log.Warn("changes by other processes are not heard, trying again", "error", err)
			away = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// quiet is how long nothing may be heard before the connection is tried.
const quiet = 10 * time.Second

// listen listens on a connection of its own until it breaks.
func (s *Store) listen(ctx context.Context, connected func(), changed func(id string)) error {
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(bounded, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(bounded, "LISTEN "+channel); err != nil {
		return err
	}
	connected()
	for {
		waiting, cancel := context.WithTimeout(ctx, quiet)
		n, err := conn.WaitForNotification(waiting)
		timedOut := waiting.Err() != nil
		cancel()
		switch {
		case err == nil:
			s.hear(n.Payload, changed)
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

// hear reads what another process has told.
func (s *Store) hear(payload string, changed func(id string)) {
	process, topics, _ := strings.Cut(payload, " ")
	if process == s.told.process {
		return
	}
	for id := range strings.SplitSeq(topics, " ") {
		if id == everything {
			id = ""
		}
		changed(id)
	}
}
