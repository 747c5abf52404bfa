package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/fortest"
)

func count(s *apitest.Server, method string) (n int) {
	for _, r := range s.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

var must = fortest.Must

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}

// inbox makes an inbox on a server of the contract alone.
func inbox(t *testing.T, o apitest.Options) (*apitest.Server, *api.Client, api.Inbox) {
	t.Helper()
	server := apitest.New(t, o)
	box, err := server.Create("box", time.Hour)
	must(t, err)
	return server, server.Client(api.Options{}), box
}

func TestCalls(t *testing.T) {
	for _, extensions := range []bool{false, true} {
		t.Run(fmt.Sprintf("extensions %v", extensions), func(t *testing.T) {
			server := apitest.New(t, apitest.Options{Extensions: extensions})
			// A real server and a base URL with a path.
			http1 := httptest.NewServer(http.StripPrefix("/mail", server))
			defer http1.Close()
			c, err := api.New(http1.URL+"/mail/", apitest.Key, api.Options{})
			must(t, err)
			ctx := t.Context()
			box, err := c.CreateInbox(ctx, api.CreateInbox{Username: "Ada", TTL: 600})
			if err != nil || box.Email != "ada@"+apitest.Domain || box.TTL != 600 || box.MessageCount != nil {
				t.Fatalf("CreateInbox: %+v, %v", box, err)
			}
			if d := box.ExpiresAt.Sub(box.CreatedAt); d != 10*time.Minute {
				t.Errorf("it lives for %v", d)
			}
			sent, err := server.Deliver(box.Email, apitest.Mail{From: "a@acme.example", Subject: "Grüße", Text: "482 913", HTML: "<p>482 913",
				Attachments: []api.Attachment{{Filename: "a.txt", ContentType: "text/plain", Content: []byte("content")}}})
			must(t, err)
			got, err := c.Inbox(ctx, box.ID)
			if err != nil || got.MessageCount == nil || *got.MessageCount != 1 || got.Status != "active" {
				t.Fatalf("Inbox: %+v, %v", got, err)
			}
			list, err := c.Messages(ctx, box.ID)
			if err != nil || list.Total != 1 || list.Messages[0].ID != sent.ID || list.Messages[0].Subject != "Grüße" {
				t.Fatalf("Messages: %+v, %v", list, err)
			}
			m, err := c.Message(ctx, box.ID, sent.ID)
			if err != nil || m.Text != "482 913" || m.HTML != "<p>482 913" || m.To != box.Email || m.From != "a@acme.example" {
				t.Fatalf("Message: %+v, %v", m, err)
			}
			a := m.Attachments[0]
			if a.Filename != "a.txt" || a.ContentType != "text/plain" || a.Size != 7 {
				t.Errorf("attachment: %+v", a)
			}
			if content, err := c.AttachmentContent(ctx, box.ID, sent.ID, a); err != nil || string(content) != "content" {
				t.Errorf("AttachmentContent: %q, %v", content, err)
			}
			wantError(t, fortest.Failure(c.Message(ctx, box.ID, "msg_other")), api.ErrNotFound)
			if err := c.DeleteInbox(ctx, box.ID); err != nil {
				t.Errorf("DeleteInbox: %v", err)
			}
			wantError(t, fortest.Failure(c.Inbox(ctx, box.ID)), api.ErrNotFound)
			wantError(t, c.DeleteInbox(ctx, box.ID), api.ErrNotFound)
			if _, err := c.CreateInbox(ctx, api.CreateInbox{Domain: "elsewhere.example"}); !errors.Is(err, api.ErrInvalid) || !strings.Contains(err.Error(), "domain must be one of") {
				t.Errorf("a domain that there is not: %v", err)
			}
		})
	}
}

