package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/service"
	"mayfly/service/rest"
)

const sampleMail = "From: Ada Lovelace <ada@engine.example>\r\n" +
	"To: someone@one.test\r\n" +
	"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe_<b>?=\r\n" +
	"MIME-Version: 1.0\r\n" +
	"Content-Type: multipart/mixed; boundary=m\r\n\r\n" +
	"--m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n" +
	"--a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYour code is 482913 \xe2\x98\x83\r\n" +
	"--a\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Your code is <b>482913</b> &amp; more</p>\r\n--a--\r\n" +
	"--m\r\nContent-Type: text/html; name=page.html\r\nContent-Disposition: attachment; filename=\"page.html\"\r\n\r\n<script>alert(1)</script>\r\n--m--\r\n"

// A deletion and another end are seen at once, by those who wait and by those who have a tag, and a message
// that was read before is not there any more.
func TestChangesOfAnInbox(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Startup)
	in := srv.newInbox(t, key)
	for i := range 3 {
		srv.deliver(t, in.Email, fmt.Sprintf("Subject: %d\r\n\r\n", i))
	}
	list := in.path() + "/messages"
	all := get[messages](t, srv, key, list).Messages
	get[map[string]any](t, srv, key, list+"/"+all[1].ID)
	for _, step := range []struct {
		method, path, body string
		left               string
	}{
		{"DELETE", list + "/" + all[1].ID, "", "20"},
		{"DELETE", list + "/" + all[0].ID, "", "0"},
		{"PATCH", in.path(), `{"ttl":604800}`, "0"},
		{"DELETE", list, "", ""},
		{"DELETE", list, "", ""},
		{"PATCH", in.path(), `{"ttl":60}`, ""},
	} {
		var waiting []<-chan answer
		paths := []string{list, "/v1/inboxes"}
		for _, path := range paths {
			waiting = append(waiting, srv.longPoll(t, key, path, srv.call(t, key, "GET", path, "").header.Get("ETag")))
		}
		etag := srv.call(t, key, "GET", in.path(), "").header.Get("ETag")
		a := srv.call(t, key, step.method, step.path, step.body)
		now := srv.call(t, key, "GET", in.path(), "", "If-None-Match: "+etag)
		if step.method == "PATCH" {
			got := decode[map[string]any](t, a, http.StatusOK)
			end, err := time.Parse(time.RFC3339, got["expires_at"].(string))
			ttl := decode[map[string]float64](t, answer{status: http.StatusOK, body: step.body}, http.StatusOK)["ttl"]
			if left := time.Until(end).Seconds(); err != nil || left > ttl || left < ttl-30 || a.body != now.body || a.header.Get("ETag") != now.header.Get("ETag") {
				t.Errorf("%s: %s, and then %s", step.body, a.body, now.body)
			}
		} else if a.body != "{\"deleted\":true}\n" {
			t.Errorf("%s %s: %d %s", step.method, step.path, a.status, a.body)
		}
		subjects := ""
		for _, m := range decode[messages](t, <-waiting[0], http.StatusOK).Messages {
			subjects += m.Subject
		}
		if counted := decode[map[string]any](t, now, http.StatusOK)["message_count"]; subjects != step.left || counted != float64(len(step.left)) {
			t.Errorf("%s %s: left are %q, counted %v", step.method, step.path, subjects, counted)
		}
		if a := <-waiting[1]; a.status != http.StatusOK {
			t.Errorf("%s %s: the list of inboxes answers %d", step.method, step.path, a.status)
		}
	}
	srv.wants(t, http.StatusNotFound, key, "GET", list+"/"+all[1].ID, "")
	srv.wants(t, http.StatusNotFound, key, "DELETE", list+"/"+all[1].ID, "")
}

func TestInboxDefaults(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	for _, body := range []string{"", "{}", " \n"} {
		created := srv.call(t, key, "POST", "/v1/inboxes", body)
		in := decode[map[string]any](t, created, http.StatusCreated)
		if !strings.HasSuffix(in["email"].(string), "@one.test") || in["ttl"] != 3600.0 || created.header.Get("Location") != "/v1/inboxes/"+in["id"].(string) {
			t.Errorf("body %q made %v, %v", body, in, created.header)
		}
	}
	// Without a content type a body is JSON too.
	srv.wants(t, http.StatusCreated, key, "POST", "/v1/inboxes", "{}", "Content-Type:")
}

