// Package manual renders the pages of docs for a terminal.
package manual

import (
	"fmt"
	"image/color"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"charm.land/glamour/v2"
	style "charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
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

// patterns match the files of pages: the guides follow the others.
var patterns = []string{"%s.md", "guides/%s.md"}

// Topics lists the pages by name, the guides to frameworks last.
func Topics() []Topic {
	var names []string
	for _, pattern := range patterns {
		found, _ := fs.Glob(docs.Pages, fmt.Sprintf(pattern, "*")) // the pattern is valid, and an embedded directory can be read
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
	for _, pattern := range patterns {
		if text, err := docs.Pages.ReadFile(fmt.Sprintf(pattern, topic)); err == nil {
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

// hyphen stands for a hyphen at which no line is broken, until the page is rendered.
const hyphen = "\u2011"

// codeIndent is how far a code block is indented in Markdown, and on the screen.
const codeIndent = "    "

// reference is a link to another page of docs.
var reference = regexp.MustCompile(`\[([^\]]+)\]\((?:\.\./|guides/)?([a-z]+)\.md(?:#[^)]*)?\)`)

// refer puts the command that shows a page in place of a link to it.
func refer(link string) string {
	part := reference.FindStringSubmatch(link)
	command := "`mayfly help " + part[2] + "`"
	if part[1] == part[2]+".md" {
		return command
	}
	return part[1] + " (" + command + ")"
}

// fit is the Markdown of a page such that Glamour renders it well in width cells. By itself, Glamour keeps the line breaks of list
// items, breaks words at hyphens and code anywhere, and cuts words in narrow tables.
func fit(page string, width int) string {
	page = reference.ReplaceAllStringFunc(page, refer)
	var out []string
	var rows []string // of the table that is being read
	fenced := false
	for _, line := range strings.Split(page+"\n", "\n") {
		fence := strings.HasPrefix(line, "```")
		if !fenced && strings.HasPrefix(line, "|") {
			rows = append(rows, line)
			continue
		}
		if len(rows) > 0 {
			out, rows = append(out, fitTable(rows, width)...), nil
		}
		switch {
		case fence:
			fenced = !fenced
			out = append(out, line)
		case fenced:
			out = append(out, code(line, width)...)
		case strings.HasPrefix(line, codeIndent):
			for _, part := range code(line[len(codeIndent):], width) {
				out = append(out, codeIndent+part)
			}
		case strings.HasPrefix(line, "  "): // more of a list item
			out[len(out)-1] += " " + unbroken(line[2:])
		case strings.HasPrefix(line, "- "):
			out = append(out, "- "+unbroken(line[2:]))
		case strings.HasPrefix(line, "<!--"):
		default:
			out = append(out, unbroken(line))
		}
	}
	return strings.Join(out, "\n")
}

func unbroken(prose string) string { return strings.ReplaceAll(prose, "-", hyphen) }

// code breaks a line of code, between words where it can; what follows a break is indented further.
func code(line string, width int) []string {
	rest := strings.TrimLeft(line, " ")
	width -= len(codeIndent)
	start := min(len(line)-len(rest), width/2)
	indent := strings.Repeat(" ", start)
	var lines []string
	for {
		part := ansi.Truncate(rest, width-len(indent), "")
		if len(part) == len(rest) {
			return append(lines, indent+rest)
		}
		if at := strings.LastIndexByte(rest[:len(part)+1], ' '); at > 0 {
			part = rest[:at]
		}
		lines = append(lines, strings.TrimRight(indent+part, " "))
		rest = strings.TrimLeft(rest[len(part):], " ")
		indent = strings.Repeat(" ", start) + codeIndent
	}
}

// escapedBar stands for a bar within a cell while a row is taken apart: no page has the character.
const escapedBar = "\x00"

// cells are the cells of a row of a table.
func cells(row string) []string {
	cells := strings.Split(strings.Trim(strings.ReplaceAll(unbroken(row), `\|`, escapedBar), "|"), "|")
	for n, cell := range cells {
		cells[n] = strings.ReplaceAll(strings.TrimSpace(cell), escapedBar, `\|`)
	}
	return cells
}

// fitTable is a table as it is where it can be drawn with every heading and every word whole, else a list with an item for each row.
func fitTable(rows []string, width int) []string {
	heads := cells(rows[0])
	drawn := table.New().Width(width).Border(lipgloss.Border{}).BorderLeft(false).BorderRight(false).
		Headers(heads...).StyleFunc(func(int, int) lipgloss.Style { return lipgloss.NewStyle().Margin(0, 1) })
	fitted := []string{unbroken(rows[0]), rows[1]}
	var list, words []string
	for _, row := range rows[2:] {
		row := cells(row)
		fitted = append(fitted, strings.Join(row, "|"))
		list = append(list, listItem(heads, row))
		for n, cell := range row {
			row[n] = strings.ReplaceAll(cell, "`", "")
			words = append(words, strings.Fields(row[n])...)
		}
		drawn.Row(row...)
	}
	text := drawn.String()
	shown := strings.Fields(text)
	if slices.ContainsFunc(heads, func(head string) bool { return !strings.Contains(text, head) }) ||
		slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(shown, word) }) {
		return list
	}
	return fitted
}

// listItem is a row of a table as an item of a list: each cell after the first with its heading.
func listItem(heads, row []string) string {
	var parts []string
	for n, cell := range row[1:] {
		switch head := heads[n+1]; {
		case cell == "":
		case head == "":
			parts = append(parts, cell)
		default:
			parts = append(parts, head+": "+cell)
		}
	}
	return "- " + row[0] + ": " + strings.Join(parts, "; ")
}