func TestExtensions(t *testing.T) {
	server, c, box := inbox(t, apitest.Options{Extensions: true, RequestsPerMinute: 300})
	ctx := t.Context()
	for i := range 5 {
		must(t, fortest.Failure(server.Deliver(box.Email, apitest.Mail{From: "a@b.example", FromName: "Ada", Subject: fmt.Sprint(i), Raw: []byte("Subject: raw\r\n\r\n")})))
	}
	list, err := c.PollMessages(ctx, box.ID, api.Poll{Wait: time.Second})
	if err != nil || !list.Waited || list.ETag == "" || len(list.Messages) != 5 || list.Messages[0].FromName != "Ada" {
		t.Fatalf("PollMessages: %+v, %v", list, err)
	}
	wantError(t, fortest.Failure(c.PollMessages(ctx, box.ID, api.Poll{ETag: list.ETag})), api.ErrNotModified)
	page, err := c.PollMessages(ctx, box.ID, api.Poll{Limit: 2, After: list.Messages[1].ID})
	if err != nil || len(page.Messages) != 2 || page.Total != 5 || page.Messages[0].Subject != "2" {
		t.Errorf("part of the list: %+v, %v", page, err)
	}
	inboxes, err := c.Inboxes(ctx)
	if err != nil || inboxes.Total != 1 || *inboxes.Inboxes[0].MessageCount != 5 {
		t.Errorf("Inboxes: %+v, %v", inboxes, err)
	}
	if _, err := c.PollInboxes(ctx, api.Poll{After: "inbox_none"}); !errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrUnsupported) {
		t.Errorf("after an inbox that is not there: %v", err)
	}
	if raw, err := c.Raw(ctx, box.ID, list.Messages[0].ID); err != nil || string(raw) != "Subject: raw\r\n\r\n" {
		t.Errorf("Raw: %q, %v", raw, err)
	}
	if q, ok := c.Quota(); !ok || q.Limit != 300 || q.Window != time.Minute || q.Remaining != 294 {
		t.Errorf("Quota: %+v, %v", q, ok)
	}
	if limit := c.Budget().Usage().Limit; limit != 300 {
		t.Errorf("the budget is %d", limit)
	}
	messages := func() int {
		t.Helper()
		list, err := c.Messages(ctx, box.ID)
		must(t, err)
		return len(list.Messages)
	}
	// What is not there is told from what the service cannot do.
	for name, call := range map[string]func() error{
		"DeleteMessage": func() error { return c.DeleteMessage(ctx, box.ID, "msg_none") },
		"EmptyInbox":    func() error { return c.EmptyInbox(ctx, "inbox_none") },
		"ExtendInbox":   func() error { return fortest.Failure(c.ExtendInbox(ctx, "inbox_none", time.Hour)) },
		"Delivery":      func() error { return fortest.Failure(c.Delivery(ctx, box.ID, "msg_none")) },
	} {
		if err := call(); !errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d, err := c.Delivery(ctx, box.ID, list.Messages[1].ID); err != nil || d.Recipients[0].Address != box.Email {
		t.Errorf("Delivery: %+v, %v", d, err)
	}
	if err := c.DeleteMessage(ctx, box.ID, list.Messages[1].ID); err != nil || messages() != 4 {
		t.Errorf("DeleteMessage: %v, %d messages", err, messages())
	}
	if err := c.EmptyInbox(ctx, box.ID); err != nil || messages() != 0 {
		t.Errorf("EmptyInbox: %v, %d messages", err, messages())
	}
	got, err := c.ExtendInbox(ctx, box.ID, 48*time.Hour)
	if left := time.Until(got.ExpiresAt); err != nil || got.ID != box.ID || got.MessageCount == nil || left < 47*time.Hour || left > 48*time.Hour {
		t.Errorf("ExtendInbox: %+v, %v", got, err)
	}
	wantError(t, fortest.Failure(c.ExtendInbox(ctx, box.ID, time.Second)), api.ErrInvalid)
}

