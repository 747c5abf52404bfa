package mail

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decodeBase64 decodes base64, however broken: octets that do not belong are skipped, padding may
// be missing or be followed by more. clean is false if something did not belong.
func decodeBase64(src []byte) (dst []byte, clean bool) {
	dst = make([]byte, 0, base64.StdEncoding.DecodedLen(len(src))+3)
	clean = true
	group, letters := uint32(0), 0 // of four letters
	flush := func() {
		clean = clean && letters != 1
		group <<= 6 * (4 - letters)
		size := len(dst) + max(0, letters-1)
		dst = append(dst, byte(group>>16), byte(group>>8), byte(group))[:size]
		group, letters = 0, 0
	}
	for _, c := range src {
		switch v := base64Values[c]; {
		case v >= 0:
			group = group<<6 | uint32(v)
			if letters++; letters == 4 {
				flush()
			}
		case c == '=':
			flush()
		case c != '\r' && c != '\n' && c != ' ' && c != '\t':
			clean = false
		}
	}
	flush()
	return dst, clean
}

// base64Values are the values of the letters, those of the alphabet of URLs too. Others have -1.
var base64Values = func() (values [256]int8) {
	for c := range values {
		values[c] = -1
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		values[c] = int8(i)
	}
	values['-'], values['_'] = values['+'], values['/']
	return values
}()

// looksBase64 tells base64 from text that was only declared so: running text has spaces within its
// lines and much punctuation.
func looksBase64(src []byte) bool {
	src = src[:min(len(src), 4096)]
	foreign, inner := 0, 0
	for i, c := range src {
		switch {
		case c == ' ' && i > 0 && base64Values[src[i-1]] >= 0 && i+1 < len(src) && base64Values[src[i+1]] >= 0:
			inner++
		case c == '\r', c == '\n', c == ' ', c == '\t', c == '=', base64Values[c] >= 0:
		default:
			foreign++
		}
	}
	return (foreign+inner)*20 <= len(src)
}

// decodeQuotedPrintable decodes quoted-printable (RFC 2045, section 6.7). What is not an escape
// stays as it is.
func decodeQuotedPrintable(src []byte) (dst []byte, clean bool) {
	dst = make([]byte, 0, len(src))
	clean = true
	for len(src) > 0 {
		line, after := cutLine(src)
		ended := len(line) < len(src)
		crlf := ended && src[len(line)] == '\r'
		text := bytes.TrimRight(line, " \t")
		soft := len(text) > 0 && text[len(text)-1] == '='
		if soft {
			text = text[:len(text)-1]
		}
		var cleanLine bool
		dst, cleanLine = appendUnescaped(dst, text, '=')
		clean = clean && cleanLine
		if !soft && ended {
			if crlf {
				dst = append(dst, '\r')
			}
			dst = append(dst, '\n')
		}
		src = after
	}
	return dst, clean
}

// appendUnescaped appends src with its escapes decoded, which are a mark and two hexadecimal digits.
// What is not an escape stays as it is; clean is false if there is a mark like that.
func appendUnescaped(dst, src []byte, mark byte) (_ []byte, clean bool) {
	clean = true
	for {
		i := bytes.IndexByte(src, mark)
		if i < 0 {
			return append(dst, src...), clean
		}
		dst = append(dst, src[:i]...)
		var octet [1]byte
		if i+2 < len(src) {
			if _, err := hex.Decode(octet[:], src[i+1:i+3]); err == nil {
				dst = append(dst, octet[0])
				src = src[i+3:]
				continue
			}
		}
		clean = false
		dst = append(dst, mark)
		src = src[i+1:]
	}
}

// decodeText turns octets of a declared charset into UTF-8.
func decodeText(b []byte, charset string) string {
	s, _ := decodeCharset(b, charset)
	return s
}

