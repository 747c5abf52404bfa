package mail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"mayfly/internal/fortest"
)

func parse(s string) *Message { return Parse([]byte(s)) }

// outline is what a message comes to, one thing a line.
func outline(m *Message) string {
	var b strings.Builder
	if m.TextType != "" {
		fmt.Fprintf(&b, "%s %q", m.TextType, m.Text)
		if m.Flowed {
			b.WriteString(" flowed")
		}
		if m.DelSp {
			b.WriteString(" delsp")
		}
		b.WriteByte('\n')
	}
	if m.HTML != "" {
		fmt.Fprintf(&b, "html %q\n", m.HTML)
	}
	for _, a := range m.Attachments {
		fmt.Fprintf(&b, "%s %s %q", a.ID, a.ContentType, a.Filename)
		if a.ContentID != "" {
			fmt.Fprintf(&b, " cid:%s", a.ContentID)
		}
		if a.Inline {
			b.WriteString(" inline")
		}
		fmt.Fprintf(&b, " %d %.40q\n", a.Size, a.Content)
	}
	for _, d := range m.Defects {
		b.WriteString("! " + d + "\n")
	}
	return b.String()
}

func TestParts(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"plain", "Subject: x\r\n\r\nhello\r\nthere\r\n", `
			text/plain "hello\nthere\n"`},
		{"no body", "Subject: x\r\n", `
			text/plain ""`},
		{"HTML", "Content-Type: text/html\n\n<p>x</p>", `
			html "<p>x</p>"`},
		{"HTML that is not declared", "Subject: x\n\n<!DOCTYPE html><p>x</p>", `
			html "<!DOCTYPE html><p>x</p>"`},
		{"Markdown", "Content-Type: text/x-markdown\n\n# x", `
			text/markdown "# x"`},
		{"flowed", "Content-Type: text/plain; format=Flowed; DelSp=yes\n\na \nb", `
			text/plain "a \nb" flowed delsp`},
		{"alternative", multi("alternative", "Content-Type: text/plain; format=flowed\n\nx", "Content-Type: text/html\n\n<p>x", "Content-Type: text/x-amp-html\n\n<html ⚡>"), `
			text/plain "x" flowed
			html "<p>x"`},
		{"alternative with a calendar", multi("alternative", "\nx", "Content-Type: text/calendar; name=i.ics\n\nBEGIN:VCALENDAR"), `
			text/plain "x"
			2 text/calendar "i.ics" 15 "BEGIN:VCALENDAR"`},
		{"the same calendar as a file", multi("mixed", nested("alternative", "b2", "\nx", "Content-Type: text/calendar\n\nBEGIN:VCALENDAR"), "Content-Type: application/ics; name=i.ics\nContent-Transfer-Encoding: base64\n\nQkVHSU46VkNBTEVOREFSDQo="), `
			text/plain "x"
			2 application/ics "i.ics" 17 "BEGIN:VCALENDAR\r\n"`},
		{"another calendar as a file", multi("mixed", "Content-Type: text/calendar\n\nBEGIN:VCALENDAR", "Content-Type: application/octet-stream; name=i.ICS\n\nBEGIN:OTHER"), `
			1 text/calendar "" 15 "BEGIN:VCALENDAR"
			2 application/octet-stream "i.ICS" 11 "BEGIN:OTHER"`},
		{"alternatives of one kind", multi("alternative", "\nx", "\nx\n", "\ny"), `
			text/plain "x\ny"`},
		{"Markdown and plain", multi("alternative", "Content-Type: text/markdown\n\n# x", "\nx"), `
			text/plain "x"`},
		{"texts one after the other", multi("mixed", "\nx", "Content-Type: image/png; name=p.png\n\nP", "\ny\n"), `
			text/plain "x\ny\n"
			2 image/png "p.png" 1 "P"`},
		{"text, then HTML", multi("mixed", "\n1 < 2", "Content-Type: text/html\n\n<p>y"), `
			text/plain "1 < 2"
			html "<div style=\"white-space: pre-wrap\">1 &lt; 2</div>\n<p>y"`},
		{"inline image", multi("related", "Content-Type: text/html\n\n<img src='cid:a@b'>", "Content-Type: image/gif\nContent-ID: <a@b>\n\nGIF", "Content-Type: image/gif\nContent-ID: <c@b>\nContent-Disposition: attachment; filename=c.gif\n\nGIF"), `
			html "<img src='cid:a@b'>"
			2 image/gif "" cid:a@b inline 3 "GIF"
			3 image/gif "c.gif" cid:c@b 3 "GIF"`},
		{"mixed, related, alternative", multi("mixed", nested("related", "b2", nested("alternative", "b3", "\nx", "Content-Type: text/html\n\n<p>x"), "Content-Type: image/gif\n\nGIF"), "Content-Type: application/pdf\nContent-Disposition: attachment; filename=x.pdf\n\nPDF"), `
			text/plain "x"
			html "<p>x"
			1.2 image/gif "" 3 "GIF"
			2 application/pdf "x.pdf" 3 "PDF"`},
		{"signed", multi("signed; micalg=pgp-sha512", "\nx", "Content-Type: application/pgp-signature\n\nSIG"), `
			text/plain "x"
			2 application/pgp-signature "" 3 "SIG"`},
		{"report", multi("report", "\nIt bounced.", "Content-Type: message/delivery-status\n\nAction: failed", "Content-Type: text/rfc822-headers\n\nSubject: x"), `
			text/plain "It bounced."
			2 message/delivery-status "" 14 "Action: failed"
			3 text/rfc822-headers "" 10 "Subject: x"`},
		{"message within", multi("mixed", "\nSee below.", "Content-Type: message/rfc822\n\nFrom: a@b\nSubject: in\n\nbody"), `
			text/plain "See below."
			2 message/rfc822 "" 27 "From: a@b\nSubject: in\n\nbody"`},
		{"message alone", multi("mixed", "Content-Type: message/rfc822\n\nFrom: a@b\nSubject: =?utf-8?q?=C3=BC?=\n\nbody"), `
			text/plain "From: a@b\nSubject: ü\n\nbody"
			1 message/rfc822 "" 43 "From: a@b\nSubject: =?utf-8?q?=C3=BC?=\n\nb"`},
		{"digest", multi("digest", "\nFrom: a@b\nSubject: one\n\n1", "\nFrom: c@d\nSubject: two\n\n2"), `
			text/plain "From: a@b\nSubject: one\n\n1\nFrom: c@d\nSubject: two\n\n2"
			1 message/rfc822 "" 25 "From: a@b\nSubject: one\n\n1"
			2 message/rfc822 "" 25 "From: c@d\nSubject: two\n\n2"`},
		{"text attachment", multi("mixed", "\nx", "Content-Type: text/plain\nContent-Disposition: attachment; filename=log.txt\n\nlog"), `
			text/plain "x"
			2 text/plain "log.txt" 3 "log"`},
		{"text attachment without a charset", multi("mixed", "\nx", "Content-Type: text/csv\n\ncaf\xe9"), `
			text/plain "x"
			2 text/csv "" 4 "caf\xe9"`},
		{"named text", multi("mixed", "Content-Type: text/plain; name=body.txt\n\nx", "Content-Type: text/plain; name=log.txt\n\nlog", "Content-Type: text/plain\nContent-Disposition: inline; filename=more.txt\n\nmore"), `
			text/plain "x\nmore"
			2 text/plain "log.txt" 3 "log"
			3 text/plain "more.txt" inline 4 "more"`},
		{"nothing but a text attachment", "Content-Type: text/plain\nContent-Disposition: attachment; filename=log.txt\n\nlog", `
			text/plain "log"
			1 text/plain "log.txt" 3 "log"`},
		{"an image alone", "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw==", `
			1 image/png "" 4 "\x89PNG"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkOutline(t, parse(test.raw), test.want) })
	}
}

func checkOutline(t *testing.T, m *Message, want string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(want, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line+"\n")
		}
	}
	if got := outline(m); got != strings.Join(lines, "") {
		t.Errorf("got\n%swant\n%s", got, strings.Join(lines, ""))
	}
}

// multi is a multipart message with boundary b1.
func multi(subtype string, parts ...string) string {
	return "Subject: x\nMIME-Version: 1.0\n" + nested(subtype, "b1", parts...) + "\n"
}

func nested(subtype, boundary string, parts ...string) string {
	s := "Content-Type: multipart/" + subtype + "; boundary=" + boundary + "\n\n"
	for _, p := range parts {
		s += "--" + boundary + "\n" + p + "\n"
	}
	return s + "--" + boundary + "--"
}

func TestBrokenMessages(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"nothing", "", `
			text/plain ""`},
		{"no header", "Just a line.\nAnd: another", `
			text/plain "Just a line.\nAnd: another"`},
		{"text with a colon", "Note: buy milk\n\nand bread", `
			text/plain "Note: buy milk\n\nand bread"`},
		{"no empty line", "Subject: x\nHello there.\nBye", `
			text/plain "Hello there.\nBye"
			! A line of the header is not a field: the text begins with it`},
		{"a text that begins with From", "From my point of view\nthis is no header", `
			text/plain "From my point of view\nthis is no header"`},
		{"not closed", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: image/gif\n\nGIF", `
			text/plain "x"
			2 image/gif "" 3 "GIF"
			! A multipart is not closed`},
		{"cut off within a header", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Ty", `
			text/plain "x\nContent-Ty"
			! A multipart is not closed`},
		{"nest not closed", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\nx\n--b\nContent-Type: image/gif\n\nGIF\n--b--\n", `
			text/plain "x"
			2 image/gif "" 3 "GIF"
			! A multipart is not closed`},
		{"another boundary declared", "Content-Type: multipart/mixed; boundary=z\n\n--b\nContent-Type: text/plain\n\nx\n--b--\n", `
			text/plain "--b\nContent-Type: text/plain\n\nx\n--b--\n"
			! A multipart does not have the boundary that it declares`},
		{"no parts", "Content-Type: multipart/mixed; boundary=z\n\nOnly text.\n", `
			text/plain "Only text.\n"
			! A multipart does not have the boundary that it declares`},
		{"empty part", "Content-Type: multipart/mixed; boundary=z\n\n--z\n--z\n\nx\n--z--", `
			text/plain "x"`},
		{"one boundary starts as another", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=bb\n\n--bb\n\nx\n--bb--\n--b\n\ny\n--b--\n", `
			text/plain "x\ny"`},
		{"base64 without padding, with rubbish", "Content-Transfer-Encoding: base64\n\naGVsbG8gaGVsbG8gaGVs\nbG8*hIQ", `
			text/plain "hello hello hello!!"
			! A part is broken in its base64`},
		{"base64 in two", "Content-Transfer-Encoding: BASE64\n\naGVsbA==\nbyE=\n", `
			text/plain "hello!"`},
		{"base64 cut off", "Content-Transfer-Encoding: base64\n\naGVsbG8hI", `
			text/plain "hello!"
			! A part is broken in its base64`},
		{"no base64 at all", "Content-Transfer-Encoding: base64\n\nDear reader, this is a plain text.\n", `
			text/plain "Dear reader, this is a plain text.\n"
			! A part is declared as base64 but is not`},
		{"broken quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\na=3Db =\nc  \n1=2 =ZZ =c3=a4=\n", `
			text/plain "a=b c\n1=2 =ZZ ä"
			! A part is broken in its quoted-printable`},
		{"misspelt encodings", multi("mixed", "Content-Transfer-Encoding: 8bits\n\nx", "Content-Transfer-Encoding: Quoted_Printable;\n\n=79", "Content-Transfer-Encoding: base64,\n\nenp6"), `
			text/plain "x\ny\nzzz"`},
		{"a slash too many", "Content-Type: text/html/; charset=utf-8\n\n<p>x", `
			html "<p>x"`},
		{"HTML said to be multipart", "Content-Type: multipart/mixed; boundary=z\n\n<html><p>x</p></html>", `
			html "<html><p>x</p></html>"
			! A multipart does not have the boundary that it declares`},
		{"unknown encoding", "Content-Transfer-Encoding: rot13\n\nx", `
			text/plain "x"
			! A part has an unknown transfer encoding: rot13`},
		{"bad content type", "Content-Type: \"text\"/;;=plain\n\nx", `
			text/plain "x"
			! The Content-Type cannot be read`},
		{"field name with a space", "Subject : x\nContent-Type : text/html\n\n<b>x</b>", `
			html "<b>x</b>"`},
		{"value that is not folded", "Subject: one\ntwo\nContent-Type: text/html\n\n<b>x</b>", `
			html "<b>x</b>"
			! A line of the header is not a field and is left out: "two"`},
		{"header after empty lines", "\r\n\nSubject: x\nContent-Type: text/html\n\n<b>x</b>", `
			html "<b>x</b>"
			! White space or a byte order mark comes before the header`},
		{"header after lines of white space", " \t\r\n \r\nSubject: x\nContent-Type: text/html\n\n<b>x</b>", `
			html "<b>x</b>"
			! White space or a byte order mark comes before the header`},
		{"text after a line of white space", " \r\nDear Subject: x\n", `
			text/plain " \nDear Subject: x\n"`},
		{"two fields on a line", "Content-Type: text/html Content-Transfer-Encoding: 8bit\n\n<b>x</b>", `
			html "<b>x</b>"`},
		{"no subtype", "Content-Type: application-x-gzip; name=x.gz\n\nGZ", `
			1 application/octet-stream "x.gz" 2 "GZ"
			! The Content-Type cannot be read`},
		{"empty header", "\r\nbody: x\n", `
			text/plain "body: x\n"`},
		{"disposition without a type", "Content-Type: image/gif\nContent-Disposition: filename=\"a b.gif\"\n\nGIF", `
			1 image/gif "a b.gif" 3 "GIF"`},
		{"text that is said to be base64", "Content-Transfer-Encoding: base64\n\nHello\n\nThis is the text.\n", `
			text/plain "Hello\n\nThis is the text.\n"
			! A part is declared as base64 but is not`},
		{"lines that are no fields", "From a@b Sat Nov 28 10:00:00 2026\nSubject: x\n\"a line\"\n  which goes on\nX My Header: v\nContent-Type: text/html\nlast\n\n<b>x</b>", `
			html "<b>x</b>"
			! A line of the header is not a field and is left out: "From a@b Sat Nov 28 10:00:00 2026"
			! A line of the header is not a field and is left out: "\"a line\"\n  which goes on"
			! A line of the header is not a field and is left out: "X My Header: v"
			! A line of the header is not a field and is left out: "last"`},
		{"a continuation comes first", " <a@b>\nContent-Type: text/html\n\n<b>x</b>", `
			html "<b>x</b>"
			! A line of the header is not a field and is left out: " <a@b>"`},
		{"a byte order mark", "\xef\xbb\xbfContent-Type: text/html\n\n<b>x</b>", `
			html "<b>x</b>"
			! White space or a byte order mark comes before the header`},
		{"more lines than fields", "Dear Ann,\nhere is what\nSubject: means\n\nx", `
			text/plain "Dear Ann,\nhere is what\nSubject: means\n\nx"`},
		{"lines of a part's header", multi("mixed", "Content-Type: text/html\nbanner\nContent-Transfer-Encoding: base64\n\nPGI+", "\nSubject: text"), `
			text/plain "Subject: text"
			html "<b>\n<div style=\"white-space: pre-wrap\">Subject: text</div>"
			! A line of the header is not a field and is left out: "banner"`},
		{"no empty line before the parts", "Content-Type: multipart/mixed; boundary=b\n--b\nContent-Type: text/html\n\n<b>x</b>\n--b--\n", `
			html "<b>x</b>"`},
		{"a boundary that goes on", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=b--alt\n\n--b--alt\n\nx\n--b--alt--\n--b-- \n", `
			text/plain "x"`},
		{"a closing boundary in brackets", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b-->\ny", `
			text/plain "x"`},
		{"a boundary of two lines", "Content-Type: multipart/mixed; boundary=\"=?u?q?a=0Ab?=\"\n\n--a\nb\n", `
			text/plain "--a\nb\n"
			! A multipart does not have the boundary that it declares`},
		{"comments", "Content-Type: multipart/mixed (a; b); (c) boundary=b (d)\n\n--b\nContent-Type: text/html (e); charset=koi8-r (f)\n\n\xc4\xc1\n--b--", `
			html "да"`},
		{"encoded types", multi("mixed", "Content-Type: =?utf-8?q?image/gif=3B_name=3D=22=C3=A9;.gif=22?=\n\nG", "Content-Type: image/gif; =?koi8-r?q?name=3D=C4?=\n =?koi8-r?q?=C1?=\n\nG"), `
			1 image/gif "é;.gif" 1 "G"
			2 image/gif "да" 1 "G"`},
		{"two types", "Content-Type: text/plain\nContent-Type: multipart/mixed; boundary=a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--", `
			text/plain "x"
			! A header has several Content-Types: the one that fits the body counts`},
		{"two types without parts", "Content-Type: multipart/mixed; boundary=a\nContent-Type: text/html\n\n<p>x", `
			html "<p>x"
			! A header has several Content-Types: the one that fits the body counts`},
		{"header after a space", " Subject: x\nContent-Type: text/html\n\n<b>x</b>", `
			html "<b>x</b>"
			! White space or a byte order mark comes before the header`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkOutline(t, parse(test.raw), test.want) })
	}
}

func TestEncodedWords(t *testing.T) {
	tests := []struct{ value, want string }{
		{"plain", "plain"},
		{"=?UTF-8?B?w7w=?=", "ü"},
		{"=?utf-8?q?a_b=3F?= c", "a b? c"},
		{"a =?utf-8?q?b?= =?utf-8?q?c?= d", "a bc d"},
		{"=?utf-8?B?4oI=?= =?utf-8?B?rA==?=", "€"}, // cut within a character
		{"=?utf-8?Q?=E2=82?=\r\n =?UTF-8?B?rA==?=", "€"},
		{"=?utf-8*de?q?=C3=BC?=", "ü"},
		{"=?iso-8859-1?q?=FC?==?iso-8859-1?q?=E4?=", "üä"},
		{"(=?utf-8?q?x?=)", "(x)"},
		{`"=?utf-8?q?x?=" y`, `"x" y`},
		{"=?utf-8?q?with space?=", "with space"},
		{"=?utf-8?q?never ends", "never ends"},
		{"=?utf-8?x?y?=", "=?utf-8?x?y?="},
		{"=?=?=?", "=?=?=?"},
		{"=??q?x?=", "=??q?x?="},
		{"=?nowhere?q?=C3=BC?=", "ü"},
		{"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"},
		{"=?gb2312?B?xOO6ww==?=", "你好"},
		{"caf\xc3\xa9", "café"},
		{"caf\xe9", "caf\uFFFD"},
		{"caf\xe9 =?utf-8?q?=C3=A9?=\nContent-Type: text/plain; charset=latin1", "café é"},
		{"\xc4\xc1\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; Charset=\"koi8-r\"\n\nx", "да"},
		{"да\nContent-Type: text/plain; charset=gb2312", "да"},
		{"one\r\n\t\ttwo\r\n three", "one two three"},
	}
	for _, test := range tests {
		if got := parse("Subject: " + test.value + "\r\n\r\n").Subject; got != test.want {
			t.Errorf("%q: got %q, want %q", test.value, got, test.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	tests := []struct {
		value string
		want  []Address
	}{
		{"a@b", []Address{{"", "a@b"}}},
		{"<a@b>", []Address{{"", "a@b"}}},
		{"A B <a@b>", []Address{{"A B", "a@b"}}},
		{`"A, B" <a@b>, C <c@d>`, []Address{{"A, B", "a@b"}, {"C", "c@d"}}},
		{`A, B <a@b>`, []Address{{"A, B", "a@b"}}},
		{`"say \"hi\"" <a@b>`, []Address{{`say "hi"`, "a@b"}}},
		{"a@b (A B)", []Address{{"A B", "a@b"}}},
		{"=?utf-8?q?A=2C_B?= <a@b>", []Address{{"A, B", "a@b"}}},
		{"=?utf-8?q?A_=3Ca=40b=3E?=", []Address{{"A", "a@b"}}},
		{"Friends: a@b, C <c@d>; e@f", []Address{{"", "a@b"}, {"C", "c@d"}, {"", "e@f"}}},
		{"undisclosed-recipients:;", nil},
		{"A <a@b", []Address{{"A", "a@b"}}},
		{"A <a@b> B <c@d>", []Address{{"A", "a@b"}, {"B", "c@d"}}},
		{"A a@b", []Address{{"A", "a@b"}}},
		{"A <<a@b>>", []Address{{"A", "a@b"}}},
		{"A <mailto:a@b>", []Address{{"A", "a@b"}}},
		{"'A' <a@b>", []Address{{"A", "a@b"}}},
		{"Nobody", []Address{{"Nobody", ""}}},
		{`A <"a> b"@c>, "x (y) z"@d`, []Address{{"A", `"a> b"@c`}, {"", `"x (y) z"@d`}}},
		{"=?utf-8?q?A,_B?= <a@b>", []Address{{"A, B", "a@b"}}},
		{"a@b (A", []Address{{"A", "a@b"}}},
		{"(work) a@b (A (B) C)", []Address{{"A (B) C", "a@b"}}},
		{`A"B <a@b>, "C" <c@d>`, []Address{{"AB", "a@b"}, {"C", "c@d"}}},
		{`"a b"@c`, []Address{{"", `"a b"@c`}}},
		{"\"unclosed <a@b>", []Address{{"unclosed", "a@b"}}},
		{"J\xc3\xbcrgen <j\xc3\xbc@b\xc3\xbc>", []Address{{"Jürgen", "jü@bü"}}},
		{"", nil},
		{",,;", nil},
	}
	for _, test := range tests {
		if got := parseAddresses(test.value, "", maxAddresses); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.value, got, test.want)
		}
	}
}