// The list of inboxes is read page by page, whatever is made or deleted meanwhile, and of a service that has
// no pages at once.
func TestInboxesOfAllPages(t *testing.T) {
	for _, test := range []struct {
		name            string
		deletes, listed int
		pages           bool
	}{{"pages", 0, 7, true}, {"one deleted, after which a page begins", 1, 7, true}, {"a page deleted", 3, 7, true}, {"no pages", 0, 3, false}} {
		server, c, box := inbox(t, apitest.Options{Extensions: true, PageSize: 3})
		ids := []string{box.ID}
		for n := range 6 {
			in, err := server.Create(fmt.Sprint("box", n), time.Hour)
			must(t, err)
			ids = append(ids, in.ID)
		}
		slices.Reverse(ids)
		if some, err := c.InboxesUntil(t.Context(), func(i api.Inbox) bool { return i.ID == ids[4] }); err != nil || len(some.Inboxes) != 6 || some.Total != 7 {
			t.Errorf("until one on the second page: %d of %d, %v", len(some.Inboxes), some.Total, err)
		}
		requests := 0
		counted := server.Client(api.Options{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if requests++; !test.pages {
				r.URL.RawQuery = ""
			}
			answer, err := server.Transport().RoundTrip(r)
			if requests == 1 {
				must(t, fortest.Failure(c.CreateInbox(t.Context(), api.CreateInbox{})))
				for n := range test.deletes {
					must(t, c.DeleteInbox(t.Context(), ids[2-n]))
				}
			}
			return answer, err
		})})
		list, err := counted.Inboxes(t.Context())
		must(t, err)
		seen := map[string]bool{}
		for _, i := range list.Inboxes {
			seen[i.ID] = true
		}
		if len(list.Inboxes) != test.listed || len(seen) != test.listed || requests > 7 {
			t.Errorf("%s: %d requests for %d inboxes of %d, want %d", test.name, requests, len(list.Inboxes), list.Total, test.listed)
		}
	}
}

// A service that knows no such path may say so as it says that there is no such message.
func TestUnknownPathIsNoMissingMessage(t *testing.T) {
	server, _, box := inbox(t, apitest.Options{})
	m, err := server.Deliver(box.Email, apitest.Mail{Subject: "x"})
	must(t, err)
	c := server.Client(api.Options{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := server.Transport().RoundTrip(r)
		if err == nil && answer.StatusCode == http.StatusMethodNotAllowed {
			answer.StatusCode = http.StatusNotFound
		}
		return answer, err
	})})
	wantError(t, c.DeleteMessage(t.Context(), box.ID, "msg_none"), api.ErrNotFound)
	wantError(t, c.DeleteMessage(t.Context(), box.ID, m.ID), api.ErrUnsupported)
	wantError(t, c.EmptyInbox(t.Context(), box.ID), api.ErrUnsupported)
	wantError(t, fortest.Failure(c.ExtendInbox(t.Context(), box.ID, time.Hour)), api.ErrUnsupported)
}

