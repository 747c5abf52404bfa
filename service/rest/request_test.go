package rest

import (
	"mime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAnswerCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c answerCache
	for i := range 100 {
		c.put(strconv.Itoa(i), make([]byte, cachedAnswer))
		size := 0
		for _, body := range c.bodies {
			size += cap(body)
		}
		if _, ok := c.get(strconv.Itoa(i)); !ok || size > cacheBytes {
			t.Fatalf("answer %d: %v, %d bytes are kept", i, ok, size)
		}
	}
	c.put("large", make([]byte, cachedAnswer+1))
	if _, ok := c.get("large"); ok {
		t.Error("one answer may take much of the cache")
	}
}

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
	for contentType, want := range map[string]string{
		"text/html": "text/html", "Text/HTML; charset=x": "text/html", "": "application/octet-stream",
		"text": "application/octet-stream", "a/ü": "application/octet-stream", "text/a b": "application/octet-stream",
	} {
		if got := downloadType(contentType, ""); got != want {
			t.Errorf("downloadType(%q) = %s, want %s", contentType, got, want)
		}
	}
	if got := downloadType("text/csv", "koi8-r"); got != "text/csv; charset=koi8-r" {
		t.Errorf("with a charset: %s", got)
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