func TestParameters(t *testing.T) {
	tests := []struct{ value, want string }{
		{`attachment; filename=a.txt`, "a.txt"},
		{`attachment; filename="a b.txt"`, "a b.txt"},
		{`attachment; filename="a\"b.txt"`, `a"b.txt`},
		{`attachment; filename="C:\dir\a.txt"`, `C:\dir\a.txt`},
		{`attachment; filename=a b.txt; size=3`, "a b.txt"},
		{`attachment; filename="a.txt`, "a.txt"},
		{`attachment; filename*=utf-8''%e2%82%ac.txt`, "€.txt"},
		{`attachment; filename=x; filename*=utf-8'en'%e2%82%ac.txt`, "€.txt"},
		{`attachment; filename*0=long; filename*1="er.txt"`, "longer.txt"},
		{`attachment; filename*1*=%82%ac.txt; filename*0*=utf-8''%e2`, "€.txt"},
		{`attachment; filename*0*=iso-8859-1''%fc; filename*1=".txt"`, "ü.txt"},
		{`attachment; filename*=%e2%82%ac.txt`, "€.txt"},
		{`attachment; filename*=100%`, "100%"},
		{`attachment; filename="=?utf-8?B?w7w=?=.txt"`, "ü.txt"},
		{"attachment; filename=\"\xc3\xbc.txt\"", "ü.txt"},
		{"attachment; filename=\"\xfc.txt\"", "\uFFFD.txt"},
		{`attachment; ; =x; filename=a.txt; filename=b.txt`, "a.txt"},
		{`attachment; filename=a (1).txt (a; b)`, "a (1).txt"},
		{`attachment; filename=5" a.txt; x="y"`, `5" a.txt`},
		{`attachment; filename; filename="a.txt" (b)`, "a.txt"},
		{`attachment; name=a.txt`, "a.txt"},
		{`attachment; filename="../../etc/passwd"`, "../../etc/passwd"},
	}
	for _, test := range tests {
		m := parse(multi("mixed", "Content-Type: image/png\nContent-Disposition: "+test.value+"\n\nx"))
		if len(m.Attachments) != 1 || m.Attachments[0].Filename != test.want {
			t.Errorf("%s: got %+v, want %q", test.value, m.Attachments, test.want)
		}
	}
}

