package html

import (
	"strings"

	"mayfly/internal/clean"
)

// turned returns text as it is read where its direction is overridden, in whole or in parts, and
// counts it.
func (b *builder) turned(s string, whole bool) string {
	if strings.ContainsAny(s, "\n\r") && strings.ContainsRune(s, '\u202e') {
		s = strings.NewReplacer("\n", " ", "\r", " ").Replace(s) // no end of a line
	}
	out := clean.Turned(s)
	if whole && strings.TrimSpace(s) != "" {
		out = clean.Reversed(s)
	}
	if out != s {
		b.doc.Reversed++
	}
	return out
}