func TestNoExtensions(t *testing.T) {
	server, c, box := inbox(t, apitest.Options{})
	ctx := t.Context()
	var ids []string
	for range 3 {
		m, err := server.Deliver(box.Email, apitest.Mail{Subject: "x"})
		must(t, err)
		ids = append(ids, m.ID)
	}
	calls := map[string]func() error{
		"Inboxes":     func() error { _, err := c.Inboxes(ctx); return err },
		"PollInboxes": func() error { _, err := c.PollInboxes(ctx, api.Poll{Wait: time.Second}); return err },
		"PollMessages": func() error {
			list, err := c.PollMessages(ctx, box.ID, api.Poll{Wait: time.Second})
			if err == nil || len(list.Messages) != 3 && len(list.Messages) != 0 {
				return fmt.Errorf("%+v, %w", list, err)
			}
			return err
		},
		"Raw": func() error { _, err := c.Raw(ctx, box.ID, ids[0]); return err },
		"AttachmentContent": func() error {
			_, err := c.AttachmentContent(ctx, box.ID, ids[0], api.Attachment{URL: "https://elsewhere.example/"})
			return err
		},
		"DeleteMessage": func() error { return c.DeleteMessage(ctx, box.ID, ids[0]) },
		"EmptyInbox":    func() error { return c.EmptyInbox(ctx, box.ID) },
		"ExtendInbox":   func() error { return fortest.Failure(c.ExtendInbox(ctx, box.ID, time.Hour)) },
	}
	for name, call := range calls {
		wantError(t, call(), api.ErrUnsupported)
		before := len(server.Requests())
		if err := call(); !errors.Is(err, api.ErrUnsupported) || len(server.Requests()) != before {
			t.Errorf("%s is not remembered: %v", name, err)
		}
	}
	wantError(t, fortest.Failure(c.Delivery(ctx, box.ID, ids[0])), api.ErrNotFound)
	if list, err := c.Messages(ctx, box.ID); err != nil || len(list.Messages) != 3 {
		t.Errorf("Messages: %+v, %v", list, err)
	}
}

func TestFaults(t *testing.T) {
	cases := []struct {
		name     string
		fault    apitest.Fault
		times    int
		is       error // of a GET; nil when it comes through
		requests int   // of a GET
		posts    int
		contains string
	}{
		{"429 with a time, once", apitest.Limited, 1, nil, 2, 2, ""},
		{"429 without a time, once", apitest.LimitedNoTime, 1, nil, 2, 2, ""},
		{"500 twice", apitest.InternalError, 2, nil, 3, 1, ""},
		{"500 for ever", apitest.InternalError, -1, api.ErrUnavailable, 4, 1, "Internal server error (500)"},
		{"502 for ever", apitest.BadGateway, -1, api.ErrUnavailable, 4, 1, "502 Bad Gateway"},
		{"cut twice", apitest.Cut, 2, nil, 3, 1, ""},
		{"cut for ever", apitest.Cut, -1, api.ErrUnavailable, 4, 1, "the connection was closed"},
		{"truncated once", apitest.Truncated, 1, nil, 2, 1, ""},
		{"silent for ever", apitest.Silent, -1, api.ErrUnavailable, 4, 1, "no answer in time"},
		{"HTML", apitest.HTML, -1, api.ErrUnexpected, 1, 1, "the service answered with text/html; is the base URL right?"},
		{"404 with HTML", apitest.NotFoundHTML, -1, api.ErrUnexpected, 1, 1, "is the base URL right?"},
		{"broken JSON", apitest.BrokenJSON, -1, api.ErrUnexpected, 1, 1, "broken JSON"},
		{"too large", apitest.Huge, -1, api.ErrUnexpected, 1, 1, "larger than 1 MiB"},
		{"forbidden", apitest.Forbidden, -1, api.ErrForbidden, 1, 1, "Your plan does not allow this (403)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _, box := inbox(t, apitest.Options{})
				client := server.Client(api.Options{MaxResponse: 1 << 20})
				server.Fail(c.fault, c.times)
				_, err := client.Messages(t.Context(), box.ID)
				if !errors.Is(err, c.is) {
					t.Errorf("GET: %v", err)
				}
				if err != nil && (!strings.Contains(err.Error(), c.contains) || strings.ContainsAny(err.Error(), "\n\x1b")) {
					t.Errorf("GET: %v", err)
				}
				if n := count(server, "GET"); n != c.requests {
					t.Errorf("%d GETs", n)
				}
				time.Sleep(time.Hour)
				server.Fail(c.fault, c.times)
				_, err = client.CreateInbox(t.Context(), api.CreateInbox{})
				if n := count(server, "POST"); n != c.posts || (err == nil) != (n == 2) {
					t.Errorf("%d POSTs, %v", n, err)
				}
			})
		})
	}
}