func TestCharsets(t *testing.T) {
	encode := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		fortest.Must(t, err)
		return out
	}
	const (
		german   = "Müßiggang für 5 €"
		japan    = "認証コードは 482913 です。アドレスをご確認ください。"
		chinese  = "您的验证码是 482913，请不要告诉他人。"
		taiwan   = "您的驗證碼是 482913，請不要告訴他人。"
		korea    = "인증번호는 482913 입니다. 다른 사람에게 알리지 마세요."
		russian  = "Ваш код"
		not      = "A text is not in the charset that it declares: "
		is       = "A text is UTF-8 and declares another charset: "
		none     = "A text is not UTF-8 and declares no charset"
		unknown  = "A text declares an unknown charset: "
		lostWord = "\uFFFD"
	)
	tests := []struct{ charset, body, want, defect string }{
		{"utf-8", german, german, ""},
		{"UTF8", german, german, ""},
		{"", german, german, ""},
		{"", "\xef\xbb\xbf" + german, german, ""},
		{"us-ascii", "plain", "plain", ""},
		{"x-nowhere", "plain", "plain", ""},
		{"x-nowhere", german, german, unknown + `"x-nowhere"`},
		{"iso-8859-1", german, german, is + `"iso-8859-1"`},
		{"us-ascii", german, german, is + `"us-ascii"`},
		{"big5", "…“Müßiggang”…", "…“Müßiggang”…", is + `"big5"`},
		{"utf-8", german + "\xff", german + lostWord, not + `"utf-8"`},
		{"utf-8", "M\xfc\xdfiggang", "M" + lostWord + "iggang", not + `"utf-8"`},
		{"us-ascii", "caf\xe9", "caf" + lostWord, not + `"us-ascii"`},
		{"", encode(charmap.Windows1252, "für 5 €"), "f" + lostWord + "r 5 " + lostWord, none},
		{"", encode(charmap.Windows1251, russian), lostWord + " " + lostWord, none},
		{"utf-7", "caf\xe9 +AOk-", "caf" + lostWord + " +AOk-", unknown + `"utf-7"`},
		{"iso-8859-1", encode(charmap.Windows1252, german), german, ""},
		{"iso8859-15", encode(charmap.ISO8859_15, german), german, ""},
		{"CP1251", encode(charmap.Windows1251, russian), russian, ""},
		{"koi8-r", encode(charmap.KOI8R, russian), russian, ""},
		{"iso-2022-jp", encode(japanese.ISO2022JP, japan), japan, ""},
		{"Shift_JIS", encode(japanese.ShiftJIS, japan), japan, ""},
		{"euc-jp", encode(japanese.EUCJP, japan), japan, ""},
		{"gb2312", encode(simplifiedchinese.GBK, chinese), chinese, ""},
		{"GB18030", encode(simplifiedchinese.GB18030, chinese), chinese, ""},
		{"big5", encode(traditionalchinese.Big5, taiwan), taiwan, ""},
		{"ks_c_5601-1987", encode(korean.EUCKR, korea), korea, ""},
		{"utf-16", encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), german), german, ""},
		{"utf-16", encode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), german), german, ""},
		{"utf-16", encode(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), german), german, ""},
		{"utf-16be", encode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), german), german, ""},
	}
	for _, test := range tests {
		field := "Content-Type: text/plain"
		if test.charset != "" {
			field += `; charset="` + test.charset + `"`
		}
		raw := "Subject: x\r\n" + field + "\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString([]byte(test.body))
		if m := parse(raw); m.Text != test.want || strings.Join(m.Defects, "\n") != test.defect {
			t.Errorf("%q as %q: got %q and %q, want %q and %q", test.body, test.charset, m.Text, m.Defects, test.want, test.defect)
		}
	}
}

