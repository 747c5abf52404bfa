package mail

import (
	"bytes"
	"encoding/base64"
)

// decodeBase64 decodes base64, however broken: octets that do not belong are skipped, padding may
// be missing or be followed by more. clean is false if something did not belong.
func decodeBase64(src []byte) (dst []byte, clean bool) {
	buf := make([]byte, 0, len(src))
	dst = make([]byte, 0, base64.StdEncoding.DecodedLen(len(src)))
	clean = true
	flush := func() {
		n := len(buf)
		if n%4 == 1 {
			buf = buf[:n-1]
			clean = false
		}
		size := base64.RawStdEncoding.DecodedLen(len(buf))
		at := len(dst)
		dst = append(dst, make([]byte, size)...)
		got, _ := base64.RawStdEncoding.Decode(dst[at:], buf) // buf has letters of the alphabet only
		dst = dst[:at+got]
		buf = buf[:0]
	}
	for _, c := range src {
		switch {
		case base64Letters[c]:
			buf = append(buf, c)
		case c == '-': // the alphabet of URLs
			buf = append(buf, '+')
		case c == '_':
			buf = append(buf, '/')
		case c == '=':
			if len(buf)%4 != 0 {
				flush()
			}
		case c == '\r', c == '\n', c == ' ', c == '\t':
		default:
			clean = false
		}
	}
	flush()
	return dst, clean
}

var base64Letters = func() (set [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		set[c] = true
	}
	return set
}()

// cutFooter splits the base64 of a text from the plain footer that a mailing list appended. The
// footer follows an empty line and begins with a line that is not base64.
func cutFooter(src []byte) (encoded, footer []byte) {
	empty := len(src) // the last empty line
	for rest := src; len(rest) > 0; {
		line, after := cutLine(rest)
		text := bytes.TrimRight(line, " \t=")
		switch {
		case isBlank(line):
			if empty = min(empty, len(src)-len(rest)); empty < shortBase64 {
				return src, nil
			}
		case bytes.ContainsFunc(text, func(r rune) bool { return r >= 0x80 || !base64Letters[r] }):
			return src[:empty], src[empty:]
		default:
			empty = len(src)
		}
		rest = after
	}
	return src, nil
}

// shortBase64 is the least base64 before a footer, in octets: less could be ordinary text.
const shortBase64 = 40

// looksBase64 tells base64 from text that was only declared so: running text has spaces within its
// lines and much punctuation.
func looksBase64(src []byte) bool {
	src = src[:min(len(src), 4096)]
	foreign, inner := 0, 0
	for i, c := range src {
		switch {
		case c == ' ' && i > 0 && base64Letters[src[i-1]] && i+1 < len(src) && base64Letters[src[i+1]]:
			inner++
		case c == '\r', c == '\n', c == ' ', c == '\t', c == '=', base64Letters[c]:
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
		if i+2 < len(src) && unhex(src[i+1]) >= 0 && unhex(src[i+2]) >= 0 {
			dst = append(dst, byte(unhex(src[i+1])<<4|unhex(src[i+2])))
			src = src[i+3:]
			continue
		}
		clean = false
		dst = append(dst, mark)
		src = src[i+1:]
	}
}
