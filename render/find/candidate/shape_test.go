package candidate

import (
	"slices"
	"strings"
	"testing"
)

func values(text string) []string {
	var v []string
	for _, t := range In(text) {
		if t.Shape != Lower && t.Shape != Upper {
			v = append(v, t.Value)
		}
	}
	return v
}

func TestShapes(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"482913", []string{"482913"}},
		{"Code: 4829.", []string{"4829"}},
		{"4829130021", []string{"4829130021"}},
		{"482 913", []string{"482913"}},
		{"482\u00a0913", []string{"482913"}},
		{"48 29 13", []string{"482913"}},
		{"4 8 2 9 1 3", []string{"482913"}},
		{"4829 1377", []string{"48291377"}},
		{"482-913", []string{"482-913"}},
		{"G-482913", []string{"G-482913"}},
		{"7KQ2-M9XP", []string{"7KQ2-M9XP"}},
		{"QX7KM-2PRT9", []string{"QX7KM-2PRT9"}},
		{"7kq2m9", []string{"7kq2m9"}},
		{"kr226-5398x", []string{"kr226-5398x"}},
		{"“7kq2m9”", []string{"7kq2m9"}},
		{"**482913**", []string{"482913"}},
		{"٤٨٢٩١٣", []string{"482913"}},
		{"४८२९१३", []string{"482913"}},
		{"১৯০৮৩৫", []string{"190835"}},
		{"４８２９１３", []string{"482913"}},
		{"๔๘๒๙๑๓", []string{"482913"}},
		{"验证码是482913，请勿泄露", []string{"482913"}},
		{"인증번호482913을", []string{"482913"}},
		{"code (48213)", []string{"48213"}},
		{"4f2b7c90-7d0e-4f2d-9a51-1f0b1f3f8b7a", []string{"4f2b7c90-7d0e-4f2d-9a51-1f0b1f3f8b7a"}},
		{"Token: eyJhbGciOiJIUzI1NiJ9.eyJjaWQiOiIxIn0.aXj2Lk39dqP1=", []string{"eyJhbGciOiJIUzI1NiJ9.eyJjaWQiOiIxIn0.aXj2Lk39dqP1="}},
	} {
		if got := values(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestNoCodes(t *testing.T) {
	for _, text := range []string{
		"123", "12345678901", "4111 1111 1111 1111", "DE44 5001 0517 5407 3249 31", // too short, too long, card, IBAN
		"+49 30 5557 8841", "+14155550132", "(415) 555-0132", "1(250)222-2232", "415-555-0132", "1-800-555-0132", // phones
		"2026-11-21", "21.11.2026", "11/21/2026", "2009–2026", "2019-2026", // dates
		"10:14:22", "1.204,50", "12,499.00", "1,204", "€4990", "4990 €", "$1200", "1200$", "25000%", "12 490 ₽", // times and prices
		"203.0.113.57", "131.0.2903.51", "v10.2.4120", "1.20.4821", // IP addresses and versions
		"https://example.com/482913", "www.example.com/482913", "jane1984@example.net", "example.org/t/482913", // addresses
		"?code=482913", "a_482913", "482913_b", "48/2913", // parts of paths
		"q7!Kd93x", "Kd93x!q7", "x;4829", // parts of passwords
		"482 913 118#",                                                            // for the keys of a telephone
		"1200px", "600x200", "1080p", "2048MB", "Windows11", "SHA256", "50000mAh", // quantities and names
		"**** 4471", "•••• 4471", "©2026", // masked numbers, copyright
		"é4829x", "Ж4829", // glued to letters
		"/4f2b7c90-7d0e-4f2d-9a51-1f0b1f3f8b7a.png", "https://example.com/4f2b7c90-7d0e-4f2d-9a51-1f0b1f3f8b7a", // parts of addresses
	} {
		if got := values(text); len(got) > 0 {
			t.Errorf("%q: %q, want none", text, got)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string]bool{
		"brisk otter": true, "Brisk Otter": true, " BRISK OTTER ": true, "Brisk otter": false, "brisk": false, "brisk otter runs": false,
		"brisk, otter": false, "brisk 4829": false, "an otter": false, "brisk otter.": false,
	} {
		if c, ok := Words(line); ok != want || ok && c.Value != strings.TrimSpace(line) {
			t.Errorf("%q: %+v, %v", line, c, ok)
		}
	}
}
