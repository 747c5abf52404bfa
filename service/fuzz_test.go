package service

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// FuzzRecord makes the records of what clients may say: bounded, and whole.
func FuzzRecord(f *testing.F) {
	f.Add("EHLO app.example", "ada", "a@b.test", "SIZE=2048", "550 5.1.1 No such inbox", 3)
	f.Add("EHLO "+strings.Repeat("\"", 300), strings.Repeat("\\", 300), strings.Repeat("\u2028", 300), "", strings.Repeat("\x1b", 300), 40)
	f.Add(strings.Repeat("\xff", 300), strings.Repeat("\x00", 300), strings.Repeat("ü", 300), strings.Repeat("<", 300), "<&>", 1<<20)
	f.Fuzz(func(t *testing.T, hello, login, from, parameters, reply string, n int) {
		d := Delivery{From: from, Session: Session{Client: "[2001:db8::1%eth0]:65535", Hello: hello, Login: login, TLS: "TLS 1.3", Parameters: parameters, Messages: map[string]int{"key": 1 << 30}}}
		n = max(0, min(n, 100))
		for i := range n {
			d.To = append(d.To, Recipient{Address: fmt.Sprint(i, login), KeyID: "key"})
			d.Refused = append(d.Refused, Recipient{Address: fmt.Sprint(i, login), Refused: reply})
		}
		b := d.record("key", time.Now())
		var r record
		if err := json.Unmarshal(b, &r); err != nil || len(b) > maxRecord {
			t.Fatalf("%d bytes, %v: %s", len(b), err, b)
		}
		if r.More != (len(r.Recipients) < 2*n) || n > 0 && len(r.Recipients) == 0 {
			t.Errorf("%d of %d recipients: %s", len(r.Recipients), 2*n, b)
		}
	})
}
