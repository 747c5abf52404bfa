package doc

import "testing"

func TestRightToLeft(t *testing.T) {
	for s, want := range map[string]bool{"שלום": true, "123 مرحبا abc": true, "abc שלום": false, "123 –": false, "«עברית»": true, "ä עברית": false, "": false} {
		if got := RightToLeft(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
