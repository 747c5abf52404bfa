package clean

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestText(t *testing.T) {
	long := strings.Repeat("x", maxString)
	for name, c := range map[string]struct{ in, want string }{
		"plain":     {"Hello, Ada!\n\tBye ~", "Hello, Ada!\n\tBye ~"},
		"nothing":   {"", ""},
		"letters":   {"Grüße, 你好, مرحبا, שלום, नमस्ते", "Grüße, 你好, مرحبا, שלום, नमस्ते"},
		"symbols":   {"© ™ … “x” – 1 €", "© ™ … “x” – 1 €"},
		"line ends": {"a\r\nb\rc\nd\u2028e\u2029f\u0085g", "a\nb\nc\nd\ne\nf\ng"},

		"controls":       {"a\x00b\x01c\bd\ae\x0ef\x0fg\x7fh\vi\fj", "abcdefghij"},
		"C1 as UTF-8":    {"a\u0080b\u008dc\u0099d\u009ce", "abcde"},
		"C1 as bytes":    {"a\x9b31mb\x85c\x9d", "a\ufffd31mb\ufffdc\ufffd"},
		"invalid UTF-8":  {"a\xffb\xc3(\xe2\x82c\xed\xa0\x80", "a\ufffdb\ufffd(\ufffd\ufffdc\ufffd\ufffd\ufffd"},
		"overlong":       {"\xc0\x9b\xe0\x80\x9b", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
		"half an escape": {"a\x1b", "a"},

		"CSI":                    {"a\x1b[31mb\x1b[2J\x1b[?25l\x1b[1;1Hc", "abc"},
		"CSI of C1":              {"a\u009b31mb\u009b2Jc", "abc"},
		"CSI without end":        {"a\x1b[31", "a31"},
		"CSI on two lines":       {"a\x1b[31\nm", "a31\nm"},
		"CSI with a letter":      {"a\x1b[3\u00e4m", "a3\u00e4m"},
		"CSI, long":              {"\x1b[" + strings.Repeat("1", 100) + "m", strings.Repeat("1", 100) + "m"},
		"OSC with BEL":           {"a\x1b]0;title\ab", "ab"},
		"OSC with ST":            {"a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\c", "abc"},
		"OSC with ST of C1":      {"a\u009d52;c;AAAA\u009cb", "ab"},
		"OSC without end":        {"a\x1b]0;title\nb", "a0;title\nb"},
		"OSC, long":              {"\x1b]0;" + long + "\ab", "0;" + long + "b"},
		"DCS, SOS, PM, APC":      {"\x1bPq#1\x1b\\a\x1bXx\x1b\\b\x1b^x\x1b\\c\x1b_Gi=1\x1b\\d", "abcd"},
		"the same of C1":         {"\u0090q\u009ca\u0098x\u009cb\u009ex\u009cc\u009fx\u009cd", "abcd"},
		"character sets":         {"a\x1b(0b\x1b)Bc\x1b#8d\x1b%Ge", "abcde"},
		"single functions":       {"a\x1bcb\x1b7\x1b8c\x1bMd\x1b=e", "abcde"},
		"an escape in an escape": {"\x1b\x1b[31ma\x1b[\x1b[31mb", "ab"},
		"built by what is taken": {"\x1b\x00[31ma\u200b\x1b\u200b[0m", "[31ma[0m"},

		"bidi":                   {"a\u202eb\u202dc\u202ad\u202be\u202cf\u2066g\u2067h\u2068i\u2069j\u200ek\u200fl\u061cm", "abcdefghijklm"},
		"zero width":             {"a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u034fh\u180ei\u2061j\u2064k", "abcdefghijk"},
		"tags":                   {"a\U000e0041\U000e0001\U000e007fb", "ab"},
		"variation selectors":    {"a\ufe0fb\ufe00c\U000e0100d☺\ufe0f", "abcd☺"},
		"blank letters":          {"a\u115fb\u1160c\u3164d\uffa0e", "abcde"},
		"annotations":            {"a\ufff9b\ufffac\ufffbd", "abcd"},
		"formats of music":       {"a\U0001d173b\U0001d17ac", "abc"},
		"private use":            {"\ue0a0 \U000f0001", "\ue0a0 \U000f0001"},
		"spaces":                 {"a\u2003b\u2009c\u205fd\u1680e\u3000f", "a b c d e\u3000f"},
		"spaces that do not end": {"a\u00a0b\u2007c\u202fd", "a\u00a0b\u00a0c\u00a0d"},

		"a few marks":           {"e\u0301 a\u0308\u0304 \u05d1\u05bc\u05b0", "e\u0301 a\u0308\u0304 \u05d1\u05bc\u05b0"},
		"a flood of marks":      {"e" + strings.Repeat("\u0301", 1000) + "x", "e" + strings.Repeat("\u0301", maxMarks) + "x"},
		"a flood, enclosing":    {"e" + strings.Repeat("\u20dd\u0301", 1000), "e" + strings.Repeat("\u20dd\u0301", maxMarks)[:maxMarks/2*5+3]},
		"marks on nothing":      {"\u0301a \u0301b\n\u0301c\u00a0\u0301d\u3000\u0301", "a b\nc\u00a0d\u3000"},
		"marks after a control": {"e\x1b[m\u0301", "e\u0301"},

		"emoji":              {"👍🏽 🇩🇪 ❤", "👍🏽 🇩🇪 ❤"},
		"a family":           {"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		"a selector within":  {"🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"},
		"a joiner of text":   {"a\u200db", "ab"},
		"a joiner at an end": {"👨\u200d", "👨"},
		"joiners of words":   {"می\u200cتوانید ශ්\u200dරී अवन्\u200d.", "می\u200cتوانید ශ්\u200dරී अवन्\u200d."},
		"joiners of nothing": {"می\u200c\u200cت\u200c \u200cت\u200c\u00a0\u200c1\u200cت\u200dx", "می\u200cت ت\u00a01تx"},
		"joiners":            {"👨\u200d\u200d👩", "👨\u200d👩"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("%+q\n got %+q\nwant %+q", c.in, got, c.want)
			}
		})
	}
}