// decodeCharset turns octets of a declared charset into UTF-8. Octets without a known charset are
// UTF-8, and so is valid UTF-8 that does not fit its charset. No charset is guessed: octets that
// cannot be decoded become U+FFFD, so that the mistake is seen. defect says what it is.
func decodeCharset(b []byte, charset string) (s, defect string) {
	charset = strings.ToLower(strings.Trim(charset, " \t\"'<>;"))
	enc, known := lookupCharset(charset)
	_, oneByte := enc.(*charmap.Charmap)
	valid := utf8.Valid(b)
	if enc != nil && enc != unicode.UTF8 && !(oneByte && valid) {
		out, _, _ := transform.Bytes(unicode.BOMOverride(enc.NewDecoder()), b) // it replaces what it cannot decode
		if s = string(out); !valid || IsASCII(b) || !strings.ContainsRune(s, utf8.RuneError) {
			return s, ""
		}
	}
	if s = strings.TrimPrefix(string(b), "\uFEFF"); !valid {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	switch {
	case valid && (charset == "" || enc == unicode.UTF8 || IsASCII(b)):
		return s, ""
	case !known:
		return s, fmt.Sprintf("A text declares an unknown charset: %.40q", charset)
	case charset == "":
		return s, "A text is not UTF-8 and declares no charset"
	case !valid:
		return s, fmt.Sprintf("A text is not in the charset that it declares: %.40q", charset)
	}
	return s, fmt.Sprintf("A text is UTF-8 and declares another charset: %.40q", charset)
}

// lookupCharset finds an encoding by the names of the web (WHATWG). It is nil for US-ASCII, the default,
// and for what is not known.
func lookupCharset(name string) (enc encoding.Encoding, known bool) {
	if name == "" || name == "us-ascii" || name == "ascii" { // which the web takes for windows-1252
		return nil, true
	}
	switch enc, err := htmlindex.Get(name); enc {
	case encoding.Replacement: // what the web refuses to decode
		return nil, false
	case simplifiedchinese.GBK:
		return simplifiedchinese.GB18030, true // a superset
	default:
		return enc, err == nil
	}
}

// IsASCII reports whether b has 7-bit characters only.
func IsASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
}

// decodeHeader decodes an unfolded header value: encoded words (RFC 2047), even in quotes, adjacent
// to other text or with spaces in them; and raw UTF-8 or octets of the given charset between them. Adjacent
// words of one charset are joined before they are decoded, since some programs split them within a
// character.
func decodeHeader(value []byte, charset string) string {
	if !bytes.Contains(value, []byte("=?")) {
		return decodeRaw(value, charset)
	}
	var out strings.Builder
	var run []byte   // decoded octets of neighbouring words
	var words string // their charset
	flush := func() {
		if run != nil {
			out.WriteString(decodeText(run, words))
			run = nil
		}
	}
	for len(value) > 0 {
		start := bytes.Index(value, []byte("=?"))
		if start < 0 {
			break
		}
		text, of, length, ok := readWord(value[start:])
		if !ok {
			flush()
			out.WriteString(decodeRaw(value[:start+2], charset))
			value = value[start+2:]
			continue
		}
		between := value[:start]
		if run == nil || len(bytes.TrimLeft(between, " \t\r\n")) > 0 {
			flush()
			out.WriteString(decodeRaw(between, charset))
		} else if !strings.EqualFold(words, of) {
			flush()
		}
		words = of
		run = append(run, text...)
		if run == nil {
			run = []byte{}
		}
		value = value[start+length:]
	}
	flush()
	out.WriteString(decodeRaw(value, charset))
	return out.String()
}

// decodeRaw turns octets of a header into UTF-8, which they are by RFC 6532 or, if not, of the given charset.
func decodeRaw(b []byte, charset string) string {
	if utf8.Valid(b) {
		return strings.TrimPrefix(string(b), "\uFEFF")
	}
	return decodeText(b, charset)
}

// readWord decodes an encoded word at the start of s and returns its length.
func readWord(s []byte) (text []byte, charset string, length int, ok bool) {
	start, charset, encoding, ok := wordStart(s)
	if !ok { // before a search to the end, for each of many
		return nil, "", 0, false
	}
	text = s[start:]
	length = len(s)
	if end := bytes.Index(text, []byte("?=")); end >= 0 {
		text = text[:end]
		length = start + end + 2
	}
	if encoding == 'q' {
		text, _ = appendUnescaped(make([]byte, 0, len(text)), bytes.ReplaceAll(text, []byte("_"), []byte(" ")), '=')
	} else {
		text, _ = decodeBase64(text)
	}
	return text, charset, length, true
}