func TestDeleteThatWasCarriedOutCountsAsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, box := inbox(t, apitest.Options{})
		server.Fail(apitest.CutAfter, 1)
		if err := c.DeleteInbox(t.Context(), box.ID); err != nil || count(server, "DELETE") != 2 {
			t.Errorf("DeleteInbox: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		server, c, box := inbox(t, apitest.Options{Extensions: true})
		m, err := server.Deliver(box.Email, apitest.Mail{Subject: "x"})
		must(t, err)
		server.Fail(apitest.CutAfter, 1)
		if err := c.DeleteMessage(t.Context(), box.ID, m.ID); err != nil || count(server, "DELETE") != 2 {
			t.Errorf("DeleteMessage: %v", err)
		}
		server.Fail(apitest.CutAfter, 1)
		if err := fortest.Failure(c.ExtendInbox(t.Context(), box.ID, time.Hour)); !errors.Is(err, api.ErrUnavailable) || count(server, "PATCH") != 1 {
			t.Errorf("ExtendInbox was made %d times: %v", count(server, "PATCH"), err)
		}
	})
}

// A POST that never left is repeated; http.Transport says so by an error of dialling.
func TestPostThatWasNeverSentIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, apitest.Options{})
		failures := 2
		c := server.Client(api.Options{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if failures--; failures >= 0 {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
			}
			return server.Transport().RoundTrip(r)
		})})
		if _, err := c.CreateInbox(t.Context(), api.CreateInbox{}); err != nil || count(server, "POST") != 1 {
			t.Errorf("CreateInbox: %v", err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRetryAfter(t *testing.T) {
	for _, form := range []string{"seconds", "date"} {
		for _, wait := range []time.Duration{7 * time.Second, 40 * time.Second} {
			t.Run(fmt.Sprint(form, wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := apitest.New(t, apitest.Options{})
					first := true
					c := server.Client(api.Options{Transport: apitest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if !first {
							server.ServeHTTP(w, r)
							return
						}
						first = false
						w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())))
						if form == "date" {
							w.Header().Set("Retry-After", time.Now().Add(wait).UTC().Format(http.TimeFormat))
						}
						w.WriteHeader(http.StatusTooManyRequests)
					}))})
					began := time.Now()
					_, err := c.CreateInbox(t.Context(), api.CreateInbox{})
					took := time.Since(began)
					var e *api.Error
					switch {
					case wait < 15*time.Second && (err != nil || took != wait):
						t.Errorf("%v after %v", err, took)
					case wait > 15*time.Second && (!errors.As(err, &e) || e.RetryAfter != wait || !errors.Is(err, api.ErrRateLimited) || took != 0):
						t.Errorf("%v after %v", err, took)
					}
				})
			})
		}
	}
}

func TestContextEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, box := inbox(t, apitest.Options{Extensions: true})
		list, err := c.Messages(t.Context(), box.ID)
		must(t, err)
		for name, call := range map[string]func(context.Context) error{
			"long poll": func(ctx context.Context) error {
				_, err := c.PollMessages(ctx, box.ID, api.Poll{ETag: list.ETag, Wait: time.Minute})
				return err
			},
			"silent": func(ctx context.Context) error {
				server.Fail(apitest.Silent, 1)
				_, err := c.Messages(ctx, box.ID)
				return err
			},
			"retry": func(ctx context.Context) error {
				server.Fail(apitest.Cut, -1)
				_, err := c.Messages(ctx, box.ID)
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			began := time.Now()
			if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 100*time.Millisecond {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			cancel()
			server.Fail(apitest.None, 0)
		}
	})
}