func TestMessage(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	in := srv.newInbox(t, key)
	srv.deliver(t, in.Email, sampleMail)

	list := get[map[string]any](t, srv, key, in.path()+"/messages")
	summary := list["messages"].([]any)[0].(map[string]any)
	if list["total"] != 1.0 || summary["from"] != "ada@engine.example" || summary["from_name"] != "Ada Lovelace" ||
		summary["subject"] != "Grüße <b>" || summary["size"] != float64(len(sampleMail)) {
		t.Errorf("list %v", list)
	}

	path := in.path() + "/messages/" + summary["id"].(string)
	a := srv.call(t, key, "GET", path, "")
	if strings.Contains(a.body, `\u003c`) {
		t.Errorf("escaped for a page, which makes it longer for nothing: %s", a.body)
	}
	m := decode[map[string]any](t, a, http.StatusOK)
	if m["to"] != in.Email || m["subject"] != "Grüße <b>" || !strings.Contains(m["text"].(string), "482913 ☃") ||
		!strings.Contains(m["html"].(string), "<b>482913</b> &amp;") || m["received_at"] != summary["received_at"] {
		t.Errorf("message %v", m)
	}
	if _, ok := m["size"]; ok {
		t.Error("the contract has no size here")
	}
	attachment := m["attachments"].([]any)[0].(map[string]any)
	if attachment["filename"] != "page.html" || attachment["content_type"] != "text/html" || attachment["inline"] != false {
		t.Errorf("attachment %v", attachment)
	}

	file := srv.call(t, key, "GET", path+"/attachments/"+attachment["id"].(string), "")
	if !strings.HasPrefix(file.body, "<script>alert(1)</script>") || float64(len(file.body)) != attachment["size"] {
		t.Errorf("content %q", file.body)
	}
	for name, want := range map[string]string{
		"Content-Disposition":     "attachment; filename=page.html",
		"Content-Security-Policy": "sandbox",
		"X-Content-Type-Options":  "nosniff",
		"Content-Type":            "text/html",
	} {
		if got := file.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A client that saves all of a message has it read and parsed once.
func TestMessageIsReadOnceForItsAttachments(t *testing.T) {
	t.Parallel()
	reads := 0
	srv := newTestServerFor(t, rest.Options{}, func(s *service.Service) rest.Service {
		return slowStore{s, func() { reads++ }}
	})
	key := srv.key(t, service.Dev)
	_, path := srv.newMessage(t, key, "Content-Type: multipart/mixed; boundary=m\r\n\r\n"+strings.Repeat("--m\r\nContent-Type: image/png\r\n\r\nx\r\n", 5)+"--m--\r\n")
	attachments := get[map[string]any](t, srv, key, path)["attachments"].([]any)
	for _, a := range attachments {
		if got := srv.call(t, key, "GET", path+"/attachments/"+a.(map[string]any)["id"].(string), ""); got.status != http.StatusOK || got.body != "x" {
			t.Errorf("%d %q", got.status, got.body)
		}
	}
	if len(attachments) != 5 || reads != 1 {
		t.Errorf("a message with %d attachments was read %d times", len(attachments), reads)
	}
}

func TestRawMessageOnlyWhenPreferred(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	_, path := srv.newMessage(t, key, sampleMail)

	plain := srv.call(t, key, "GET", path, "")
	raw := srv.call(t, key, "GET", path, "", "Accept: message/rfc822")
	if raw.body != sampleMail || raw.header.Get("Content-Type") != "message/rfc822" {
		t.Errorf("%s: %q", raw.header.Get("Content-Type"), raw.body)
	}
	if raw.header.Get("ETag") == plain.header.Get("ETag") {
		t.Error("the two forms have the same entity tag")
	}
	for _, a := range []answer{plain, raw} {
		if a.header.Get("Vary") != "Accept" {
			t.Errorf("Vary: %q", a.header.Get("Vary"))
		}
	}
	if a := srv.call(t, key, "GET", path, "", "Accept: message/rfc822;q=0.1, application/json"); a.body != plain.body {
		t.Errorf("got %q", a.body)
	}
}

// The client reads what is sent, and what is sent is all that it reads.
func TestDelivery(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Startup)
	in, path := srv.newMessage(t, key, sampleMail)
	sent := get[map[string]any](t, srv, key, path+"/delivery")
	read := get[api.Delivery](t, srv, key, path+"/delivery")
	if read.From != "envelope@sender.example" || read.Login != "ad<a>" || read.Message != 2 || !slices.Equal(read.Recipients, []api.Recipient{
		{Address: "typo@x.test", Refused: "550 5.1.1 No such inbox"}, {Refused: "452 4.5.3 Too many recipients"}, {Address: in.Email},
	}) {
		t.Errorf("%+v", read)
	}
	again, err := json.Marshal(read)
	must(t, err)
	for name := range decode[map[string]any](t, answer{status: http.StatusOK, body: string(again)}, http.StatusOK) {
		if sent[name] == nil {
			t.Errorf("%s is not sent: %v", name, sent)
		}
		delete(sent, name)
	}
	if len(sent) > 0 {
		t.Errorf("not read: %v", sent)
	}
	srv.wants(t, http.StatusMethodNotAllowed, key, "DELETE", path+"/delivery", "")
	srv.wants(t, http.StatusOK, key, "DELETE", path, "")
	srv.wants(t, http.StatusNotFound, key, "GET", path+"/delivery", "")
}

func TestEveryGetIsTagged(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Startup)
	in := srv.newInbox(t, key)
	srv.deliver(t, in.Email, sampleMail)
	message := in.path() + "/messages/" + get[messages](t, srv, key, in.path()+"/messages").Messages[0].ID
	attachments := get[map[string]any](t, srv, key, message)["attachments"].([]any)
	file := message + "/attachments/" + attachments[0].(map[string]any)["id"].(string)

	for _, path := range []string{"/v1/inboxes", in.path(), in.path() + "/messages", message, file, message + "/delivery", "/v1/sessions", "/v1/states", "/openapi.yaml"} {
		first := srv.call(t, key, "GET", path, "")
		etag := first.header.Get("ETag")
		for _, known := range []string{etag, "W/" + etag, "*", `"other", ` + etag} {
			a := srv.call(t, key, "GET", path, "", "If-None-Match: "+known)
			if a.status != http.StatusNotModified || a.header.Get("ETag") != etag {
				t.Errorf("%s with %s: %d %s", path, known, a.status, a.header.Get("ETag"))
			}
		}
		if path == "/openapi.yaml" {
			srv.wants(t, http.StatusOK, "", "GET", path, "")
		}
		if a := srv.call(t, key, "GET", path, "", `If-None-Match: "other"`); a.status != http.StatusOK || a.body != first.body {
			t.Errorf("%s with another tag: %d", path, a.status)
		}
		head := srv.call(t, key, "HEAD", path, "")
		if head.status != http.StatusOK || head.header.Get("ETag") != etag || head.header.Get("Content-Length") != fmt.Sprint(len(first.body)) {
			t.Errorf("HEAD %s: %d %v", path, head.status, head.header)
		}
	}

	// Two questions whose words run into each other's.
	id := message[strings.LastIndex(message, "/")+1:]
	get[messages](t, srv, key, in.path()+"/messages?limit=10&after="+id)
	srv.wants(t, 404, key, "GET", in.path()+"/messages?limit=1&after=0"+id, "")

	// A change changes the tag.
	for _, path := range []string{"/v1/inboxes", in.path(), in.path() + "/messages"} {
		etag := srv.call(t, key, "GET", path, "").header.Get("ETag")
		srv.deliver(t, in.Email, sampleMail)
		srv.wants(t, http.StatusOK, key, "GET", path, "", "If-None-Match: "+etag)
	}
	etag := srv.call(t, key, "GET", "/v1/inboxes", "").header.Get("ETag")
	other := srv.newInbox(t, key)
	more := srv.call(t, key, "GET", "/v1/inboxes", "", "If-None-Match: "+etag).header.Get("ETag")
	srv.call(t, key, "DELETE", other.path(), "")
	srv.wants(t, http.StatusOK, key, "GET", "/v1/inboxes", "", "If-None-Match: "+more)
}

