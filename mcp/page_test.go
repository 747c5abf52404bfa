package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api/apitest"
	"mayfly/internal/registry"
)

func TestListsPage(t *testing.T) {
	for name, o := range map[string]apitest.Options{"contract": {}, "extensions": {Extensions: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				known := known(t)
				a := newAgent(t, o, known)
				var address string
				for n := range 120 {
					inbox, err := a.service.Create(fmt.Sprintf("inbox-%03d", n), 24*time.Hour)
					must(t, err)
					must(t, known.Put(registry.FromAPI(inbox)))
					address = inbox.Email
					time.Sleep(time.Second)
				}
				for n := range 120 {
					a.deliver(madeInbox{Email: address}, apitest.Mail{From: "no-reply@acme.example", FromName: strings.Repeat("Ünï", 50),
						Subject: fmt.Sprint(n, strings.Repeat(" 日本語", 50))})
					time.Sleep(time.Second)
				}
				pages, all := a.pages("list_inboxes", map[string]any{})
				if len(all) != 120 || pages < 2 || !strings.Contains(all[0], "inbox-119@") || !strings.Contains(all[119], "inbox-000@") {
					t.Errorf("%d inboxes on %d pages: %s", len(all), pages, all)
				}
				pages, all = a.pages("list_messages", map[string]any{"inbox": address})
				if len(all) != 120 || pages < 2 || !strings.Contains(all[0], "119 日本語") || !strings.Contains(all[119], ":0 日本語") {
					t.Errorf("%d messages on %d pages: %s", len(all), pages, all)
				}
				for tool, arguments := range map[string]map[string]any{"list_inboxes": {}, "list_messages": {"inbox": address}} {
					arguments["limit"] = 50
					if pages, _ := a.pages(tool, arguments); pages != 3 {
						t.Errorf("%s: %d pages of 50", tool, pages)
					}
					arguments["after"] = "nothing"
					if r := a.result(tool, arguments); !strings.Contains(text(r), "nothing is in the list") && (tool == "list_inboxes" || name == "contract") {
						t.Errorf("%s after what is not there: %.200s", tool, text(r))
					}
				}
			})
		})
	}
}

// pages returns how many pages a list has, and what is on them. Without a limit a page has at most
// 2,000 tokens, which are more than 2 bytes each.
func (a agent) pages(tool string, arguments map[string]any) (n int, all []string) {
	a.Helper()
	for n = 1; ; n++ {
		time.Sleep(2 * time.Minute) // a service without extensions may allow no more requests
		var out struct {
			Inboxes, Messages []map[string]any
			Total             int
			Next              string
		}
		result := a.call(tool, arguments, &out)
		if arguments["limit"] == nil && len(text(result)) > 4900 {
			a.Errorf("a page of %s has %d bytes", tool, len(text(result)))
		}
		for _, e := range append(out.Inboxes, out.Messages...) {
			all = append(all, fmt.Sprint(e))
		}
		if out.Next == "" || n == 100 {
			if out.Total != len(all) {
				a.Errorf("%s says that there are %d, and lists %d", tool, out.Total, len(all))
			}
			delete(arguments, "after")
			return n, all
		}
		arguments["after"] = out.Next
	}
}

// What is too long for a result is in the resource that it names.
func TestALongTextIsTruncated(t *testing.T) {
	a := newAgent(t, apitest.Options{Extensions: true}, nil)
	inbox := a.inbox()
	for text, truncated := range map[string]bool{strings.Repeat("word ", 10_000): true, "short": false} {
		m := a.deliver(inbox, apitest.Mail{Text: text})
		var out struct {
			Text, Resource string
			Truncated      bool
		}
		a.call("read_message", map[string]any{"inbox": inbox.ID, "message": m.ID}, &out)
		if out.Truncated != truncated || (out.Resource != "") != truncated || len(out.Text) > 20_010 {
			t.Errorf("a text of %d characters: %d, %v, %q", len(text), len(out.Text), out.Truncated, out.Resource)
		}
	}
}

// A list of inboxes costs a request for each on the page where the service has no list, and none for
// those on the other pages.
func TestAPageOfInboxesCostsFewRequests(t *testing.T) {
	a := newAgent(t, apitest.Options{}, known(t))
	for range 50 {
		a.call("create_inbox", nil, nil)
	}
	before := len(a.service.Requests())
	a.call("list_inboxes", map[string]any{"limit": 5}, nil)
	if n := len(a.service.Requests()) - before; n > 7 {
		t.Errorf("a page of 5 took %d requests", n)
	}
	inbox := a.inbox()
	before = len(a.service.Requests())
	a.call("list_messages", map[string]any{"inbox": inbox.Email}, nil)
	if n := len(a.service.Requests()) - before; n > 2 { // one for the address, which it does not take
		t.Errorf("listing by address took %d requests", n)
	}

	a = newAgent(t, apitest.Options{Extensions: true}, nil)
	for range 2500 {
		_, err := a.service.Create("", time.Hour)
		must(t, err)
	}
	inbox = a.inbox()
	before = len(a.service.Requests())
	a.call("list_messages", map[string]any{"inbox": inbox.Email}, nil)
	if n := len(a.service.Requests()) - before; n > 2 {
		t.Errorf("listing by address among 2,501 took %d requests", n)
	}
	before = len(a.service.Requests())
	a.call("list_inboxes", nil, nil)
	if n := len(a.service.Requests()) - before; n > 1 {
		t.Errorf("a page of 2,501 inboxes took %d requests", n)
	}
}
