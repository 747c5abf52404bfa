package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"mayfly/assets"
	"mayfly/service"
)

// handler answers a request, or returns the error to answer with.
type handler func(w *response, r *http.Request) error

// methods are the methods that a path supports. GET includes HEAD.
type methods map[string]handler

func (s *Server) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for path, m := range map[string]methods{
		"/v1/inboxes":                                                     {"GET": s.listInboxes, "POST": s.createInbox},
		"/v1/inboxes/{inbox}":                                             {"GET": s.getInbox, "DELETE": s.deleteInbox, "PATCH": s.extendInbox},
		"/v1/inboxes/{inbox}/messages":                                    {"GET": s.listMessages, "DELETE": s.deleteMessages},
		"/v1/inboxes/{inbox}/messages/{message}":                          {"GET": s.getMessage, "DELETE": s.deleteMessages},
		"/v1/inboxes/{inbox}/messages/{message}/release":                  {"POST": s.releaseMessage},
		"/v1/inboxes/{inbox}/messages/{message}/attachments/{attachment}": {"GET": s.getAttachment},
		"/openapi.yaml":                                                   {"GET": s.description()},
		"/healthz":                                                        {"GET": s.health},
		"/readyz":                                                         {"GET": s.ready},
	} {
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
		w := rw.(*response) // ServeHTTP passes no other
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
		err = service.Errorf(service.Unavailable, "The service is stopping")
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
