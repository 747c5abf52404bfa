package postgres

import (
	"strings"
	"unicode/utf8"
)

// name tells whether s can name a row. What cannot was never stored.
func name(s string) bool {
	return s != "" && len(s) <= 512 && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// text is s as the database takes it: it refuses NUL and what is not UTF-8.
func text(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}
