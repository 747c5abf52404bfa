package mail

import (
	"bytes"
	"encoding/base64"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// decodeUTF7 decodes UTF-7 (RFC 2152). Invalid sequences stay as they are.
func decodeUTF7(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		i := bytes.IndexByte(b, '+')
		if i < 0 {
			break
		}
		out.WriteString(decodeText(b[:i], ""))
		b = b[i+1:]
		n := 0
		for n < len(b) && base64Letters[b[n]] {
			n++
		}
		switch {
		case n == 0 && len(b) > 0 && b[0] == '-':
			out.WriteByte('+')
		case n == 0:
			out.WriteByte('+')
			continue
		default:
			out.WriteString(decodeShifted(b[:n]))
		}
		b = b[n:]
		b = bytes.TrimPrefix(b, []byte("-"))
	}
	out.WriteString(decodeText(b, ""))
	return out.String()
}

// decodeShifted decodes the base64 of UTF-16 within UTF-7, whose last bits may be padding.
func decodeShifted(b []byte) string {
	if len(b)%4 == 1 {
		b = b[:len(b)-1]
	}
	octets := make([]byte, base64.RawStdEncoding.DecodedLen(len(b)))
	n, _ := base64.RawStdEncoding.Decode(octets, b) // b has letters of the alphabet only
	return decodeWith(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), octets[:n&^1])
}
