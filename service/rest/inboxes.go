package rest

import (
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

// extendInbox sets when an inbox ends. Its lifetime is the one field, and has no default here.
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
	if s.service.CatchesAll(key) {
		w.Header().Set("Catch-All", "?1")
	}
	send, err := s.longPoll(w, r, func() (uint64, error) {
		return s.service.InboxesVersion(r.Context(), key)
	}, func(ctx context.Context, version uint64) (bool, error) {
		return s.service.WaitInboxes(ctx, key, version)
	})
	if err != nil || !send {
		return err
	}
	list, version, err := s.service.Inboxes(r.Context(), key)
	if err != nil {
		return err
	}
	w.Header().Set("Etag", versionTag(version))
	all := api.InboxList{Inboxes: make([]api.Inbox, len(list)), Total: len(list), Domains: s.service.Domains()}
	if s.options.Relay != nil {
		all.RelayAllow = s.options.Relay.Allowed()
	}
	for i, in := range list {
		all.Inboxes[i] = inboxJSON(in)
		all.Inboxes[i].ETag = versionTag(in.Version)
	}
	return w.sendJSON(http.StatusOK, all)
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
