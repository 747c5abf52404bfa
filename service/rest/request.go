package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/assets"
	"mayfly/internal/sockets"
	"mayfly/service"
)

// maxBody is the size limit of a request's body, in bytes.
const maxBody = 64 << 10

// invalid returns an error that tells the client what is wrong with its request.
func invalid(format string, args ...any) error {
	return service.Errorf(service.Invalid, format, args...)
}

// readObject reads the fields of a request's body, one JSON object with known fields. An empty body stands
// for an empty object. Names are not folded, as encoding/json does with those of a struct.
func readObject(w http.ResponseWriter, r *http.Request, known ...string) (map[string]json.RawMessage, error) {
	body, err := readBody(w, r, maxBody)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if contentType := r.Header.Get("Content-Type"); contentType != "" {
		if name, _, err := mime.ParseMediaType(contentType); err != nil || name != "application/json" {
			return nil, invalid("The body must be JSON: send it with Content-Type: application/json")
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, invalid("The body must be one JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return nil, invalid("Unknown field %.50q; known %s %s", name, english.PluralWord(len(known), "is", "are"), english.WordSeries(known, "and"))
		}
	}
	return fields, nil
}

// readBody reads a request's body. An error is meant for the client.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most { // the announced length suffices to refuse it
		w.Header().Set("Connection", "close")
		return nil, invalid("The body is larger than %d bytes", most)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, invalid("The body is larger than %d bytes", most)
	}
	if err != nil {
		return nil, invalid("The body could not be read")
	}
	return body, nil
}

// textField returns a field, or "" if there is none.
func textField(fields map[string]json.RawMessage, name string) (string, error) {
	value, ok := fields[name]
	if !ok {
		return "", nil
	}
	var s *string
	if err := json.Unmarshal(value, &s); err != nil || s == nil {
		return "", invalid("Field %q must be a string", name)
	}
	if *s == "" {
		return "", invalid("Field %q is empty: leave it out for the default", name)
	}
	return *s, nil
}

// maxSeconds is what a lifetime is cut to before it becomes a time.Duration: about 68 years, longer
// than any plan's.
const maxSeconds = 1<<31 - 1

func secondsField(name string, value json.RawMessage) (time.Duration, error) {
	seconds, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case err != nil:
		return 0, invalid("Field %q must be a whole number of seconds", name)
	case seconds <= 0:
		return 0, invalid("Field %q must be a positive number of seconds", name)
	}
	return time.Duration(min(seconds, maxSeconds)) * time.Second, nil
}

// maxLimit is the largest value of ?limit=, and how much of a list is in memory at once.
const maxLimit = 1000

// readPage reads ?limit= and ?after=, and of a list of inboxes ?address=.
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
			return p, invalid("after must not be empty")
		}
	}
	if query.Has("address") {
		if p.Address = query.Get("address"); p.Address == "" || len(query) > 1 {
			return p, invalid("address must not be empty, nor with other parameters")
		}
	}
	return p, nil
}

// wantsRaw reports whether Accept fields name message/rfc822 and not JSON.
func wantsRaw(accept []string) bool {
	all := strings.ToLower(strings.Join(accept, ","))
	return strings.Contains(all, "message/rfc822") && !strings.Contains(all, "application/json")
}

// preferredWait returns the wait preference of Prefer fields (RFC 7240, section 4.3), and whether
// there is one. The first counts; one that is not a whole number of seconds is ignored, one beyond 31
// bits is cut to them.
func preferredWait(prefer []string) (time.Duration, bool) {
	for preference := range strings.SplitSeq(strings.Join(prefer, ","), ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "wait") {
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			return time.Duration(seconds) * time.Second, err == nil || errors.Is(err, strconv.ErrRange)
		}
	}
	return 0, false
}

