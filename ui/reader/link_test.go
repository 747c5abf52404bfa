package reader

import "testing"

func TestOnlyWebLinksAreOpened(t *testing.T) {
	for _, raw := range []string{"javascript:alert(1)", "file:///etc/passwd", "--help", "ftp://x.example/", "http:", "https:///path", "\x00"} {
		if u, err := webURL(raw); err == nil {
			t.Errorf("%q would be opened as %s", raw, u)
		}
	}
}
