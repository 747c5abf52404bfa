package html

import (
	"fmt"
	"testing"

	"mayfly/render/doc"
)

// TestFooterInAnyLanguage: small print that is about leaving a list or about privacy is the footer,
// in every language that has a lexicon; other small print is not.
func TestFooterInAnyLanguage(t *testing.T) {
	const body = `<p>%s</p><p>%[1]s</p><p>%[1]s</p><p style="font-size:11px;color:#888"><a href="https://a.example/x1">%s</a></p>`
	for _, test := range []struct {
		text, last string
		footer     bool
	}{
		{"Kiitos, että liityit. Tilisi on nyt valmis ja voit aloittaa.", "Tietosuoja", true},
		{"Σας ευχαριστούμε που εγγραφήκατε στην υπηρεσία μας και σας καλωσορίζουμε.", "Πολιτική απορρήτου", true},
		{"Terima kasih telah bergabung. Akun Anda sudah siap untuk digunakan.", "Kebijakan privasi", true},
		{"Děkujeme, že jste se zaregistrovali. Váš účet je připraven.", "Ochrana osobních údajů", true},
		{"ધન્યવાદ. તમારું ખાતું હવે તૈયાર છે અને તમે શરૂ કરી શકો છો.", "ગોપનીયતા", true},
		{"Thank you for joining. Your account is ready now.", "Yesterday at the lake", false},
	} {
		d := Read(fmt.Sprintf(body, test.text, test.last))
		if last := d.Blocks[len(d.Blocks)-1]; (last.Kind == doc.Footer) != test.footer {
			t.Errorf("%q: footer is %v, want %v", test.last, last.Kind == doc.Footer, test.footer)
		}
	}
}
