package providers_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/pebble"
	"mayfly/service/providers"
)

// world is a service with the APIs, two keys, and what was stored.
type world struct {
	t       *testing.T
	service *service.Service
	url     string
	keys    map[string]service.Key // by secret
	secrets []string
	raw     []string
}

func newWorld(t *testing.T, o providers.Options) *world {
	w := &world{t: t, keys: map[string]service.Key{}}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	st, err := pebble.OpenMemory(pebble.Options{Log: log})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	w.service = service.New(st, service.Options{Domains: []string{"own.test"}, Logins: true, Log: log, Arrived: func(a service.Arrival) { w.raw = append(w.raw, string(a.Raw)) }})
	for range 2 {
		secret, k, err := w.service.CreateKey(t.Context(), "", service.Dev)
		must(t, err)
		w.keys[secret], w.secrets = k, append(w.secrets, secret)
	}
	if o.AnyKey == "any" {
		o.AnyKey = w.keys[w.secrets[0]].ID
		w.service = service.New(st, service.Options{Domains: []string{"own.test"}, CatchAll: o.AnyKey, Log: log})
	}
	o.Large, o.Guesses = limits.NewMemory(64<<20), limits.NewGuesses(20, log, "keys")
	o.MaxMessageBytes, o.MaxRecipients = 1<<20, 10
	web := httptest.NewServer(providers.New(w.service, o))
	t.Cleanup(web.Close)
	w.url = web.URL + "/providers"
	return w
}

var must = fortest.Must

// api is how one provider's requests are made: to where, how the key is sent, and the body of a mail.
type api struct {
	path string
	auth func(r *http.Request, key string)
	body func(from, to, subject, header, file string) string
	// What it answers: to a mail, to a wrong key, to a mail that cannot be sent, when the plan is used up.
	sent, wrong, invalid, used string
}

func bearer(r *http.Request, key string) { r.Header.Set("Authorization", "Bearer "+key) }

func text(s string) string { return strings.ReplaceAll(fmt.Sprintf("%q", s), `\x`, `\u00`) }

const multi = "multipart/form-data; boundary=x"

var apis = map[string]api{
	"resend": {"/resend/emails", bearer, func(from, to, subject, header, file string) string {
		return `{"from":` + text(from) + `,"to":[` + text(to) + `],"subject":` + text(subject) + `,"text":"x","headers":{"X-A":` + text(header) + `},"attachments":[{"filename":` + text(file) + `,"content":"eA=="}]}`
	}, `200 {"id":"inbox_`, `401 {"message":"Invalid API key","name":"missing_api_key","statusCode":401}`, `422 {"message":"`, `429 {"message":"`},
	"sendgrid": {"/sendgrid/v3/mail/send", bearer, func(from, to, subject, header, file string) string {
		return `{"from":{"email":` + text(from) + `},"personalizations":[{"to":[{"email":` + text(to) + `}]}],"subject":` + text(subject) + `,"content":[{"type":"text/plain","value":"x"}],` +
			`"headers":{"X-A":` + text(header) + `},"attachments":[{"filename":` + text(file) + `,"content":"eA=="}]}`
	}, `202 `, `401 {"errors":[{"field":null,"help":null,"message":"Invalid API key"}]}`, `400 {"errors":[{`, `429 {"errors":[{`},
	"postmark": {"/postmark/email", func(r *http.Request, key string) { r.Header.Set("X-Postmark-Server-Token", key) }, func(from, to, subject, header, file string) string {
		return `{"From":` + text(from) + `,"To":` + text(to) + `,"Subject":` + text(subject) + `,"TextBody":"x","Headers":[{"Name":"X-A","Value":` + text(header) + `}],"Attachments":[{"Name":` + text(file) + `,"Content":"eA=="}]}`
	}, `200 {"ErrorCode":0,"Message":"OK","MessageID":"inbox_`, `401 {"ErrorCode":10,"Message":"Invalid API key"}`, `422 {"ErrorCode":300,`, `429 {"ErrorCode":429,`},
	"mailgun": {"/mailgun/v3/shop.example/messages", func(r *http.Request, key string) {
		r.SetBasicAuth("api", key)
		r.Header.Set("Content-Type", multi)
	}, func(from, to, subject, header, file string) string {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		_ = w.SetBoundary("x")
		for name, value := range map[string]string{"from": from, "to": to, "subject": subject, "text": "x", "h:X-A": header} {
			_ = w.WriteField(name, value)
		}
		part, _ := w.CreateFormFile("attachment", file)
		_, _ = part.Write([]byte("x"))
		_ = w.Close()
		return b.String()
	}, `200 {"id":"<inbox_`, `401 {"message":"Invalid API key"}`, `400 {"message":"`, `429 {"message":"`},
	"ses": {"/ses/v2/email/outbound-emails", func(r *http.Request, key string) {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20300101/eu/ses/aws4_request, SignedHeaders=host, Signature=00")
	}, func(from, to, subject, header, file string) string {
		return `{"FromEmailAddress":` + text(from) + `,"Destination":{"ToAddresses":[` + text(to) + `]},"Content":{"Simple":{"Subject":{"Data":` + text(subject) + `},"Body":{"Text":{"Data":"x"}},` +
			`"Headers":[{"Name":"X-A","Value":` + text(header) + `}],"Attachments":[{"FileName":` + text(file) + `,"RawContent":"eA=="}]}}}`
	}, `200 {"MessageId":"inbox_`, `403 {"message":"Invalid API key"}`, `400 {"message":"`, `429 {"message":"`},
}

