package postgres

import (
	"strings"
	"unicode/utf8"
)

// isName reports whether s can be an ID or an address in the database. Nothing else was ever
// stored.
func isName(s string) bool {
	return s != "" && len(s) <= 512 && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// text replaces what the database does not accept in a text: NUL, and what is not UTF-8.
func text(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}
