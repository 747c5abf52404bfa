// Package compare shows how two messages differ, by words, on the whole screen.
//
// compare.go finds the differences; screen.go is the dialog, and lays them out for a width.
package compare

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"mayfly/internal/diff"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/theme"
)

// Difference is how two messages differ.
type Difference struct {
	sides [2]side // the older and the newer
	parts []part
}

// side is what the screen says of a message.
type side struct {
	subject, inbox string
	received       time.Time
}

// part is one aspect of both messages, such as their links.
type part struct {
	name     string
	passages []diff.Passage // in the older and in the newer
	changes  int            // passages that differ
}

const marked = theme.Bold + theme.Underline

func mark(_ int, words string) string { return marked.On(words) }

// maxPart bounds how much of each part is compared, in bytes.
const maxPart = 256 << 10

// Of compares two messages. It fetches nothing, and is slow for large ones.
func Of(older, newer *message.Message) Difference {
	d := Difference{sides: [2]side{sideOf(older), sideOf(newer)}}
	for _, p := range []struct {
		name string
		text func(m *message.Message) string
	}{{"rich", (*message.Message).Outline}, {"text", plain}, {"links", links}, {"html", source}, {"headers", steady}, {allHeaders, headers}} {
		before, after := p.text(older), p.text(newer)
		if p.name == "rich" || before != "" || after != "" {
			passages := diff.Lines(split(before), split(after), mark)
			changes := len(slices.DeleteFunc(slices.Clone(passages), func(p diff.Passage) bool { return !p.Changed }))
			d.parts = append(d.parts, part{p.name, passages, changes})
		}
	}
	return d
}

func sideOf(m *message.Message) side {
	return side{theme.StableWidth(render.Clean(m.Subject)), theme.StableWidth(render.Clean(m.Recipients())), m.ReceivedAt}
}

// split returns the lines of a text for the screen, up to the bound. Empty lines do not count.
func split(text string) []string {
	var lines []string
	for l := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), maxPart)], "")) {
		if l = strings.TrimRight(theme.StableWidth(l), "\n "); l != "" {
			lines = append(lines, l)
		}
	}
	if len(text) > maxPart {
		lines = append(lines, "… compared up to here")
	}
	return lines
}

// plain is the text part of a message that has HTML too.
func plain(m *message.Message) string {
	if m.HTML == "" {
		return ""
	}
	return render.CleanLines(m.Text[:min(len(m.Text), maxPart+1)])
}

func links(m *message.Message) string {
	var b strings.Builder
	for _, l := range m.Mail().Links() {
		b.WriteString(strings.TrimSpace(render.Clean(l.Text)+"  "+render.Clean(l.URL)) + "\n")
	}
	return b.String()
}

// longLine is the length in bytes above which a line of the source is broken between tags.
const longLine = 160

func source(m *message.Message) string {
	lines := strings.Split(render.CleanLines(m.HTML[:min(len(m.HTML), maxPart+1)]), "\n")
	for n, l := range lines {
		if len(l) > longLine {
			lines[n] = strings.ReplaceAll(l, "><", ">\n<")
		}
	}
	return strings.Join(lines, "\n")
}

// allHeaders is the part that has the fields as they are, shown only when it is gone to.
const allHeaders = "all headers"

// ownFields are the fields in which any two messages differ, and boundary what differs of another.
var (
	ownFields = regexp.MustCompile(`(?im)^(message-id|date|received|x-received): .*\n`)
	boundary  = regexp.MustCompile(`(?i);\s*boundary=("[^"]*"|[^;\s]*)`)
)

// steady are the headers without what differs in any two messages.
func steady(m *message.Message) string {
	return boundary.ReplaceAllString(ownFields.ReplaceAllString(headers(m), ""), "")
}

func headers(m *message.Message) string {
	var b strings.Builder
	for _, h := range m.Fields {
		b.WriteString(render.Clean(h.Name) + ": " + render.Clean(h.Value) + "\n")
	}
	return b.String()
}
