package lexicon_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"mayfly/assets"
	"mayfly/render/lexicon"
)

// classes that every language has words for.
var needed = []string{
	"function", "strong", "code", "notcode", "label", "unit", "expiry", "confirm", "login", "reset", "invite", "click",
	"copy", "footer", "commerce", "notice", "ifnot", "password", "is", "enter",
}

func TestFilesAreWhole(t *testing.T) {
	files, err := fs.Glob(assets.Lexicons, "lexicons/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d lexicons, %v", len(files), err)
	}
	known := append(slices.Clone(needed), "noun", "unlock", "change", "delete", "meeting", "refuse", "match")
	for _, file := range files {
		b, err := fs.ReadFile(assets.Lexicons, file)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, value, ok := strings.Cut(line, ":")
			if !ok || !slices.Contains(known, key) {
				t.Errorf("%s: no such class: %q", file, line)
			}
			have[key] = true
			for phrase := range strings.SplitSeq(value, ",") {
				if strings.TrimSpace(strings.Trim(lexicon.Fold(phrase).Folded, " *=")) == "" {
					t.Errorf("%s: %s has an empty phrase", file, key)
				}
			}
		}
		for _, key := range needed {
			if !have[key] {
				t.Errorf("%s: no words for %s", file, key)
			}
		}
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct{ text, hint, want string }{
		{"Enter this code to sign in to your account and do not share it with anyone.", "", "en"},
		{"Bitte geben Sie den Code ein, um Ihr Konto zu bestätigen, und teilen Sie ihn nicht.", "", "de"},
		{"Veuillez saisir ce code pour vous connecter, il est valable dix minutes.", "", "fr"},
		{"Por favor, confirma tu correo para que podamos activar la cuenta.", "", "es"},
		{"Kliknij przycisk, aby potwierdzić swój adres, jeśli to nie ty, zignoruj.", "", "pl"},
		{"Пожалуйста, подтвердите ваш адрес, чтобы закончить, если это вы.", "", "ru"},
		{"Будь ласка, підтвердіть вашу адресу, якщо це ви, щоб продовжити.", "", "uk"},
		{"يرجى إدخال هذا الرمز لتسجيل الدخول إلى حسابك", "", "ar"},
		{"لطفا این کد را برای ورود به حساب کاربری خود وارد کنید", "", "fa"},
		{"请输入以下验证码以验证您的电子邮件地址", "", "zh-Hans"},
		{"請輸入以下驗證碼以驗證您的電子郵件地址", "", "zh-Hant"},
		{"以下のコードを入力してください。", "", "ja"},
		{"이메일 주소를 확인하려면 아래 버튼을 클릭하십시오.", "", "ko"},
		{"กรุณากดปุ่มด้านล่างเพื่อยืนยันอีเมลของคุณ", "", "th"},
		{"कृपया अपने खाते के लिए यह कोड दर्ज करें", "", "hi"},
		{"אנא לחצו על הכפתור כדי לאמת את הדואר שלכם", "", "he"},
		{"Hesabınızı doğrulamak için lütfen bu bağlantıya tıklayın.", "", "tr"},
		{"Vui lòng xác nhận địa chỉ của bạn để tiếp tục.", "", "vi"},
		{"482913", "sv-SE", "sv"},
	} {
		var names []string
		likely, possible := lexicon.Detect(lexicon.Fold(test.text), test.hint)
		for _, l := range append(likely, possible...) {
			names = append(names, l.Name)
		}
		if !slices.Contains(names, test.want) || !slices.Contains(names, "en") {
			t.Errorf("%q: %q, want %s and en among them", test.text, names, test.want)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Código de VERIFICACIÓN":  "codigo de verificacion",
		"Straße, d’accès":         "strasse d acces",
		"İstanbul IŞIK ışık":      "istanbul isik isik",
		"Код подтверждения":       "код подтверждения",
		"٤٨٢ ४८२ ４８２":             "482 482 482",
		"ＡＢＣ":                     "abc",
		"كلمة المرور":             "کلمه المرور",
		"인증번호":                    "인증번호",
		"a\u200bb\u00adc":         "abc",
		"sign-in  --  e-mail (x)": "sign in e mail x ",
	} {
		got := lexicon.Fold(in)
		if got.Folded != want {
			t.Errorf("%q: %q, want %q", in, got.Folded, want)
		}
		for i := range got.Folded {
			if s := got.Source(i); s < 0 || s > len(in) {
				t.Errorf("%q: byte %d comes from %d", in, i, s)
			}
		}
	}
}

func TestScan(t *testing.T) {
	for _, test := range []struct {
		text, phrase string
		class        lexicon.Class
		found        bool
	}{
		{"Your verification code is", "verification code", lexicon.Strong, true},
		{"Ihr Bestätigungscode lautet", "bestatigungscode", lexicon.Strong, true},
		{"Ihr Kundencode lautet", "code", lexicon.Code, true}, // the end of a compound
		{"encoded", "code", lexicon.Code, false},
		{"Der Rabattcode", "rabattcode", lexicon.NotCode, true},
		{"wpisz kodu weryfikacyjnego teraz", "kodu weryfikacyjn", lexicon.Strong, true},
		{"code de 6 chiffres à saisir pour vous", "code", lexicon.Code, true},
		{"Jūsų patvirtinimo kodas yra", "patvirtinimo kod", lexicon.Strong, true}, // three letters and an ending
	} {
		text := lexicon.Fold(test.text)
		found := false
		likely, possible := lexicon.Detect(text, "")
		for _, l := range append(likely, possible...) {
			l.Scan(text, func(h lexicon.Hit) bool {
				found = found || h.Class == test.class && text.Folded[h.Start:h.End] == test.phrase
				return true
			})
		}
		if found != test.found {
			t.Errorf("%q as %s in %q: %v, want %v", test.phrase, test.class, test.text, found, test.found)
		}
	}
}
