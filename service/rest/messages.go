package rest

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"mayfly/api"
	"mayfly/service"
)

// maxLimit is the largest value of ?limit=, and how many messages of a list are in memory at once.
const maxLimit = 1000

func (s *Server) listMessages(w *response, r *http.Request) error {
	key, id := w.key, r.PathValue("inbox")
	page, err := readPage(r.URL.RawQuery)
	if err != nil {
		return err
	}
	var in service.Inbox
	send, err := s.hold(w, r, func() (version uint64, err error) {
		in, err = s.service.Inbox(r.Context(), key, id)
		return in.Version, err
	}, func(ctx context.Context, version uint64) (bool, error) {
		return s.service.WaitMessages(ctx, key, id, version)
	})
	if err != nil || !send {
		return err
	}
	return s.sendMessages(w, r, in, page)
}

// readPage reads ?limit= and ?after=.
func readPage(rawQuery string) (service.Page, error) {
	var p service.Page
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return p, invalid("The query of the URL cannot be read")
	}
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

// sendMessages sends a list. A long one is read and sent in parts, so that it takes no more memory
// than a short one; messages that arrive meanwhile are newer than all of it and not included.
func (s *Server) sendMessages(w *response, r *http.Request, in service.Inbox, page service.Page) error {
	if body, ok := s.cache.get(listKey(in.ID, in.Version, page)); ok {
		w.Header().Set("Etag", versionTag(in.Version))
		w.send(http.StatusOK, "application/json", body)
		return nil
	}
	part := page
	if part.Limit == 0 {
		part.Limit = maxLimit
	}
	list, err := s.service.Messages(r.Context(), w.key, in.ID, part)
	if err != nil {
		return err
	}
	w.Header().Set("Etag", versionTag(list.Version))
	total, version := list.Total, list.Version
	b := bytes.NewBufferString(`{"messages":[`)
	for {
		if err := writeSummaries(b, list.Messages); err != nil {
			return err
		}
		if page.Limit > 0 || len(list.Messages) < part.Limit {
			break
		}
		part.After = list.Messages[len(list.Messages)-1].ID
		if list, err = s.service.Messages(r.Context(), w.key, in.ID, part); err != nil {
			return err
		}
		if len(list.Messages) == 0 {
			break
		}
		b.WriteByte(',')
		if !w.sendPart("application/json", b.Bytes()) {
			return nil
		}
		b.Reset()
	}
	b.WriteString(`],"total":`)
	b.WriteString(strconv.Itoa(total))
	b.WriteString("}\n")
	if w.status != 0 {
		w.sendPart("application/json", b.Bytes())
		return nil
	}
	s.cache.put(listKey(in.ID, version, page), b.Bytes())
	w.send(http.StatusOK, "application/json", b.Bytes())
	return nil
}

// listKey returns the cache key of a list, which differs for each version of the inbox.
func listKey(id string, version uint64, p service.Page) string {
	return id + versionTag(version) + strconv.Itoa(p.Limit) + p.After
}

// writeSummaries writes the elements of a JSON array.
func writeSummaries(b *bytes.Buffer, list []service.Summary) error {
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		s := api.Summary{ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject, ReceivedAt: m.ReceivedAt, Size: m.Size}
		j, err := s.MarshalJSON() // directly, as in encode
		if err != nil {
			return err
		}
		b.Write(j)
	}
	return nil
}
