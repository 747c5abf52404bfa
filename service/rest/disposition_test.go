package rest

import (
	"mime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDisposition(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, want string }{
		{"", `attachment; filename=attachment`},
		{"report.pdf", `attachment; filename=report.pdf`},
		{"my report.pdf", `attachment; filename="my report.pdf"`},
		{"Rechnung für März.pdf", `attachment; filename*=utf-8''Rechnung%20f%C3%BCr%20M%C3%A4rz.pdf`},
		{"../../etc/passwd", `attachment; filename=_.._etc_passwd`},
		{`C:\a\b.txt`, `attachment; filename=C__a_b.txt`},
		{`a".html; x="`, `attachment; filename="a_.html; x=_"`},
		{"a\r\nSet-Cookie: b", `attachment; filename="aSet-Cookie_ b"`},
		{"gpj.\u202egnp.exe", `attachment; filename=gpj.gnp.exe`},
		{"...", `attachment; filename=attachment`},
		{"\xff\xfe", `attachment; filename=attachment`},
	} {
		if got := disposition(test.name); got != test.want {
			t.Errorf("disposition(%q) = %s, want %s", test.name, got, test.want)
		}
	}
}

func FuzzDisposition(f *testing.F) {
	f.Add("report.pdf")
	f.Add("\"\r\n;=../ü\u202e")
	f.Add(strings.Repeat("ü", 300) + ".txt")
	f.Fuzz(func(t *testing.T, name string) {
		field := disposition(name)
		kind, params, err := mime.ParseMediaType(field)
		if err != nil || kind != "attachment" {
			t.Fatalf("%q: %q, %v", field, kind, err)
		}
		got := params["filename"]
		if got == "" || len(got) > maxFilename || !utf8.ValidString(got) || strings.ContainsAny(got, "/\\\r\n\x00\"") {
			t.Fatalf("file name %q", got)
		}
		if strings.ContainsAny(field, "\r\n\x00") {
			t.Fatalf("field %q", field)
		}
	})
}