// The inbox at an address is the one that mail to it goes to.
func TestInboxAtAnAddress(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Startup)
	other := srv.key(t, service.Startup)
	named := func(key, username string) inbox {
		return decode[inbox](t, srv.call(t, key, "POST", "/v1/inboxes", `{"username":"`+username+`"}`), http.StatusCreated)
	}
	ada, tagged := named(key, "ada"), named(key, "ada+own")
	domain := ada.Email[len("ada"):]
	at := func(address string) string { return "/v1/inboxes?address=" + url.QueryEscape(address) }
	for address, want := range map[string]string{
		ada.Email: ada.ID, "ADA" + strings.ToUpper(domain): ada.ID, ada.Email + ".": ada.ID, "ada+tag" + domain: ada.ID, "ada+a+b" + domain: ada.ID,
		tagged.Email: tagged.ID, "ada+own+more" + domain: tagged.ID,
	} {
		a := srv.call(t, key, "GET", at(address), "")
		if got := decode[inbox](t, a, http.StatusOK); got.ID != want {
			t.Errorf("%s: %s, want %s", address, got.ID, want)
		}
		srv.wants(t, http.StatusNotModified, key, "GET", at(address), "", "If-None-Match: "+a.header.Get("ETag"))
		srv.wants(t, http.StatusNotFound, other, "GET", at(address), "")
	}
	srv.wants(t, http.StatusNotFound, key, "GET", at("nobody"+domain), "")
	srv.wants(t, http.StatusNotFound, key, "GET", at("postmaster"), "")
	for _, query := range []string{"?address=", "?address=ada", "?address=ada%40x&limit=1"} {
		srv.wants(t, http.StatusBadRequest, key, "GET", "/v1/inboxes"+query, "")
	}
	// Made anew, it is another inbox in the same state.
	tag := srv.call(t, key, "GET", at(ada.Email), "").header.Get("ETag")
	srv.wants(t, http.StatusOK, key, "DELETE", ada.path(), "")
	anew := named(key, "ada")
	if got := decode[inbox](t, srv.call(t, key, "GET", at(ada.Email), "", "If-None-Match: "+tag), http.StatusOK); got.ID != anew.ID {
		t.Errorf("%+v is not the one made anew", got)
	}
}

