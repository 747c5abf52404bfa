package api_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"mayfly/api"
)

func TestReadingTimes(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, d := range map[string]time.Duration{
		`"2026-01-02T03:04:05Z"`:           0,
		`"2026-01-02T03:04:05.1Z"`:         100 * time.Millisecond,
		`"2026-01-02T03:04:05.123456789Z"`: 123456789,
		`"2026-01-02T05:34:05+02:30"`:      0,
		`"2026-01-02T05:34:05+0230"`:       0,
		`"2026-01-02T03:04:05.000000"`:     0,
		`"2026-01-02 03:04:05"`:            0,
		`" 2026-01-02T03:04:05Z"`:          0,
	} {
		var s api.Summary
		if err := json.Unmarshal([]byte(`{"received_at":`+text+`}`), &s); err != nil || !s.ReceivedAt.Equal(want.Add(d)) {
			t.Errorf("%s: %v, %v", text, s.ReceivedAt, err)
		}
	}
	for _, text := range []string{`null`, `""`, `"yesterday"`, `12`, `{}`} {
		var s api.Summary
		if err := json.Unmarshal([]byte(`{"id":"1","received_at":`+text+`}`), &s); err != nil || !s.ReceivedAt.IsZero() || s.ID != "1" {
			t.Errorf("%s: %v, %v", text, s.ReceivedAt, err)
		}
	}
}

func TestReadingSenders(t *testing.T) {
	for from, want := range map[string][2]string{
		`a@b.example`:                   {"", "a@b.example"},
		`Ada <a@b.example>`:             {"Ada", "a@b.example"},
		`"Ada, Countess" <a@b.example>`: {"Ada, Countess", "a@b.example"},
		`Ada, Countess <a@b.example>`:   {"Ada, Countess", "a@b.example"},
		`<a@b.example>`:                 {"", "a@b.example"},
		`=?utf-8?q?Ad=C3=A4?= <a@b>`:    {"Adä", "a@b"},
		``:                              {"", ""},
		`>`:                             {"", ">"},
		`not an address`:                {"", "not an address"},
	} {
		text, err := json.Marshal(map[string]string{"from": from})
		must(t, err)
		var s api.Summary
		var m api.Message
		if err := json.Unmarshal(text, &s); err != nil || s.FromName != want[0] || s.From != want[1] {
			t.Errorf("%s: %q <%s>, %v", from, s.FromName, s.From, err)
		}
		if err := json.Unmarshal(text, &m); err != nil || m.FromName != want[0] || m.From != want[1] {
			t.Errorf("%s: %q <%s>, %v", from, m.FromName, m.From, err)
		}
	}
}

func TestReadingAttachments(t *testing.T) {
	for text, want := range map[string]api.Attachment{
		`{"id":"1","filename":"f","content_type":"text/plain","size":3,"content_id":"<c@d>","inline":true}`: {ID: "1", Filename: "f", ContentType: "text/plain", Size: 3, ContentID: "c@d", Inline: true},
		`{"name":"f","contentType":"text/plain","content":"YWJj"}`:                                          {Filename: "f", ContentType: "text/plain", Size: 3, Content: []byte("abc")},
		`{"name":"f","mime_type":"text/plain","data":"YWI_\r\nYQ==","size":"5","new":{}}`:                   {Filename: "f", ContentType: "text/plain", Size: 5, Content: []byte("ab?a")},
		`{"filename":null,"name":"f","url":"https://x.example/f","size":12.0}`:                              {Filename: "f", URL: "https://x.example/f", Size: 12},
		`{"filename":7,"content":{"a":1},"inline":"yes","size":{}}`:                                         {},
		`{}`:      {},
		`"a.txt"`: {Filename: "a.txt"},
		`5`:       {},
		`null`:    {},
		`["x"]`:   {},
	} {
		var got api.Attachment
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if string(got.Raw) != text {
			t.Errorf("%s: kept as %s", text, got.Raw)
		}
		content := got.Content
		got.Raw, got.Content, want.Raw = nil, nil, nil
		if !bytes.Equal(content, want.Content) {
			t.Errorf("%s: content %q", text, content)
		}
		want.Content = nil
		if a, b := mustJSON(t, got), mustJSON(t, want); a != b || got.URL != want.URL {
			t.Errorf("%s: %s", text, a)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func TestReadingLists(t *testing.T) {
	for text, total := range map[string]int{
		`{"messages":null}`: 0, `{}`: 0, `{"messages":[],"total":null}`: 0,
		`{"messages":[{"id":"1","extra":[1]}]}`: 1, `{"messages":[{"id":"1"}],"total":9}`: 9, `{"messages":[{}],"total":"3"}`: 3,
	} {
		var l api.List
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Total != total || l.Messages == nil || string(l.Raw) != text {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	var l api.InboxList // of a service that means something else by these names
	if err := json.Unmarshal([]byte(`{"inboxes":[{"id":"1"}],"domains":[{"name":"x"}],"relay_allow":"all"}`), &l); err != nil || l.Total != 1 || l.Domains != nil || l.RelayAllow != nil {
		t.Errorf("%+v, %v", l, err)
	}
	var m api.Message
	if err := json.Unmarshal([]byte(`{"id":"1","attachments":null,"text":null}`), &m); err != nil || m.Attachments == nil {
		t.Errorf("%+v, %v", m, err)
	}
}

// What was read and written once is the same when it is read and written again.
func FuzzReading(f *testing.F) {
	f.Add([]byte(`{"id":"1","from":"A <a@b>","received_at":"2026-01-02T03:04:05.1+02:00","size":"3","attachments":[{"name":"x","data":"YQ"}],"messages":[{"id":"2"}]}`))
	f.Add([]byte(`{"messages":null,"total":1e30,"created_at":"9999-12-31T23:59:59-10:00","message_count":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		again(t, data, &api.Inbox{}, &api.Inbox{})
		again(t, data, &api.InboxList{}, &api.InboxList{})
		again(t, data, &api.List{}, &api.List{})
		again(t, data, &api.Message{}, &api.Message{})
	})
}

func again(t *testing.T, data []byte, first, second any) {
	if json.Unmarshal(data, first) != nil {
		return
	}
	once, err := json.Marshal(first)
	must(t, err)
	if err := json.Unmarshal(once, second); err != nil {
		t.Fatalf("%s: %v", once, err)
	}
	if twice := mustJSON(t, second); twice != string(once) {
		t.Errorf("%s\n%s", once, twice)
	}
}
