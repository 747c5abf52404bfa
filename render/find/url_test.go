package find

import "testing"

func TestURLs(t *testing.T) {
	for _, test := range []struct {
		url                         string
		root, secret, footer, trade bool
		asks                        string
	}{
		{"https://example.com/", true, false, false, false, ""},
		{"https://example.com/#/", false, false, false, false, ""},
		{"https://example.com/verify?token=abcd1234", false, true, false, false, "confirm"},
		{"https://example.com/users/password/edit?reset_password_token=x1y2z3", false, true, false, false, "reset"},
		{"https://example.com/auth/reset-password#/7FiDvywNQUwkRNAKTl_4Ku", false, true, false, false, "reset"},
		{"https://example.com/unsubscribe?u=1", false, false, true, false, ""},
		{"https://example.com/?utm_source=mail", true, false, false, true, ""},
		{"https://example.com/invitations/5f2b7c90-7d0e-4f2d-9a51-1f0b1f3f8b7a", false, true, false, false, "invite"},
		{"https://example.com/a/page/about/something-quite-long", false, false, true, false, ""},
	} {
		u := inspect(test.url)
		if u.root != test.root || u.token != test.secret || u.footer != test.footer || u.campaign != test.trade || u.asks.String() != test.asks {
			t.Errorf("%s: %+v asks %q", test.url, u, u.asks)
		}
	}
}
