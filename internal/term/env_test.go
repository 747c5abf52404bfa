package term

import (
	"strings"
	"testing"
)

func TestNotification(t *testing.T) {
	long := strings.Repeat("ö", 300)
	for _, c := range []struct{ environ, title, text, want string }{
		{"", "a", "b", "\x1b]9;a: b\x07"},
		{"TERM=xterm-256color", "a", "b", "\x1b]9;a: b\x07"},
		{"TERM=xterm-kitty", "a", "b", "\x1b]99;i=mayfly:d=0;a\x07\x1b]99;i=mayfly:p=body;b\x07"},
		{"TERM=foot", "a", "b", "\x1b]777;notify;a;b\x07"},
		{"TERM=rxvt-unicode", "a", "b", "\x1b]777;notify;a;b\x07"},
		{"TERM_PROGRAM=WezTerm", "a", "b", "\x1b]777;notify;a;b\x07"},
		{"TERM_PROGRAM=ghostty", "a", "b", "\x1b]777;notify;a;b\x07"},
		{"VTE_VERSION=7600", "a", "b", "\x1b]777;notify;a;b\x07"},
		{"TMUX=x", "a", "b", "\x1bPtmux;\x1b\x1b]9;a: b\x07\x1b\\"},
		{"TERM=screen", "a", "b", "\x1bP\x1b]9;a: b\x07\x1b\\"},
		// what a mail says ends no sequence, adds no field and is not long
		{"TERM=foot", "a;b\x1b\\c", "d\x07e\nf\u009cg", "\x1b]777;notify;a,bc;de fg\x07"},
		{"", "a", long, "\x1b]9;a: " + long[:2*notificationLimit] + "\x07"},
	} {
		if got := (Env{c.environ}).Notification(c.title, c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.environ, got, c.want)
		}
	}
}

func TestCopySequence(t *testing.T) {
	for environ, want := range map[string]string{
		"TERM=xterm":                 "\x1b]52;c;YWRh\x07",
		"TMUX=x":                     "\x1bPtmux;\x1b\x1b]52;c;YWRh\x07\x1b\\",
		"TERM=screen.xterm-256color": "\x1bP\x1b]52;c;YWRh\x07\x1b\\",
	} {
		if got := (Env{environ}).CopySequence("ada"); got != want {
			t.Errorf("%s: %q, want %q", environ, got, want)
		}
	}
	for _, part := range strings.SplitAfter(Env{"TERM=screen"}.CopySequence(strings.Repeat("a", 999)), "\x1b\\") {
		if len(part) > 256 {
			t.Errorf("GNU Screen is given %d bytes at a time", len(part))
		}
	}
}

func TestBackgroundOfTheEnvironment(t *testing.T) {
	for value, want := range map[string]Background{
		"": UnknownBackground, "15;0": DarkBackground, "0;15": LightBackground, "0;7": LightBackground, "0;default;15": LightBackground,
		"15;default;0": DarkBackground, "0;default": UnknownBackground, "15": UnknownBackground, "7;8": DarkBackground,
	} {
		if got := (Env{"COLORFGBG=" + value}).Background(t.Context(), nil, nil); got != want {
			t.Errorf("COLORFGBG=%q: %v, want %v", value, got, want)
		}
	}
}
