package mcp_test

import (
	"context"
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
				a.refuses("get_code", arguments, "unknown inbox: nobody+tag@")
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

// The date of an answer has no parts of a second.
func TestAnInboxExpiresWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, apitest.Options{}, known(t))
		time.Sleep(900 * time.Millisecond)
		var inbox madeInbox
		if a.call("create_inbox", map[string]any{"ttl": 60}, &inbox); inbox.ExpiresIn != "60 seconds" {
			t.Errorf("it expires in %s", inbox.ExpiresIn)
		}
	})
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"test","version":"1"}}}`

// overHTTP is the MCP server for agents of one service, over HTTP.
type overHTTP struct {
	serve  func(http.ResponseWriter, *http.Request, string, *api.Client)
	client *api.Client
}

func newOverHTTP(t *testing.T, o apitest.Options) (overHTTP, *apitest.Server) {
	service := apitest.New(t, o)
	return overHTTP{mcp.Handler(mcp.Options{}), service.Client(api.Options{})}, service
}

func (h overHTTP) post(ctx context.Context, key, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	h.serve(w, r, key, h.client)
	return w
}

func (h overHTTP) begin(key string) string {
	return h.post(context.Background(), key, "", initialize).Header().Get("Mcp-Session-Id")
}

func (h overHTTP) lives(key, session string) bool {
	return h.post(context.Background(), key, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`).Code == http.StatusOK
}

// getCode is a call for the code in an inbox.
func getCode(inbox api.Inbox) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_code","arguments":{"inbox":%q,"timeout":600}}}`, inbox.ID)
}

// A key has so many sessions, of which the one idle for the longest makes room. Where there are many in all, those idle
// for a minute do.
func TestSessionsOverHTTPAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, service := newOverHTTP(t, apitest.Options{Extensions: true})
		inbox, err := service.Create("ada", time.Hour)
		must(t, err)
		other, waiting, idle, ended, failing := h.begin("other"), h.begin("full"), h.begin("full"), h.begin("full"), h.post(t.Context(), "full", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`)
		if failing.Header().Get("Mcp-Session-Id") != "" && h.lives("full", failing.Header().Get("Mcp-Session-Id")) {
			t.Error("a session that failed to begin lives")
		}
		time.Sleep(2 * time.Minute)
		if !h.lives("other", other) || !h.lives("full", idle) || h.lives("other", idle) || h.lives("full", "another") {
			t.Error("sessions are not those of their keys")
		}
		r := httptest.NewRequest(http.MethodDelete, "http://127.0.0.1/mcp", nil)
		r.Header.Set("Mcp-Session-Id", ended)
		h.serve(httptest.NewRecorder(), r, "full", h.client)
		call := make(chan *httptest.ResponseRecorder)
		go func() { call <- h.post(context.Background(), "full", waiting, getCode(inbox)) }()
		synctest.Wait()

		var last string
		for range 248 {
			time.Sleep(time.Millisecond)
			last = h.begin("full")
		}
		if !h.lives("full", idle) {
			t.Error("250 sessions are too many for a key")
		}
		time.Sleep(time.Second)
		for range 249 {
			last = h.begin("full")
		}
		if h.lives("full", idle) || !h.lives("full", last) || !h.lives("other", other) {
			t.Error("one more did not end the one that was idle for the longest")
		}
		for n := range 18 {
			for range 250 {
				last = h.begin(fmt.Sprint("key ", n))
			}
		}
		time.Sleep(2 * time.Minute)
		for range 249 {
			h.begin("key 18")
		}
		if !h.lives("key 17", last) {
			t.Error("a session ended with less than many in all")
		}
		time.Sleep(time.Second)
		h.begin("another")
		if h.lives("other", other) || !h.lives("key 17", last) {
			t.Error("with many sessions in all, those idle for a minute are not those that end")
		}
		_, err = service.Deliver(inbox.Email, codeMail("111111"))
		must(t, err)
		if answer := <-call; !strings.Contains(answer.Body.String(), "111111") {
			t.Errorf("a session in use did not end its call: %d %s", answer.Code, answer.Body)
		}
		time.Sleep(31 * time.Minute)
	})
}

// Where nobody waits for a mail any more, it is left to the next call.
func TestAnAgentThatLeavesTakesNoMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, service := newOverHTTP(t, apitest.Options{Extensions: true})
		inbox, err := service.Create("ada", time.Hour)
		must(t, err)
		session := h.begin("key")
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan *httptest.ResponseRecorder)
		go func() { left <- h.post(ctx, "key", session, getCode(inbox)) }()
		synctest.Wait()
		leave()
		<-left
		synctest.Wait()
		_, err = service.Deliver(inbox.Email, codeMail("111111"))
		must(t, err)
		time.Sleep(time.Second)
		if answer := h.post(t.Context(), "key", session, getCode(inbox)); !strings.Contains(answer.Body.String(), "111111") {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		time.Sleep(31 * time.Minute)
	})
}
