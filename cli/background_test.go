package cli

import "testing"

func TestBackgroundIsReadFromTheAnswer(t *testing.T) {
	for said, want := range map[string]string{
		"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62;22c": "dark",
		"\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?1;2c":     "light",
		"\x1b]11;rgb:fd/f6/e3\x07\x1b[?6c":             "light",
		"\x1b]11;#000000\x07\x1b[?6c":                  "dark",
		"\x1b[?62;22c":                                 "unknown",
		"\x1b]11;nonsense\x07":                         "unknown",
		"":                                             "unknown",
	} {
		got := "unknown"
		if dark, ok := parseBackground([]byte(said)); ok && dark {
			got = "dark"
		} else if ok {
			got = "light"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
}

func TestBackgroundOfTheEnvironment(t *testing.T) {
	for value, dark := range map[string]bool{"": true, "15;0": true, "0;15": false, "0;7": false, "0;default": true} {
		if got := (&app{env: Env{Environ: []string{"COLORFGBG=" + value}}}).darkBackground(); got != dark {
			t.Errorf("COLORFGBG=%q: dark %v", value, got)
		}
	}
}
