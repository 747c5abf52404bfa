package rest

import (
	"context"
	"net/http"
	"time"
)

// longPoll reads the version of a list and reports whether the list is to be sent. If the client has
// that version already, the answer is 304: at once, or when the client prefers to wait (RFC 7240), the
// version does not change and the time is up or the server stops.
//
// A request beyond the bounds of polls does not wait. Its answer lacks Preference-Applied, which
// tells the client to poll.
func (s *Server) longPoll(w *response, r *http.Request, read func() (version uint64, err error),
	wait func(ctx context.Context, version uint64) (changed bool, err error)) (send bool, err error) {
	version, err := read()
	if err != nil {
		return false, err
	}
	limit, applied := preferredWait(r.Header["Prefer"])
	send = !matchesETag(r.Header["If-None-Match"], versionTag(version))
	if !send && limit > 0 {
		// While there is a body to read, net/http does not notice that the client has left.
		if applied = r.Body == http.NoBody && s.polls.Enter(w.key.ID); applied {
			send, err = s.wait(w, r, limit, func(ctx context.Context) (bool, error) { return wait(ctx, version) })
			if err == nil && send {
				_, err = read()
			}
			if err != nil {
				return false, err
			}
		}
	}
	if applied {
		w.Header().Set("Preference-Applied", "wait")
	}
	if !send {
		w.Header().Set("Etag", versionTag(version))
		w.WriteHeader(http.StatusNotModified)
	}
	return send, nil
}

// wait waits for a change and then authenticates the request again, since its key may have been
// revoked. With an error of code Canceled the client has left.
func (s *Server) wait(w *response, r *http.Request, limit time.Duration, wait func(context.Context) (bool, error)) (changed bool, err error) {
	defer s.polls.Leave(w.key.ID)
	w.clearReadDeadline()
	ctx, cancel := context.WithTimeout(r.Context(), min(limit, s.options.MaxWait))
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	start := time.Now()
	changed, err = wait(ctx)
	w.waited = time.Since(start)
	if err == nil {
		err = r.Context().Err()
	}
	if err != nil {
		return false, err
	}
	if w.key, err = s.authenticate(r); err != nil {
		return false, err
	}
	w.quota.Reset -= w.waited
	w.setQuota(w.quota)
	return changed, nil
}