func each(t *testing.T, test func(t *testing.T, a api)) {
	for _, name := range slices.Sorted(maps.Keys(apis)) {
		t.Run(name, func(t *testing.T) { test(t, apis[name]) })
	}
}

// post returns the status and the body, or what failed.
func (w *world) post(a api, key, body string) string {
	w.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), "POST", w.url+a.path, strings.NewReader(body))
	must(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	a.auth(r, key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "no answer"
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	must(w.t, err)
	return fmt.Sprint(answer.StatusCode, " ", strings.TrimSpace(string(said)))
}

func (w *world) expect(a api, key, body, want string) {
	w.t.Helper()
	if got := w.post(a, key, body); !strings.HasPrefix(got, want) {
		w.t.Errorf("answered %.300s, want %s", got, want)
	}
}

// What a key sends is its own, an address at a foreign domain is each key's, and a wrong key is told so as the provider does.
func TestKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		w := newWorld(t, providers.Options{})
		mail := a.body("Shop <shop@a.example>", "Ann <ann@gmail.com>", "Grüße", "seven", "ä.txt")
		for _, key := range w.secrets {
			w.expect(a, key, mail, a.sent)
			in, err := w.service.InboxAt(t.Context(), w.keys[key], "ann@gmail.com")
			must(t, err)
			list, err := w.service.Messages(t.Context(), w.keys[key], in.ID, service.Page{})
			must(t, err)
			if len(list.Messages) != 1 || list.Messages[0].Subject != "Grüße" || list.Messages[0].From != "shop@a.example" {
				t.Fatalf("%+v", list)
			}
			how, err := w.service.Delivery(t.Context(), w.keys[key], in.ID, list.Messages[0].ID)
			must(t, err)
			if !strings.Contains(string(how), `'s API, key key_`) || !strings.Contains(string(how), `"message_number":1`) {
				t.Errorf("%s", how)
			}
		}
		must(t, fortest.Failure(w.service.CreateInbox(t.Context(), w.keys[w.secrets[1]], service.NewInbox{Username: "theirs"})))
		w.expect(a, w.secrets[0], a.body("a@b.example", "theirs@own.test", "s", "h", "f"), a.invalid)
		w.expect(a, w.secrets[0], a.body("a@b.example", "admin@own.test", "s", "h", "f"), a.invalid)
		w.expect(a, "mf_wrong", mail, a.wrong)
		must(t, fortest.Failure(w.service.RevokeKey(t.Context(), w.keys[w.secrets[0]].ID)))
		w.expect(a, w.secrets[0], mail, a.wrong)
		must(t, fortest.Failure(w.service.SetPlan(t.Context(), w.keys[w.secrets[1]].ID, service.Free)))
		w.expect(a, w.secrets[1], mail, "403 ")
		for range 20 {
			w.post(a, "mf_wrong", "")
		}
		w.expect(a, "mf_other", mail, a.used) // too many wrong keys
	})
}

// The plan counts each mail.
func TestPlan(t *testing.T) {
	t.Parallel()
	a, w := apis["postmark"], newWorld(t, providers.Options{})
	w.secrets = slices.Sorted(maps.Keys(w.keys))
	var to []service.Recipient
	for i := range service.Dev.Limits().EmailsPerDay - 1 {
		r, err := w.service.Recipient(t.Context(), w.keys[w.secrets[0]].ID, fmt.Sprintf("n%d@gmail.com", i))
		must(t, err)
		to = append(to, r)
	}
	must(t, w.service.Deliver(t.Context(), service.Delivery{To: to}))
	mail := a.body("a@b.example", "ann@gmail.com", "s", "h", "f")
	w.expect(a, w.secrets[0], mail, a.sent)
	w.expect(a, w.secrets[0], mail, a.used)
	w.expect(a, w.secrets[1], mail, a.sent)
}

