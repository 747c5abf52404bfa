// Package compare shows how the text, links and header fields of two messages differ.
package compare

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"mayfly/message"
	"mayfly/render"
)

// Difference is how two messages differ.
type Difference struct {
	subjects [2]string // of the older and the newer
	lines    [len(parts)][]string
}

// parts are what is compared.
var parts = [...]string{"text", "links", "headers"}

// Of compares two messages. It fetches nothing, and is slow for large ones.
func Of(older, newer *message.Message) Difference {
	d := Difference{subjects: [2]string{render.Clean(older.Subject), render.Clean(newer.Subject)}}
	before, after := partsOf(older), partsOf(newer)
	for n, name := range parts {
		diff := udiff.Unified("older", "newer", before[n], after[n])
		if diff == "" {
			d.lines[n] = []string{"No difference in the " + name + "."}
		} else {
			// The first two lines name the sides.
			d.lines[n] = strings.Split(strings.TrimRight(diff, "\n"), "\n")[2:]
		}
	}
	return d
}

// width is the width in cells to which texts are laid out before they are compared.
const width = 72

// partsOf is what is compared of a message, cleaned, a line each.
func partsOf(m *message.Message) [len(parts)]string {
	var text, links, headers strings.Builder
	for _, line := range m.Mail().Lines(render.Rich, render.Options{Width: width}) {
		text.WriteString(strings.TrimRight(line.Plain, " ") + "\n")
	}
	for _, l := range m.Mail().Links() {
		links.WriteString(render.Clean(l.Text) + "  " + render.Clean(l.URL) + "\n")
	}
	for _, h := range m.Fields {
		headers.WriteString(render.Clean(h.Name) + ": " + render.Clean(h.Value) + "\n")
	}
	return [...]string{text.String(), links.String(), headers.String()}
}
