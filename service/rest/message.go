package rest

import (
	"net/http"
	"slices"

	"mayfly/api"
	"mayfly/internal/mail"
	"mayfly/service"
	"mayfly/service/limits"
)

// parseCost is how much memory a message takes on its way from the store to the answer, in multiples of
// its size: raw, decoded, and converted to UTF-8.
const parseCost = 3

func (s *Server) getMessage(w *response, r *http.Request) error {
	inboxID, id := r.PathValue("inbox"), r.PathValue("message")
	w.Header().Set("Vary", "Accept")
	summary, err := s.service.Summary(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	if prefersRaw(r.Header.Values("Accept")) {
		return s.sendRaw(w, r, inboxID, summary)
	}
	if w.unchanged(r, `"`+id+`.json"`) {
		return nil
	}
	body, ok := s.cache.get(id)
	if !ok {
		release, err := s.options.Large.Reserve(r.Context(), w.key.ID, parseCost*summary.Size)
		if err != nil {
			return err
		}
		defer release()
		m, err := s.service.Message(r.Context(), w.key, inboxID, id)
		if err != nil {
			return err
		}
		message := messageJSON(m)
		if len(message.Text)+len(message.HTML) > limits.SmallAnswer {
			return w.sendLarge(message)
		}
		if body, err = encode(message); err != nil {
			return err
		}
		s.cache.put(id, body)
	}
	w.send(http.StatusOK, "application/json", body)
	return nil
}

func (s *Server) sendRaw(w *response, r *http.Request, inboxID string, summary service.Summary) error {
	etag := `"` + summary.ID + `.eml"`
	if w.unchanged(r, etag) {
		return nil
	}
	body, ok := s.cache.get(etag)
	if !ok {
		release, err := s.options.Large.Reserve(r.Context(), w.key.ID, summary.Size)
		if err != nil {
			return err
		}
		defer release()
		m, err := s.service.Message(r.Context(), w.key, inboxID, summary.ID)
		if err != nil {
			return err
		}
		body = m.Raw
		s.cache.put(etag, body)
	}
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.send(http.StatusOK, "message/rfc822", body)
	return nil
}

func messageJSON(m service.Message) api.Message {
	parsed := mail.Parse(m.Raw)
	answer := api.Message{
		ID:          m.ID,
		From:        m.From,
		FromName:    m.FromName,
		To:          m.To,
		Subject:     m.Subject,
		Text:        parsed.Text,
		HTML:        parsed.HTML,
		ReceivedAt:  m.ReceivedAt,
		Attachments: make([]api.Attachment, len(parsed.Attachments)),
	}
	for i, a := range parsed.Attachments {
		answer.Attachments[i] = api.Attachment{
			ID:          a.ID,
			Filename:    a.Filename,
			ContentType: a.ContentType,
			Size:        int64(a.Size),
			ContentID:   a.ContentID,
			Inline:      a.Inline,
		}
	}
	return answer
}

func (s *Server) getAttachment(w *response, r *http.Request) error {
	inboxID, id := r.PathValue("inbox"), r.PathValue("message")
	summary, err := s.service.Summary(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	release, err := s.options.Large.Reserve(r.Context(), w.key.ID, parseCost*summary.Size)
	if err != nil {
		return err
	}
	defer release()
	m, err := s.service.Message(r.Context(), w.key, inboxID, id)
	if err != nil {
		return err
	}
	attachments := mail.Parse(m.Raw).Attachments
	i := slices.IndexFunc(attachments, func(a mail.Attachment) bool { return a.ID == r.PathValue("attachment") })
	if i < 0 {
		return service.Errorf(service.NotFound, "No such attachment")
	}
	a := attachments[i]
	if w.unchanged(r, `"`+m.ID+`.`+a.ID+`"`) {
		return nil
	}
	w.Header().Set("Content-Disposition", disposition(a.Filename))
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.send(http.StatusOK, downloadType(a.ContentType), a.Content)
	return nil
}
