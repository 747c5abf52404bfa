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

// TestFooterLeavesContent: what stands above a footer in small print is part of it only if it is what
// footers have: links, icons, their words. What is said to the reader stays in sight.
func TestFooterLeavesContent(t *testing.T) {
	const mail = `<p>Your plan at Acme was changed today, and the new price applies from next month.</p>` +
		`<p>The old plan ends then. Nothing else changes for you and your team.</p>%s` +
		`<p style="font-size:11px;color:#888">Unsubscribe from mails of Acme.</p>`
	small := func(text string) string { return `<p style="font-size:12px;color:#888">` + text + `</p>` }
	for text, folded := range map[string]bool{
		small("Anything wrong?<br>Reply to this mail and we help."):                                          false,
		small("Reach us at help@acme.example on any day of the week."):                                       false,
		small("Yours,<br>Ada of Acme"):                                                                       false,
		small("Total: 12.00 EUR, paid on 3 May"):                                                             false,
		`<table style="font-size:12px;color:#888"><tr><td>Tax<td>2.00 EUR<tr><td>Total<td>14.00 EUR</table>`: false,
		`<table><tr><td><img src="https://a.example/a.png" width="120" height="40" alt="Get it here"><td><img src="https://a.example/b.png" width="120" height="40" alt="Or here"></table>`:            false,
		`<a href="https://a.example/app" style="background:#000;color:#fff;padding:9px">App Store</a> <a href="https://a.example/play" style="background:#000;color:#fff;padding:9px">Google Play</a>`: false,
		small(`<a href="https://a.example/x">Birds</a> <a href="https://a.example/y">Fish</a>`):                                                                                                        true,
		small(`<a href="https://a.example/x">https://a.example/x</a>`):                                                                                                                                 false,
		small("Privacy policy"): true,
		`<table style="font-size:12px;color:#888"><tr><td>Cards<br>We take all of them<td>Fast<br>It comes tomorrow<tr><td><a href="https://a.example/privacy">Privacy policy</a><td>Terms</table>`: false,
		`<table style="font-size:12px;color:#888"><tr><td>Privacy policy<td>Terms of use</table>`:                                                                                                   true,
	} {
		d := Read(fmt.Sprintf(mail, text))
		last := d.Blocks[len(d.Blocks)-1]
		if last.Kind != doc.Footer {
			t.Errorf("%q: no footer", text)
		} else if got := len(last.Children) > 1; got != folded {
			t.Errorf("%q: it is folded: %v, want %v", text, got, folded)
		}
	}
}

// TestFooterBeginsAtAGap: lines without a gap between them are footers together or not at all, unless one is sure to be one.
func TestFooterBeginsAtAGap(t *testing.T) {
	const body = `<p>Thank you for joining. Your account is ready now.</p><p style="margin:0%s">We are open on all days of the week.</p><p style="margin:0;font-size:11px;color:#888">%s</p>`
	for _, test := range []struct {
		style, last string
		lines       int // in the footer
	}{
		{"", "Unsubscribe from mails of Acme.", 0},
		{"", "© 2026 Acme", 1},
		{";font-size:11px;color:#888", "Unsubscribe from mails of Acme.", 2},
	} {
		d := Read(fmt.Sprintf(body, test.style, test.last))
		last, lines := d.Blocks[len(d.Blocks)-1], 0
		if last.Kind == doc.Footer {
			lines = len(last.Children)
		}
		if lines != test.lines {
			t.Errorf("%q, %q: %d lines in the footer, want %d", test.style, test.last, lines, test.lines)
		}
	}
}
