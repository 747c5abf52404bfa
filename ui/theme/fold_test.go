package theme

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Plain TEXT\n482 913", "plain text\n482 913"},
		{"Crème BRÛLÉE, Cre\u0300me", "creme brulee, creme"},
		{"ΟΔΟΣ οδός", "οδοσ οδοσ"},
		{"İstanbul", "istanbul"},
		{"Straße", "straße"},
		{"שָׁלוֹם مُحَمَّد", "שלום محمد"},
		{"한국어 日本語 ガ", "한국어 日本語 ガ"},
		{"ที่นี่ कु", "ที่นี่ कु"}, // vowels and tones that make another word
		{"❤\ufe0f \U0001F468\u200d\U0001F469\u200d\U0001F467", "❤\ufe0f \U0001F468\u200d\U0001F469\u200d\U0001F467"},
		{"\xff\u0300", "\ufffd"},
	} {
		if got := Fold(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := Fold(s)
		if again := Fold(folded); again != folded {
			t.Errorf("%q becomes %q and then %q", s, folded, again)
		}
		if strings.Count(folded, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q has other lines than %q", folded, s)
		}
	})
}

func BenchmarkFold(b *testing.B) {
	for name, s := range map[string]string{"ascii": "Confirm your e-mail address. ", "accents": "Crème brûlée für Zoë. ", "chinese": "请确认您的电子邮件地址。"} {
		text := strings.Repeat(s, 1<<20/len(s))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Fold(text)
			}
		})
	}
}
