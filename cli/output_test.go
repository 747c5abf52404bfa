package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
)

func TestTimesInTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for _, c := range []struct {
			at          time.Time
			stamp, left string
		}{
			{time.Time{}, "-", "-"}, // unknown
			{now.Add(-time.Second), "1999-12-31T23:59:59.000Z", "expired"},
			{now.Add(90 * time.Minute), "2000-01-01T01:30:00.000Z", "90 min left"},
		} {
			if got := timestamp(c.at); got != c.stamp {
				t.Errorf("stamp of %v is %q", c.at, got)
			}
			if got := timeLeft(c.at, now); got != c.left {
				t.Errorf("left until %v is %q", c.at, got)
			}
		}
	})
}

func TestJSONOnALineKeepsItsObjectAndIsSafeToLookAt(t *testing.T) {
	raw := "{ \"b\": 1.50, \n \"a\": \"<x> & \\u0007 \u009b31m \u202e \U000e0041 \x7f é 😀\" }"
	var out bytes.Buffer
	must(t, writeJSON(&out, json.RawMessage(raw)))
	want := `{"b":1.50,"a":"<x> & \u0007 \u009b31m \u202e \udb40\udc41 \u007f é 😀"}` + "\n"
	if out.String() != want {
		t.Errorf("got  %s want %s", out.String(), want)
	}
}

func FuzzJSONIsSafeAndTrue(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\u009b\u2028\U000e0001\xff")
	f.Fuzz(func(t *testing.T, value string) {
		var out bytes.Buffer
		must(t, writeJSON(&out, value))
		line := out.String()
		for _, r := range line[:len(line)-1] {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%U in %q", r, line)
			}
		}
		want, _ := json.Marshal(value) // a string always marshals
		var got, expected string
		if json.Unmarshal([]byte(line), &got) != nil || json.Unmarshal(want, &expected) != nil || got != expected {
			t.Errorf("%q became %q", expected, got)
		}
	})
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "30m": 30 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute,
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, " 5s ": 5 * time.Second, "1.5h": 90 * time.Minute,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1", "-5m", "1 hour", "x", "2d2d", "99999999999999999999", "999999999d", "1d-1h", "-1d", "NaN"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func TestAPersonIsToldOfAServiceThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for header, want := range map[string]string{"": "mayfly: api.example does not answer", "wait=25": ""} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example/v1/inboxes", nil)
			must(t, err)
			r.Header.Set("Prefer", header)
			var said strings.Builder
			_, err = (slowWarner{silent{}, &said}).RoundTrip(r)
			synctest.Wait()
			if err == nil || !strings.Contains(said.String(), want) || want == "" && said.Len() > 0 {
				t.Errorf("%q: %v, %q", header, err, said.String())
			}
		}
	})
}
