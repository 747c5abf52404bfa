package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzRecord makes the records of what clients may say: bounded, whole, and without control characters.
func FuzzRecord(f *testing.F) {
	f.Add("192.0.2.1", "EHLO app.example", "ada", "a@b.test", "550 5.1.1 No such inbox", 3)
	f.Add("fe80::1%eth0", "EHLO "+strings.Repeat("\"", 300), strings.Repeat("\\", 300), strings.Repeat("\u2028", 300), strings.Repeat("\x1b", 300), 40)
	f.Add("\xff", strings.Repeat("\xff", 300), strings.Repeat("\x00", 300), strings.Repeat("ü", 300), "<&>", 1<<20)
	f.Fuzz(func(t *testing.T, client, hello, login, from, reply string, n int) {
		d := Delivery{From: from, Session: Session{
			Client: client, Hello: hello, Login: login, TLS: "TLS 1.3", Message: 1 << 30, Size: 1 << 62, Body: "8BITMIME", UTF8: true, MoreRefused: 1 << 20,
		}}
		n = max(0, min(n, 100))
		for i := range n {
			r := Recipient{Address: fmt.Sprint(i, login), KeyID: "key"}
			d.To, d.Refused = append(d.To, r), append(d.Refused, Refusal{r, reply})
		}
		b := d.recordFor("key", time.UnixMilli(0).UTC())
		var r record
		if err := json.Unmarshal(b, &r); err != nil || len(b) > maxRecord {
			t.Fatalf("%d bytes, %v: %s", len(b), err, b)
		}
		for _, text := range slices.Concat([]string{r.Client, r.Hello, r.Login, r.From}, r.Recipients) {
			if len(text) > maxValue || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
				t.Errorf("%q", text)
			}
		}
		if refused := len(r.Refused) + r.MoreRefused; refused != n+1<<20 || len(r.Recipients)+r.MoreRecipients > n {
			t.Errorf("%d of %d refused: %s", refused, n, b)
		}
	})
}

// BenchmarkRecord makes the record of a usual mail.
func BenchmarkRecord(b *testing.B) {
	d := Delivery{From: "bounces@app.example", To: []Recipient{{Address: "signup-test@mayfly.test", KeyID: "key"}}, Session: Session{
		Client: "192.0.2.7", Hello: "EHLO app.example", Login: "app", TLS: "TLS 1.3", Message: 1, Size: 2048, Body: "8BITMIME",
	}}
	now := time.Now().UTC()
	b.ReportAllocs()
	for b.Loop() {
		d.recordFor("key", now)
	}
}
