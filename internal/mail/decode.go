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
	dst, clean = make([]byte, 0, len(src)), true
	start := 0 // of the letters since the last padding, decoded in place
	flush := func() {
		letters := dst[start:]
		if len(letters)%4 == 1 {
			letters, clean = letters[:len(letters)-1], false
		}
		n, _ := base64.RawStdEncoding.Decode(letters, letters) // there are only letters
		start += n
		dst = dst[:start]
	}
	for _, c := range src {
		switch {
		case isBase64(c):
			dst = append(dst, c)
		case c == '-' || c == '_': // of the alphabet for URLs
			dst = append(dst, "+/"[c>>6])
		case c == '=':
			flush()
		default:
			clean = clean && isSpace(c)
		}
	}
	flush()
	return dst, clean
}

func isBase64(c byte) bool { return isAlphanumeric(c) || c == '+' || c == '/' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// looksBase64 tells base64 from text that was only declared so: running text has spaces within its
// lines and much punctuation.
func looksBase64(src []byte) bool {
	src = src[:min(len(src), 4096)]
	foreign, inner := 0, 0
	for i, c := range src {
		switch {
		case c == ' ' && i > 0 && isBase64(src[i-1]) && i+1 < len(src) && isBase64(src[i+1]):
			inner++
		case !isSpace(c) && c != '=' && !isBase64(c):
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
	var words string // their charset; empty: there are none
	flush := func() {
		out.WriteString(decodeText(run, words))
		run, words = run[:0], ""
	}
	start := 0 // of what is not decoded yet
	for at := 0; at < len(value); {
		i := bytes.Index(value[at:], []byte("=?"))
		if i < 0 {
			break
		}
		at += i
		text, of, length := readWord(value[at:])
		if length == 0 {
			at += len("=?")
			continue
		}
		if between := value[start:at]; words == "" || len(bytes.TrimLeft(between, " \t\r\n")) > 0 {
			flush()
			out.WriteString(decodeRaw(between, charset))
		} else if !strings.EqualFold(words, of) {
			flush()
		}
		words = of
		run = append(run, text...)
		at += length
		start = at
	}
	flush()
	out.WriteString(decodeRaw(value[start:], charset))
	return out.String()
}

// decodeRaw turns octets of a header into UTF-8, which they are by RFC 6532 or, if not, of the given charset.
func decodeRaw(b []byte, charset string) string {
	if utf8.Valid(b) {
		return strings.TrimPrefix(string(b), "\uFEFF")
	}
	return decodeText(b, charset)
}

// readWord decodes an encoded word at the start of s. Its length is 0 if there is none.
func readWord(s []byte) (text []byte, charset string, length int) {
	start, ok := wordStart(s)
	if !ok { // before a search to the end, for each of many
		return nil, "", 0
	}
	charset, _, _ = strings.Cut(string(s[2:start-3]), "*") // RFC 2231 adds a language
	text, length = s[start:], len(s)
	if end := bytes.Index(text, []byte("?=")); end >= 0 {
		text, length = text[:end], start+end+2
	}
	if s[start-2]|0x20 == 'q' {
		text, _ = appendUnescaped(make([]byte, 0, len(text)), bytes.ReplaceAll(text, []byte("_"), []byte(" ")), '=')
	} else {
		text, _ = decodeBase64(text)
	}
	return text, charset, length
}