func TestCharsetOfADocument(t *testing.T) {
	for _, test := range []struct{ field, head, body, want string }{
		{"", `<meta charset="koi8-r">`, "\xe4\xc1", "Да"},
		{"", `<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">`, "caf\xe9", "café"},
		{"; charset=utf-8", `<meta charset="koi8-r">`, "Да", "Да"},
		{"", "", "caf\xe9", "caf\uFFFD"},
	} {
		m := parse("Content-Type: text/html" + test.field + "\n\n<html><head>" + test.head + "</head><body>" + test.body + "</body></html>")
		if !strings.Contains(m.HTML, "<body>"+test.want+"</body>") {
			t.Errorf("%+v: got %q", test, m.HTML)
		}
	}
}

// A nest of multiparts that are never closed must not cost more with each level.
func TestBounds(t *testing.T) {
	t.Run("depth", func(t *testing.T) {
		var b strings.Builder
		b.WriteString("Subject: x\n")
		for i := range 2000 {
			fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
		}
		b.WriteString("\nthe text at the bottom\n")
		m := parse(b.String())
		if !strings.Contains(m.Text, "the text at the bottom") || !slices.Contains(m.Defects, "The parts are nested too deeply: the rest is shown as text") {
			t.Errorf("got %.200q, %q", m.Text, m.Defects)
		}
	})
	t.Run("messages within messages", func(t *testing.T) {
		m := parse(strings.Repeat("Content-Type: message/rfc822\n\n", 2000) + "Subject: last\n\nthe text at the bottom\n")
		if !strings.Contains(m.Text, "the text at the bottom") {
			t.Errorf("got %.200q, %q", m.Text, m.Defects)
		}
	})
	t.Run("parts", func(t *testing.T) {
		m := parse("Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nContent-Type: image/gif\n\nGIF\n", 50_000) + "--b--\n")
		if len(m.Attachments) != 1000 || !slices.Contains(m.Defects, "The message has too many parts: the rest is not shown") {
			t.Errorf("%d attachments, %q", len(m.Attachments), m.Defects)
		}
	})
	t.Run("header", func(t *testing.T) {
		raw := "Subject: " + strings.Repeat("x", 10<<20) + "\nFrom: a@b\n\nthe text\n"
		l := usual
		l.headerBytes = 1000
		m := parseWithin([]byte(raw), l)
		if len(m.Fields) != 2 || len(m.Fields[0].Raw) != 500 || m.From.Addr != "a@b" || m.Text != "the text\n" {
			t.Errorf("%d fields, from %q, text %.100q", len(m.Fields), m.From, m.Text)
		}
	})
	t.Run("fields", func(t *testing.T) {
		l := usual
		l.fields = 10
		m := parseWithin([]byte("Subject: x\n"+strings.Repeat("X-Y: z\n", 100_000)+"\nthe text\n"), l)
		if len(m.Fields) != 10 || m.Text != "the text\n" {
			t.Errorf("%d fields, text %.100q", len(m.Fields), m.Text)
		}
	})
	t.Run("fields not read", func(t *testing.T) {
		m := parse(strings.Repeat("Y: "+strings.Repeat("z", 900)+"\n", 2000) + "Subject: x\n\nthe text\n")
		if m.Text != "the text\n" {
			t.Errorf("text %.100q", m.Text)
		}
	})
	t.Run("decoded", func(t *testing.T) {
		l := usual
		l.decodedBytes = 100
		m := parseWithin([]byte(multi("mixed", "\n"+strings.Repeat("x", 60), "Content-Type: image/gif\n\n"+strings.Repeat("y", 60))), l)
		if len(m.Text) != 60 || m.Attachments[0].Size != 40 || len(m.Attachments[0].Content) != 40 {
			t.Errorf("%d and %d", len(m.Text), m.Attachments[0].Size)
		}
	})
	t.Run("stray lines", func(t *testing.T) {
		m := parse(strings.Repeat("stray\nSubject: x\n", 100_000) + "Subject: y\n" + strings.Repeat("stray\nSubject: z\n", 100_000) + "\nthe text\n")
		if len(m.Fields) > 1000 || !strings.HasSuffix(m.Text, "the text\n") {
			t.Errorf("%d fields, text of %d", len(m.Fields), len(m.Text))
		}
	})
	t.Run("references", func(t *testing.T) {
		image := "Content-ID: <a@b>\nContent-Type: image/gif\n\nGIF"
		parts := append([]string{"Content-Type: text/html\n\n" + strings.Repeat("<img src=cid:", 100_000) + "<img src='cid:a%40b'>"}, slices.Repeat([]string{image}, 900)...)
		if m := parse(multi("related", parts...)); len(m.Attachments) != 900 || !m.Attachments[899].Inline {
			t.Errorf("%d attachments", len(m.Attachments))
		}
		flood := "Content-Type: text/html\n\n" + strings.Repeat("cid:", 5<<20) + "<img src='cid:a@b'>"
		if m := parse(multi("related", flood, image)); len(m.Attachments) != 1 || !m.Attachments[0].Inline {
			t.Errorf("%d attachments", len(m.Attachments))
		}
	})
	t.Run("names", func(t *testing.T) {
		parse("From: " + strings.Repeat("<>", 100_000) + "\nTo: " + strings.Repeat("a,", 100_000) + "\nCc: " + strings.Repeat("=?u?q??=AB", 100_000) + " x\n\n")
	})
	t.Run("words that are none", func(t *testing.T) {
		part := "Content-ID: " + strings.Repeat("=?u?x? ", 30_000) + "\n\nx"
		if m := parse(multi("mixed", slices.Repeat([]string{part}, 30)...)); !strings.HasPrefix(m.Text, "x") {
			t.Errorf("%.20q", m.Text)
		}
	})
	t.Run("alternatives", func(t *testing.T) {
		for _, kind := range []string{"plain", "html"} {
			parts := make([]string, 300)
			for i := range parts {
				parts[i] = "Content-Type: text/" + kind + "\n\n" + strings.Repeat("x", 5000+i)
			}
			raw := multi("alternative", parts...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m := parse(raw)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; len(m.Text)+len(m.HTML) < len(raw)/2 || took > uint64(20*len(raw)) {
				t.Errorf("%s: %d bytes of memory for %d of text", kind, took, len(m.Text)+len(m.HTML))
			}
		}
	})
}

