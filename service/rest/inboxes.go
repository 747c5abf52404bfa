package rest

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"mayfly/api"
	"mayfly/service"
)

func (s *Server) createInbox(w *response, r *http.Request) error {
	n, err := readNewInbox(w, r)
	if err != nil {
		return err
	}
	in, err := s.service.CreateInbox(r.Context(), w.key, n)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/inboxes/"+in.ID)
	return w.sendJSON(http.StatusCreated, api.Inbox{
		ID:        in.ID,
		Email:     in.Address,
		CreatedAt: in.CreatedAt,
		ExpiresAt: in.ExpiresAt,
		TTL:       int(in.ExpiresAt.Sub(in.CreatedAt) / time.Second),
	})
}

// readNewInbox reads the body of a create request. An error is meant for the client.
func readNewInbox(w http.ResponseWriter, r *http.Request) (service.NewInbox, error) {
	var n service.NewInbox
	fields, err := readObject(w, r, "domain", "username", "ttl")
	if err == nil {
		n.Domain, err = textField(fields, "domain")
	}
	if value, ok := fields["ttl"]; ok && err == nil {
		n.TTL, err = secondsField("ttl", value)
	}
	if err == nil {
		n.Username, err = textField(fields, "username")
	}
	return n, err
}

func (s *Server) getInbox(w *response, r *http.Request) error {
	in, err := s.service.Inbox(r.Context(), w.key, r.PathValue("inbox"))
	if err != nil {
		return err
	}
	if w.unchanged(r, versionTag(in.Version)) {
		return nil
	}
	return w.sendJSON(http.StatusOK, inboxJSON(in))
}

// extendInbox sets when an inbox expires. Its lifetime is the one field, and has no default here.
func (s *Server) extendInbox(w *response, r *http.Request) error {
	fields, err := readObject(w, r, "ttl")
	if err != nil {
		return err
	}
	ttl, err := secondsField("ttl", fields["ttl"])
	if err != nil {
		return err
	}
	in, err := s.service.ExtendInbox(r.Context(), w.key, r.PathValue("inbox"), ttl)
	if err != nil {
		return err
	}
	w.Header().Set("Etag", versionTag(in.Version))
	return w.sendJSON(http.StatusOK, inboxJSON(in))
}

func (s *Server) deleteInbox(w *response, r *http.Request) error {
	if err := s.service.DeleteInbox(r.Context(), w.key, r.PathValue("inbox")); err != nil {
		return err
	}
	return w.sendJSON(http.StatusOK, api.Deleted{Deleted: true})
}

func (s *Server) listInboxes(w *response, r *http.Request) error {
	key := w.key
	page, err := readPage(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if s.service.CatchesAll(key) {
		w.Header().Set("Catch-All", "?1")
	} else if page.Address != "" { // by which a client tells this 404 from that of a service without this path
		w.Header().Set("Catch-All", "?0")
	}
	var list service.InboxList
	var version uint64
	send, err := s.longPoll(w, r, func() (_ uint64, err error) {
		list, err = s.service.Inboxes(r.Context(), key, page)
		if err == nil && page.Address != "" && list.Total == 0 {
			err = errAbsent
		}
		version = list.Version + uint64(list.Total)
		return version, err
	}, func(ctx context.Context, _ uint64) (bool, error) {
		return s.service.WaitInboxes(ctx, key, page, list)
	})
	if err != nil || !send {
		return err
	}
	w.Header().Set("Etag", versionTag(version))
	if page.Address != "" {
		return w.sendJSON(http.StatusOK, inboxJSON(list.Inboxes[0]))
	}
	body, ok := s.answers.get(listKey(key.ID, version, page))
	if !ok {
		if body, err = s.inboxesJSON(list); err != nil {
			return err
		}
		s.answers.put(listKey(key.ID, version, page), body)
	}
	w.send(http.StatusOK, "application/json", body)
	return nil
}

// inboxesJSON encodes a list.
func (s *Server) inboxesJSON(list service.InboxList) ([]byte, error) {
	b := bytes.NewBufferString(`{"inboxes":[`)
	err := writeElements(b, list.Inboxes, func(in service.Inbox) api.Inbox {
		j := inboxJSON(in)
		j.ETag = versionTag(in.Version)
		return j
	})
	if err != nil {
		return nil, err
	}
	rest := api.InboxList{Total: list.Total, Domains: s.service.Domains()}
	if s.options.Relay != nil {
		rest.RelayAllow = s.options.Relay.Allowed()
	}
	end, err := encode(rest)
	b.Write(bytes.TrimPrefix(end, []byte(`{"inboxes":[`)))
	return b.Bytes(), err
}

// inboxJSON returns an inbox as GET answers it; the answer to POST has other fields.
func inboxJSON(in service.Inbox) api.Inbox {
	return api.Inbox{
		ID:           in.ID,
		Email:        in.Address,
		CreatedAt:    in.CreatedAt,
		ExpiresAt:    in.ExpiresAt,
		MessageCount: &in.Messages,
		Status:       "active",
	}
}