func TestRedirects(t *testing.T) {
	var leaked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { leaked.Add(1) }))
	defer elsewhere.Close()
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id": "1", "email": "a@b.example"}`)
		case r.Method == "POST":
			posts.Add(1)
			http.Redirect(w, r, "/moved/", http.StatusTemporaryRedirect)
		case strings.HasSuffix(r.URL.Path, "/same"):
			http.Redirect(w, r, "/moved/same", http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/loop"):
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		default:
			http.Redirect(w, r, elsewhere.URL+"/v1/inboxes", http.StatusFound)
		}
	}))
	defer server.Close()
	c, err := api.New(server.URL, apitest.Key, api.Options{})
	must(t, err)
	if i, err := c.Inbox(t.Context(), "same"); err != nil || i.ID != "1" {
		t.Errorf("within the origin: %v", err)
	}
	if _, err := c.Inbox(t.Context(), "other"); !errors.Is(err, api.ErrUnexpected) || !strings.Contains(err.Error(), elsewhere.URL) {
		t.Errorf("to another origin: %v", err)
	}
	wantError(t, fortest.Failure(c.Inbox(t.Context(), "loop")), api.ErrUnexpected)
	wantError(t, c.DeleteInbox(t.Context(), "same"), api.ErrUnexpected)
	if _, err := c.CreateInbox(t.Context(), api.CreateInbox{}); !errors.Is(err, api.ErrUnexpected) || posts.Load() != 1 {
		t.Errorf("POST: %v", err)
	}
	if leaked.Load() != 0 {
		t.Error("another origin was asked")
	}
}

func TestBaseURL(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://mail.example":            true,
		"https://mail.example/v/":         true,
		" https://mail.example\n":         true,
		"http://127.0.0.1:8425":           true,
		"http://localhost:8425":           true,
		"http://[::1]:8425":               true,
		"http://mail.example":             false,
		"http://127.0.0.1.mail.example":   false,
		"http://localhost.example":        false,
		"https://user:secret@example.com": false,
		"https://mail.example/?a=b":       false,
		"ftp://mail.example":              false,
		"mail.example":                    false,
		"https://":                        false,
		"":                                false,
		"https://a b":                     false,
	} {
		_, err := api.New(base, apitest.Key, api.Options{})
		if (err == nil) != ok {
			t.Errorf("%q: %v", base, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := api.New("http://mail.example", apitest.Key, api.Options{Insecure: true}); err != nil {
		t.Errorf("insecure: %v", err)
	}
	for _, key := range []string{"", "a b", "a\n", "a\x00", "ключ"} {
		if _, err := api.New("https://mail.example", key, api.Options{}); err == nil {
			t.Errorf("the key %q is accepted", key)
		}
	}
}

func TestKeyDoesNotShow(t *testing.T) {
	server, _, box := inbox(t, apitest.Options{})
	var shown strings.Builder
	c := server.Client(api.Options{Retries: -1, Trace: func(tr api.Trace) { fmt.Fprintf(&shown, "%+v %#v\n", tr, tr) }})
	for _, f := range []apitest.Fault{apitest.None, apitest.Cut, apitest.Echo, apitest.HTML, apitest.BrokenJSON} {
		server.Fail(f, 1)
		_, err := c.Messages(t.Context(), box.ID)
		fmt.Fprintf(&shown, "%v %+v %#v\n", err, err, err)
		var e *api.Error
		if errors.As(err, &e) {
			fmt.Fprintf(&shown, "%+v %#v\n", *e, *e)
		}
	}
	if !strings.Contains(shown.String(), "is odd") {
		t.Error("the message of the service is not shown")
	}
	slog.New(slog.NewTextHandler(&shown, nil)).Info("client", "c", c, "in", struct{ C *api.Client }{c})
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("client", "c", c, "in", struct{ C *api.Client }{c})
	type holder struct {
		c *api.Client
		v api.Client
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&shown, verb+verb+verb+"\n", c, *c, holder{c, *c})
	}
	encoded, err := json.Marshal(map[string]any{"c": c})
	shown.Write(encoded)
	if err != nil {
		t.Error(err)
	}
	hex := fmt.Sprintf("%x", apitest.Key)
	if s := shown.String(); strings.Contains(s, apitest.Key) || strings.Contains(s, hex) {
		t.Errorf("the key shows: %s", s)
	}
}

func TestHostileIDs(t *testing.T) {
	server, c, _ := inbox(t, apitest.Options{})
	for _, id := range []string{"a/b", "../../admin", "a?b=c", "a#b", "a%2Fb", "\x1b[2J", "ä", "a b", `a"b`} {
		wantError(t, fortest.Failure(c.Message(t.Context(), id, id)), api.ErrNotFound)
	}
	for _, r := range server.Requests() {
		if strings.Count(r.Path, "/") != 5 || strings.ContainsAny(r.Path, "?#") {
			t.Errorf("path %q", r.Path)
		}
	}
	before := len(server.Requests())
	for _, id := range []string{"", ".", "..", strings.Repeat("a", 2000)} {
		wantError(t, fortest.Failure(c.Inbox(t.Context(), id)), api.ErrInvalid)
	}
	if len(server.Requests()) != before {
		t.Error("a request was made for what is no ID")
	}
}

func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, box := inbox(t, apitest.Options{})
		var traces []api.Trace
		c := server.Client(api.Options{Trace: func(tr api.Trace) { traces = append(traces, tr) }})
		server.SetDelay(50 * time.Millisecond)
		server.Fail(apitest.InternalError, 1)
		must(t, fortest.Failure(c.Inbox(t.Context(), box.ID)))
		if len(traces) != 2 || traces[0].Status != 500 || traces[1].Status != 200 || traces[1].Attempt != 2 ||
			traces[1].URL != "http://localhost/v1/inboxes/"+box.ID || traces[1].Duration != 50*time.Millisecond || traces[1].Bytes == 0 {
			t.Errorf("%+v", traces)
		}
	})
}

