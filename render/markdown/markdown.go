// Package markdown reads a Markdown body into a document. Glamour renders it, without wrapping and in a style whose
// colours and marks name what each run of text is; its output is read back, cleaned
// once more, and becomes blocks like those of any other body. Nothing of Glamour's output reaches a terminal.
package markdown

import (
	"regexp"
	"strconv"
	"strings"

	"charm.land/glamour/v2"

	"mayfly/render/clean"
	"mayfly/render/doc"
)

// Bounds beyond which a body is not rendered: Glamour takes milliseconds for each KB, and more for what is nested.
const (
	maxSource = 32 << 10 // bytes
	maxDepth  = 12       // quotes within quotes
	maxIndent = 40       // columns of spaces ahead of a line
	maxBars   = 65       // column separators of a line
	maxMarks  = 200      // brackets and emphasis marks of a line
)

// Options say how to read a body.
type Options struct {
	KeepLines bool // line breaks within a paragraph stay
}

// Read reads a Markdown body. It reports false when the body is too large or too deep, and has to be shown as text.
func Read(body string, o Options) (*doc.Document, bool) {
	if len(body) > maxSource {
		return nil, false
	}
	source := further(harmless(clean.Text(body)))
	if !affordable(source) {
		return nil, false
	}
	options := []glamour.TermRendererOption{
		glamour.WithStyles(styles), glamour.WithWordWrap(0), glamour.WithTableWrap(false), glamour.WithInlineTableLinks(true),
	}
	if o.KeepLines {
		options = append(options, glamour.WithPreservedNewLines())
	}
	renderer, err := glamour.NewTermRenderer(options...)
	if err != nil {
		return nil, false
	}
	out, err := renderer.Render(source)
	if err != nil {
		return nil, false
	}
	r := &reader{doc: &doc.Document{}}
	r.doc.Blocks = r.sections(r.lines(out), 0)
	r.doc.Links = r.links.Finish()
	return r.doc, len(r.doc.Blocks) > 0
}

// reference is a numeric character reference; its semicolon may be missing.
var reference = regexp.MustCompile(`&#(?:[0-9]+|[xX][0-9a-fA-F]+);?`)

// harmless takes out the references to control characters, which Markdown would turn into them.
func harmless(s string) string {
	if !strings.Contains(s, "&#") {
		return s
	}
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		digits, base := strings.TrimSuffix(ref[2:], ";"), 10
		if digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n < ' ' || n >= 0x7f && n < 0xa0 {
			return "\uFFFD"
		}
		return ref
	})
}

var (
	item      = regexp.MustCompile(`^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]`)
	paragraph = regexp.MustCompile(`^(?: {2,5}|\t)[^\s>#|*+0-9-]`) // of an item, but its first
)

// further puts the further paragraphs of list items on a line of their own: Glamour would put them behind the first
// without as much as a space.
func further(s string) string {
	lines := strings.Split(s, "\n")
	kept := lines[:0]
	listed, fence := false, ""
	for i, l := range lines {
		switch mark := fenceMark(l); {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(l, " \t"+fence[:1]) == "" {
				fence = ""
			}
		case mark != "":
			fence = mark
		case item.MatchString(l):
			listed = true
		case strings.TrimSpace(l) == "":
			if listed && i > 0 && i+1 < len(lines) && paragraph.MatchString(lines[i+1]) && fenceMark(lines[i+1]) == "" && fenceMark(lines[i-1]) == "" {
				kept[len(kept)-1] += "  "
				continue
			}
		case l[0] != ' ' && l[0] != '\t':
			listed = false
		}
		kept = append(kept, l)
	}
	return strings.Join(kept, "\n")
}

// fenceMark is the mark that a line begins with if it begins or ends a block of code, else "".
func fenceMark(l string) string {
	l = strings.TrimLeft(l, " \t")
	if !strings.HasPrefix(l, "```") && !strings.HasPrefix(l, "~~~") {
		return ""
	}
	return l[:len(l)-len(strings.TrimLeft(l, l[:1]))]
}

// affordable reports whether rendering takes bounded time.
func affordable(source string) bool {
	if len(source) > maxSource {
		return false
	}
	for line := range strings.SplitSeq(source, "\n") {
		lead := line[:len(line)-len(strings.TrimLeft(line, " \t>-*+0123456789.)"))]
		spaces := strings.Count(lead, " ") + 8*strings.Count(lead, "\t")
		if strings.Count(lead, ">") > maxDepth || spaces > maxIndent || strings.Count(line, "|") > maxBars || marks(line) > maxMarks {
			return false
		}
	}
	return true
}

func marks(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '[', '*', '_', '~', '`', '<', '!':
			n++
		}
	}
	return n
}

// signs are what Markdown alone writes.
var signs = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^#{1,6} \S`),
	regexp.MustCompile(`\[[^\]\n]+\]\((?:https?://|mailto:)[^\s)]+\)`),
	regexp.MustCompile(`\*\*[^\s*][^*\n]*\*\*`),
	regexp.MustCompile("(?m)^(?:```|~~~)"),
	regexp.MustCompile(`(?m)^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)+\|?\s*$`),
}

// Is reports whether a plain text is Markdown: it has at least two of the things that Markdown alone writes.
func Is(body string) bool {
	if len(body) > maxSource || !strings.ContainsAny(body, "#*[`|") {
		return false
	}
	n := 0
	for _, sign := range signs {
		if sign.MatchString(body) {
			n++
		}
	}
	return n >= 2
}
