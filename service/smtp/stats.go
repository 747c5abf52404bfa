package smtp

import "sync/atomic"

// Reason says why something was refused, as a label of a metric.
type Reason string

// The reasons for a refusal.
const (
	UnknownRecipient  Reason = "unknown_recipient"
	Guesses           Reason = "guesses" // too many unknown recipients from an address
	OverQuota         Reason = "over_quota"
	TooManyRecipients Reason = "too_many_recipients"
	TooBig            Reason = "message_too_big"
	LineTooLong       Reason = "line_too_long"
	AmbiguousEnd      Reason = "ambiguous_end_of_data"
	Busy              Reason = "busy" // the memory for messages in flight is used up
	StorageFull       Reason = "storage_full"
	StorageFailed     Reason = "storage_failed"
	BadCommand        Reason = "bad_command"
	TooManyErrors     Reason = "too_many_errors"
	TooManyMessages   Reason = "too_many_messages"
	Connections       Reason = "connections"
	PerAddress        Reason = "connections_per_address"
	TimedOut          Reason = "timed_out"
)

var reasons = [...]Reason{UnknownRecipient, Guesses, OverQuota, TooManyRecipients, TooBig, LineTooLong, AmbiguousEnd, Busy, StorageFull,
	StorageFailed, BadCommand, TooManyErrors, TooManyMessages, Connections, PerAddress, TimedOut}

// Stats are counts since the server was created, and its present state.
type Stats struct {
	Connections   int              // open now
	Sessions      int64            // begun
	Accepted      int64            // messages answered with 250
	AcceptedBytes int64            // size of these messages
	Delivering    int64            // messages received and being stored now
	InFlightBytes int64            // memory of messages not yet stored
	Refused       map[Reason]int64 // with an entry for each reason
	Chaos         map[string]int64 // faults that occurred on purpose, by rule
}

type counters struct {
	sessions, accepted, acceptedBytes, delivering atomic.Int64
	refused                                       [len(reasons)]atomic.Int64
}

func (c *counters) refuse(r Reason) {
	for i := range reasons {
		if reasons[i] == r {
			c.refused[i].Add(1)
		}
	}
}

// Stats returns the present statistics.
func (s *Server) Stats() Stats {
	st := Stats{
		Connections:   s.sessions.Len(),
		Sessions:      s.count.sessions.Load(),
		Accepted:      s.count.accepted.Load(),
		AcceptedBytes: s.count.acceptedBytes.Load(),
		Delivering:    s.count.delivering.Load(),
		InFlightBytes: s.budget.used.Load(),
		Refused:       make(map[Reason]int64, len(reasons)),
		Chaos:         make(map[string]int64),
	}
	for _, faults := range s.chaos {
		for _, f := range faults {
			st.Chaos[f.rule] += f.occurred.Load()
		}
	}
	for i, r := range reasons {
		st.Refused[r] = s.count.refused[i].Load()
	}
	return st
}
