package rest

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// heldRequests counts the requests that wait for a change, for each key and in all.
type heldRequests struct {
	max, maxPerKey int

	mu    sync.Mutex
	total int
	byKey map[string]int // by key ID, without zeros
}

// acquire counts a request of the key, unless a bound is reached.
func (h *heldRequests) acquire(keyID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.total >= h.max || h.byKey[keyID] >= h.maxPerKey {
		return false
	}
	h.total++
	h.byKey[keyID]++
	return true
}

func (h *heldRequests) release(keyID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total--
	if h.byKey[keyID]--; h.byKey[keyID] == 0 {
		delete(h.byKey, keyID)
	}
}

func (h *heldRequests) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total
}

// hold reads the version of a list and reports whether the list is to be sent. When the client has
// that version already, it answers 304 instead, but if the client prefers to wait (RFC 7240), only
// after holding the request until the version changes, the time is up or the server stops.
//
// A request beyond the bounds of heldRequests is not held. Its answer lacks Preference-Applied,
// which tells the client to poll.
func (s *Server) hold(w *response, r *http.Request, read func() (version uint64, err error),
	wait func(ctx context.Context, version uint64) (changed bool, err error)) (send bool, err error) {
	version, err := read()
	if err != nil {
		return false, err
	}
	limit, applied := preferredWait(r.Header["Prefer"])
	send = !matchesETag(r.Header["If-None-Match"], versionTag(version))
	if !send && limit > 0 {
		// While there is a body to read, net/http does not notice that the client has left.
		if applied = r.Body == http.NoBody && s.held.acquire(w.key.ID); applied {
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

// wait holds an acquired request and then authenticates it again, since the key may have been revoked.
// With an error of code Canceled the client has left.
func (s *Server) wait(w *response, r *http.Request, limit time.Duration, wait func(context.Context) (bool, error)) (changed bool, err error) {
	defer s.held.release(w.key.ID)
	// The deadline for reading the request must not end the wait. A test's connection may have no
	// deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(r.Context(), min(limit, s.options.MaxWait))
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	start := time.Now()
	changed, err = wait(ctx)
	w.held = time.Since(start)
	if err == nil {
		err = r.Context().Err()
	}
	if err != nil {
		return false, err
	}
	if w.key, err = s.authenticate(r); err != nil {
		return false, err
	}
	w.quota.Reset -= w.held
	w.setQuota(w.quota)
	return changed, nil
}