// Nothing that a request has adds a field to a header, or takes memory or time out of proportion.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	const evil = "x\r\nBcc: evil@evil.example\r\n\r\nbody"
	each(t, func(t *testing.T, a api) {
		w := newWorld(t, providers.Options{})
		key := w.secrets[0]
		for field := range 5 {
			values := []string{"a@b.example", "ann@gmail.com", "s", "h", "f"}
			for _, value := range []string{evil, "\"" + evil + "\" <a@b.example>", "x\x00\x7f\u2028y", strings.Repeat("ü", 50_000), `"; x="`} {
				values[field] = value
				w.post(a, key, a.body(values[0], values[1], values[2], values[3], values[4]))
			}
		}
		for _, raw := range w.raw {
			header, _, _ := strings.Cut(raw, "\r\n\r\n")
			for line := range strings.SplitSeq(raw, "\r\n") {
				if strings.HasPrefix(line, "Bcc") || strings.ContainsAny(line, "\x00\n") || len(line) > 1000 {
					t.Errorf("a line %.200q in %.1000q", line, header)
				}
			}
		}
		if len(w.raw) < 5 {
			t.Errorf("%d mails were stored", len(w.raw))
		}
		stored := len(w.raw)
		w.expect(a, key, a.body("a@b.example", "to@gmail.com", strings.Repeat("s", 1<<17), "h", "f"), a.invalid)
		if got := w.post(a, key, strings.Repeat(" ", 4<<20)); !strings.Contains(got, "The request is too large") {
			t.Error(got)
		}
		w.expect(a, key, a.body("a@b.example", strings.Repeat("to@gmail.com,", 100_000)+"x@y.example", "s", "h", "f"), a.invalid)
		var many []string
		for i := range 11 {
			many = append(many, fmt.Sprintf("n%d@gmail.com", i))
		}
		w.expect(a, key, a.body("a@b.example", strings.Join(many, ","), "s", "h", "f"), a.invalid)
		for _, body := range []string{"", "{", "null", "[]", `"x"`, strings.Repeat(`{"a":`, 100_000), "{" + strings.Repeat(`"to":[],`, 100_000) + `"from":"x"}`,
			"[" + strings.Repeat("{},", 200_000) + "{}]", `{"to":{"to":1},"From":2,"content":{}}`, "--x\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n" + strings.Repeat("a@b.c,", 10)} {
			w.expect(a, key, body, a.invalid)
		}
		if len(w.raw) != stored {
			t.Errorf("%d mails more were stored", len(w.raw)-stored)
		}
		if got := w.post(api{path: strings.SplitN(a.path, "/", 3)[1], auth: a.auth}, key, "{}"); !strings.HasPrefix(got, "404") {
			t.Error(got)
		}
	})
}

// On the local service any key will do, mail goes by address, and an address can ask for a fault.
func TestAnyKeyAndFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		w := newWorld(t, providers.Options{AnyKey: "any", AddressFaults: true})
		mail := func(tag string) string { return a.body("a@b.example", "ann"+tag+"@gmail.com", "s"+tag, "h", "f") }
		w.expect(a, "anything", mail(""), a.sent)
		w.expect(a, "", mail("+smtp-slow-1ms"), a.sent)
		w.expect(a, "anything", mail("+smtp-550"), a.invalid)
		w.expect(a, "anything", mail("+smtp-451"), "503 ")
		w.expect(a, "anything", mail("+smtp-drop"), "no answer")
		w.expect(a, "anything", a.body("a@b.example", "ann+smtp-lost@gmail.com,bea@gmail.com", "s", "h", "f"), "no answer")
		in, err := w.service.InboxAt(t.Context(), w.keys[w.secrets[0]], "ann@gmail.com")
		must(t, err)
		if in.Messages != 3 {
			t.Errorf("%d messages, not the first, the slow and the lost one", in.Messages)
		}
	})
}