// matchesETag reports whether If-None-Match fields contain an entity tag, by weak comparison (RFC
// 9110, sections 8.8.3.2 and 13.1.2). None of our tags has a comma in it.
func matchesETag(ifNoneMatch []string, etag string) bool {
	for _, field := range ifNoneMatch {
		for tag := range strings.SplitSeq(field, ",") {
			if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// isLocalRequest reports whether a request names this machine as its host, and as its origin if it
// has one. A web page whose name was made to lead here (DNS rebinding) sends its own name.
func isLocalRequest(r *http.Request) bool {
	for _, origin := range r.Header["Origin"] {
		u, err := url.Parse(origin)
		if err != nil || !isLocalHost(u.Host) {
			return false
		}
	}
	return isLocalHost(r.Host)
}

// isLocalHost reports whether a host, with or without a port, is localhost, a name in it (RFC 6761)
// or a loopback address.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return strings.HasSuffix(host, ".localhost") || sockets.IsLoopback(strings.Trim(host, "[]"))
}

// handler answers a request, or returns the error to answer with.
type handler func(w *response, r *http.Request) error

// methods are the methods that a path supports. GET includes HEAD.
type methods map[string]handler

func (s *Server) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	if s.options.MCP != nil {
		mux.HandleFunc(mcpPath, s.dispatch(methods{"GET": s.serveMCP, "POST": s.serveMCP, "DELETE": s.serveMCP}))
	}
	paths := map[string]methods{
		"/v1/inboxes":                                                     {"GET": s.listInboxes, "POST": s.createInbox},
		"/v1/inboxes/{inbox}":                                             {"GET": s.getInbox, "DELETE": s.deleteInbox, "PATCH": s.extendInbox},
		"/v1/inboxes/{inbox}/messages":                                    {"GET": s.listMessages, "DELETE": s.deleteMessages},
		"/v1/inboxes/{inbox}/messages/{message}":                          {"GET": s.getMessage, "DELETE": s.deleteMessages},
		"/v1/inboxes/{inbox}/messages/{message}/delivery":                 {"GET": s.getDelivery},
		"/v1/inboxes/{inbox}/messages/{message}/release":                  {"POST": s.releaseMessage},
		"/v1/inboxes/{inbox}/messages/{message}/attachments/{attachment}": {"GET": s.getAttachment},
		"/v1/inboxes/{inbox}/state":                                       {"PUT": s.setState},
		"/v1/sessions":                                                    {"GET": s.listSessions},
		"/v1/states":                                                      {"GET": s.listStates},
		"/openapi.yaml":                                                   {"GET": s.description()},
		"/healthz":                                                        {"GET": s.health},
		"/readyz":                                                         {"GET": s.ready},
	}
	if s.options.LocalOnly { // its clients share a disk
		delete(paths, "/v1/inboxes/{inbox}/state")
		delete(paths, "/v1/states")
	}
	for path, m := range paths {
		mux.HandleFunc(path, s.dispatch(m))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.(*response).sendError(http.StatusNotFound, "No such path")
	})
	return mux
}

// dispatch calls the handler of the method, and answers 405 to one that is not supported.
func (s *Server) dispatch(m methods) http.HandlerFunc {
	allowed := slices.Sorted(maps.Keys(m))
	if _, ok := m["GET"]; ok {
		allowed = append(allowed, "HEAD")
	}
	allow := strings.Join(allowed, ", ")
	return func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response) // serve passes no other
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		h, ok := m[method]
		if !ok {
			w.Header().Set("Allow", allow)
			w.sendError(http.StatusMethodNotAllowed, "This path supports only "+allow)
			return
		}
		if len(r.Header["Content-Encoding"]) > 0 {
			w.Header().Set("Accept-Encoding", "identity") // RFC 7694
			w.sendError(http.StatusUnsupportedMediaType, "Send the request without Content-Encoding")
			return
		}
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// description serves assets/openapi.yaml.
func (s *Server) description() handler {
	sum := sha256.Sum256(assets.OpenAPI)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w *response, r *http.Request) error {
		if w.unchanged(r, etag) {
			return nil
		}
		w.send(http.StatusOK, "application/yaml", assets.OpenAPI)
		return nil
	}
}

type status struct {
	Status string `json:"status"`
}

func (s *Server) health(w *response, r *http.Request) error {
	return w.sendJSON(http.StatusOK, status{"ok"})
}

// ready says why the service is not ready, as far as anyone may know.
func (s *Server) ready(w *response, r *http.Request) error {
	err := s.service.Ready(r.Context())
	if s.draining.Err() != nil {
		err = service.ErrClosed
	}
	if err == nil {
		return w.sendJSON(http.StatusOK, status{"ok"})
	}
	s.unavailable.Do(func() { s.log.Error("not ready", "error", err) })
	reason := "The service is not ready"
	if e, ok := errors.AsType[*service.Error](err); ok {
		reason = e.Message
	}
	w.retryAfter(retryUnavailable)
	w.sendError(http.StatusServiceUnavailable, reason)
	return nil
}
