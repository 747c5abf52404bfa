// Package manual renders the pages of docs for a terminal.
package manual

import (
	"fmt"
	"image/color"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	style "charm.land/glamour/v2/ansi"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/docs"
)

// Topic is a page of the manual.
type Topic struct {
	Name    string // its file in docs, without the extension
	Title   string
	Summary string // the page's first paragraph, one line
}

// folders are where pages are, as patterns: the guides follow the others.
var folders = []string{"%s.md", "guides/%s.md"}

// Topics lists the pages by name, the guides to frameworks last.
func Topics() []Topic {
	var names []string
	for _, folder := range folders {
		found, _ := fs.Glob(docs.Pages, fmt.Sprintf(folder, "*")) // the pattern is valid, and an embedded folder can be read
		names = append(names, found...)
	}
	topics := make([]Topic, 0, len(names))
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".md")
		text, err := page(name)
		if err != nil {
			continue
		}
		head := strings.SplitN(text, "\n", 4) // # Title, an empty line, the summary, the rest
		if len(head) < 4 {
			continue
		}
		topics = append(topics, Topic{Name: name, Title: strings.TrimPrefix(head[0], "# "), Summary: head[2]})
	}
	return topics
}

// Style is how a page looks. A colour that is nil is the terminal's own.
type Style struct {
	Profile colorprofile.Profile // below ANSI, a page has no escape sequences
	Accent  color.Color          // headings
	Dim     color.Color          // code blocks, the addresses of links
	Code    color.Color          // commands and names within a sentence
	Link    color.Color
}

// minWidth is the least width in cells.
const minWidth = 20

// Render returns the lines of a topic's page, none wider than width cells, which is 20 at the least. Styles end with their
// line. It fails when there is no such topic.
func Render(topic string, width int, s Style) ([]string, error) {
	text, err := page(topic)
	if err != nil {
		return nil, err
	}
	width = max(width, minWidth)
	renderer, err := glamour.NewTermRenderer(glamour.WithStyles(s.config()), glamour.WithWordWrap(width),
		glamour.WithInlineTableLinks(true))
	if err != nil {
		return nil, fmt.Errorf("rendering the manual's page %s: %w", topic, err)
	}
	out, err := renderer.Render(fit(text, width))
	if err != nil {
		return nil, fmt.Errorf("rendering the manual's page %s: %w", topic, err)
	}
	return s.lines(out), nil
}

func page(topic string) (string, error) {
	for _, folder := range folders {
		if text, err := docs.Pages.ReadFile(fmt.Sprintf(folder, topic)); err == nil {
			return strings.ReplaceAll(string(text), "\t", "    "), nil
		}
	}
	return "", fmt.Errorf("the manual has no page %q", topic)
}

// padding is what fills a line up to the width.
var padding = regexp.MustCompile(`(?:\x1b\[[0-9;]*m| )+$`)

// lines are the lines of Glamour's output, in what the terminal can show, without empty ones at either end or beside each other.
func (s Style) lines(out string) []string {
	if s.Profile < colorprofile.ANSI {
		out = ansi.Strip(out)
	} else {
		var b strings.Builder
		_, _ = (&colorprofile.Writer{Forward: &b, Profile: s.Profile}).WriteString(out) // a Builder takes everything
		out = b.String()
	}
	out = strings.ReplaceAll(out, hyphen, "-")
	var lines []string
	for line := range strings.Lines(out) {
		line = padding.ReplaceAllStringFunc(strings.TrimSuffix(line, "\n"), func(end string) string {
			if strings.Contains(end, "\x1b") {
				return ansi.ResetStyle
			}
			return ""
		})
		if strings.HasPrefix(line, listIndent+bullet) { // its further lines are indented as far as its text
			line = strings.TrimPrefix(line, "  ")
		}
		if ansi.StringWidth(line) == 0 {
			if len(lines) > 0 && lines[len(lines)-1] != "" {
				lines = append(lines, "")
			}
			continue
		}
		lines = append(lines, line)
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}

// A list item is indented by listIndent and begins with bullet.
const (
	listIndent = "    "
	bullet     = "· "
)

// config is s as Glamour takes it: headings at the left edge and what they head indented, so that a page is clear without
// colours too.
func (s Style) config() style.StyleConfig {
	yes, body, indented := true, uint(2), uint(len(listIndent))
	block := style.StyleBlock{Margin: &body}
	heading := style.StylePrimitive{BlockPrefix: "\n", BlockSuffix: "\n\n", Bold: &yes, Color: name(s.Accent)}
	none, row := "", "─" // between the columns are the margins of the cells: Lip Gloss miscounts separators
	return style.StyleConfig{
		Paragraph:   block,
		BlockQuote:  block,
		List:        style.StyleList{StyleBlock: style.StyleBlock{Margin: &indented}, LevelIndent: 2},
		Heading:     style.StyleBlock{StylePrimitive: heading},
		H1:          style.StyleBlock{StylePrimitive: style.StylePrimitive{Upper: &yes}},
		Emph:        style.StylePrimitive{Italic: &yes},
		Strong:      style.StylePrimitive{Bold: &yes},
		Item:        style.StylePrimitive{BlockPrefix: bullet},
		Enumeration: style.StylePrimitive{BlockPrefix: ". "},
		Link:        style.StylePrimitive{Color: name(s.Dim)},
		LinkText:    style.StylePrimitive{Color: name(s.Link), Underline: &yes},
		Code:        style.StyleBlock{StylePrimitive: style.StylePrimitive{Color: name(s.Code)}},
		CodeBlock: style.StyleCodeBlock{StyleBlock: style.StyleBlock{
			StylePrimitive: style.StylePrimitive{Color: name(s.Dim)}, Margin: &indented}},
		Table: style.StyleTable{CenterSeparator: &none, ColumnSeparator: &none, RowSeparator: &row},
	}
}

// name is a colour as Glamour takes it: the index of one of the terminal's own, else #rrggbb; nil stays nil.
func name(c color.Color) *string {
	var s string
	switch c := c.(type) {
	case nil:
		return nil
	case ansi.BasicColor, ansi.IndexedColor:
		s = fmt.Sprintf("%d", c)
	default:
		r, g, b, _ := c.RGBA()
		s = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return &s
}
