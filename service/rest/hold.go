package rest

import (
	"context"
	"net/http"
)

// hold decides about a request for a list whose current version is known. When the client has that version and wants
// to wait for another one, the request is parked; it comes back here once it has waited. Answer is false when nothing
// is left to be done: the request is parked, or 304 was answered, since nothing has changed.
//
// Every answer to a client that wants to wait says so, unless its request could not be parked.
func (s *Server) hold(w *response, r *http.Request, version uint64, wait func(context.Context) (bool, error)) (answer bool, err error) {
	etag := versionTag(version)
	most, prefers := preferredWait(r.Header.Values("Prefer"))
	if !matchesETag(r.Header.Values("If-None-Match"), etag) || w.resumed != nil && w.resumed.changed {
		if prefers {
			w.Header().Set("Preference-Applied", "wait")
		}
		return true, nil
	}
	if prefers && w.resumed == nil && most > 0 && s.park(w, r, min(most, s.options.MaxWait), wait) {
		return false, nil
	}
	if prefers && (w.resumed != nil || most == 0) {
		w.Header().Set("Preference-Applied", "wait")
	}
	w.Header().Set("Etag", etag)
	w.notModified()
	return false, nil
}
