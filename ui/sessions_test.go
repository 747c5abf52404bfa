package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/session"
	"mayfly/ui/uitest"
)

// smtpLog answers GET /v1/sessions with what it was given last; before that, the service has no such path.
type smtpLog struct {
	next  http.RoundTripper
	list  atomic.Pointer[api.SessionList]
	fails atomic.Bool
}

func (l *smtpLog) RoundTrip(r *http.Request) (*http.Response, error) {
	list := l.list.Load()
	if !strings.HasSuffix(r.URL.Path, "/v1/sessions") || list == nil {
		return l.next.RoundTrip(r)
	}
	return apitest.Transport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if l.fails.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	})).RoundTrip(r)
}

// connect is a connection to a service that lists what l has.
func (l *smtpLog) connect(h *harness) (*session.Service, error) {
	l.next = h.server.Transport()
	client, err := api.New("https://mail.example", apitest.Key, api.Options{Transport: l, MaxWait: session.MaxWait})
	return &session.Service{Client: client, Registry: h.registry, Name: "mail.example", Profile: "test", SMTP: smtpAt("127.0.0.1:2525", "")}, err
}

// came adds sessions before those there are: one with two recipients, of which one is refused, and one without a message.
func (l *smtpLog) came(n int) {
	list := api.SessionList{AllKeys: true, AllProcesses: true}
	if old := l.list.Load(); old != nil {
		list.Sessions = old.Sessions
	}
	at := time.Now()
	list.Sessions = append([]api.Session{
		{Client: fmt.Sprintf("127.0.0.1:%d", 4000+n), Connected: at, Ended: &at, Hello: "shop", Messages: []api.SessionMessage{{Begun: at, From: "a@b.example", Reply: "250 2.0.0 queued", Recipients: []api.Recipient{
			{Address: fmt.Sprintf("user%d@apitest.example", n)}, {Address: fmt.Sprintf("usr%d@apitest.example", n), Refused: "550 5.1.1 no such inbox " + uitest.Hostile + " at the end"}}}}},
		{Client: fmt.Sprintf("127.0.0.1:%d", 5000+n), Connected: at, Ended: &at, Command: "STARTTLS", Reply: "502 5.5.1 not here", End: "the client went away"},
	}, list.Sessions...)
	l.list.Store(&list)
}

func TestTheListOfSMTPSessions(t *testing.T) {
	for _, size := range []struct{ w, h int }{{40, 12}, {80, 24}, {120, 36}} {
		log := &smtpLog{}
		log.came(0)
		play(t, setting{width: size.w, height: size.h, connect: log.connect}, func(h *harness) {
			h.step("S", "SMTP sessions", "127.0.0.1:4000 shop", "✓ user0@apitest.example: 250", "esc closes")
			h.step("down down", "✕ no message: STARTTLS")
			h.step("enter", "from 127.0.0.1:5000", "the client went away")
			h.step("esc", "SMTP sessions")

			log.fails.Store(true)
			h.wait(5 * time.Second)
			h.see("╭ ! ", "no message: STAR")
			log.fails.Store(false)
			for n := range 12 {
				log.came(n + 1)
				h.wait(5 * time.Second)
			}
			h.dontSee("╭ ! ")
			h.step("esc S", "user12@apitest.example")
		})
	}
}

// What comes while the user reads the list moves neither the cursor nor what is on the screen.
func TestSMTPSessionsThatComeMoveNothing(t *testing.T) {
	log := &smtpLog{}
	play(t, setting{width: 40, height: 12, connect: log.connect, before: func(*harness) {
		for n := range 9 {
			log.came(n)
		}
	}}, func(h *harness) {
		h.press("S")
		h.send(tea.WindowSizeMsg{Width: 40, Height: 11})
		h.see("127.0.0.1:4007")
		h.dontSee("user7@") // below another session's client
		h.send(tea.WindowSizeMsg{Width: 40, Height: 12})
		h.step("pgdown down down", "▌ ✕ usr5@")
		before := strings.Join(h.text()[:8], "\n")
		log.came(9)
		h.wait(5 * time.Second)
		if after := strings.Join(h.text()[:8], "\n"); after != before {
			t.Errorf("a session that came moved the list from\n%s\nto\n%s", before, after)
		}
		h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
		h.see("▌ ✕ usr5@", "127.0.0.1:4005 shop")
		h.step("pgup pgup", "user9@apitest.example")
		h.step("usr2", "▌ ✕ usr2@")
		h.dontSee("usr5@")
	})
}

// While the user has not moved, the newest is selected.
func TestNoSMTPSessionsYet(t *testing.T) {
	log := &smtpLog{}
	log.list.Store(&api.SessionList{AllKeys: true})
	play(t, setting{width: 80, height: 24, connect: log.connect}, func(h *harness) {
		h.step("S", "SMTP sessions of the last hour, of one process", "Nothing has connected to SMTP 127.0.0.1:2525")
		h.press("enter", "down")
		log.came(1)
		h.wait(5 * time.Second)
		log.came(2)
		h.wait(5 * time.Second)
		h.see("▌ ✓ user2@", "user1@")
	})
}

func TestAServiceThatListsNoSMTPSessions(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		for range 2 { // asked, and known
			h.step("S", "his service does not list SMTP sessions")
			h.dontSee("SMTP sessions of")
			h.wait(10 * time.Second)
		}
		h.step("ctrl+p rejected", "SMTP sessions: recent connections", "! This service does not list")
	})
}
