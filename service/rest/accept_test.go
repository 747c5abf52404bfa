package rest

import "testing"

func TestPrefersRaw(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		accept []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"message/rfc822"}, true},
		{[]string{"Message/RFC822"}, true},
		{[]string{"message/*"}, true},
		{[]string{"*/*"}, false},
		{[]string{"text/html"}, false},
		{[]string{"message/rfc822, application/json"}, false},
		{[]string{"message/rfc822, application/json;q=0.9"}, true},
		{[]string{"message/rfc822;q=0.5, application/json;q=0.9"}, false},
		{[]string{"message/rfc822;q=0.5", "application/json;q=0.4"}, true},
		{[]string{"message/rfc822, */*;q=0.1"}, true},
		{[]string{"message/rfc822;q=0, */*"}, false},
		{[]string{"application/json;q=0, */*"}, true},
		{[]string{"message/rfc822;q=2"}, false},
		{[]string{"message/rfc822;q=NaN"}, false},
		{[]string{"message/rfc822;q=x"}, false},
		{[]string{";;, /, message/rfc822"}, true},
		{[]string{`text/plain; x="a, message/rfc822"`}, false},
		{[]string{"text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"}, false},
	} {
		if got := prefersRaw(test.accept); got != test.want {
			t.Errorf("prefersRaw(%q) = %v", test.accept, got)
		}
	}
}
