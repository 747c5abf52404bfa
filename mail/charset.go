package mail

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// decodeText turns octets of a declared charset into UTF-8. The declaration is believed only as far as
// the octets fit it: what is valid UTF-8 is UTF-8 although a one-byte charset was declared, and what was
// declared UTF-8 but mostly is not is taken for undeclared. Undeclared octets are UTF-8 if they can be,
// else what they look like, else windows-1252.
func decodeText(b []byte, charset string) string {
	name := canonicalCharset(charset)
	if isASCII(b) && !needsDecoding(name, b) {
		return string(b)
	}
	if s, ok := decodeBOM(b); ok {
		return s
	}
	switch name {
	case "", "utf-8", "us-ascii":
		return decodeUndeclared(b, name == "utf-8")
	case "utf-7":
		return decodeUTF7(b)
	case "utf-16", "utf-16be", "utf-16le":
		return decodeUTF16(b, name)
	case "iso-2022-kr":
		return decodeISO2022KR(b)
	}
	enc := lookupCharset(name)
	if enc == nil {
		return decodeUndeclared(b, false)
	}
	if _, single := enc.(*charmap.Charmap); single && utf8.Valid(b) {
		return string(b)
	}
	s := decodeWith(enc, b)
	if utf8.Valid(b) && !isASCII(b) && strings.ContainsRune(s, utf8.RuneError) {
		return string(b)
	}
	return s
}

// canonicalCharset brings the common ways to write a charset's name to one.
func canonicalCharset(name string) string {
	name = strings.ToLower(strings.Trim(name, " \t\"'<>;"))
	switch name {
	case "utf8", "utf_8", "utf-8", "unicode-1-1-utf-8", "x-utf-8", "utf8mb4", "utf-8-sig", "cp65001", "65001":
		return "utf-8"
	case "", "ascii", "us-ascii", "ansi_x3.4-1968", "iso646-us", "unknown", "unknown-8bit", "x-unknown", "default", "default_charset",
		"8bit", "7bit", "binary", "none", "charset":
		return "us-ascii"
	case "utf-7", "utf7", "unicode-1-1-utf-7", "x-unicode-2-0-utf-7", "csunicode11utf7":
		return "utf-7"
	case "utf-16", "utf16", "unicode", "ucs-2", "iso-10646-ucs-2", "csunicode":
		return "utf-16"
	case "utf-16le", "utf16le", "unicodefeff":
		return "utf-16le"
	case "utf-16be", "utf16be", "unicodefffe":
		return "utf-16be"
	case "utf-32", "utf32", "ucs-4", "iso-10646-ucs-4", "utf-32be", "utf32be":
		return "utf-32"
	case "utf-32le", "utf32le":
		return "utf-32le"
	case "iso-2022-kr", "csiso2022kr":
		return "iso-2022-kr"
	}
	return name
}

// needsDecoding tells whether octets below 0x80 alone may mean other characters in the charset.
func needsDecoding(name string, b []byte) bool {
	switch name {
	case "utf-7", "utf-16", "utf-16be", "utf-16le", "utf-32", "utf-32le":
		return true
	case "", "us-ascii", "utf-8":
		return hasISO2022(b)
	}
	return strings.HasPrefix(name, "iso-2022") || strings.HasPrefix(name, "hz") || strings.HasPrefix(name, "csiso2022") ||
		strings.HasPrefix(name, "cp5022") || hasISO2022(b)
}

// hasISO2022 tells whether b changes to Japanese characters in the way of ISO-2022-JP.
func hasISO2022(b []byte) bool {
	return bytes.Contains(b, []byte("\x1b$B")) || bytes.Contains(b, []byte("\x1b$@"))
}

// lookupCharset finds an encoding by the names of the web and the usual other ways to write them. nil: not
// known.
func lookupCharset(name string) encoding.Encoding {
	switch {
	case strings.HasPrefix(name, "x-sjis"), name == "cp932", name == "ms932", name == "windows-932":
		return japanese.ShiftJIS
	case strings.HasPrefix(name, "iso-2022-jp"), strings.HasPrefix(name, "csiso2022jp"), strings.HasPrefix(name, "cp5022"):
		return japanese.ISO2022JP
	case name == "hz-gb-2312", name == "hz":
		return simplifiedchinese.HZGB2312
	case name == "cp936", name == "euc-cn", name == "gb18030", name == "x-gbk", strings.HasPrefix(name, "gb"):
		return simplifiedchinese.GB18030
	case strings.HasPrefix(name, "big5"), name == "cp950", name == "x-big5":
		return traditionalchinese.Big5
	case name == "utf-32":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case name == "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case name == "cp949", name == "uhc", name == "ms949":
		return korean.EUCKR
	}
	for _, n := range [...]string{name, strings.ReplaceAll(name, "_", "-"), strings.Replace(name, "cp-", "cp", 1), strings.Replace(name, "cp", "windows-", 1),
		strings.Replace(name, "iso8859", "iso-8859", 1), strings.Replace(name, "win-", "windows-", 1), strings.Replace(name, "windows", "windows-", 1)} {
		if enc, err := htmlindex.Get(n); err == nil && enc != encoding.Replacement {
			return enc
		}
	}
	return codePage(name)
}

