package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/mcp"
)

func codeMail(code string) apitest.Mail {
	return apitest.Mail{From: "no-reply@acme.example", Subject: "Your code", Text: "Your verification code is " + code + "."}
}

// code returns the code that get_code returns, "" if there is none in time.
func (a agent) code(arguments map[string]any) string {
	a.Helper()
	arguments["timeout"] = 5
	r := a.result("get_code", arguments)
	if r.IsError {
		if !strings.Contains(text(r), "no such message arrived within 5 seconds") {
			a.Errorf("get_code %v: %s", arguments, text(r))
		}
		return ""
	}
	var out struct{ Code string }
	a.read(r, &out)
	return out.Code
}

func TestEachMailIsReturnedOnceForEachQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, apitest.Options{}, known(t))
		inbox := a.inbox()
		expect := func(want string, arguments map[string]any) {
			t.Helper()
			arguments["inbox"] = inbox.Email
			if got := a.code(arguments); got != want {
				t.Errorf("get_code %v: %q, want %q", arguments, got, want)
			}
		}
		a.deliver(inbox, codeMail("111111"))
		time.Sleep(time.Minute)
		a.deliver(inbox, codeMail("222222"))
		expect("222222", map[string]any{})
		expect("", map[string]any{})
		a.call("wait_for_message", map[string]any{"inbox": inbox.ID}, nil)
		time.Sleep(time.Minute)
		a.deliver(inbox, codeMail("333333"))
		time.Sleep(time.Minute)
		a.deliver(inbox, codeMail("444444"))
		expect("333333", map[string]any{})
		expect("444444", map[string]any{})
		expect("", map[string]any{})
		expect("444444", map[string]any{"again": true})
		expect("", map[string]any{"since": "90s"})
		expect("111111", map[string]any{"since": "10m"})
		expect("", map[string]any{"since": time.Now().Add(-time.Hour).Format(time.RFC3339)})

		// Another session knows nothing of this one.
		var out struct{ Code, Age string }
		b := a.another()
		b.call("get_code", map[string]any{"inbox": inbox.Email}, &out)
		if out.Code != "444444" || out.Age == "" {
			t.Errorf("another session got %+v", out)
		}
	})
}

// A call that ends in an error has handed over nothing, and two at once do not get the same mail.
func TestWaitsAtOnceGetAMailEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, apitest.Options{Extensions: true}, nil)
		inbox := a.inbox()
		a.deliver(inbox, codeMail("100000"))
		if got := a.code(map[string]any{"inbox": inbox.Email, "subject": "another"}); got != "" {
			t.Errorf("got %s", got)
		}
		if got := a.code(map[string]any{"inbox": inbox.Email}); got != "100000" {
			t.Errorf("after a wait in vain: %q", got)
		}
		got := make(chan string)
		for range 3 {
			go func() {
				r, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_code", Arguments: map[string]any{"inbox": inbox.Email}})
				if err != nil {
					t.Error(err)
				}
				got <- text(r)
			}()
		}
		synctest.Wait()
		for n := range 3 {
			code := fmt.Sprint(200000 + n)
			a.deliver(inbox, codeMail(code))
			if one := <-got; !strings.Contains(one, code) {
				t.Errorf("got %s, want %s", one, code)
			}
		}
	})
}

// Where mail makes the inbox, an agent can wait for it first.
func TestAnAddressThatNoInboxHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, o := range map[string]apitest.Options{"made": {Extensions: true, CatchAll: true}, "refused": {Extensions: true}, "contract": {}} {
			a := newAgent(t, o, known(t))
			arguments := map[string]any{"inbox": "nobody+tag@" + apitest.Domain, "timeout": 600}
			if name != "made" {
				a.refuses("get_code", arguments, "no inbox has this address: nobody+tag@")
				continue
			}
			for n := range 2 {
				time.AfterFunc(time.Minute, func() { a.deliver(madeInbox{Email: "nobody+tag@" + apitest.Domain}, codeMail(fmt.Sprint(100000+n))) })
				var code struct{ Code string }
				a.call("get_code", arguments, &code)
				if code.Code != fmt.Sprint(100000+n) {
					t.Errorf("code %d is %s", n, code.Code)
				}
			}
		}
	})
}

// The age of a mail is by the clock of the service that received it.
func TestAgesAreByTheServicesClock(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			a := newAgent(t, apitest.Options{Extensions: true, Ahead: ahead}, nil)
			var inbox madeInbox
			a.call("create_inbox", map[string]any{"ttl": 7200}, &inbox)
			m := a.deliver(inbox, codeMail("111111"))
			time.Sleep(5 * time.Minute)
			var code struct {
				Age        string
				ReceivedAt string `json:"received_at"`
			}
			a.call("get_code", map[string]any{"inbox": inbox.Email}, &code)
			if code.Age != "5 minutes" || code.ReceivedAt != m.ReceivedAt.UTC().Format(time.RFC3339) {
				t.Errorf("%v ahead: %+v", ahead, code)
			}
			a.call("get_inbox", map[string]any{"inbox": inbox.Email}, &inbox)
			if inbox.ExpiresIn != "115 minutes" {
				t.Errorf("%v ahead: expires in %q", ahead, inbox.ExpiresIn)
			}
		})
	}
}

func TestHTTPTakesTheKeyInEitherHeader(t *testing.T) {
	service := apitest.New(apitest.Options{})
	t.Cleanup(service.Close)
	broken := errors.New("the store is gone")
	handler := mcp.Handler(func(_ context.Context, key string) (*api.Client, error) {
		switch key {
		case "right":
			return service.Client(api.Options{}), nil
		case "broken":
			return nil, broken
		}
		return nil, api.ErrUnauthorized
	}, mcp.Options{})
	for _, c := range []struct {
		header, value string
		status        int
		challenge     string
	}{
		{"X-API-Key", "right", 200, ""},
		{"Authorization", "Bearer right", 200, ""},
		{"authorization", "bearer  right", 200, ""},
		{"Accept-Language", "en", 401, `Bearer realm="mayfly"`},
		{"Authorization", "Basic right", 401, `Bearer realm="mayfly"`},
		{"Authorization", "Bearer wrong", 401, `Bearer realm="mayfly", error="invalid_token"`},
		{"X-API-Key", "wrong", 401, `Bearer realm="mayfly", error="invalid_token"`},
		{"X-API-Key", "broken", 503, ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(initialize))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set(c.header, c.value)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != c.status || got != c.challenge {
			t.Errorf("%s: %s gets %d, %q: %s", c.header, c.value, w.Code, got, w.Body)
		}
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"test","version":"1"}}}`

// A client that never ends its sessions must not fill the memory of the service: a session takes little.
func BenchmarkHTTPSession(b *testing.B) {
	service := apitest.New(apitest.Options{})
	defer service.Close()
	handler := mcp.Handler(func(context.Context, string) (*api.Client, error) { return service.Client(api.Options{}), nil }, mcp.Options{})
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(initialize))
		r.Header.Set("X-API-Key", "key")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
