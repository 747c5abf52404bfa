package rest

import "testing"

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fields []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{`"7"`}, true},
		{[]string{`W/"7"`}, true},
		{[]string{`7`}, false},
		{[]string{`"8"`}, false},
		{[]string{`"8", W/"9" ,"7"`}, true},
		{[]string{`"8","7"`}, true},
		{[]string{`"8,7"`}, false},
		{[]string{`"8`, `"7"`}, true},
		{[]string{`*`}, true},
		{[]string{` * `}, true},
		{[]string{`"*"`}, false},
		{[]string{`,, "7"`}, true},
		{[]string{`"7`}, false},
	} {
		for _, etag := range []string{`"7"`, `W/"7"`} {
			if got := matchesETag(test.fields, etag); got != test.want {
				t.Errorf("matchesETag(%q, %s) = %v", test.fields, etag, got)
			}
		}
	}
}
