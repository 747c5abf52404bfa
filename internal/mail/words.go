package mail

import (
	"bytes"
	"strings"
)

// decodeHeader decodes an unfolded header value: encoded words (RFC 2047), even in quotes, adjacent
// to other text or with spaces in them; and raw UTF-8 or other 8-bit text between them. Adjacent
// words of one charset are joined before they are decoded, since some programs split them within a
// character.
func decodeHeader(value []byte) string {
	if !bytes.Contains(value, []byte("=?")) {
		if isASCII(value) {
			return string(value)
		}
		return decodeText(value, "")
	}
	var out strings.Builder
	var run []byte // decoded octets of neighbouring words
	var charset string
	flush := func() {
		if run != nil {
			out.WriteString(decodeText(run, charset))
			run = nil
		}
	}
	for len(value) > 0 {
		start := bytes.Index(value, []byte("=?"))
		if start < 0 {
			break
		}
		w, length, ok := readWord(value[start:])
		if !ok {
			flush()
			out.WriteString(decodeText(value[:start+2], ""))
			value = value[start+2:]
			continue
		}
		between := value[:start]
		if run == nil || len(bytes.TrimLeft(between, " \t\r\n")) > 0 {
			flush()
			out.WriteString(decodeText(between, ""))
		} else if !strings.EqualFold(charset, w.charset) {
			flush()
		}
		charset = w.charset
		run = append(run, w.text...)
		if run == nil {
			run = []byte{}
		}
		value = value[start+length:]
	}
	flush()
	out.WriteString(decodeText(value, ""))
	return out.String()
}

// A word is a decoded encoded word.
type word struct {
	charset string
	text    []byte
}

// readWord reads an encoded word at the start of s and returns its length.
func readWord(s []byte) (w word, length int, ok bool) {
	q1 := bytes.IndexByte(s[2:min(len(s), 64)], '?')
	if q1 <= 0 {
		return w, 0, false
	}
	charset := s[2 : 2+q1]
	if bytes.ContainsAny(charset, " \t=\"<>,;") {
		return w, 0, false
	}
	rest := s[2+q1+1:]
	if len(rest) < 2 || rest[1] != '?' {
		return w, 0, false
	}
	encoding := rest[0] | 0x20
	if encoding != 'q' && encoding != 'b' { // before a search to the end, for each of many
		return w, 0, false
	}
	rest = rest[2:]
	end := wordEnd(rest, encoding)
	text := rest
	length = len(s)
	if end >= 0 {
		text = rest[:end]
		length = len(s) - len(rest) + end + 2
	}
	if encoding == 'q' {
		text, _ = appendUnescaped(make([]byte, 0, len(text)), bytes.ReplaceAll(text, []byte("_"), []byte(" ")), '=')
	} else {
		text, _ = decodeBase64(text)
	}
	name, _, _ := strings.Cut(string(charset), "*") // RFC 2231 adds a language
	return word{charset: name, text: text}, length, true
}

// wordEnd is the index of the closing "?=". In Q, "?=" before two hexadecimal digits may also be an
// unescaped question mark before an escape: then it is the end only if the word has no other.
func wordEnd(s []byte, encoding byte) int {
	end := bytes.Index(s, []byte("?="))
	if end < 0 || encoding != 'q' {
		return end
	}
	at := end
	for range 16 { // more escaped question marks than a word of 75 octets is likely to have
		if at+4 > len(s) || unhex(s[at+2]) < 0 || unhex(s[at+3]) < 0 {
			return at
		}
		next := bytes.Index(s[at+2:], []byte("?="))
		if next < 0 || bytes.ContainsAny(s[at+2:at+2+next], " \t") {
			return end
		}
		at += 2 + next
	}
	return end
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
