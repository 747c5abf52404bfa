package theme

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

var texts = []string{
	"", "plain", "日本語のメール", "עברית", "e\u0301\u0301", "\U0001F468\u200d\U0001F469\u200d\U0001F467 family", "\U0001F44D\U0001F3FD", "❤\ufe0f", "🇩🇪🇫🇷",
	"\x1b[1mbold\x1b[m and \x1b[38;2;1;2;3mcolour\x1b[m", strings.Repeat("wide 漢字 ", 20),
	"./<bx-=a/-.. a-b/-c --//-- x.<y",
}

func TestFitIsExact(t *testing.T) {
	for _, s := range texts {
		for w := range 40 {
			for _, row := range Wrap(ansi.Strip(s), w) {
				if got := Width(row); got > w && (w > 1 || isPlainASCII(row)) { // a wide character needs two
					t.Errorf("Wrap(%q, %d) has a row of %d cells: %q", s, w, got, row)
				}
			}
			if got := Width(Fit(s, w)); got != w {
				t.Errorf("Fit(%q, %d) is %d cells wide", s, w, got)
			}
			if got := Width(Cut(s, w)); got > w {
				t.Errorf("Cut(%q, %d) is %d cells wide", s, w, got)
			}
			if got := Width(CutMiddle(ansi.Strip(s), w)); got > w {
				t.Errorf("CutMiddle(%q, %d) is %d cells wide", s, w, got)
			}
			for _, right := range texts {
				if got := Width(Spread(s, right, w)); got != w {
					t.Errorf("Spread(%q, %q, %d) is %d cells wide", s, right, w, got)
				}
			}
		}
	}
}

func TestSteadyIsAsWideForEveryTerminal(t *testing.T) {
	for _, s := range texts {
		for _, got := range append(Wrap(ansi.Strip(s), 8), StableWidth(s), CutMiddle(ansi.Strip(s), 12)) {
			if !strings.ContainsFunc(got, unicode.IsLetter) && ansi.StringWidth(got) != ansi.StringWidthWc(got) {
				t.Errorf("%q became %q: %d cells by graphemes, %d by runes", s, got, ansi.StringWidth(got), ansi.StringWidthWc(got))
			}
		}
	}
	if got := StableWidth("\U0001F468\u200d\U0001F469\u200d\U0001F467 family"); got != "\U0001F468 family" {
		t.Errorf("a family became %q", got)
	}
	for _, letters := range []string{"आपका सत्यापन कोड और प्रवेश", "স্বাগতম", "ప్రవేశం", "น้ำ", "ഉപയോക്താവ്", "ភាសាខ្មែរ", "각 한글", "தமிழ்"} {
		if got := StableWidth(letters); got != letters {
			t.Errorf("%q became %q", letters, got)
		}
		for w := range 12 {
			if got := ansi.StringWidthWc(Fit(letters, w)); got != w {
				t.Errorf("%q in %d cells has %d", letters, w, got)
			}
		}
	}
	if got := CutMiddle("quiet-otter-x7@mayfly.test", 17); got != "quiet-ot…fly.test" {
		t.Errorf("an address became %q", got)
	}
}

func TestOverKeepsWidthStylesAndLinks(t *testing.T) {
	for _, row := range texts {
		for _, top := range texts {
			for x := -1; x < 32; x++ {
				if got := Over(Fit(row, 30), 30, Layer{x, Cut(top, 12)}); Width(got) != 30 {
					t.Fatalf("%q over %q at %d is %d cells wide: %q", top, row, x, Width(got), got)
				}
			}
		}
	}
	const open, end = "\x1b]8;id=1;https://x.example\a", "\x1b]8;;\a"
	got := Over("\x1b[1m"+open+"link"+end+"\x1b[m 漢字", 9, Layer{1, "\x1b[7ma\x1b[m"}, Layer{6, "b"})
	if want := "\x1b[1m" + open + "l\x1b[22;7m" + end + "a\x1b[27;1m" + open + "nk\x1b[m" + end + "  b字"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		text, want string
		columns    []int
	}{
		{"a needle, a needle", "needle", []int{2, 12}},
		{"日本 needle", "needle", []int{5}},
		{"aaaa", "aa", []int{0, 2}},
		{"", "a", nil},
		{"text", "", nil},
		{"text", "texts", nil},
	} {
		if got := Find(c.text, c.want); !slices.Equal(got, c.columns) {
			t.Errorf("%q in %q is at %v, want %v", c.want, c.text, got, c.columns)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Plain TEXT\n482 913", "plain text\n482 913"},
		{"Crème BRÛLÉE, Cre\u0300me", "creme brulee, creme"},
		{"ΟΔΟΣ οδός", "οδοσ οδοσ"},
		{"İstanbul", "istanbul"},
		{"Straße", "straße"},
		{"שָׁלוֹם مُحَمَّد", "שלום محمد"},
		{"می\u200cتوانید", "میتوانید"},
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

func TestWords(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		d                               time.Duration
		age, waited, remaining, elapsed string
	}{
		{-time.Minute, "now", "0 s", "0 s", "-60.0 s"},
		{0, "now", "0 s", "0 s", "0.0 s"},
		{time.Millisecond, "now", "0 s", "1 s", "0.0 s"},
		{3240 * time.Millisecond, "now", "3 s", "4 s", "3.2 s"},
		{59 * time.Second, "now", "59 s", "59 s", "59.0 s"},
		{time.Minute, "1 min", "1 min", "60 s", "60.0 s"},
		{61 * time.Second, "1 min", "1 min", "2 min", "61.0 s"},
		{100 * time.Second, "1 min", "1 min", "2 min", "1 min"},
		{time.Hour, "60 min", "60 min", "60 min", "60 min"},
		{2*time.Hour - 1, "119 min", "119 min", "120 min", "119 min"},
		{2 * time.Hour, "2 h", "2 h", "120 min", "2 h"},
		{2*time.Hour + 1, "2 h", "2 h", "3 h", "2 h"},
		{2*day - 1, "47 h", "47 h", "48 h", "47 h"},
		{2 * day, "2 d", "2 d", "48 h", "2 d"},
		{30 * day, "30 d", "30 d", "30 d", "30 d"},
	} {
		if got := Age(c.d); got != c.age {
			t.Errorf("%v ago is %q, want %q", c.d, got, c.age)
		}
		if got := Waited(c.d); got != c.waited {
			t.Errorf("%v of waiting are %q, want %q", c.d, got, c.waited)
		}
		if got := Remaining(c.d); got != c.remaining {
			t.Errorf("%v that remain are %q, want %q", c.d, got, c.remaining)
		}
		if got := Elapsed(c.d); got != c.elapsed {
			t.Errorf("%v elapsed are %q, want %q", c.d, got, c.elapsed)
		}
	}
}
