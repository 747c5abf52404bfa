package smtp

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// A reason says why something was refused, as a label of a metric.
type reason string

const (
	unknownRecipient  reason = "unknown_recipient"
	guesses           reason = "guesses" // too many unknown recipients from an address
	overQuota         reason = "over_quota"
	tooManyRecipients reason = "too_many_recipients"
	tooBig            reason = "message_too_big"
	lineTooLong       reason = "line_too_long"
	ambiguousEnd      reason = "ambiguous_end_of_data"
	busy              reason = "busy" // the memory for messages in flight is used up
	storageFull       reason = "storage_full"
	storageFailed     reason = "storage_failed"
	badCommand        reason = "bad_command"
	tooManyErrors     reason = "too_many_errors"
	tooManyMessages   reason = "too_many_messages"
	connections       reason = "connections"
	perAddress        reason = "connections_per_address"
	timedOut          reason = "timed_out"
)

// metrics are what a server counts.
type metrics struct {
	sessions, accepted, acceptedBytes prometheus.Counter
	delivering                        prometheus.Gauge
	refused, faults                   *prometheus.CounterVec
}

func newMetrics(s *Server) metrics {
	with := promauto.With(s.options.Metrics)
	counter := func(name, help string) prometheus.Counter {
		return with.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string, value func() float64) {
		with.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("mayfly_smtp_connections", "SMTP connections that are open.", func() float64 { return float64(s.sessions.Len()) })
	gauge("mayfly_smtp_in_flight_bytes", "Memory of messages not yet stored.", func() float64 { return float64(s.memory.Used()) })
	m := metrics{
		sessions:      counter("mayfly_smtp_sessions_total", "SMTP sessions started."),
		accepted:      counter("mayfly_smtp_accepted_total", "Messages accepted and stored."),
		acceptedBytes: counter("mayfly_smtp_accepted_bytes_total", "Bytes of accepted messages."),
		delivering:    with.NewGauge(prometheus.GaugeOpts{Name: "mayfly_smtp_delivering", Help: "Messages that are being stored."}),
		refused: with.NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_smtp_refused_total", Help: "Commands, messages and connections refused, by reason.",
		}, []string{"reason"}),
		faults: with.NewCounterVec(prometheus.CounterOpts{Name: "mayfly_smtp_chaos_total", Help: "Faults on purpose, by rule."}, []string{"rule"}),
	}
	for _, r := range []reason{unknownRecipient, guesses, overQuota, tooManyRecipients, tooBig, lineTooLong, ambiguousEnd, busy, storageFull,
		storageFailed, badCommand, tooManyErrors, tooManyMessages, connections, perAddress, timedOut} {
		m.refused.WithLabelValues(string(r)) // shown as 0 from the start
	}
	return m
}

func (m *metrics) refuse(r reason) { m.refused.WithLabelValues(string(r)).Inc() }