func TestLongMessageOfTheService(t *testing.T) {
	c, err := api.New("http://localhost", apitest.Key, api.Options{Transport: apitest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error": {"code": 400, "message": %q}}`, strings.Repeat("é", 1000))
	}))})
	must(t, err)
	_, err = c.Messages(t.Context(), "x")
	var e *api.Error
	if !errors.As(err, &e) || len(e.Message) > 500 || !strings.HasSuffix(e.Message, "é…") {
		t.Errorf("%v", err)
	}
}

func TestAnInboxWithoutAnAddressIsNone(t *testing.T) {
	for _, body := range []string{`{"id":"inbox_1"}`, `{"id":"inbox_1","email":null}`, `{"email":"a@b.example"}`} {
		c, err := api.New("http://127.0.0.1", "key-0123456789", api.Options{Transport: apitest.Transport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, body)
		}))})
		must(t, err)
		if i, err := c.CreateInbox(t.Context(), api.CreateInbox{}); !errors.Is(err, api.ErrUnexpected) {
			t.Errorf("%s: %+v, %v", body, i, err)
		}
	}
}

// A service whose pages never end is given up, whether they move on or not; its IDs are cleaned.
func TestPagesWithoutEnd(t *testing.T) {
	for name, moves := range map[string]bool{"that move on": true, "that repeat": false} {
		n, padding := 0, strings.Repeat("x", 1000)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if moves || n == 0 {
				n++
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"inboxes":[{"id":"inbox\u001b\u202e_%d","email":"a\u0007@x.example","x":%q}],"total":%d}`, n, padding, 1<<40)
		}))
		c, err := api.New(server.URL, apitest.Key, api.Options{MaxResponse: 5000})
		must(t, err)
		list, err := c.Inboxes(t.Context())
		if moves && (!errors.Is(err, api.ErrUnexpected) || n > 20) || !moves && (err != nil || len(list.Inboxes) != 1 || list.Inboxes[0].ID != "inbox_1" || list.Inboxes[0].Email != "a@x.example") {
			t.Errorf("pages %s: %d requests, %d inboxes, %v", name, n, len(list.Inboxes), err)
		}
		server.Close()
	}
}
