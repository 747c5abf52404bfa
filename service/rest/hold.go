package rest

import (
	"context"
	"net/http"
	"time"
)

// hold decides about a request for a list whose current version is known. When the client has that version it waits,
// if the client wants it to, for another one; changed is false when nothing has changed, and then 304 was answered.
// Every answer to a client that wants to wait says so, unless too many are waiting already.
func (s *Server) hold(w *response, r *http.Request, version uint64, wait func(context.Context) (bool, error)) (changed bool, err error) {
	etag := versionTag(version)
	want, prefers := preferredWait(r.Header.Values("Prefer"))
	known := matchesETag(r.Header.Values("If-None-Match"), etag)
	if prefers {
		if known && s.holding.Add(1) > int64(s.options.MaxHeld) {
			s.holding.Add(-1)
			prefers = false
		} else {
			w.Header().Set("Preference-Applied", "wait")
		}
	}
	if !known {
		return true, nil
	}
	if prefers {
		defer s.holding.Add(-1)
		if changed, err = s.await(w, r, min(want, s.options.MaxWait), wait); err != nil || changed {
			return changed, err
		}
	}
	w.Header().Set("ETag", etag)
	w.notModified()
	return false, nil
}

// await waits, until the server stops at the latest.
func (s *Server) await(w *response, r *http.Request, most time.Duration, wait func(context.Context) (bool, error)) (bool, error) {
	control := http.NewResponseController(w)
	// The time that the request may take to arrive is over, and so must not end the wait. Errors: as in allowTime.
	_ = control.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(r.Context(), most)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	start := time.Now()
	changed, err := wait(ctx)
	w.held = time.Since(start)
	w.quota.Reset -= w.held
	w.setQuota(w.quota)
	return changed, err
}