// codePage finds the code pages of DOS, which the web does not know: cp850, ibm-850, cp00858.
func codePage(name string) encoding.Encoding {
	number := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz-_0")
	switch number {
	case "437":
		return charmap.CodePage437
	case "850":
		return charmap.CodePage850
	case "852":
		return charmap.CodePage852
	case "855":
		return charmap.CodePage855
	case "858":
		return charmap.CodePage858
	case "860":
		return charmap.CodePage860
	case "862":
		return charmap.CodePage862
	case "863":
		return charmap.CodePage863
	case "865":
		return charmap.CodePage865
	case "866":
		return charmap.CodePage866
	}
	return nil
}

// decodeWith decodes b; what cannot be decoded becomes U+FFFD.
func decodeWith(enc encoding.Encoding, b []byte) string {
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil { // the decoders of x/text replace instead
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(out)
}

// decodeBOM decodes what begins with a byte order mark.
func decodeBOM(b []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) && utf8.Valid(b):
		return string(b[3:]), true
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")):
		return decodeWith(utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM), b), true
	case bytes.HasPrefix(b, []byte("\xff\xfe")) && bytes.IndexByte(b, 0) >= 0:
		return decodeUTF16(b, "utf-16le"), true
	case bytes.HasPrefix(b, []byte("\xfe\xff")) && bytes.IndexByte(b, 0) >= 0:
		return decodeUTF16(b, "utf-16be"), true
	}
	return "", false
}

// decodeUTF16 decodes UTF-16 of the named order. A byte order mark comes first; without one, "utf-16" is
// in the order that leaves more zeros on top. Octets without any zero, which were declared
// UTF-16 by mistake, are undeclared.
func decodeUTF16(b []byte, name string) string {
	if bytes.IndexByte(b, 0) < 0 && utf8.Valid(b) {
		return string(b)
	}
	order := unicode.BigEndian
	if name == "utf-16le" {
		order = unicode.LittleEndian
	} else if name == "utf-16" {
		var zeros [2]int
		for i, c := range b {
			if c == 0 {
				zeros[i&1]++
			}
		}
		if zeros[1] > zeros[0] {
			order = unicode.LittleEndian
		}
	}
	return strings.TrimPrefix(decodeWith(unicode.UTF16(order, unicode.UseBOM), b), "\uFEFF")
}

// decodeISO2022KR decodes Korean in seven bits (RFC 1557): between SO and SI stand the octets of EUC-KR
// without their top bit.
func decodeISO2022KR(b []byte) string {
	b = bytes.ReplaceAll(b, []byte("\x1b$)C"), nil)
	shifted := false
	out := b[:0]
	for _, c := range b {
		switch {
		case c == 0x0e, c == 0x0f:
			shifted = c == 0x0e
			continue
		case c < ' ':
			shifted = false // SO ends with the line
		case shifted && c > ' ':
			c |= 0x80
		}
		out = append(out, c)
	}
	return decodeWith(korean.EUCKR, out)
}

// decodeUndeclared decodes octets whose charset is not known, or is said to be UTF-8.
func decodeUndeclared(b []byte, saidUTF8 bool) string {
	if isASCII(b) && hasISO2022(b) {
		return decodeWith(japanese.ISO2022JP, b)
	}
	if utf8.Valid(b) {
		return string(b)
	}
	good, bad := countUTF8(b)
	if good > bad || saidUTF8 && good*4 > bad {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	if enc := detectCharset(b); enc != nil {
		return decodeWith(enc, b)
	}
	return decodeWith(charmap.Windows1252, b)
}

// countUTF8 counts the multi-byte characters of b and the octets that are part of none.
func countUTF8(b []byte) (good, bad int) {
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		b = b[n:]
	}
	return good, bad
}
