package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// writeJSON writes v as one line of JSON. A json.RawMessage keeps its members, their order and
// their values.
func writeJSON(w io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err := w.Write(escapeControls(line.Bytes()))
	return err
}

// escapeControls escapes every rune that a terminal could act on: the line is safe to print and its
// values stay the same. Such runes occur only inside strings.
func escapeControls(line []byte) []byte {
	if plainJSON(line) {
		return line
	}
	out := make([]byte, 0, len(line)+len(line)/8)
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case r != '\n' && needsEscape(r):
			out = appendEscape(out, r)
		default:
			out = append(out, line[i:i+size]...)
		}
		i += size
	}
	return out
}

func plainJSON(line []byte) bool {
	for _, b := range line {
		if b >= utf8.RuneSelf || b == 0x7f || b < 0x20 && b != '\n' {
			return false
		}
	}
	return true
}

// needsEscape reports controls, line and paragraph separators, private use and format characters
// (bidi, zero width, tags).
func needsEscape(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

func appendEscape(out []byte, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	r -= 0x10000
	return fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}
