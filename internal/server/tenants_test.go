package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"mayfly/internal/server"
	"mayfly/service"
)

// tenant is a client of the REST API.
type tenant struct {
	t   *testing.T
	s   *server.Server
	key string
}

func newTenant(t *testing.T, s *server.Server) tenant {
	t.Helper()
	secret, _, err := s.Service().CreateKey(t.Context(), "", service.Enterprise)
	must(t, err)
	return tenant{t, s, secret}
}

// call makes a request, decodes the answer into v unless it is nil, and returns the status.
func (c tenant) call(method, path, body string, v any) int {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.s.HTTPAddr()+path, strings.NewReader(body))
	must(c.t, err)
	r.Header.Set("X-API-Key", c.key)
	answer, err := http.DefaultClient.Do(r)
	must(c.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(c.t, err)
	if v != nil && answer.StatusCode < 300 {
		must(c.t, json.Unmarshal(text, v))
	}
	return answer.StatusCode
}

// create creates an inbox and returns its path, or the status.
func (c tenant) create(username string) (path string, status int) {
	c.t.Helper()
	var in struct{ ID string }
	status = c.call("POST", "/v1/inboxes", `{"username":"`+username+`"}`, &in)
	return "/v1/inboxes/" + in.ID, status
}

func (c tenant) subjects(path string) string {
	c.t.Helper()
	var list struct{ Messages []struct{ Subject string } }
	if status := c.call("GET", path+"/messages", "", &list); status != http.StatusOK {
		c.t.Errorf("listing %s: %d", path, status)
	}
	var all []string
	for _, m := range list.Messages {
		all = append([]string{m.Subject}, all...)
	}
	return strings.Join(all, " ")
}

// smtpCode returns the code of an SMTP server's error, or 250.
func smtpCode(err error) int {
	if e, ok := err.(*textproto.Error); ok {
		return e.Code
	}
	if err != nil {
		return 0
	}
	return 250
}
