package rest

import (
	"context"
	"net/http"
)

// sshKey is the key of the fingerprint in the context of a request that a session over SSH makes. Nothing that comes over a
// network can set it.
type sshKey struct{}

// ServeSSH serves a request of a session over SSH: as the API key that its public key stands for at that time, and counted with
// the others of that key.
func (s *Server) ServeSSH(w http.ResponseWriter, r *http.Request, fingerprint string) {
	s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sshKey{}, fingerprint)))
}