// A long poll of an address waits for its inbox, then for what happens to it.
func TestLongPollOfAnAddress(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Startup)
	_, domain, _ := strings.Cut(srv.newInbox(t, key).Email, "@")
	path := "/v1/inboxes?address=eve%2Btag%40" + domain
	if a := srv.call(t, key, "GET", path, "", "Prefer: wait=1"); a.status != http.StatusNotFound || a.header.Get("Preference-Applied") != "wait" {
		t.Errorf("in vain: %d %v", a.status, a.header)
	}
	c := srv.longPoll(t, key, path, `"none"`)
	srv.newInbox(t, key) // which is another
	eve := decode[inbox](t, srv.call(t, key, "POST", "/v1/inboxes", `{"username":"eve"}`), http.StatusCreated)
	a := <-c
	if got := decode[inbox](t, a, http.StatusOK); got.ID != eve.ID {
		t.Errorf("answered with %+v", got)
	}
	c = srv.longPoll(t, key, path, a.header.Get("ETag"))
	srv.deliver(t, eve.Email, "Subject: x\r\n\r\n")
	a = <-c
	if a.status != http.StatusOK || !strings.Contains(a.body, `"message_count":1`) {
		t.Errorf("after a message: %d %s", a.status, a.body)
	}
	c = srv.longPoll(t, key, path, a.header.Get("ETag"))
	srv.wants(t, http.StatusOK, key, "DELETE", eve.path(), "")
	if a = <-c; a.status != http.StatusNotFound {
		t.Errorf("after the deletion: %d %s", a.status, a.body)
	}
}

// deleting is a service that deletes the last message of each page once it was read.
type deleting struct{ *service.Service }

func (d deleting) Messages(ctx context.Context, k service.Key, inboxID string, p service.Page) (service.List, error) {
	list, err := d.Service.Messages(ctx, k, inboxID, p)
	if n := len(list.Messages); err == nil && n > 0 {
		err = d.DeleteMessages(ctx, k, inboxID, list.Messages[n-1].ID)
	}
	return list, err
}

// A long list goes on behind a message that is deleted while it is sent.
func TestDeletedWhileListed(t *testing.T) {
	t.Parallel()
	srv := newTestServerFor(t, rest.Options{}, func(s *service.Service) rest.Service { return deleting{s} })
	key := srv.key(t, service.Enterprise)
	in := srv.newInbox(t, key)
	for i := range 2500 {
		srv.deliver(t, in.Email, fmt.Sprintf("Subject: %d\r\n\r\n", i))
	}
	whole := get[messages](t, srv, key, in.path()+"/messages")
	if len(whole.Messages) != 2500 || whole.Messages[2499].Subject != "0" {
		t.Errorf("%d messages", len(whole.Messages))
	}
}