func TestWholeLine(t *testing.T) {
	const scotland = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	for in, want := range map[string]string{
		"❤\ufe0f x": "❤\ufe0f x", "1\ufe0f\u20e3": "1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈": "🏳\ufe0f\u200d🌈",
		scotland + "\n!":                    scotland + " !",
		"a\ufe0fb\ufe0f\ufe0f❤\ufe0f\ufe0f": "ab❤\ufe0f",
		"🏴\U000e0067":                       "🏴", // hidden text: it never ends
		"a\U000e0067\U000e007f":             "a",
		"🏴" + strings.Repeat("\U000e0067", 7) + "\U000e007f": "🏴",
		scotland + "\U000e0067\U000e007f":                    scotland,
		"\x1b[31m❤\ufe0f\u202e":                              "❤\ufe0f",
	} {
		if got := WholeLine(in); got != want {
			t.Errorf("%+q\n got %+q\nwant %+q", in, got, want)
		}
		if got := WholeLine(WholeLine(in)); got != want {
			t.Errorf("%+q: cleaned twice %+q", in, got)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a ": "a", "a\n\n\tb\r\nc": "a b c", "\n\t": "", "a  b": "a  b", "\u2028a\u2029b\u0085": "a b", "\x1b[31m\n": "",
		"Subject\r\nBcc: x": "Subject Bcc: x",
	} {
		if got := Line(in); got != want {
			t.Errorf("%+q: %+q, want %+q", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\tb": "a       b", "12345678\tb": "12345678        b", "ab\n\tc": "ab\n        c", "ä\tb": "ä       b", "a\r\nb\x1b[m": "a\nb",
	} {
		if got := Lines(in); got != want {
			t.Errorf("%+q: %+q, want %+q", in, got, want)
		}
	}
}

// TestEveryCharacter cleans every character of the planes that have any, except private use.
func TestEveryCharacter(t *testing.T) {
	for r := rune(0); r < 0xe1000; r++ {
		if r == 0x40000 {
			r = 0xe0000
		}
		inert(t, Text("a"+string(r)+"b"))
	}
}

// FuzzClean checks that nothing that a terminal interprets comes out, in terms of Unicode's own
// tables.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mred", "\x1b]0;title", "\u009b1m", "\u202eabc", "a\u0301\u0301", "\xff\xfe", "👨‍👩‍👧", "a\r\nb\rc",
		"\u00a0\u0301", "\x1bP\x1b\\", "e\u0301\u0301\u0301\u0301\u0301\u0301", "🏳\ufe0f\u200d🌈", "\U000e0041", "\u115f\u3164", "می\u200cت", "अवन्\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, line, lines := Text(s), Line(s), Lines(s)
		if Text(text) != text || Line(line) != line || Lines(lines) != lines {
			t.Fatalf("%+q: cleaning it again changes it: %+q, %+q, %+q", s, text, line, lines)
		}
		if whole := WholeLine(s); WholeLine(whole) != whole || Line(whole) != line || !utf8.ValidString(whole) {
			t.Fatalf("%+q: as it was sent %+q, as a line %+q", s, whole, line)
		}
		if strings.ContainsAny(line, "\n\t") || strings.TrimSpace(line) != line {
			t.Fatalf("%+q: not a line: %+q", s, line)
		}
		if strings.Contains(lines, "\t") {
			t.Fatalf("%+q: a tab is left: %+q", s, lines)
		}
		for _, out := range []string{text, line, lines} {
			if !utf8.ValidString(out) {
				t.Fatalf("%+q: invalid UTF-8: %+q", s, out)
			}
			inert(t, out)
		}
	})
}

// inert fails if s has a character that a terminal interprets rather than shows.
func inert(t *testing.T, s string) {
	t.Helper()
	marks := maxMarks // there may be none at the start of a line
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case r == '\n', r == '\t', r == ' ', r == '\u00a0', r == '\u3000':
			marks = maxMarks
		case r == zwj, r == zwnj:
			next := append(runes, 0)[i+1]
			emoji := r == zwj && i > 0 && emojiEnd(runes[i-1]) && pictographic(next)
			if !emoji && (i == 0 || !joining(runes[i-1]) || !joining(next) && norm.NFC.PropertiesString(string(runes[i-1])).CCC() != 9) {
				t.Fatalf("%+q: a joiner that is part of no emoji and of no word", s)
			}
		case r == vs16:
			if i+1 == len(runes) || runes[i+1] != zwj {
				t.Fatalf("%+q: a variation selector that is part of no sequence", s)
			}
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point):
			t.Fatalf("%+q: %U is left", s, r)
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				t.Fatalf("%+q: too many marks, or marks on nothing", s)
			}
		default:
			marks = 0
		}
	}
}

func TestRightToLeft(t *testing.T) {
	for s, want := range map[string]bool{"שלום": true, "123 مرحبا abc": true, "abc שלום": false, "123 –": false, "«עברית»": true, "ä עברית": false, "": false} {
		if got := RightToLeft(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestTurned(t *testing.T) {
	for s, want := range map[string]string{
		"plain":                         "plain",
		"\u202edetrats\u202c on time":   "started on time",
		"a \u202eeno\u2066 b\u2069":     "a one b",
		"\u202eeno\n\u202eowt":          "one\ntwo",
		"\u202eשלום\u202c":              "שלום",
		"in \u2067Hebrew\u2069, \u202a": "in Hebrew, ",
	} {
		if got := Text(ReadingOrder(s)); got != want {
			t.Errorf("%+q: got %q, want %q", s, got, want)
		}
	}
}
