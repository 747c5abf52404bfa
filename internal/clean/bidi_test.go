package clean

import "testing"

func TestRightToLeft(t *testing.T) {
	for s, want := range map[string]bool{"שלום": true, "123 مرحبا abc": true, "abc שלום": false, "123 –": false, "«עברית»": true, "ä עברית": false, "": false} {
		if got := RightToLeft(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestTurned(t *testing.T) {
	for s, want := range map[string]string{
		"plain":                         "plain",
		"\u202edetrats\u202c on time":   "started on time",
		"a \u202eeno\u2066 b\u2069":     "a one b",
		"\u202eeno\n\u202eowt":          "one\ntwo",
		"\u202eשלום\u202c":              "שלום",
		"in \u2067Hebrew\u2069, \u202a": "in Hebrew, ",
	} {
		if got := Text(Turned(s)); got != want {
			t.Errorf("%+q: got %q, want %q", s, got, want)
		}
	}
}