func TestSummarize(t *testing.T) {
	for _, raw := range []string{
		"From: A B <a@b.test>\r\nSubject: Hello\r\nDate: Wed, 4 Mar 2026 05:06:07 +0000\r\n\r\nbody",
		"received: x\nFROM: =?utf-8?q?=C3=BC?= <a@b.test>\nsubject: one\n two =?utf-8?B?w7w=?=\n\nFrom: not@this.test",
		"Subject: caf\xe9\nFrom: a@b.test, c@d.test\n",
		" \n Subject: x\nFrom: a@b.test\n\nbody",
		"From x\nFrom: a@b.test\nstray\nSubject: x\n\n", "\xef\xbb\xbfSubject: x\n\n", "Note: x\n\nSubject: y", "Dear Ann,\nSubject: x\n\n", "one\ntwo\nSubject: x\n\n",
		"Subject: \xc4\xc1\nFrom: \xc4\xc1 <a@b.test>\nContent-Type: text/plain; charset=koi8-r\n\n", "From: a@b.test\n" + strings.Repeat("X-Y: z\n", 2000) + "Subject: late\n\n",
		"From: a@b.test\n" + strings.Repeat("X-Y: z\n", 900) + "Subject: " + strings.Repeat("x", 200_000) + "\n\n",
		"", "no header", "\r\n\r\nbody", "Subject", "From:", "Subject: x",
	} {
		m, s := parse(raw), Summarize([]byte(raw))
		if s.From != m.From || s.Subject != m.Subject {
			t.Errorf("%q: got %+v, want %q, %q", raw, s, m.From, m.Subject)
		}
	}
	t.Run("looks at the start only", func(t *testing.T) {
		s := Summarize([]byte("From: a@b.test\r\n" + strings.Repeat("X-Y: z\r\n", 40_000) + "Subject: late\r\n\r\n"))
		if s.From.Addr != "a@b.test" || s.Subject != "" {
			t.Errorf("got %+v", s)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "From: a@b\r\nSubject: =?utf-8?b?w7w=?=\r\n\r\nx",
		multi("mixed", "\nx", nested("alternative", "b2", "\na", "Content-Type: text/html\n\n<p>")),
		multi("digest", "\nSubject: x\n\ny"),
		"Content-Type: multipart/mixed\n\n--x\nContent-Type: text/plain\n\ny",
		"Content-Transfer-Encoding: base64\n\naGVsbG8", "Content-Transfer-Encoding: quoted-printable\n\n=3D=\n",
		"Content-Type: text/plain; charset=utf-16\n\n\xff\xfea\x00",
		"Content-Disposition: attachment; filename*0*=utf-8''%e2; filename*1*=%82\nContent-Type: a/b\n\n",
		"Date: 1 Jan 26 1:1\nTo: a:b@c,\"d\" <e@f>(g);\n\n", " From: x\n y\nzz\nSubject: q\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		l := limits{depth: 8, parts: 50, headerBytes: 4000, fields: 50, decodedBytes: 100_000}
		m := parseWithin(raw, l)
		if !bytes.Equal(raw, before) {
			t.Error("the message was changed")
		}
		again := parseWithin(raw, l)
		if outline(m) != outline(again) {
			t.Error("not the same twice")
		}
		size := 0
		ids := make(map[string]bool)
		for _, a := range m.Attachments {
			size += len(a.Content)
			if a.Size != len(a.Content) || a.ID == "" || ids[a.ID] || strings.Trim(a.ID, "0123456789.") != "" {
				t.Errorf("attachment %q of %d", a.ID, a.Size)
			}
			ids[a.ID] = true
		}
		if len(m.Fields) > l.fields || len(m.Attachments) > l.parts+1 || size > l.decodedBytes+l.depth*len(raw) {
			t.Errorf("%d fields, %d attachments of %d octets", len(m.Fields), len(m.Attachments), size)
		}
		if m.Text == "" && m.HTML == "" && len(m.Attachments) == 0 && len(m.Fields) == 0 && len(bytes.TrimSpace(raw)) > 0 {
			t.Errorf("nothing is left of %q", raw)
		}
		if s, m := Summarize(raw), Parse(raw); s.From != m.From || s.Subject != m.Subject {
			t.Errorf("summary %+v, message %q, %q", s, m.From, m.Subject)
		}
	})
}