// What a provider's form has beyond the one that all share.
func TestForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providers.Options{})
	key, whole := w.secrets[0], "From: a@b.example\r\nTo: shown@gmail.com\r\nSubject: whole\r\n\r\nas it is\r\n"
	raw := base64.StdEncoding.EncodeToString([]byte(whole))
	for _, test := range []struct{ provider, path, body, want string }{
		{"resend", "/resend/emails/batch", `[{"from":"a@b.example","to":"x@gmail.com"},{"from":"a@b.example","to":["x@gmail.com"]}]`, `200 {"data":[{"id":"inbox_`},
		{"resend", "/resend/emails/batch", `[{"from":"a@b.example","to":"x@gmail.com"},{"from":"a@b.example","to":"x@gmail.com","headers":{"":"x"}}]`, `422 {"message":"The header field`},
		{"sendgrid", "/sendgrid/v3/mail/send", `{"from":{"email":"a@b.example"},"personalizations":[{"to":[{"email":"x@gmail.com"}]},{"to":[]}]}`, `400 {"errors":[{"field":null,"help":null,"message":"The message has no recipient`},
		{"resend", "/resend/emails", `{"from":"a@b.example","to":"x@gmail.com","scheduled_at":"in 1 min"}`, `422 {"message":"scheduled_at is not supported`},
		{"resend", "/resend/emails", `{"from":"a@b.example","to":"x@gmail.com","attachments":[{"path":"https://a.example/x"}]}`, `422 {"message":"attachments.path is not supported`},
		{"sendgrid", "/sendgrid/v3/mail/send", `{"from":{"email":"a@b.example"},"personalizations":[{"to":[{"email":"x@gmail.com"}],"send_at":1}]}`, `400 {"errors":[{"field":null,"help":null,"message":"send_at is not`},
		{"sendgrid", "/sendgrid/v3/mail/send", `{"from":{"email":"a@b.example"},"personalizations":[]}`, `400 {"errors":[{`},
		{"sendgrid", "/sendgrid/v3/mail/send", `{"from":{"email":"a@b.example"},"content":[{"type":"text/plain","value":"` + strings.Repeat("x", 500_000) + `"}],"personalizations":[` +
			strings.Repeat(`{"to":[{"email":"x@gmail.com"}]},`, 9) + `{"to":[{"email":"x@gmail.com"}]}]}`, `413 {"errors":[{`},
		{"sendgrid", "/sendgrid/v3/mail/send", `[{"from":{"email":"a@b.example"},"personalizations":[{"to":[{"email":"x@gmail.com"}]}],"content":[{"type":"text/plain","value":"x"}]}]`, `400 {"errors":[{`},
		{"sendgrid", "/sendgrid/v3/mail/send", `{"from":{"email":"a@b.example"},"personalizations":[{"to":[{"email":"x@gmail.com"}]}],"content":[{"type":"from","value":"other@b.example"}]}`,
			`400 {"errors":[{"field":null,"help":null,"message":"content of the type \"from\" is not`},
		{"resend", "/resend/emails", `{"from":"a@b.example","to":"x@gmail.com","headers":{"":"x"}}`, `422 {"message":"The header field`},
		// Recipients are counted before a header is made of them.
		{"resend", "/resend/emails", `{"from":"a@b.example","to":["` + strings.Join(strings.Split("abcdefghijk", ""), `@gmail.com","`) + `@gmail.com"],"headers":{"X A":"x"}}`,
			`422 {"message":"A message has at most 10 recipients`},
		{"resend", "/resend/emails", `{"from":"` + strings.Repeat("x", 1<<15) + ` <a@b.example>","to":"` + strings.Repeat("x", 1<<15) + ` <x@gmail.com>"}`, `422 {"message":"The addresses are longer`},
		{"postmark", "/postmark/email/batch", `[{"From":"a@b.example","To":"x@gmail.com","Metadata":{"Order":"7"}},{"From":"a@b.example","To":""}]`, `200 [{"ErrorCode":0,"Message":"OK"`},
		{"postmark", "/postmark/email/withTemplate", `{}`, `422 {"ErrorCode":300,"Message":"A template is not supported`},
		{"mailgun", "/mailgun/v3/a.example/messages.mime", "--x\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nx@gmail.com\r\n--x\r\nContent-Disposition: form-data; name=\"message\"; filename=\"m\"\r\n\r\n" + whole + "\r\n--x--\r\n", `200 {"id":"<inbox_`},
		{"ses", "/ses/v2/email/outbound-emails", `{"Content":{"Raw":{"Data":"` + raw + `"}}}`, `200 {"MessageId":"inbox_`},
		{"ses", "/ses/v2/email/outbound-emails", `{"Content":{"Template":{"TemplateName":"x"}}}`, `400 {"message":"Content.Template is not supported`},
	} {
		a := apis[test.provider]
		a.path = test.path
		stored := len(w.raw)
		w.expect(a, key, test.body, test.want)
		if strings.HasPrefix(test.want, "200") == (len(w.raw) == stored) {
			t.Errorf("%s stored %d mails", test.body, len(w.raw)-stored)
		}
		if strings.Contains(test.body, raw) || strings.Contains(test.body, whole) {
			if got := strings.TrimSuffix(w.raw[len(w.raw)-1], "\r\n"); got != strings.TrimSuffix(whole, "\r\n") {
				t.Errorf("%q", got)
			}
		}
	}
}
