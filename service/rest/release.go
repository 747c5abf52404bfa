package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"mayfly/api"
	"mayfly/service"
)

// Relay sends messages on. Its errors carry a [service.Code].
type Relay interface {
	Release(ctx context.Context, keyID string, to []string, raw []byte) error
}

// releaseMessage answers once the relay has taken the message for all recipients.
func (s *Server) releaseMessage(w *response, r *http.Request) error {
	if s.options.Relay == nil {
		w.sendError(http.StatusNotImplemented, "This service has no relay to release messages by")
		return nil
	}
	to, err := readRelease(w, r)
	if err != nil {
		return err
	}
	inboxID, id := r.PathValue("inbox"), r.PathValue("message")
	summary, err := s.service.Summary(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	release, err := s.options.Large.Reserve(r.Context(), w.key.ID, summary.Size)
	if err != nil {
		return err
	}
	defer release()
	m, err := s.service.Message(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	w.clearReadDeadline()
	start := time.Now()
	err = s.options.Relay.Release(r.Context(), w.key.ID, to, m.Raw)
	w.waited = time.Since(start)
	switch service.ErrorCode(err) {
	case "":
		s.log.Info("message released", "key", w.key.ID, "inbox", inboxID, "message", id, "to", to)
	case service.Undelivered:
		s.log.Warn("message not released", "key", w.key.ID, "inbox", inboxID, "message", id, "to", to, "error", err)
		return err
	default:
		return err
	}
	return w.sendJSON(http.StatusOK, api.Released{To: to})
}

// readRelease reads the addresses that a message is released to.
func readRelease(w http.ResponseWriter, r *http.Request) (to []string, err error) {
	fields, err := readObject(w, r)
	if err != nil {
		return nil, err
	}
	for name, value := range fields {
		if name != "to" {
			return nil, invalid("Unknown field %.50q; known is to", name)
		}
		if json.Unmarshal(value, &to) != nil {
			to = nil
		}
	}
	if len(to) == 0 {
		return nil, invalid("Field \"to\" must be a list of addresses")
	}
	return to, nil
}
