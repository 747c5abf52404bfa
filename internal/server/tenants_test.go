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
	"mayfly/service/postgres/pgtest"
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

func TestTagsDoNotCrossTenants(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(t *testing.T) server.Config{
		"folder": config,
		"database": func(t *testing.T) server.Config {
			c := config(t)
			c.Store = pgtest.Database(t)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, store(t))
			a, b := newTenant(t, s), newTenant(t, s)
			mail := func(local, subject string, want int) {
				t.Helper()
				if code := smtpCode(send(s.SMTPAddr(), local+"@one.test", subject)); code != want {
					t.Errorf("mail to %s is answered with %d, want %d", local, code, want)
				}
			}
			u, _ := a.create("u")
			if _, status := b.create("u+x"); status != http.StatusBadRequest {
				t.Errorf("a tag of another key's address: %d", status)
			}
			mail("u+x", "one", 250)
			v, _ := b.create("v+x")
			w, _ := a.create("v")
			mail("v+x", "two", 250)
			if got := a.subjects(u) + "|" + a.subjects(w) + "|" + b.subjects(v); got != "one||two" {
				t.Errorf("the inboxes have %q", got)
			}
			if status := b.call("DELETE", v, "", nil); status >= 300 {
				t.Errorf("deleting: %d", status)
			}
			mail("v+x", "three", 550)
			mail("v+y", "four", 250)
			if got := a.subjects(w); got != "four" {
				t.Errorf("the untagged address has %q", got)
			}
			if status := a.call("DELETE", u, "", nil); status >= 300 {
				t.Errorf("deleting: %d", status)
			}
			if _, status := b.create("u+x"); status != http.StatusBadRequest {
				t.Errorf("a tag of another key's deleted address: %d", status)
			}
		})
	}
}
