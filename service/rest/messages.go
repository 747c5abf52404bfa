package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"mayfly/api"
	"mayfly/service"
)

const (
	maxLimit = 1000 // of ?limit=, and the messages that are in memory at once for one list
)

func (s *Server) listMessages(w *response, r *http.Request) error {
	key, id := w.key, r.PathValue("inbox")
	page, err := readPage(r.URL.Query())
	if err != nil {
		return err
	}
	in, err := s.service.Inbox(r.Context(), key, id)
	if err != nil {
		return err
	}
	changed, err := s.hold(w, r, in.Version, func(ctx context.Context) (bool, error) {
		return s.service.WaitMessages(ctx, key, id, in.Version)
	})
	if err != nil || !changed {
		return err
	}
	return s.sendMessages(w, r, id, page)
}

// readPage reads ?limit= and ?after=.
func readPage(query url.Values) (service.Page, error) {
	var p service.Page
	if query.Has("limit") {
		n, err := strconv.Atoi(query.Get("limit"))
		if err != nil || n < 1 || n > maxLimit {
			return p, invalid("limit must be a whole number from 1 to %d", maxLimit)
		}
		p.Limit = n
	}
	if query.Has("after") {
		if p.After = query.Get("after"); p.After == "" {
			return p, invalid("after must be the ID of a message")
		}
	}
	return p, nil
}

// sendMessages answers with a list. A long one is read and sent in parts, so that it takes no more memory than a
// short one; what arrives meanwhile is newer than all of it and not part of it.
func (s *Server) sendMessages(w *response, r *http.Request, id string, page service.Page) error {
	whole := page.Limit == 0
	if whole {
		page.Limit = maxLimit
	}
	list, err := s.service.Messages(r.Context(), w.key, id, page)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", versionTag(list.Version))
	if !whole || len(list.Messages) < maxLimit {
		return w.sendJSON(http.StatusOK, listJSON(list))
	}

	w.Header().Set("Content-Type", "application/json")
	var b bytes.Buffer
	b.WriteString(`{"messages":[`)
	total := list.Total
	for separator := ""; ; separator = "," {
		if err := writeSummaries(&b, separator, list.Messages); err != nil {
			return err
		}
		if len(list.Messages) < page.Limit {
			break
		}
		w.allowTime(b.Len())
		if _, err := w.Write(b.Bytes()); err != nil {
			return nil // the client has gone
		}
		b.Reset()
		page.After = list.Messages[len(list.Messages)-1].ID
		if list, err = s.service.Messages(r.Context(), w.key, id, page); err != nil {
			return err
		}
	}
	b.WriteString(`],"total":`)
	b.WriteString(strconv.Itoa(total))
	b.WriteString("}\n")
	w.allowTime(b.Len())
	_, _ = w.Write(b.Bytes())
	return nil
}

// writeSummaries writes elements of a JSON array, the first one after a separator.
func writeSummaries(b *bytes.Buffer, separator string, list []service.Summary) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for _, m := range list {
		b.WriteString(separator)
		if err := e.Encode(summaryJSON(m)); err != nil {
			return err
		}
		separator = ","
	}
	return nil
}

func listJSON(list service.List) api.List {
	l := api.List{Messages: make([]api.Summary, len(list.Messages)), Total: list.Total}
	for i, m := range list.Messages {
		l.Messages[i] = summaryJSON(m)
	}
	return l
}

func summaryJSON(m service.Summary) api.Summary {
	return api.Summary{ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject, ReceivedAt: m.ReceivedAt, Size: m.Size}
}
