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

// decodeText turns octets of a declared charset into UTF-8. The declaration counts only as far as
// the octets fit it: valid UTF-8 is UTF-8 even if a one-byte charset was declared, and what was
// declared UTF-8 but mostly is not counts as undeclared. Undeclared octets are UTF-8 if they can
// be, else what they look like, else windows-1252.
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

// canonicalCharset returns one form for the common spellings of a charset's name.
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
	case "iso-2022-kr", "iso2022-kr", "csiso2022kr":
		return "iso-2022-kr"
	}
	return name
}

// needsDecoding reports whether octets below 0x80 alone may mean other characters in the charset.
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

// hasISO2022 reports whether b switches to Japanese characters as ISO-2022-JP does.
func hasISO2022(b []byte) bool {
	return bytes.Contains(b, []byte("\x1b$B")) || bytes.Contains(b, []byte("\x1b$@"))
}

// lookupCharset finds an encoding by the names of the web and by the spellings of senders: cp1251,
// win-1251, koi8r, ks-c-5601, eucgb2312_cn. It returns nil for an unknown one.
func lookupCharset(name string) encoding.Encoding {
	for _, n := range [...]string{name, strings.ReplaceAll(name, "_", "-")} {
		switch enc, err := htmlindex.Get(n); {
		case err != nil || enc == encoding.Replacement:
		case enc == simplifiedchinese.GBK:
			return simplifiedchinese.GB18030 // a superset
		default:
			return enc
		}
	}
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, name)
	plain = strings.TrimPrefix(plain, "x")
	if part, ok := strings.CutPrefix(plain[max(0, strings.Index(plain, "8859")):], "8859"); ok {
		if enc, err := htmlindex.Get("iso-8859-" + part); err == nil {
			return enc
		}
	}
	for _, c := range charsets {
		if strings.HasPrefix(plain, c.prefix) {
			return c.encoding
		}
	}
	return codePages[strings.TrimLeft(plain, "abcdefghijklmnopqrstuvwxyz0")]
}

// charsets are found by the beginning of their names, letters and digits only.
var charsets = []struct {
	prefix   string
	encoding encoding.Encoding
}{
	{"utf32le", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}, {"utf32", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"shiftjis", japanese.ShiftJIS}, {"sjis", japanese.ShiftJIS}, {"mskanji", japanese.ShiftJIS}, {"windows31j", japanese.ShiftJIS},
	{"iso2022jp", japanese.ISO2022JP}, {"csiso2022jp", japanese.ISO2022JP}, {"cp5022", japanese.ISO2022JP},
	{"eucjp", japanese.EUCJP}, {"ujis", japanese.EUCJP},
	{"hz", simplifiedchinese.HZGB2312},
	{"gb", simplifiedchinese.GB18030}, {"eucgb", simplifiedchinese.GB18030}, {"euccn", simplifiedchinese.GB18030},
	{"cngb", simplifiedchinese.GB18030}, {"chinese", simplifiedchinese.GB18030},
	{"big5", traditionalchinese.Big5}, {"cnbig5", traditionalchinese.Big5}, {"zhtwbig5", traditionalchinese.Big5},
	{"euckr", korean.EUCKR}, {"ksc", korean.EUCKR}, {"ksx", korean.EUCKR}, {"uhc", korean.EUCKR},
	{"koi8u", charmap.KOI8U}, {"koi8ru", charmap.KOI8U}, {"koi8", charmap.KOI8R},
	{"tis620", charmap.Windows874},
	{"maccyrillic", charmap.MacintoshCyrillic}, {"macroman", charmap.Macintosh},
}

// codePages are the code pages of Windows and DOS by number: cp1251, win-1251, ibm850, cp00858.
var codePages = map[string]encoding.Encoding{
	"437": charmap.CodePage437, "850": charmap.CodePage850, "852": charmap.CodePage852, "855": charmap.CodePage855,
	"858": charmap.CodePage858, "860": charmap.CodePage860, "862": charmap.CodePage862, "863": charmap.CodePage863,
	"865": charmap.CodePage865, "866": charmap.CodePage866, "874": charmap.Windows874, "932": japanese.ShiftJIS,
	"936": simplifiedchinese.GB18030, "949": korean.EUCKR, "950": traditionalchinese.Big5, "1250": charmap.Windows1250,
	"1251": charmap.Windows1251, "1252": charmap.Windows1252, "1253": charmap.Windows1253, "1254": charmap.Windows1254,
	"1255": charmap.Windows1255, "1256": charmap.Windows1256, "1257": charmap.Windows1257, "1258": charmap.Windows1258,
}

// decodeWith decodes b; what cannot be decoded becomes U+FFFD.
func decodeWith(enc encoding.Encoding, b []byte) string {
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil { // the decoders of x/text replace instead
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(out)
}

// decodeBOM decodes text that begins with a byte order mark.
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

// decodeUTF16 decodes UTF-16 of the named byte order. A byte order mark overrides it; without one,
// "utf-16" has the order with more zeros in the high octets. Octets without any zero were declared
// UTF-16 by mistake and count as undeclared.
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

// decodeISO2022KR decodes Korean in seven bits (RFC 1557): between SO and SI stand the octets of
// EUC-KR without their top bit.
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

// decodeUndeclared decodes octets whose charset is unknown or declared as UTF-8.
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

// countUTF8 counts the multi-byte characters of b and the octets that belong to none.
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
