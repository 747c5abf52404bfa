package message

import (
	"cmp"
	"time"

	"mayfly/api"
	"mayfly/internal/clean"
)

// Event is what became of a recipient in an SMTP session, or of a session without one. Its text is clean.
type Event struct {
	At      time.Time
	Client  string // address, name and login
	To      string // empty without a recipient
	Outcome string
	Failed  bool // nothing was delivered
}

// Events returns what happened in sessions, the newest first.
func Events(sessions []api.Session) []Event {
	var all []Event
	for _, s := range sessions {
		client := s.Client
		if s.Hello != "" {
			client += " " + s.Hello
		}
		if s.Login != "" {
			client += ", login " + s.Login
		}
		event := func(at time.Time, to, outcome string, failed bool) {
			all = append(all, Event{at, clean.Line(client), clean.Line(to), clean.Line(outcome), failed})
		}
		ending := cmp.Or(s.End, "still open")
		if s.Ended != nil && s.End == "" {
			ending = "QUIT"
		}
		for i := len(s.Messages) - 1; i >= 0; i-- {
			m := s.Messages[i]
			for _, to := range m.Recipients {
				event(m.Begun, to.Address, cmp.Or(to.Refused, m.Reply, "no message: "+ending), to.Refused != "" || m.Reply == "" || m.Reply[0] != '2')
			}
			if len(m.Recipients) == 0 {
				event(m.Begun, "", "no recipient: "+ending, true)
			}
		}
		if len(s.Messages) == 0 {
			outcome := ending
			if s.Reply != "" {
				outcome = s.Command + ": " + s.Reply + "; " + ending
			}
			event(s.Connected, "", "no message: "+outcome, true)
		}
	}
	return all
}
