package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"mayfly/api"
	"mayfly/service"
)

// response is the http.ResponseWriter of one request, with what is known about the request.
type response struct {
	http.ResponseWriter
	agent  *agentTransport // makes the request; nil: it comes from outside
	key    service.Key     // the client's; its ID is empty where no key is needed
	quota  service.Quota
	status int           // 0 until the header is written
	bytes  int64         // of the body
	ends   time.Time     // when the client must have read all; zero: no limit
	waited time.Duration // for a change, or for the relay
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.setDeadline() // also for an answer without a body
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	written := 0
	for {
		piece := b[written:min(len(b), written+stepBytes)]
		w.setDeadline()
		n, err := w.ResponseWriter.Write(piece)
		w.bytes += int64(n)
		if written += n; err != nil || written == len(b) {
			return written, err
		}
	}
}

// Unwrap lets http.ResponseController find the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// clearReadDeadline lets a request wait for longer than it may take to read it.
func (w *response) clearReadDeadline() {
	// A test's connection may have no deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// allowTime gives the client time to read n more bytes: 30 seconds, plus a second for each 256 KiB.
func (w *response) allowTime(n int) {
	w.ends = time.Now().Add(30*time.Second + time.Duration(n/(256<<10))*time.Second)
	w.setDeadline()
}

// A client is cut off if it does not read the next stepBytes within stallTimeout.
const (
	stallTimeout = 15 * time.Second
	stepBytes    = 128 << 10
)

func (w *response) setDeadline() {
	deadline := time.Now().Add(stallTimeout)
	if !w.ends.IsZero() && w.ends.Before(deadline) {
		deadline = w.ends
	}
	// A test's connection may have no deadlines.
	_ = http.NewResponseController(w).SetWriteDeadline(deadline)
}

// send sends a complete answer.
func (w *response) send(status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.allowTime(len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails when the client has left
}

// sendPart sends the next part of an answer of unknown length, and reports whether the client is
// still there.
func (w *response) sendPart(contentType string, body []byte) bool {
	if w.status == 0 {
		w.Header().Set("Content-Type", contentType)
	}
	w.allowTime(len(body))
	_, err := w.Write(body)
	return err == nil
}

// sendJSON sends a value as a complete answer.
func (w *response) sendJSON(status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	w.send(status, "application/json", body)
	return nil
}

// sendError sends an error in the contract's envelope.
func (w *response) sendError(status int, message string) {
	h := w.Header()
	// Fields that may have been set for the answer that failed.
	for _, name := range [...]string{"Etag", "Content-Disposition", "Content-Security-Policy", "Location"} {
		h.Del(name)
	}
	// It can always be encoded.
	_ = w.sendJSON(status, api.ErrorBody{Error: api.ErrorDetail{Code: status, Message: message}})
}

// unchanged sets the entity tag of a resource. If the client has that state already, it sends 304 and
// returns true.
func (w *response) unchanged(r *http.Request, etag string) bool {
	w.Header().Set("Etag", etag)
	if !matchesETag(r.Header["If-None-Match"], etag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// versionTag returns the entity tag of a resource that has a version.
func versionTag(version uint64) string { return `"` + strconv.FormatUint(version, 36) + `"` }

// setQuota sets the fields that tell the client its rate limit
// (draft-ietf-httpapi-ratelimit-headers-10).
func (w *response) setQuota(q service.Quota) {
	if q.Limit == 0 {
		return
	}
	h := w.Header()
	h.Set("Ratelimit-Policy", `"minute";q=`+strconv.Itoa(q.Limit)+`;w=60`)
	h.Set("Ratelimit", `"minute";r=`+strconv.Itoa(q.Remaining)+`;t=`+strconv.Itoa(seconds(q.Reset)))
}

// retryAfter tells the client when to try again.
func (w *response) retryAfter(d time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, seconds(d))))
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int {
	return int((max(d, 0) + time.Second - 1) / time.Second)
}

// encode encodes a value as JSON, without the escapes that only HTML needs. A json.Marshaler is
// called directly, since encoding/json would parse its output again.
func encode(v any) ([]byte, error) {
	if m, ok := v.(json.Marshaler); ok {
		b, err := m.MarshalJSON()
		return append(b, '\n'), err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// errAbsent is the error for an address without an inbox, which a long poll waits for without an entity tag.
var errAbsent = service.Errorf(service.NotFound, "No inbox gets mail to this address")

// longPoll reads the version of a list and reports whether the list is to be sent. If the client has
// that version already, the answer is 304: at once, or when the client prefers to wait (RFC 7240), the
// version does not change and the time is up or the server stops.
//
// A request beyond the bounds of polls does not wait. Its answer lacks Preference-Applied, which
// tells the client to poll.
func (s *Server) longPoll(w *response, r *http.Request, read func() (version uint64, err error),
	wait func(ctx context.Context, version uint64) (changed bool, err error)) (send bool, err error) {
	version, err := read()
	if err != nil && err != errAbsent {
		return false, err
	}
	limit, applied := preferredWait(r.Header["Prefer"])
	send = err == nil && !matchesETag(r.Header["If-None-Match"], versionTag(version))
	if !send && limit > 0 {
		// While there is a body to read, net/http does not notice that the client has left.
		if applied = r.Body == http.NoBody && s.polls.Acquire(w.key.ID); applied {
			changed, failed := s.wait(w, r, limit, func(ctx context.Context) (bool, error) { return wait(ctx, version) })
			if failed == nil && changed {
				_, err = read()
				send = true
			}
			if err = cmp.Or(failed, err); err != nil && err != errAbsent {
				return false, err
			}
		}
	}
	if applied {
		w.Header().Set("Preference-Applied", "wait")
	}
	if !send && err == nil {
		w.Header().Set("Etag", versionTag(version))
		w.WriteHeader(http.StatusNotModified)
	}
	return send, err
}

// wait waits for a change and then authenticates the request again, since its key may have been
// revoked. With an error of code Canceled the client has left.
func (s *Server) wait(w *response, r *http.Request, limit time.Duration, wait func(context.Context) (bool, error)) (changed bool, err error) {
	defer s.polls.Release(w.key.ID)
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
